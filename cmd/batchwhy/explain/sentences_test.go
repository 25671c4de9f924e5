package explain_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cmd/batchwhy/explain"
	"github.com/batchplan/batchplan/cmd/batchwhy/read"
)

const (
	jobHead  = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: n, uid: u, creationTimestamp: \"2026-01-01T09:00:00Z\"}\n"
	cronHead = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c, namespace: n, uid: v, creationTimestamp: \"2026-01-01T09:00:00Z\"}\n"
	podOf    = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: NAME, namespace: n, uid: NAME, creationTimestamp: \"2026-01-01T09:00:00Z\", finalizers: [batch.kubernetes.io/job-tracking], " +
		"annotations: {batch.kubernetes.io/job-completion-index: \"INDEX\"}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: a, uid: u, controller: true}]}\n"
	template = "template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}"

	threeOnFailure = "template: {spec: {restartPolicy: OnFailure, containers: [{name: a, image: x}, {name: b, image: x}, {name: c, image: x}]}}"
)

func pod(name, index, rest string) string {
	return strings.NewReplacer("NAME", name, "INDEX", index).Replace(podOf) + rest
}

// TestSentences: what no situation shows.
func TestSentences(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"an invalid CronJob", cronHead + "spec: {schedule: \"TZ=UTC * * * * *\", jobTemplate: {spec: {" + template + "}}}\n",
			"error InvalidSpec: An API server refuses the CronJob: "},
		{"restarts that containers share", jobHead + "spec: {backoffLimit: 6, " + threeOnFailure + "}\n",
			"note RestartsShared: With restartPolicy OnFailure, backoffLimit 6 counts the restarts of all containers of all active pods together (1 pod with 3 containers): if they fail equally often, the Job fails when each has had 2 restarts."},
		{"restarts that pods share", jobHead + "spec: {parallelism: 9, completions: 2, backoffLimit: 8, " + threeOnFailure + "}\n",
			"(2 pods with 3 containers): if they fail equally often, the Job fails when each has had at most 2 restarts."},
		{"restarts that the Jobs of a CronJob share", cronHead + "spec: {schedule: \"0 9 * * *\", timeZone: Etc/UTC, jobTemplate: {spec: {" + threeOnFailure + "}}}\n",
			"note RestartsShared: In its Jobs, with restartPolicy OnFailure, backoffLimit 6 counts"},
		{"retries of each index", jobHead + "spec: {completions: 2, completionMode: Indexed, backoffLimitPerIndex: 1, " + template + "}\n",
			"Each index has 1 retry left (backoffLimitPerIndex): none of those that go on has failed."},
		{"the TTL", jobHead + "spec: {ttlSecondsAfterFinished: 7200, " + template + "}\n" +
			"status: {startTime: \"2026-01-01T09:00:00Z\", completionTime: \"2026-01-01T09:30:00Z\", succeeded: 1, conditions: [{type: SuccessCriteriaMet, status: \"True\", lastTransitionTime: \"2026-01-01T09:30:00Z\"}, " +
			"{type: Complete, status: \"True\", lastTransitionTime: \"2026-01-01T09:30:00Z\"}]}\n", "the TTL controller deletes the Job and its pods: ttlSecondsAfterFinished is 7200."},
		{"a node that has not begun", jobHead + "spec: {" + template + "}\nstatus: {active: 1, startTime: \"2026-01-01T09:00:00Z\"}\n" +
			pod("p", "0", "spec: {nodeName: m}\nstatus: {phase: Pending}\n"), "has node m, which has not started its containers"},
		{"pods in the order of their indexes", jobHead + "spec: {completions: 2, parallelism: 2, completionMode: Indexed, " + template + "}\nstatus: {active: 2, startTime: \"2026-01-01T09:00:00Z\"}\n" +
			pod("a", "1", "status: {phase: Running}\n") + pod("b", "0", "status: {phase: Running}\n"), "b (index 0): Runs for 1h, not ready.\n    a (index 1): "},
		{"a pod without its Job", strings.ReplaceAll(jobHead, "uid: u", "uid: w") + "spec: {" + template + "}\n" + pod("p", "0", "status: {phase: Running}\n"),
			"warning JobMissing: 1 pod belongs to Jobs that the input does not contain: n/p."},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects := &read.Objects{}
			stream := objects.Stream("input")
			_, _ = stream.Write([]byte(test.in))
			_ = stream.Close()
			report := explain.All(objects, explain.Options{At: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)})
			if have := strings.Join(strings.Fields(string(text(t, report))), " "); !strings.Contains(have, strings.Join(strings.Fields(test.want), " ")) {
				t.Errorf("no %q in\n%s", test.want, text(t, report))
			}
		})
	}
}

// TestUnsharedRestarts: nothing is shared by one container, by a limit of one restart, without a
// limit, and with restartPolicy Never.
func TestUnsharedRestarts(t *testing.T) {
	for _, spec := range []string{
		"parallelism: 4, completions: 1, template: {spec: {restartPolicy: OnFailure, containers: [{name: a, image: x}]}}",
		"backoffLimit: 1, " + threeOnFailure,
		"backoffLimit: 2147483647, " + threeOnFailure,
		strings.ReplaceAll(threeOnFailure, "OnFailure", "Never"),
		"parallelism: 0, " + threeOnFailure,
	} {
		for _, in := range []string{jobHead + "spec: {" + spec + "}\n", cronHead + "spec: {schedule: \"0 9 * * *\", jobTemplate: {spec: {" + spec + "}}}\n"} {
			objects := &read.Objects{}
			stream := objects.Stream("input")
			_, _ = stream.Write([]byte(in))
			_ = stream.Close()
			report := explain.All(objects, explain.Options{At: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)})
			if have := string(text(t, report)); len(report.Objects) != 1 || strings.Contains(have, "RestartsShared") {
				t.Errorf("%s:\n%s", in, have)
			}
		}
	}
}

// TestPlots: the pictures of all situations, with names that XML has to escape.
func TestPlots(t *testing.T) {
	var all []explain.Explanation
	for _, name := range []string{"forbid", "backoff", "per_index", "node_lost"} {
		objects, o := situation(t, "testdata/situations/"+name)
		o.Timeline = true
		all = append(all, explain.All(objects, o).Objects...)
	}
	all[0].Name = `<a> & "b"`
	var b bytes.Buffer
	if err := explain.Plot(&b, all); err != nil {
		t.Fatal(err)
	}
	compare(t, "testdata/plots.svg", b.Bytes())
}

// TestCommands: a shell takes a command as it is meant, whatever the names in the input contain.
func TestCommands(t *testing.T) {
	objects := &read.Objects{}
	stream := objects.Stream("input")
	in := strings.ReplaceAll(jobHead, "name: a,", `name: "a; touch 'x' $(id)",`) + "spec: {parallelism: 0, " + template + "}\n"
	_, _ = stream.Write([]byte(in))
	_ = stream.Close()
	report := explain.All(objects, explain.Options{At: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)})
	const want = `kubectl -n n patch job 'a; touch '\''x'\'' $(id)' --type=merge -p '{"spec":{"parallelism":1}}'`
	if got := report.Objects[0].Findings[0].Remedies[0].Command; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
