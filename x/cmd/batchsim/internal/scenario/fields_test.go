package scenario

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/sim"
)

// Each field has a value that no other field has, so that the test notices if two are mixed up.
const everyField = `
start: 2026-03-04T05:06:07Z
until: 11h
maxEvents: 12
nodes:
- {count: 2, pods: 13, cpu: 1400m, memory: 15Ki, skew: 16s, name: big, price: 0.5, lost: 1/h, preempted: 48/d, away: 50s}
- {pods: 17}
- {count: 3, pods: 54, autoscale: {min: 2, wait: 55s, start: 56s, idle: 57s}}
controlPlane:
  latency: 18ms
  watchLag: 19ms
  qps: 20
  burst: 21
  workers: 22
  fail: 0.23
  loseReply: 0.24
  outages: [{from: 25s, for: 26s, of: apiServer}, {from: 27s, for: 28s, of: controllers}, {from: 29s, for: 30s}]
  restarts: [31s, 32s]
  keepMemory: true
  skew: 33s
  podGC: 34
disruptions:
- {node: 1, at: 35s, back: 36s, removed: 37s}
- {kind: lost, node: 2, at: 38s}
- {kind: drained, node: 0, at: 39s}
quota: {pods: 40, backfill: true}
options:
  backoff: {base: 41s, factor: 3, max: 42s}
  pendingTimeout: 43s
  terminatingTimeout: 44s
  successBeatsDeadline: true
  gangs: true
  maxIgnoredFailures: 45
  catchUp: All
  catchUpWindow: 46s
  catchUpLimit: 47
  skipOnResume: true
  skipHeld: true
  maxActive: 48
  replaceWhenGone: true
  jitter: 49s
`

func TestEveryField(t *testing.T) {
	s, err := Load([]string{write(t, "scenario.yaml", everyField)}, nil)
	must.OK(t, err)
	const sec = time.Second
	ms := func(n int) sim.Dist { return sim.Constant(time.Duration(n) * time.Millisecond) }
	node := sim.Node{Name: "big-0", Pods: 13, Resources: sim.Resources{CPU: 1400, Memory: 15 << 10}, Skew: 16 * sec,
		Price: 0.5, Losses: 1, Preemptions: 2, Away: sim.Constant(50 * sec)}
	second := node
	second.Name = "big-1"
	var scaled []sim.Node
	for i := range 3 {
		scale := &sim.Scale{Min: 2, Wait: 55 * sec, Start: sim.Constant(56 * sec), Idle: 57 * sec}
		scaled = append(scaled, sim.Node{Name: fmt.Sprint("node-", 3+i), Pods: 54, Scale: scale})
	}
	window := func(from, length int) sim.Window {
		return sim.Window{From: time.Duration(from) * sec, For: time.Duration(length) * sec}
	}
	want := sim.World{
		Seed: 7, Start: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Until: 11 * time.Hour, MaxEvents: 12,
		Nodes: append([]sim.Node{node, second, {Name: "node-2", Pods: 17}}, scaled...),
		ControlPlane: sim.ControlPlane{Latency: ms(18), WatchLag: ms(19), QPS: 20, Burst: 21, Workers: 22, Fail: 0.23, LoseReply: 0.24,
			Outages:  []sim.Outage{{Window: window(25, 26), Of: sim.APIServer}, {Window: window(27, 28)}, {Window: window(29, 30)}},
			Restarts: []time.Duration{31 * sec, 32 * sec}, KeepMemory: true, Skew: 33 * sec, PodGC: 34},
		Disruptions: []sim.Disruption{{Kind: sim.NodeLost, Node: 1, At: 35 * sec, Back: 36 * sec, Removed: 37 * sec},
			{Kind: sim.NodeLost, Node: 2, At: 38 * sec}, {Kind: sim.NodeDrained, At: 39 * sec}},
		Admission: &sim.Quota{Pods: 40, Backfill: true},
	}
	have := s.World(7)
	if !reflect.DeepEqual(have, want) {
		t.Errorf("have %+v\nwant %+v", have, want)
	}
	if have.Nodes[3].Scale != have.Nodes[5].Scale || have.Nodes[3].Scale == s.World(7).Nodes[3].Scale {
		t.Error("the nodes of an entry are a group, and worlds share nothing")
	}
	jobs := job.Options{Backoff: backoff.Policy{Base: 41 * sec, Factor: 3, Max: 42 * sec}, PendingTimeout: 43 * sec, TerminatingTimeout: 44 * sec,
		SuccessBeatsDeadline: true, Gangs: true, MaxIgnoredFailures: 45}
	if have := s.Options.jobOptions(); !reflect.DeepEqual(have, jobs) {
		t.Errorf("have %+v\nwant %+v", have, jobs)
	}
	crons := cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpWindow: 46 * sec, CatchUpLimit: 47, SkipOnResume: true, SkipHeld: true,
		MaxActive: 48, ReplaceWhenGone: true, Jitter: 49 * sec}
	if have := s.Options.cronOptions(); !reflect.DeepEqual(have, crons) {
		t.Errorf("have %+v\nwant %+v", have, crons)
	}
	s.Options = Options{Kubernetes: true}
	if have := s.Options.jobOptions(); !reflect.DeepEqual(have, job.Kubernetes(release.Newest())) {
		t.Errorf("as Kubernetes: %+v", have)
	}
	if have := s.Options.cronOptions(); !reflect.DeepEqual(have, cronjob.Kubernetes(release.Newest())) {
		t.Errorf("as Kubernetes: %+v", have)
	}
	for part, policy := range map[string]backoff.Policy{"base: 1s": {Base: sec}, "factor: 5": {Factor: 5}, "max: 1s": {Max: sec}} {
		s, err := Load([]string{write(t, "scenario.yaml", "options: {backoff: {"+part+"}}\n")}, nil)
		if err != nil || s.Options.jobOptions().Backoff != policy {
			t.Errorf("%s: %v", part, err)
		}
	}
}

func TestCount(t *testing.T) {
	for text, want := range map[string]int{
		"[{pods: 1}, {pods: 2, count: 0}]": 1, "[{pods: 1}, {pods: 2, count: 1}]": 2, "[{pods: 1}, {pods: 2, count: 2}]": 3, "[{pods: 1}, {pods: 2}]": 2,
		"[{pods: 1, count: 0}]": -1, "[{pods: 1, count: -1}]": -1, "[{pods: 1, count: 2000000000}]": -1, "[{pods: 1, count: 1.5}]": -1,
		"[{pods: 1, count: 600000}, {pods: 1, count: 600000}]": -1,
	} {
		s, err := Load([]string{write(t, "scenario.yaml", "nodes: "+text+"\n")}, nil)
		have := -1
		if err == nil {
			have = len(s.World(1).Nodes)
		}
		if have != want {
			t.Errorf("%s: %d nodes, want %d: %v", text, have, want, err)
		}
	}
}

// Numbers that a field cannot have are refused, and the error has the field and the value. The test
// tries a number below the minimum or above the maximum, a fraction for a count, and a text. A new
// field needs a limit, or a type with a limit.
func TestEveryNumber(t *testing.T) {
	outside := map[reflect.Type][]string{
		reflect.TypeFor[Duration](): {"-1s", "1000000h", "1e30h", "x"},
		reflect.TypeFor[Dist]():     {"-1s", "uniform(2s, 1s)", "lognormal(1s, -1)", "x"},
		reflect.TypeFor[Rate]():     {"-1/h", "NaN/h", "1e300/h", "100%/h", "5%", "x"},
		reflect.TypeFor[Count]():    {"-1", "1.5", "1000001", "2000000000", "x"},
		reflect.TypeFor[Quantity](): {"-1", "1e30", "x"},
	}
	load := func(path, value string) error {
		settings := []Setting{{path, value}}
		switch path {
		case "controlPlane.burst":
			settings = append(settings, Setting{"controlPlane.qps", "1"})
		case "nodes.0.autoscale.min":
			settings = append(settings, Setting{"nodes.0.count", "1000000"})
		}
		_, err := Load(nil, settings)
		return err
	}
	refused := func(path, value string) {
		t.Helper()
		if err := load(path, value); err == nil || !strings.Contains(err.Error(), path+": ") ||
			!strings.Contains(err.Error(), value) {
			t.Errorf("%s=%s: %v", path, value, err)
		}
	}
	accepted := func(path, value string) {
		t.Helper()
		if err := load(path, value); err != nil && !strings.Contains(err.Error(), "load.0: names 0 files") {
			t.Errorf("%s=%s: %v", path, value, err)
		}
	}
	fields := 0
	var walk func(path string, typ reflect.Type, limit []string)
	walk = func(path string, typ reflect.Type, limit []string) {
		switch kind := typ.Kind(); {
		case outside[typ] != nil:
			fields++
			for _, value := range outside[typ] {
				refused(path, value)
			}
			switch zero := map[reflect.Type]string{reflect.TypeFor[Rate](): "0/h"}[typ]; {
			case len(limit) > 0:
				refused(path, "0")
			case typ == reflect.TypeFor[Count]() && strings.HasPrefix(path, "nodes"):
				// TestCount tests 0 nodes. A world without nodes would have room for all pods.
			default:
				accepted(path, cmpOr(zero, "0"))
			}
		case typ == reflect.TypeFor[yaml.Node](), typ == reflect.TypeFor[Behaviour](), typ == reflect.TypeFor[time.Time]():
			// The types of the API check the fields of batch/v1, and TestEveryValue tests the
			// values of a Behaviour.
		case kind == reflect.Struct:
			for f := range typ.Fields() {
				if name := f.Tag.Get("yaml"); name != "" {
					walk(strings.TrimPrefix(path+"."+name, "."), f.Type, strings.Fields(f.Tag.Get("limit")))
				}
			}
		case kind == reflect.Slice:
			walk(path+".0", typ.Elem(), limit)
		case kind == reflect.Pointer:
			walk(path, typ.Elem(), limit)
		case kind == reflect.Bool || kind == reflect.String:
		case len(limit) < 2:
			t.Errorf("%s: a %v without a limit", path, typ)
		default:
			fields++
			least, most := bound(limit[0]), bound(limit[1])
			for _, x := range []float64{math.Nextafter(least, -1e9), least - 1, most + 1, most*10 + 10, 1e300} {
				if text := fmt.Sprint(x); len(limit) < 3 || text != limit[2] {
					refused(path, text)
				}
			}
			for _, text := range []string{".nan", ".inf", "-.inf", "x"} {
				refused(path, text)
			}
			for _, text := range limit {
				accepted(path, text)
			}
			if kind != reflect.Float64 {
				refused(path, "1.5")
			}
		}
	}
	walk("", reflect.TypeFor[Scenario](), nil)
	if fields < 49 {
		t.Errorf("%d numbers were tried", fields)
	}
}

// A number that has no effect together with the other fields is refused, such as a limit for a
// manifest. A sum that is too large is also refused.
func TestNumbersTogether(t *testing.T) {
	const head = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {parallelism: %d, completions: %d, template: {spec: {restartPolicy: Never, %s}}}\n"
	jobs := func(parallelism, completions int) string {
		return write(t, "job.yaml", fmt.Sprintf(head, parallelism, completions, "containers: [{name: main, image: x}]"))
	}
	pod := func(grace string, requests ...string) string {
		var containers []string
		for i, r := range requests {
			containers = append(containers, fmt.Sprintf("{name: c%d, image: x, resources: {requests: {%s}}}", i, r))
		}
		return write(t, "job.yaml", fmt.Sprintf(head, 1, 1, "terminationGracePeriodSeconds: "+grace+", containers: ["+strings.Join(containers, ", ")+"]"))
	}
	crons := func(n int) string {
		one := "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a%d}\nspec: {schedule: '0 0 * * *', jobTemplate: {spec: {template: " +
			"{spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}}}\n"
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, one, i)
		}
		return write(t, "crons.yaml", b.String())
	}
	trace := write(t, "trace.csv", "submit,duration\n0s,1s\n")
	for _, test := range []struct {
		load, problem string
	}{
		{"manifest: " + jobs(1_000_000, 10_000_000), ""},
		{"manifest: " + jobs(1_000_001, 1), "spec.parallelism: 1000001: must not be above 1000000"},
		{"manifest: " + jobs(2_000_000_000, 1), "spec.parallelism: 2000000000: must not be above 1000000"},
		{"manifest: " + jobs(1, 10_000_001), "spec.completions: 10000001: must not be above 10000000"},
		{"manifest: " + pod("0", "cpu: 1P"), ""},
		{"manifest: " + pod("2147483648", ""), "terminationGracePeriodSeconds: 2147483648: must be from 0 to 2147483647"},
		{"manifest: " + pod("-1", ""), "terminationGracePeriodSeconds: -1: must be from 0"},
		{"manifest: " + pod("1", "cpu: 1", "memory: 1P", "memory: 1"), "container c2: requests: cpu 0, memory 1: must be from 0 to 1P in all"},
		{"manifest: " + pod("1", "cpu: 5E"), "container c0: requests: cpu 5E, memory 0: must be"},
		{"manifest: " + pod("1", "memory: -1"), "container c0: requests: cpu 0, memory -1: must be"},
		{"manifest: " + jobs(1, 1) + ", limit: 1", "load.0.limit: 1: is for traces"},
		{"manifest: " + jobs(1, 1) + ", maxPods: 2", "load.0.maxPods: 2: is for traces"},
		{"manifest: " + jobs(1, 1) + ", arrivals: {swing: 0.5}", "load.0.arrivals: swing and peak need mean"},
		{"manifest: " + jobs(1, 1) + ", arrivals: {every: 1s, mean: 1s}", "load.0.arrivals: expected one of every, between and mean"},
		{"manifest: " + crons(3) + ", count: 333", ""},
		{"manifest: " + crons(3) + ", count: 0", ""},
		{"manifest: " + crons(3) + ", count: 333334", "load.0.count: 333334: makes 1000002 CronJobs in all; expected at most 1000000"},
		{"csv: " + trace + ", count: 1", "load.0.count: 1: is for manifests"},
		{"csv: " + trace + ", arrivals: {from: 1s}", "load.0.arrivals: are for manifests"},
		{"csv: " + trace + ", limit: 1, maxPods: 1", ""},
	} {
		_, err := Load([]string{write(t, "scenario.yaml", "load: [{"+test.load+"}]\n")}, nil)
		if err == nil && test.problem == "" {
			continue
		}
		if err == nil || test.problem == "" || !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: %v", test.load, err)
		}
	}
	nodes := write(t, "scenario.yaml", "nodes: [{count: &n 2, pods: *n}]\n")
	for path, problem := range map[string]string{"nodes.0.pods": "", "nodes.-1.pods": `"-1" is not a place`, "nodes.0x0.pods": `"0x0" is not a place`,
		"controlPlane.burst":    "controlPlane.burst: 3: needs qps",
		"nodes.0.autoscale.min": "nodes.0.autoscale.min: 3: must not be above the count of 2"} {
		if _, err := Load([]string{nodes}, []Setting{{path, "3"}}); (err == nil) != (problem == "") ||
			err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for text, problem := range map[string]string{
		"{autoscale: {}, count: 2}": "", "{autoscale: {min: 2}, count: 2}": "", "{autoscale: {min: 1}}": "", "{autoscale: {min: 2}}": "nodes.0.autoscale.min: 2: must",
		"{autoscale: {}, lost: 1/d}": "nodes.0.autoscale: is not for", "{autoscale: {}, preempted: 1/d}": "nodes.0.autoscale: is not for", "{autoscale: {max: 2}}": "max",
	} {
		if _, err := Load([]string{write(t, "scaled.yaml", "nodes: ["+text+"]\n")}, nil); (err == nil) != (problem == "") ||
			err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Load([]string{write(t, "alias.yaml", "nodes: [{skew: &n 0, pods: *n}]\n")}, nil); err == nil {
		t.Error("an alias hides a number")
	}
}

// Each value of a pod's behaviour can be set in a scenario and in the annotations of a manifest.
func TestEveryValue(t *testing.T) {
	values := map[string]string{"duration": "11s", "schedule": "12s", "pull": "13s", "init": "14s", "ready": "15s", "stop": "16s", "failAfter": "17s", "quorum": "24",
		"failure": "0.18", "disruption": "1", "exitCode": "120", "failIn": "1h+10m, 5h+0s", "grace": "21s", "cpu": "22m", "memory": "23Mi"}
	const sec = time.Second
	want := sim.Pod{Duration: sim.Constant(11 * sec), Schedule: sim.Constant(12 * sec), Pull: sim.Constant(13 * sec), Init: sim.Constant(14 * sec),
		Ready: sim.Constant(15 * sec), Stop: sim.Constant(16 * sec), FailAfter: sim.Constant(17 * sec), Failure: 0.18, Disruption: 1, ExitCode: 120,
		FailIn: []sim.Window{{From: time.Hour, For: 10 * time.Minute}, {From: 5 * time.Hour}}, Grace: 21 * sec, Resources: sim.Resources{CPU: 22, Memory: 23 << 20}, Quorum: 24}
	if len(values) != len(keys) {
		t.Errorf("%d values, %d keys", len(values), len(keys))
	}
	text := "jobs: {parallelism: 24, completions: 24}\npods:\n- match: r*\n"
	annotations := ""
	for key, value := range values {
		text += fmt.Sprintf("  %s: %q\n", key, value)
		annotations += fmt.Sprintf("    %s%s: %q\n", Prefix, key, value)
	}
	pods := func(files ...string) (all []sim.Pod) {
		s, err := Load(files, nil)
		must.OK(t, err)
		for j, err := range s.World(1).Jobs {
			must.OK(t, err)
			all = append(all, j.Pod)
		}
		return all
	}
	one := func(name, annotations string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name + "\n  annotations:\n    x: z\n" + annotations +
			"spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, resources: {requests: {cpu: 3, memory: 4Ki}}}]}}}\n"
	}
	scenario, plain := write(t, "scenario.yaml",
		text), sim.Pod{Duration: sim.Constant(time.Minute), Resources: sim.Resources{CPU: 3000, Memory: 4 << 10}}
	wide := write(t, "wide.yaml", "jobs: {parallelism: 24, completions: 24}\n")
	for name, test := range map[string]struct {
		files []string
		want  sim.Pod
	}{
		"matched":     {[]string{scenario, write(t, "a.yaml", one("render", ""))}, want},
		"not matched": {[]string{scenario, write(t, "a.yaml", one("other", ""))}, plain},
		"annotations": {[]string{wide, write(t, "a.yml", one("other", annotations))}, want},
	} {
		if have := pods(test.files...); len(have) != 1 || !reflect.DeepEqual(have[0], test.want) {
			t.Errorf("%s: have %+v\nwant %+v", name, have, test.want)
		}
	}
	var none sim.Pod
	must.OK(t, errors.Join(apply(&none, "failAfter", "0"), apply(&none, "grace", "0s")))
	if want := (sim.Pod{FailAfter: sim.Constant(1), Grace: -1}); !reflect.DeepEqual(none, want) {
		t.Errorf("0 means %+v", none)
	}
	for value, bad := range map[string]string{"exitCode": "0 256 -1 x 1.5 09x", "quorum": "0 -1 1000001 x 1.5", "failure": "-0.1 1.1 NaN x 101% -1% NaN% %", "disruption": "-0.1 101% -1/h 1e300/h 100%/h", "cpu": "-1 x 1e30", "memory": "-1Ki x 1e30",
		"grace": "-1s x uniform(1s,2s) 1000000h", "duration": "x", "failIn": "1h x+1h -1h+1h 1h+-1h 1h+1h,x 1000000h+1h 1h+1000000h", "unknown": "1"} {
		for text := range strings.FieldsSeq(bad) {
			var p sim.Pod
			if err := apply(&p, value, text); err == nil || !strings.Contains(err.Error(), value) {
				t.Errorf("%s: %s: %v", value, text, err)
			}
		}
	}
	for _, code := range []string{"1", "255"} {
		var p sim.Pod
		if err := apply(&p, "exitCode", code); err != nil || fmt.Sprint(p.ExitCode) != code {
			t.Errorf("exitCode %s: %v, %d", code, err, p.ExitCode)
		}
	}
}

// Whatever the settings are, a quorum is at most the number of pods that can run together.
func TestQuorum(t *testing.T) {
	manifest := func(kind, spec string) string {
		return write(t, "job.yaml", "apiVersion: batch/v1\nkind: "+kind+"\nmetadata: {name: a, annotations: {"+Prefix+"quorum: '3'}}\nspec: "+spec)
	}
	const template = "template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}"
	trace := write(t, "trace.csv", "submit,duration,pods\n0s,1s,3\n0s,1s,2\n")
	for _, test := range []struct{ name, file, settings, want string }{
		{"as many", manifest("Job", "{parallelism: 3, completions: 3, "+template+"}"), "", ""},
		{"too many", manifest("Job", "{parallelism: 2, completions: 4, "+template+"}"), "", "job.yaml:1: a: quorum: 3: must not be above spec.parallelism, 2: "},
		{"one by default", manifest("Job", "{"+template+"}"), "", "quorum: 3: must not be above spec.parallelism, 1: "},
		{"few completions", manifest("Job", "{parallelism: 3, completions: 2, "+template+"}"), "", "quorum: 3: must not be above spec.completions, 2: "},
		{"no completions", manifest("Job", "{parallelism: 3, "+template+"}"), "", ""},
		{"a setting raises it", manifest("Job", "{parallelism: 2, "+template+"}"), "jobs.parallelism=3", ""},
		{"a setting lowers it", manifest("Job", "{parallelism: 3, "+template+"}"), "jobs.parallelism=2", "quorum: 3: must not be above spec.parallelism, 2: "},
		{"of a CronJob", manifest("CronJob", "{schedule: '0 0 * * *', jobTemplate: {spec: {parallelism: 2, "+template+"}}}"), "", "quorum: 3: must not be above"},
		{"a trace", trace, "pods=[{match: '*', quorum: 2}]", ""},
		{"a trace with a smaller job", trace, "pods=[{match: '*', quorum: 3}]", "quorum: 3: must not be above spec.parallelism, 2: "},
	} {
		var settings []Setting
		if test.settings != "" {
			one, err := ParseSetting(test.settings)
			must.OK(t, err)
			settings = append(settings, one)
		}
		s, err := Load([]string{test.file}, settings)
		if err == nil && s.World(1).Jobs != nil {
			for _, e := range s.World(1).Jobs {
				err = errors.Join(err, e)
			}
		}
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

// A setting can change each place of a scenario. A missing place is added.
func TestSetPlaces(t *testing.T) {
	file := write(t, "scenario.yaml", "nodes: [{count: 2}]\ndisruptions: [{node: 1}]\n")
	for _, test := range []struct{ settings, want string }{
		{"nodes.0.count=3", "nodes 3, disruptions 1, quota false, until 0s"},
		{"nodes.1.count=3", "nodes 5, disruptions 1, quota false, until 0s"},
		{"quota.pods=1", "nodes 2, disruptions 1, quota true, until 0s"},
		{"controlPlane.restarts.0=1s until=2h", "nodes 2, disruptions 1, quota false, until 2h0m0s"},
		{"disruptions=[]", "nodes 2, disruptions 0, quota false, until 0s"},
		{"nodes=", "nodes 0, disruptions 1, quota false, until 0s"},
		{"until=", "nodes 2, disruptions 1, quota false, until 0s"},
		{"nodes.2.count=3", `nodes.2.count: "2" is not a place in a list of 1`},
		{"nodes.x.count=3", `nodes.x.count: "x" is not a place in a list of 1`},
		{"until.x=3", `until.x: no such field`},
		{"nodes.0.count.x=3", `nodes.0.count.x: "x" is part of a plain value`},
		{"until=-1s", `"-1s" is not a duration`},
		{"=3", `"=3": expected PATH=VALUE`},
		{"nodes=[", "nodes=[: "},
		{"cronJobs.schedule=@hourly", "nodes 2"},
		{"cronJobs.schedule=*/5", "nodes 2"},
	} {
		s, err := load([]string{file}, strings.Fields(test.settings)...)
		have := fmt.Sprint(err)
		if err == nil {
			w := s.World(1)
			have = fmt.Sprintf("nodes %d, disruptions %d, quota %v, until %v", len(w.Nodes), len(w.Disruptions),
				w.Admission != nil, w.Until)
		}
		if !strings.Contains(have, test.want) && !(test.settings == "until.x=3" && err != nil) {
			t.Errorf("%s: have %s, want %s", test.settings, have, test.want)
		}
	}
}

// Errors name the file and the place.
func TestBadPlaces(t *testing.T) {
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}\n"
	manifest := write(t, "job.yaml", job)
	for text, want := range map[string]string{
		"jobs: {parallelism: many}\n":                                   "jobs: json: cannot unmarshal",
		"disruptions: [{kind: flood}]\n":                                `disruptions.0.kind: "flood": expected lost or drained`,
		"controlPlane: {outages: [{of: x}]}\n":                          `controlPlane.outages.0.of: "x": expected controllers or apiServer`,
		"load: [{manifest: a, swf: b}]\n":                               "load.0: stat",
		"load: [{manifest: " + manifest + ", swf: " + manifest + "}]\n": "load.0: names 2 files",
		"stages: [" + write(t, "s.yaml", "kind: Job\n") + "]\n":         `kind "Job" is not a Stage`,
		"stages: [" + write(t, "t.yaml", "kind: Stage\nmetadata: {name: x}\nspec: {resourceRef: {kind: Pod}, delay: {durationMilliseconds: -1}}\n") + "]\n":                  "stage x: delay: -1 and 0 ms: must be from 0 to",
		"stages: [" + write(t, "v.yaml", "kind: Stage\nmetadata: {name: x}\nspec: {resourceRef: {kind: Pod}, delay: {durationMilliseconds: 9000000000000000000}}\n") + "]\n": "stage x: delay: 9000000000000000000 and 0 ms: must be from 0 to",
		"stages: [" + write(t, "w.yaml", "kind: Stage\nmetadata: {name: x}\nspec: {resourceRef: {kind: Pod}, weight: -1}\n") + "]\n":                                         "stage x: weight: -1: must be from 0 to 1000000",
		"stages: [" + write(t, "u.yaml", "kind: Stage\nmetadata: {name: x}\nspec: {resourceRef: {kind: Pod}, delay: {jitterDurationMilliseconds: -1}}\n") + "]\n":            "stage x: delay: 0 and -1 ms: must be from 0 to",
	} {
		_, err := Load([]string{write(t, "scenario.yaml", text), manifest}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
	for name, text := range map[string]string{"no_items.yaml": "apiVersion: v1\nkind: List\n", "empty.yaml": "", "null.yaml": "null\n", "list.yaml": "apiVersion: v1\nkind: List\nitems: []\n"} {
		if _, err := ReadManifest(write(t, name, text)); err == nil ||
			!strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The scenario changes the spec of every CronJob. The file of a CronJob may begin with empty
// documents.
func TestCronJobs(t *testing.T) {
	const cron = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec: {schedule: 5 * * * *, suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}}}\n"
	file := write(t, "cron.yaml", cron)
	s, err := Load([]string{write(t, "scenario.yml", "---\nnull\n---\nuntil: 1h\ncronJobs: {suspend: false, concurrencyPolicy: Forbid}\n"), file}, nil)
	must.OK(t, err)
	all := s.World(1).CronJobs
	if len(all) != 1 || *all[0].Spec.Suspend || all[0].Spec.ConcurrencyPolicy != cronjob.Forbid ||
		all[0].Spec.Schedule != "5 * * * *" {
		t.Errorf("%+v", all)
	}
	if _, err := Load([]string{write(t, "scenario.yaml", "cronJobs: {suspend: perhaps}\n"), file}, nil); err == nil ||
		!strings.Contains(err.Error(), "cronJobs: json: ") {
		t.Errorf("%v", err)
	}
}

// The objects of a List are read, with the grace period and the resources of their pods.
func TestList(t *testing.T) {
	item := func(kind, name, spec string) string {
		return "- {apiVersion: batch/v1, kind: " + kind + ", metadata: {name: " + name + "}, spec: {" + spec + "}}\n"
	}
	const template = "template: {spec: {restartPolicy: Never, terminationGracePeriodSeconds: 7, containers: [{name: main, image: x, resources: {requests: {cpu: 250m}}}]}}"
	s, err := Load([]string{write(t, "list.yaml", "apiVersion: v1\nkind: List\nitems:\n"+item("Job", "a", template)+item("CronJob", "c", "schedule: 5 * * * *, jobTemplate: {spec: {"+template+"}}")+item("Job", "b", template))}, nil)
	must.OK(t, err)
	names := ""
	for j, err := range s.World(1).Jobs {
		must.OK(t, err)
		names += j.Name
		if j.Pod.Grace != 7*time.Second || j.Pod.Resources.CPU != 250 {
			t.Errorf("%+v", j.Pod)
		}
	}
	if crons := s.World(1).CronJobs; names != "ab" || len(crons) != 1 || crons[0].Job.Pod.Grace != 7*time.Second {
		t.Errorf("%s, %+v", names, crons)
	}
}

// TestJ44_Scenario: if a job asks for a gang and the scenario does not set options.gangs, the job
// is refused. It is also refused if it asks for something that is not simulated.
func TestJ44_Scenario(t *testing.T) {
	const gang = "schedulingPolicy: {gang: {}}"
	manifest := func(kind, scheduling string) string {
		spec := "parallelism: 2, completions: 2, scheduling: {" + scheduling + "}, template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}"
		if kind == "CronJob" {
			spec = "schedule: 5 * * * *, jobTemplate: {spec: {" + spec + "}}"
		}
		return write(t, "a.yaml", "apiVersion: batch/v1\nkind: "+kind+"\nmetadata: {name: a}\nspec: {"+spec+"}\n")
	}
	for _, test := range []struct{ kind, scheduling, settings, want string }{
		{"Job", gang, "options.gangs=true", "true"},
		{"Job", gang, "options.gangs=false", "false"},
		{"Job", gang, "", "a: spec.scheduling.schedulingPolicy.gang: needs options.gangs, true or false"},
		{"Job", "schedulingPolicy: {basic: {}}", "", "false"},
		{"Job", gang + ", disruptionMode: {single: {}}", "options.gangs=true", "true"},
		{"Job", gang + ", disruptionMode: {all: {}}", "options.gangs=true", "spec.scheduling.disruptionMode.all: is not simulated"},
		{"Job", gang + ", disruptionMode: {all: {}}", "options.gangs=false", "false"},
		{"Job", gang + ", schedulingConstraints: {topology: [{key: rack}]}", "options.gangs=true", "spec.scheduling.schedulingConstraints: are not simulated"},
		{"Job", gang + ", resourceClaims: [{name: c}]", "options.gangs=true", "spec.scheduling.resourceClaims: are not simulated"},
		{"Job", gang, "options.gangs=true jobs.parallelism=1", "true"},
		{"Job", "schedulingPolicy: {gang: {minCount: 2}}", "options.gangs=true jobs.parallelism=1", "scheduling.schedulingPolicy.gang.minCount: 2: must be at most parallelism, 1"},
		{"Job", "", "options.gangs=true jobs.scheduling.schedulingPolicy.gang.minCount=2", "true"},
		{"Job", "", "jobs.scheduling.schedulingPolicy.gang.minCount=2", "needs options.gangs"},
		{"CronJob", gang, "until=1h options.gangs=false", "0 jobs"},
		{"CronJob", gang, "until=1h options.gangs=true", "a: jobTemplate.spec.scheduling.schedulingPolicy.gang: the jobs of a CronJob are in no gang (J44)"},
		{"CronJob", "", "until=1h options.gangs=true", "0 jobs"},
	} {
		s, err := load([]string{manifest(test.kind, test.scheduling)}, strings.Fields(test.settings)...)
		got := "0 jobs"
		if err != nil {
			got = err.Error()
		} else if jobs := s.World(1).Jobs; jobs != nil {
			for j := range jobs {
				got = fmt.Sprint(j.Options.Gangs)
			}
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s {%s} with %s: got %s, want %s", test.kind, test.scheduling, test.settings, got, test.want)
		}
	}
}

// A disruption is a share of the pods, or the rate at which a single pod is evicted.
func TestDisruption(t *testing.T) {
	var share, rate sim.Pod
	must.OK(t, apply(&share, "disruption", "25%"))
	must.OK(t, apply(&rate, "disruption", "48/d"))
	if want := (sim.Pod{Disruption: 0.25}); !reflect.DeepEqual(share, want) {
		t.Errorf("%+v", share)
	}
	if want := (sim.Pod{DisruptionRate: 2}); !reflect.DeepEqual(rate, want) {
		t.Errorf("%+v", rate)
	}
}

// If a value is also the name of a field, it is not mistaken for the field.
func TestNameOfAField(t *testing.T) {
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: pull}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}\n"
	r := run(t, []string{write(t, "scenario.yaml", "pods: [{match: pull, pull: 1s}]\n"), write(t, "job.yaml", job)},
		"pods.0.pull=2s")
	if p := r.Pods[0]; p.Started-p.Bound != 2*time.Second {
		t.Errorf("%+v", p)
	}
}

// A stage without a delay is used. A stage with a phase that is not simulated is ignored.
func TestStageShapes(t *testing.T) {
	stage := func(delay, phase string) string {
		return "---\nkind: Stage\nmetadata: {name: x}\nspec: {resourceRef: {kind: Pod}, delay: {" + delay + "}, next: {statusTemplate: \"phase: " + phase + "\"}}\n"
	}
	got, err := readStages(write(t, "stages.yaml", stage("", "Running")+stage("durationMilliseconds: 5", "Pending")+stage("durationMilliseconds: 7", "Succeeded")+
		"---\nkind: Stage\nmetadata: {name: gone}\nspec: {resourceRef: {kind: Pod}, delay: {durationMilliseconds: 9}, next: {delete: true}}\n"))
	if err != nil || len(got) != 3 {
		t.Fatalf("%d stages, %v", len(got), err)
	}
	p := sim.Pod{Pull: sim.Constant(time.Hour)}
	for i := range got {
		got[i].shape(&p)
	}
	if want := (sim.Pod{Pull: sim.Constant(0), Duration: sim.Constant(7 * time.Millisecond), Stop: sim.Constant(9 * time.Millisecond)}); !reflect.DeepEqual(p, want) {
		t.Errorf("%+v", p)
	}
}

// Very long times of a trace end after a hundred years.
func TestInSeconds(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	if inSeconds(1.5) != 1500*time.Millisecond || inSeconds(1e30) != century ||
		inSeconds(century.Seconds()-1) != century-time.Second {
		t.Error(inSeconds(1e30))
	}
}
