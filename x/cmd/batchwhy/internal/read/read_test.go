package read

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

func readText(file, text string) *Objects {
	o := &Objects{}
	s := o.Stream(file)
	_, _ = s.Write([]byte(text))
	_ = s.Close()
	return o
}

func summary(o *Objects) string {
	var parts []string
	for _, j := range o.Jobs {
		if j != nil {
			parts = append(parts, fmt.Sprintf("job %s line %d", j.Key(), j.At.Line))
		}
	}
	for _, c := range o.CronJobs {
		if c != nil {
			parts = append(parts, fmt.Sprintf("cronjob %s line %d", c.Key(), c.At.Line))
		}
	}
	for _, p := range o.Pods {
		if p != nil {
			parts = append(parts, fmt.Sprintf("pod %s %s line %d", p.Key(), p.Object.Phase, p.At.Line))
		}
	}
	for _, p := range o.Problems {
		parts = append(parts, "! "+p.Error())
	}
	return strings.Join(parts, "\n")
}

const (
	jobA = `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": "n", "name": "a", "uid": "u-a"}, "spec": {}}`
	jobB = `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": "n", "name": "b", "uid": "u-b"}, "spec": {}}`
	podP = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "n", "name": "p", "uid": "u-p"}, "status": {"phase": "Running"}}`
)

// TestForms: objects of lists, watches and events. Package manifest tests the forms of an input.
func TestForms(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"a List", "f.json", "{\"apiVersion\": \"v1\",\n\"items\": [\n" + jobA + ",\n" + jobB + "],\n\"kind\": \"List\"}", "job n/a line 3\njob n/b line 4"},
		{"a watch", "f", jobA + "\n" + strings.Replace(jobA, `"spec"`, `"status": {"active": 1}, "spec"`, 1), "job n/a line 2"},
		{"watch events", "f", `{"type": "ADDED", "object": ` + jobA + `}` + "\n" + `{"type": "ADDED", "object": ` + jobB + `}{"type": "DELETED", "object": ` + jobA + `}{"type": "BOOKMARK", "object": {}}`, "job n/b line 2"},
		{"a pod that goes", "f", `{"type": "ADDED", "object": ` + jobA + `}{"type": "ADDED", "object": ` + podP + `}{"type": "DELETED", "object": ` + podP + `}`, "job n/a line 1"},
		{"a YAML JobList whose kind comes last", "f.yaml", "apiVersion: batch/v1\nitems:\n- metadata: {name: a, uid: x}\n  spec: {}\nkind: JobList\n", "job a line 3"},
		{"other kinds", "f", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {}}`, ""},
		{"a newer version comes first", "f", strings.Replace(jobA, `"uid"`, `"resourceVersion": "9", "uid"`, 1) + "\n" + strings.Replace(jobA, `"uid"`, `"resourceVersion": "8", "deletionTimestamp": "2026-01-01T00:00:00Z", "uid"`, 1), "job n/a line 1"},
	}
	for _, test := range tests {
		if got := summary(readText(test.file, test.text)); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestBadInput: problems have a file and a line, and the rest of the input is read.
func TestBadInput(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"a wrong type", "f.json", "{\"items\": [{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\",\n\"metadata\": {\"name\": \"x\"},\n\"spec\": {\"parallelism\": \"two\"}}, " + jobB + "]}", "job n/b line 3\n! f.json:3:25: spec.parallelism: is the string \"two\", expected a whole number"},
		{"an old version", "f.yaml", "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: c}\n", "! f.yaml:1: apiVersion: \"batch/v1beta1\" of CronJob c is not supported; expected \"batch/v1\", which has served CronJobs since Kubernetes 1.21"},
		{"no kind", "f.yaml", "spec: {}\n", "! f.yaml:1: the object has no kind; expected a Job, CronJob, Pod, Event, Namespace, Node or a List of them, as kubectl get -o json or -o yaml prints them (kubectl describe does not)"},
		{"no name", "f", `{"apiVersion": "v1", "kind": "Pod"}`, "! f:1: metadata.name: is required"},
		{"one UID twice", "f.json", jobA + "\n" + strings.Replace(jobB, "u-b", "u-a", 1), "job n/a line 1\n! f.json:2: uid: \"u-a\" of Job n/b belongs to Job n/a at f.json:1 already; no two objects share a UID"},
		{"a wrong type in YAML", "f.yaml", "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\nspec:\n  parallelism: two\n", "! f.yaml:6:16: spec.parallelism: is the string \"two\", expected a whole number"},
	}
	for _, test := range tests {
		if got := summary(readText(test.file, test.text)); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestMillionItems: reading a list of any length takes little memory. All objects beyond the limit
// share one problem.
func TestMillionItems(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a few seconds")
	}
	o := &Objects{Limit: 1000}
	s := o.Stream("f.json")
	_, _ = s.Write([]byte(`{"apiVersion": "v1", "items": [`))
	for i := range 1_000_000 {
		if i > 0 {
			_, _ = s.Write([]byte(",\n"))
		}
		if i%100 == 0 {
			fmt.Fprintf(s, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","uid":"%d"}}`, i, i)
		} else {
			_, _ = s.Write([]byte(`{"apiVersion":"v1","kind":"Secret"}`))
		}
	}
	_, _ = s.Write([]byte(`], "kind": "List"}`))
	_ = s.Close()
	if len(o.Pods) != 1000 || o.Others["Secret"] != 990_000 {
		t.Errorf("%d pods, %d secrets", len(o.Pods), o.Others["Secret"])
	}
	if want := "f.json:100001: more than 1000 Jobs, CronJobs and Pods; the rest is not read"; len(o.Problems) != 1 ||
		o.Problems[0].Error() != want {
		t.Errorf("problems %v", o.Problems)
	}
}

// TestPods: fields that the planner does not need are kept for the explanations.
func TestPods(t *testing.T) {
	o := readText("f.json", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "1", "finalizers": ["a/b"]}, "spec": {"nodeName": "n1"},
		"status": {"phase": "Pending", "reason": "Evicted", "startTime": "2026-01-01T00:00:00Z",
		"conditions": [{"type": "PodScheduled", "status": "False", "message": "no node"}],
		"containerStatuses": [{"name": "c", "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "m"}}, "lastState": {"terminated": {"exitCode": 3}}}]}}`)
	p := o.Pods[0]
	if p.Node != "n1" || p.Reason != "Evicted" || p.Condition("PodScheduled").Message != "no node" ||
		p.StartTime.IsZero() || len(p.Finalizers) != 1 {
		t.Errorf("got %+v", p)
	}
	if len(p.Containers) != 1 || p.Containers[0].Last == nil {
		t.Fatalf("containers %+v", p.Containers)
	}
	last := *p.Containers[0].Last
	p.Containers[0].Last = nil
	if want := (Container{Name: "c", Started: true, Waiting: true, Reason: "CrashLoopBackOff", Message: "m", Restarts: 4}); p.Containers[0] != want || last.ExitCode != 3 {
		t.Errorf("container %+v, then %+v", p.Containers[0], last)
	}
}

// TestLatest: Latest is the newest time in an input. For a deletion it is the time before the grace
// period.
func TestLatest(t *testing.T) {
	const at = `"creationTimestamp": "2026-01-01T09:00:00Z"`
	for metadata, want := range map[string]string{at: "09:00:00", at + `, "deletionTimestamp": "2026-01-01T10:00:30Z", "deletionGracePeriodSeconds": 30`: "10:00:00"} {
		o := readText("f.json",
			`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "1", `+metadata+`}}`)
		if got := o.Latest.Format("15:04:05"); got != want {
			t.Errorf("%s: %s, want %s", metadata, got, want)
		}
	}
}

// TestWorkload: whether Kueue has admitted a Job, and why not.
func TestWorkload(t *testing.T) {
	for conditions, want := range map[string]Workload{
		`{"type": "QuotaReserved", "status": "False", "message": "no quota"}`:                                    {Name: "w", Why: "no quota"},
		`{"type": "Admitted", "status": "True", "message": "m"}`:                                                 {Name: "w", Admitted: true},
		`{"type": "Admitted", "status": "False"}, {"type": "Evicted", "status": "True", "message": "preempted"}`: {Name: "w", Why: "preempted"},
	} {
		o := readText("f.json", `{"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": "w", "uid": "1", "ownerReferences": [{"kind": "Job", "uid": "u", "controller": true}]}, "status": {"conditions": [`+conditions+`]}}`)
		if got := o.Workloads["u"]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", conditions, got)
		}
	}
}

// FuzzStream: no input makes the reader crash, and the size of the pieces does not change the
// result.
func FuzzStream(f *testing.F) {
	for _, s := range []string{jobA, "[" + jobA + "]", `{"items": [` + podP + `]}`, "items:\n- kind: Job\n  a: |\n    - x\n", "---\na: b\n...\n", "{a: [", `{"items":[{"a":"\"`} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		whole := readText("f", string(data))
		pieces := &Objects{}
		s := pieces.Stream("f")
		r := rand.New(rand.NewPCG(seed, 1))
		for rest := data; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			_, _ = s.Write(rest[:n])
			rest = rest[n:]
		}
		_ = s.Close()
		if a, b := summary(whole), summary(pieces); a != b {
			t.Fatalf("in one piece:\n%s\nin several:\n%s", a, b)
		}
	})
}

// BenchmarkJSON reads a list of pods as kubectl prints them.
func BenchmarkJSON(b *testing.B) {
	var pod bytes.Buffer
	must.OK(b, json.Indent(&pod, []byte(podP), "", "    "))
	one := []byte(`{"items": [` + pod.String() + `]}`)
	b.SetBytes(int64(len(one)))
	for b.Loop() {
		readText("f.json", string(one))
	}
}

// TestOthers: what is kept of objects of other kinds, and that a later version replaces it. The values of a
// Secret are not kept.
func TestOthers(t *testing.T) {
	deployment := func(ready string) string {
		return `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "n", "uid": "1", "annotations": {"a": "b"}}, "status": {` + ready + `}}`
	}
	watched := func(event, object string) string { return `{"type": "` + event + `", "object": ` + object + `}` }
	report := func(message string) string {
		return `{"apiVersion": "x/v1", "kind": "Kustomization", "metadata": {"name": "k", "namespace": "n", "uid": "2"}, "status": {"conditions": [{"type": "Ready", "status": "False", "message": "` + message + `"}]}}`
	}
	volume := func(terms, phase string) string {
		return `{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v", "uid": "3"}, "spec": {"claimRef": {"namespace": "n", "name": "c"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [` + terms + `]}}}, "status": {"phase": "` + phase + `"}}`
	}
	const term = `{"matchExpressions": [{"key": "arch", "operator": "NotIn", "values": ["x"]}, {"key": "zone", "operator": "In", "values": ["a"]}]}`

	for _, test := range []struct{ name, text, want string }{
		{"a Deployment", deployment(`"readyReplicas": 1`), `[Deployment n/d map[status:map[readyReplicas:1]]] [] map[]`},
		{"one that becomes ready", deployment("") + deployment(`"readyReplicas": 1`), `[Deployment n/d map[status:map[readyReplicas:1]]] [] map[]`},
		{"one that is gone", watched("ADDED", deployment("")) + watched("DELETED", deployment("")), `[] [] map[]`},
		{"a Secret", `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"password": "aHVudGVyMg=="}}`, `[Secret s map[data:map[password:<nil>]]] [] map[]`},
		{"a Secret as it is written", `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hunter2"}}`, `[Secret s map[stringData:map[password:<nil>]]] [] map[]`},
		{"a report that is gone", watched("ADDED", report("Job/n/a failed")) + watched("DELETED", report("Job/n/a failed")), `[] [] map[]`},
		{"a volume that is gone", watched("ADDED", volume(term, "")) + watched("DELETED", volume(term, "")), `[] [] map[]`},
		{"a report about a Job", report("Job/n/a failed"), `[] [{Kustomization n k  Ready False Job/n/a failed 0001-01-01 00:00:00 +0000 UTC}] map[]`},
		{"a later report", report("Job/n/a failed") + report("Job/n/b failed"), `[] [{Kustomization n k  Ready False Job/n/b failed 0001-01-01 00:00:00 +0000 UTC}] map[]`},
		{"a report about something else", report("Secret a failed"), `[] [] map[]`},
		{"a volume of a zone", volume(term, ""), `[] [] map[n/c:{v zone [a]}]`},
		{"a volume of one place or another", volume(term+","+term, ""), `[] [] map[]`},
		{"a volume that is released", volume(term, "") + volume(term, "Released"), `[] [] map[]`},
	} {
		var kept []string
		o := readText("f.json", test.text)
		for _, kind := range []string{"Deployment", "Secret"} {
			for key, x := range o.Kept[kind] {
				delete(x.Fields, "apiVersion")
				delete(x.Fields, "kind")
				kept = append(kept, fmt.Sprint(kind, " ", key, " ", x.Fields))
			}
		}
		if got := fmt.Sprint(kept, o.Reports, o.Volumes); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestDropped: what is left out because there is too much of it is a problem of the input.
func TestDropped(t *testing.T) {
	var b strings.Builder
	for i := range max(maxKept, maxReports) + 2 {
		fmt.Fprintf(&b, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c%d"}}`+"\n", i)
		if i < maxReports+2 {
			fmt.Fprintf(&b, `{"apiVersion": "x/v1", "kind": "X", "metadata": {"name": "x%d"}, "status": {"conditions": [{"type": "Ready", "status": "False", "message": "Job %d"}]}}`+"\n", i, i)
		}
	}
	o := readText("f.json", b.String())
	if len(o.Reports) != maxReports || o.HasAll() || len(o.Problems) != 2 {
		t.Errorf("%d reports, problems %v", len(o.Reports), o.Problems)
	}
}
