package conformance

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

var again = flag.Int("again", 1, "how often to play each script of the corpus")

// TestCorpus plays the stored scripts. Each script shows a rule, or has once shown a difference:
// see the comment in the script.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for range *again {
				playFile(t, file)
			}
		})
	}
}

// TestPlay_TenantsJobOrphaned: the real controller reports the job of another namespace also in the
// step that orphans it. The script ends there.
func TestPlay_TenantsJobOrphaned(t *testing.T) {
	s, err := script.Parse(`cronjob {"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never",` +
		`"containers":[{"name":"main","image":"i"}]}}}}}` + "\nmanual\nsquat 2 elsewhere\ndeletecron Orphan\n")
	must.OK(t, err)
	r := Play(t, s, ours.Kubernetes(played))
	if want := !played.IsBefore(release.V137()); r.Chance != want || r.Difference != "" {
		t.Errorf("left to chance: %v, want %v; %s", r.Chance, want, clipped(r.Difference))
	}
}

// TestSteps_Pasted: the steps that test kits have printed can be run as scripts. They show no
// difference, and the jobs end as the stored texts say.
func TestSteps_Pasted(t *testing.T) {
	const of = "../../../internal/line/testdata"
	paste := func(name, want string, look func(*life) string) {
		t.Helper()
		text := testfile.Read(t, of, name)
		s, err := script.Parse(text)
		must.OK(t, err)
		if r := Play(t, s, ours.Kubernetes(played)); r.Difference != "" || r.Steps < len(s.Steps) {
			t.Errorf("%s: %d steps of %d: %s", name, r.Steps, len(s.Steps), clipped(r.Difference))
		}

		d := &divergence{script: text, look: look}
		if !s.Begin.IsZero() {
			d.at = s.Begin.Format(time.RFC3339)
		}
		for _, side := range []side{theirSide, ourSide(ours.Kubernetes(played))} {
			if got := d.live(t, side); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
			}
		}
	}

	paste("steps.txt", testfile.Read(t, of, "end.txt"), func(l *life) string {
		return convert.Job(server.List[*batchv1.Job](l.Server)[0]).Status.String() + "\n"
	})

	// The CronJob of a story has another name, and in a script time passes between the steps.
	_, jobs, _ := strings.Cut(testfile.Read(t, of, "cronjob_end.txt"), "\n")
	paste("cronjob_steps.txt", strings.ReplaceAll(jobs, "report-", "c-"), func(l *life) string {
		var out strings.Builder
		for _, o := range server.List[*batchv1.Job](l.Server) {
			j := convert.Job(o)
			run, err := time.Parse(time.RFC3339, o.Annotations[batchv1.CronJobScheduledTimestampAnnotation])
			must.OK(t, err)
			words := map[job.ConditionType]string{"": "runs", job.ConditionComplete: "is complete", job.ConditionFailed: "has failed"}
			fmt.Fprintf(&out, "  %s, the run of %s, %s\n", j.Name, run.UTC().Format(time.DateTime), words[j.Status.Finished()])
		}
		return out.String()
	})
}

// TestScripts_Read: a script that was drawn is read as it was printed. So each argument that a generator
// draws is one that the step has.
func TestScripts_Read(t *testing.T) {
	scripts := map[string]*rapid.Generator[*script.Script]{
		"jobs": script.Jobs(), "gangs": script.Gangs(), "CronJobs": script.CronJobs(), "big": script.Big(),
	}
	for name, of := range scripts {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			s := of.Draw(t, "script")
			if again, err := script.Parse(s.String()); err != nil || !reflect.DeepEqual(again.Steps, s.Steps) {
				t.Fatalf("error %v\n%s", err, s)
			}
		}))
	}
}

// TestScripts_Unknown: an unknown step or argument is an error that names it.
func TestScripts_Unknown(t *testing.T) {
	for text, want := range map[string]string{
		"dance":                      "line 2: dance: no such step",
		"stale pods":                 "line 2: stale: no such step",
		"evict 0 DisruptionTarget":   "line 2: evict: unknown argument DisruptionTarget",
		"fail 0 cod=42":              "line 2: fail: unknown argument cod=42",
		"restart 0 2":                "line 2: restart: unknown argument 2",
		"run":                        "line 2: run: POD is missing",
		"suspend maybe":              "line 2: suspend: unknown argument maybe",
		"tick soon":                  "line 2: tick: unknown argument soon",
		"fault create pods x odd 1s": "line 2: fault: unknown argument x",
		"stray owned 1 2 3":          "line 2: stray: unknown argument 3",
		`edit {"suspend":true} else`: "line 2: edit: not JSON",
		`edit {"suspnd":true}`:       "line 2: edit: suspnd: no such field",
	} {
		_, err := script.ParseLine("job {TEMPLATE}; " + text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}

	for text, want := range map[string]string{
		`job {TEMPLATE,"podFailurePolicy":{"rules":[{"acton":"FailJob"}]}}`: "line 1: job: podFailurePolicy.rules[0].acton: no such field",
		`job {"template":{"spec":{"restartPolcy":"Never"}}}`:                "line 1: job: template.spec.restartPolcy: no such field",
		`cronjob {"schedule":"@daily","jobTemplate":{"spc":{}}}`:            "line 1: cronjob: jobTemplate.spc: no such field",
		`cronjob {"schedule":"@daily",JOB}; edit {"parallelism":2}`:         "line 2: edit: parallelism: no such field",
	} {
		if _, err := script.ParseLine(text); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// playFile plays a script in which the real controllers are deterministic, so that
// every difference counts.
func playFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	must.OK(t, err)
	s, err := script.Parse(string(text))
	must.OK(t, err)
	if s.Comment == "" {
		t.Error("the script does not say what it is about")
	}
	r := Play(t, s, ours.Kubernetes(played))
	switch {
	case r.Difference != "":
		t.Fatal(clipped(r.Difference))
	case r.Chance:
		t.Fatal("the script is left to chance")
	case r.Stuck:
		t.Fatal("the real controllers are stuck, and the script has not been played to its end")
	case r.Steps == 0:
		t.Fatal("the server refuses the script")
	}
}
