package scenario

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/sim"
)

// run simulates files with settings.
func run(t *testing.T, files []string, settings ...string) *sim.Result {
	t.Helper()
	s, err := load(files, settings...)
	must.OK(t, err)
	r, err := sim.Run(t.Context(), s.World(1))
	must.OK(t, err)
	return r
}

func load(files []string, settings ...string) (*Scenario, error) {
	var all []Setting
	for _, text := range settings {
		s, err := ParseSetting(text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return Load(files, all)
}

func TestDay(t *testing.T) {
	r := run(t, []string{"../../testdata/day.yaml"})
	if r.JobsSubmitted < 200 || r.RunsMissed == 0 || len(r.CronJobs) != 5 || r.Nodes != 4 {
		t.Errorf("%d jobs, %d runs missed, %d CronJobs, %d nodes", r.JobsSubmitted, r.RunsMissed, len(r.CronJobs),
			r.Nodes)
	}
	for _, p := range r.Pods {
		if name := r.Jobs[p.Job].Name; strings.HasPrefix(name, "render") && p.Started != sim.None &&
			p.Started-p.Bound < 2*time.Second {
			t.Errorf("a pod of %s starts %v after it has a node", name, p.Started-p.Bound)
		}
	}
}

func TestSettings(t *testing.T) {
	few := run(t, []string{"../../testdata/day.yaml"}, "nodes.0.count=1", "load.0.count=3", "jobs.parallelism=2",
		"pods.0.failure=0", "controlPlane.outages=[]")
	if few.Nodes != 1 {
		t.Errorf("%d nodes", few.Nodes)
	}
	jobs := 0
	for _, j := range few.Jobs {
		if strings.HasPrefix(j.Name, "render") {
			jobs++
			if j.Pods != 12 {
				t.Errorf("%s has %d pods", j.Name, j.Pods)
			}
		}
	}
	if jobs != 3 {
		t.Errorf("%d jobs", jobs)
	}
}

func TestTraces(t *testing.T) {
	for _, file := range []string{"../../testdata/archive.swf", compressed(t, "../../testdata/archive.swf")} {
		r := run(t, []string{file})
		if len(r.Jobs) != 3 || r.Jobs[0].Pods != 4 || r.Jobs[1].Pods != 1 || r.JobsComplete != 2 ||
			r.JobsFailed != 1 || r.Jobs[1].Started != 30*time.Second {
			t.Errorf("%s: %+v", file, r.Jobs)
		}
		if p := r.Pods[0]; p.Ended-p.Started != 100*time.Second {
			t.Errorf("the first pod runs for %v", p.Ended-p.Started)
		}
	}
	r := run(t, []string{"../../testdata/jobs.csv"}, "nodes=[{count: 1, cpu: 1}]")
	if len(r.Jobs) != 2 || r.Jobs[0].Name != "first" || r.Jobs[0].Pods != 3 || r.Jobs[1].End != "Failed" ||
		r.Jobs[1].Started != 90*time.Second {
		t.Errorf("%+v", r.Jobs)
	}
}

func compressed(t *testing.T, file string) string {
	name := filepath.Join(t.TempDir(), "archive.swf.gz")
	f, err := os.Create(name)
	must.OK(t, err)
	defer f.Close()
	z := gzip.NewWriter(f)
	defer z.Close()
	if _, err := z.Write([]byte(testfile.Read(t, file))); err != nil {
		t.Fatal(err)
	}
	return name
}

const stages = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-ready}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  delay: {durationMilliseconds: 1000, jitterDurationMilliseconds: 5000}
  next:
    statusTemplate: |
      phase: Running
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-complete}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  weight: 1
  delay: {durationMilliseconds: 60000}
  next: {statusTemplate: "{{ $now := Now }}\nphase: Succeeded\n"}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-fails}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  weight: 3
  delay: {durationMilliseconds: 7000}
  next: {statusTemplate: "phase: Failed"}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: node-initialize}
spec:
  resourceRef: {kind: Node}
  next: {statusTemplate: "phase: Running"}
`

func TestStages(t *testing.T) {
	file := write(t, "stages.yaml", stages)
	r := run(t, []string{"../../testdata/render.yaml"}, "stages=["+file+"]", "load=[]",
		"jobs={backoffLimitPerIndex: 100}")
	failed := 0
	for _, p := range r.Pods {
		if d := p.Started - p.Bound; d < time.Second || d > 5*time.Second {
			t.Errorf("a pod starts after %v", d)
		}
		want := time.Minute
		if !p.Succeeded {
			want = 7 * time.Second
			failed++
		}
		if d := p.Ended - p.Started; d != want {
			t.Errorf("a pod ends after %v, want %v", d, want)
		}
	}
	if share := float64(failed) / float64(len(r.Pods)); share < 0.55 || share > 0.9 {
		t.Errorf("%d of %d pods fail, want three quarters", failed, len(r.Pods))
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	testfile.Write(t, text, file)
	return file
}

func TestBadFiles(t *testing.T) {
	const swf = "1 0 -1 100 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n"
	manifest := func(change func(string) string) string {
		return change(testfile.Read(t, "../../testdata/render.yaml"))
	}
	replace := func(old, with string) string {
		return manifest(func(s string) string { return strings.Replace(s, old, with, 1) })
	}
	for _, tc := range []struct{ name, text, want string }{
		{"a.swf", swf + "2 -5 -1 100 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n", "a.swf:2: field 2, submit time: -5: must not be negative"},
		{"a.swf", swf + "2 5 -1 -1 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n", "a.swf:2: field 4, run time: -1: must not be negative"},
		{"a.swf", swf + "; fine\n2 5 -1 7\n", "a.swf:3: has 4 fields; the Standard Workload Format has 18"},
		{"a.swf", "1 0 -1 x 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n", "a.swf:1: field 4: \"x\" is not a number"},
		{"a.swf", "1 0 -1 9 -1 -1 -1 -1 120 -1 1 1 1 1 1 1 -1 -1\n", "a.swf:1: fields 5 and 8, processors: -1 and -1"},
		{"a.swf", "1 9 -1 100 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n" + swf, "a.swf:2: job-1: submitted at 0s, before the job in front of it, at 9s"},
		{"a.csv", "submit\n1\n", "a.csv:1: column \"duration\" is missing"},
		{"a.csv", "", "a.csv:1: is empty"},
		{"a.csv", "submit,duration,color\n1,1,1\n", "a.csv:1: column \"color\" is unknown"},
		{"a.csv", "submit,duration\n0,1\n1,1,1\n", "a.csv:3: wrong number of fields"},
		{"a.csv", "submit,duration\n0,1\n1,-9s\n", "a.csv:3: duration: \"-9s\": must not be negative"},
		{"a.csv", "submit,duration,pods\n0,1,0\n", "a.csv:2: pods: \"0\" is not a number from 1"},
		{"a.yaml", "untill: 3h\n", "a.yaml:1: untill: no such field; did you mean until?"},
		{"a.yaml", "nodes:\n- {count: 1}\n- {cores: 4}\n", "a.yaml:3: nodes.1.cores: no such field; there are autoscale, away"},
		{"a.yaml", "until: soon\n", "a.yaml:1: until: \"soon\" is not a duration"},
		{"a.yaml", "controlPlane:\n  latency: normal(1s)\n", "a.yaml:2: controlPlane.latency: \"normal(1s)\": unknown distribution \"normal\""},
		{"a.yaml", "pods:\n- {match: x}\n- {failure: 2}\n", "a.yaml:3: pods.1: failure: \"2\" is not a share from 0 to 1"},
		{"a.yaml", "pods:\n- {failIn: 1h}\n", "a.yaml:2: pods.0: failIn: \"1h\" is not a time such as 1h+10m"},
		{"a.yaml", "options: {catchUp: some}\n", "a.yaml: options.catchUp: \"some\": expected Latest, None or All"},
		{"a.yaml", "load: [{count: 3}]\n", "a.yaml: load.0: names 0 files"},
		{"a.yaml", "load: [{manifest: no.yaml}]\n", "a.yaml: load.0: stat"},
		{"a.yaml", "- 1\n", "a.yaml:1: is not an object"},
		{"a.yaml", replace("0.1", "lots"), "a.yaml:7:5: annotation batchsim.batchplan/failure: \"lots\" is not a share"},
		{"a.yaml", replace("batchsim.batchplan/failure", "batchsim.batchplan/falure"), "a.yaml:7:5: annotation batchsim.batchplan/falure: no such value; did you mean failure?"},
		{"a.yaml", replace("kind: Job", "kind: Pod"), "a.yaml:1: kind: \"Pod\": no such kind in batch/v1"},
		{"a.yaml", "apiVersion: [\n", "a.yaml:"},
	} {
		file := write(t, tc.name, tc.text)
		s, err := Load([]string{file}, nil)
		if err == nil {
			_, err = sim.Run(t.Context(), s.World(1))
		}
		if got := fmt.Sprint(err); !strings.HasPrefix(strings.TrimPrefix(got, filepath.Dir(file)+"/"), tc.want) {
			t.Errorf("%s: got %s\nwant %s", tc.text, got, tc.want)
		}
	}
}

// Manifests as people write them are simulated, or refused with the place of the error. They are
// our own, and some of the documentation of Kubernetes if that folder exists.
func TestManifests(t *testing.T) {
	wrong := map[string]string{
		"testdata/manifests/old_version.yaml": `:1: apiVersion: "batch/v1beta1" of CronJob hello is not supported`, "testdata/manifests/tab.yaml": ":7:1: indented with a tab",
		others + "cronjob.yaml": `:1: apiVersion: "batch/v1beta1" of CronJob hello is not supported`, others + "job-pod-failure-policy-ignore.yaml": ":24:1: indented with a tab",
	}
	own, err := filepath.Glob("testdata/manifests/*.yaml")
	if err != nil || len(own) < 9 {
		t.Fatal(own, err)
	}
	more, err := filepath.Glob(others + "*.yaml")
	must.OK(t, err)
	for _, file := range append(own, more...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s, err := load([]string{file}, "until=1h")
			if want := wrong[file]; want != "" {
				if err == nil || !strings.Contains(err.Error(), filepath.Base(file)+want) {
					t.Errorf("got %v, want %s", err, want)
				}
				return
			}
			must.OK(t, err)
			if r, err := sim.Run(t.Context(), s.World(1)); err != nil || !r.Open.IsEmpty() || r.PodsCreated == 0 {
				t.Errorf("%v, %s", err, &r.Open)
			}
		})
	}
}

// others is a folder beside the repository.
const others = "../../../../../../shared/manifests/"

func TestDist(t *testing.T) {
	for _, text := range []string{"1m30s", "uniform(1s, 2s)", "exponential(1m0s)", "lognormal(1m0s, 0.8)", "pareto(10s, 1.5)", "weibull(1m0s, 0.7)"} {
		d, err := sim.ParseDist(text)
		if err != nil || d.String() != text {
			t.Errorf("%s reads as %s, %v", text, d, err)
		}
	}
}
