package explain_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

const (
	jobHead  = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: 'n', uid: u, creationTimestamp: \"2026-01-01T09:00:00Z\"}\n"
	cronHead = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c, namespace: 'n', uid: v, creationTimestamp: \"2026-01-01T09:00:00Z\"}\n"
	podOf    = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: NAME, namespace: 'n', uid: NAME, creationTimestamp: \"2026-01-01T09:00:00Z\", finalizers: [batch.kubernetes.io/job-tracking], " +
		"annotations: {batch.kubernetes.io/job-completion-index: \"INDEX\"}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: a, uid: u, controller: true}]}\n"
	template = "template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}"

	threeOnFailure = "template: {spec: {restartPolicy: OnFailure, containers: [{name: a, image: x}, {name: b, image: x}, {name: c, image: x}]}}"
)

func pod(name, index, rest string) string {
	return strings.NewReplacer("NAME", name, "INDEX", index).Replace(podOf) + rest
}

func eventOf(kind, name, uid, reason, message string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: 'n', uid: e}\ninvolvedObject: {kind: %s, name: %s, namespace: 'n', uid: %s}\n"+
		"type: Warning\nreason: %s\nmessage: \"%s\"\ncount: 2\nlastTimestamp: \"2026-01-01T09:59:50Z\"\n", kind, name, uid, reason, message)
}

// explained explains the objects of an input.
func explained(in string, o explain.Options) *explain.Report {
	objects := &read.Objects{}
	stream := objects.Stream("input")
	_, _ = stream.Write([]byte(in))
	_ = stream.Close()
	return explain.All(objects, o)
}

// tenOClock is the time of most explanations.
var tenOClock = time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)

// cron returns a CronJob with a schedule and more fields.
func cron(schedule, rest string) string {
	return cronHead + "spec: {schedule: \"" + schedule + "\", " + rest + "jobTemplate: {spec: {" + template + "}}}\n"
}

// child returns a Job of the CronJob, created at a time of the day.
func child(name, created, status string) string {
	head := strings.NewReplacer("name: a,", "name: "+name+",", "T09:00:00", "T"+created,
		"uid: u", "uid: "+name+", ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: c, uid: v, controller: true}]")
	return "---\n" + head.Replace(jobHead) + "spec: {" + template + "}\nstatus: {" + status + "}\n"
}

// failedBy returns the conditions of a Job that failed half an hour ago.
func failedBy(reason string) string {
	c := func(name string) string {
		return fmt.Sprintf("{type: %s, status: \"True\", reason: %s, message: m, lastTransitionTime: \"2026-01-01T09:30:00Z\"}", name, reason)
	}
	return "conditions: [" + c("FailureTarget") + ", " + c("Failed") + "]"
}

// TestSentences has sentences that no situation contains.
func TestSentences(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"an invalid CronJob", cronHead + "spec: {schedule: \"TZ=UTC * * * * *\", jobTemplate: {spec: {" + template + "}}}\n",
			"warning ZoneInSchedule: The schedule names its zone"},
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
			pod("a", "1", "status: {phase: Running}\n") + pod("b", "0",
			"status: {phase: Running}\n"), "b (index 0): Runs for 1h, not ready.\n    a (index 1): "},
		{"a pod without its Job", strings.ReplaceAll(jobHead, "uid: u", "uid: w") + "spec: {" + template + "}\n" + pod("p", "0", "status: {phase: Running}\n"),
			"warning JobMissing: 1 pod belongs to Jobs that the input does not contain: n/p."},
		{"a template that is refused", cronHead + "spec: {schedule: \"*/15 * * * *\", jobTemplate: {spec: {" + template + "}}}\n" +
			eventOf("CronJob", "c", "v", "FailedCreate", "Error creating job: Job.batch \\\"c-1\\\" is invalid: spec.template: Required value"), "do: Correct the field of spec.jobTemplate that the message names"},
		{"a quota of processors", jobHead + "spec: {" + template + "}\nstatus: {startTime: \"2026-01-01T09:00:00Z\"}\n" +
			eventOf("Job", "a", "u", "FailedCreate", "Error creating: pods \\\"a-x\\\" is forbidden: exceeded quota: q, requested: requests.cpu=4, used: requests.cpu=8, limited: requests.cpu=10"),
			"If the pods ask for more than they need: lower resources.requests"},
		{"a service account that is not there", jobHead + "spec: {template: {spec: {serviceAccountName: robot, restartPolicy: Never, containers: [{name: main, image: x}]}}}\nstatus: {startTime: \"2026-01-01T09:00:00Z\"}\n" +
			eventOf("Job", "a", "u", "FailedCreate", "Error creating: pods \\\"a-x\\\" is forbidden: error looking up service account n/robot: serviceaccount \\\"robot\\\" not found"),
			"kubectl -n n create serviceaccount robot"},
		{"a pod of a lost node", jobHead + "spec: {backoffLimit: 0, " + template + "}\nstatus: {failed: 1, startTime: \"2026-01-01T09:00:00Z\", " + failedBy("BackoffLimitExceeded") + "}\n" +
			pod("p", "0", "status: {phase: Failed, reason: NodeLost}\n"), "action: Ignore"},
		{"one of two containers that fails", jobHead + "spec: {backoffLimit: 0, " + template + "}\nstatus: {failed: 1, startTime: \"2026-01-01T09:00:00Z\", " + failedBy("BackoffLimitExceeded") + "}\n" +
			pod("p", "0", "status: {phase: Failed, containerStatuses: [{name: good, state: {terminated: {exitCode: 0, finishedAt: \"2026-01-01T09:29:00Z\"}}}, {name: bad, state: {terminated: {exitCode: 3, finishedAt: \"2026-01-01T09:30:00Z\"}}}]}\n"),
			"(BackoffLimitExceeded); the failed pods that still exist ended with exit code 3; container good ended with exit code 0 there: its work is done"},
		{"too many failed indexes", jobHead + "spec: {completions: 5, completionMode: Indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 1, " + template + "}\n" +
			"status: {failed: 2, failedIndexes: \"1,3\", startTime: \"2026-01-01T09:00:00Z\", " + failedBy("MaxFailedIndexesExceeded") + "}\n", "2 indexes failed, which are 1,3, and maxFailedIndexes is 1 (MaxFailedIndexesExceeded)"},
		{"a TTL that has just passed", jobHead + "spec: {ttlSecondsAfterFinished: 1798, " + template + "}\nstatus: {failed: 1, startTime: \"2026-01-01T09:00:00Z\", " + failedBy("BackoffLimitExceeded") + "}\n",
			"The TTL controller deletes the Job and its pods now: ttlSecondsAfterFinished, 1798, passed"},
		{"pods that must be replaced", jobHead + "spec: {completions: 2, parallelism: 2, " + template + "}\nstatus: {active: 2, startTime: \"2026-01-01T09:00:00Z\"}\n" +
			pod("p", "0", "status: {phase: Running}\n") + strings.Replace(pod("q", "0", "status: {phase: Running}\n"), "name: q,", "name: q, deletionTimestamp: \"2026-01-01T09:59:50Z\", deletionGracePeriodSeconds: 30,", 1),
			"2 should be active and 1 is, since 1 failed and 1 is terminating."},
		{"two reasons for no node", jobHead + "spec: {" + template + "}\nstatus: {active: 1, startTime: \"2026-01-01T09:00:00Z\"}\n" +
			pod("p", "0", "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable, message: \"0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had volume node affinity conflict.\"}]}\n"),
			"do: If the pod asks for more than any node has: lower resources.requests"},
		{"no node and no scheduler", jobHead + "spec: {" + template + "}\nstatus: {active: 1, startTime: \"2026-01-01T09:00:00Z\"}\n" + pod("p", "0", "status: {phase: Pending}\n"),
			"has no node, and no scheduler has reported anything: schedulerName is default-scheduler"},
		{"a pod that restarts all its containers", jobHead + "spec: {" + template + "}\nstatus: {active: 1, startTime: \"2026-01-01T09:00:00Z\"}\n" +
			pod("p", "0", "status: {phase: Running, conditions: [{type: AllContainersRestarting, status: \"True\", lastTransitionTime: \"2026-01-01T09:50:00Z\"}]}\n"), "restarts all its containers, as a restart rule of its spec says"},
		{"restarts that are left", jobHead + "spec: {backoffLimit: 6, template: {spec: {restartPolicy: OnFailure, containers: [{name: main, image: x}]}}}\nstatus: {active: 1, startTime: \"2026-01-01T09:00:00Z\"}\n" +
			pod("p", "0", "status: {phase: Running, containerStatuses: [{name: main, restartCount: 4, state: {running: {startedAt: \"2026-01-01T09:58:00Z\"}}, lastState: {terminated: {exitCode: 3, finishedAt: \"2026-01-01T09:57:00Z\"}}}]}\n"),
			"2 restarts left of backoffLimit 6: the containers of pods that have not ended were restarted 4 times; the Job fails at 6 restarts."},
		{"a limit that the containers of a CronJob's Jobs share", cronHead + "spec: {schedule: \"0 9 * * *\", timeZone: Etc/UTC, jobTemplate: {spec: {" + threeOnFailure + "}}}\n",
			"If each container should have that many: raise backoffLimit."},
		{"what a container said before it was restarted", jobHead + "spec: {backoffLimit: 9, template: {spec: {restartPolicy: OnFailure, containers: [{name: main, image: x}]}}}\nstatus: {active: 1, startTime: \"2026-01-01T09:00:00Z\"}\n" +
			pod("p", "0", "status: {phase: Running, containerStatuses: [{name: main, restartCount: 7, state: {running: {startedAt: \"2026-01-01T09:58:00Z\"}}, lastState: {terminated: {exitCode: 3, message: no route, finishedAt: \"2026-01-01T09:57:00Z\"}}}]}\n"),
			"container main was restarted 7 times, last after exit code 3, and it said \"no route\"; the Job fails at 9 restarts"},
		{"a gate that is not in the spec", jobHead + "spec: {" + template + "}\nstatus: {active: 1, startTime: \"2026-01-01T09:00:00Z\"}\n" +
			pod("p", "0", "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: SchedulingGated}]}\n"), "error SchedulingGated: "},
		{"a mount that fails for an unknown reason", jobHead + "spec: {" + template + "}\nstatus: {active: 1, startTime: \"2026-01-01T09:00:00Z\"}\n" +
			pod("p", "0", "spec: {nodeName: m}\nstatus: {phase: Pending}\n") + eventOf("Pod", "p", "p", "FailedMount", "mount failed: exit status 32"), "do: Look at the claim and its volume; the kubelet retries by itself. Changes nothing. kubectl -n n describe pvc"},
		{"an end without a time", jobHead + "spec: {ttlSecondsAfterFinished: 60, " + template + "}\nstatus: {failed: 1, startTime: \"2026-01-01T09:00:00Z\", conditions: [{type: Failed, status: \"True\", reason: BackoffLimitExceeded}]}\n",
			"warning UnknownExpiry: The TTL controller cannot tell when the Job expires: "},
		{"one run that has failed, long after a success", cronHead + "spec: {schedule: \"*/5 * * * *\", jobTemplate: {spec: {" + template + "}}}\nstatus: {lastScheduleTime: \"2026-01-01T09:55:00Z\", lastSuccessfulTime: \"2026-01-01T09:10:00Z\"}\n---\n" +
			strings.NewReplacer("name: a, namespace: 'n', uid: u, creationTimestamp: \"2026-01-01T09:00:00Z\"", "name: a, namespace: 'n', uid: u, creationTimestamp: \"2026-01-01T09:29:00Z\", ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: c, uid: v, controller: true}]").Replace(jobHead) +
			"spec: {" + template + "}\nstatus: {failed: 1, startTime: \"2026-01-01T09:29:00Z\", " + failedBy("BackoffLimitExceeded") + "}\n", "The last run has failed, and none has succeeded since the last success, 50m ago"},
		{"a run that failed since its pod was preempted", cron("0 9 * * *", "") + child("c-29453760", "09:00:00", "failed: 1, startTime: \"2026-01-01T09:00:00Z\", "+failedBy("BackoffLimitExceeded")) +
			eventOf("Pod", "c-29453760-abcde", "p", "Preempted", "Preempted by a pod on node m"), "The last run has failed: c-29453760 at 09:30:00 (30m ago)"},
		{"an offset for a time zone", cronHead + "spec: {schedule: \"0 9 * * *\", timeZone: UTC+0200, jobTemplate: {spec: {" + template + "}}}\n", "Etc/GMT-2"},
		{"a limit that three containers share", jobHead + "spec: {backoffLimit: 17, " + threeOnFailure + "}\n", "\"backoffLimit\":51"},
		{"a deadline that many pods have", jobHead + "spec: {backoffLimit: 999, " + template + "}\nstatus: {failed: 1, startTime: \"2026-01-01T09:00:00Z\"}\n" +
			pod("p", "0", "spec: {activeDeadlineSeconds: 60}\nstatus: {phase: Failed, reason: DeadlineExceeded}\n"), "all 1000 that backoffLimit 999 allows"},
		{"what may be a sidecar", jobHead + "spec: {template: {spec: {restartPolicy: Never, containers: [{name: work, image: x}, {name: other, image: x}]}}}\nstatus: {active: 1, startTime: \"2026-01-01T09:00:00Z\"}\n" +
			pod("p", "0", "spec: {containers: [{name: work, image: x}, {name: other, image: x}]}\nstatus: {phase: Running, containerStatuses: [{name: work, state: {terminated: {exitCode: 0, finishedAt: \"2026-01-01T09:10:00Z\"}}}, {name: other, state: {running: {startedAt: \"2026-01-01T09:00:10Z\"}}}]}\n"),
			"may never end: container work ended at 09:10:00 (50m ago) with exit code 0, and other still runs"},
		{"a city for a time zone", cronHead + "spec: {schedule: \"0 9 * * *\", timeZone: Asia/Beijing, jobTemplate: {spec: {" + template + "}}}\n", "Asia/Shanghai"},
		{"an abbreviation for a time zone", cronHead + "spec: {schedule: \"0 9 * * *\", timeZone: MSK, jobTemplate: {spec: {" + template + "}}}\n", "Europe/Moscow, which is one of the zones with this abbreviation"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := explained(test.in, explain.Options{At: tenOClock})
			if have := strings.Join(strings.Fields(string(text(t, report))), " "); !strings.Contains(have, strings.Join(strings.Fields(test.want), " ")) {
				t.Errorf("no %q in\n%s", test.want, text(t, report))
			}
		})
	}
}

// TestUnsaid_Ended: once the Job has ended, a sentence about refused pods is left out.
func TestUnsaid_Ended(t *testing.T) {
	refused := eventOf("Job", "a", "u", "FailedCreate",
		"Error creating: pods \\\"a-x\\\" is forbidden: exceeded quota: q")
	for status, want := range map[string]bool{"startTime: \"2026-01-01T09:00:00Z\"": true, "failed: 1, startTime: \"2026-01-01T09:00:00Z\", " + failedBy("BackoffLimitExceeded"): false} {
		if have := string(text(t, explained(jobHead+"spec: {"+template+"}\nstatus: {"+status+"}\n"+refused, explain.Options{At: tenOClock}))); strings.Contains(have, "error FailedCreate") != want {
			t.Errorf("%s:\n%s", status, have)
		}
	}
}

// TestTimeline_NotStarted: if a Job has never started, its bar begins now, and not in the year 1.
func TestTimeline_NotStarted(t *testing.T) {
	report := explained(jobHead+"spec: {suspend: true, "+template+"}\n", explain.Options{At: tenOClock, Timeline: true})
	if bar := report.Objects[0].Timeline.Lanes[0].Bars[0]; bar.Kind != "suspended" || bar.From.Year() != 2026 ||
		bar.To.Before(bar.From) {
		t.Errorf("%+v", bar)
	}
}

// TestUnsaid: a sentence is printed in a situation in which it is right, and not in a similar
// situation in which it is wrong.
func TestUnsaid(t *testing.T) {
	for _, test := range []struct{ file, old, new, never string }{
		// another controller may count failures in another way
		{"preempted_gone", "suspend: false", "suspend: false, managedBy: example.com/queue", "against backoffLimit 3"},
		// no run is ever due
		{"replace_kills", "'*/2 * * * *'", "'0 3 30 2 *'", "between runs is deleted"},
	} {
		q := readQuestion(t, "testdata/questions/"+test.file+".yaml")
		in := testfile.Read(t, "testdata/questions", test.file+".yaml")
		for _, changed := range []bool{false, true} {
			if changed {
				in = strings.Replace(in, test.old, strings.ReplaceAll(test.new, ", ", "\n    "), 1)
			}
			have := strings.Join(strings.Fields(string(text(t, explained(in, q.options)))), " ")
			if strings.Contains(have, test.never) == changed {
				t.Errorf("%s, changed: %v:\n%s", test.file, changed, have)
			}
		}
	}
}

// TestUnsharedRestarts: restarts are not shared if there is at most one container, if the limit is
// one restart or none is set, or if restartPolicy is Never.
func TestUnsharedRestarts(t *testing.T) {
	for _, spec := range []string{
		"parallelism: 4, completions: 1, template: {spec: {restartPolicy: OnFailure, containers: [{name: a, image: x}]}}",
		"backoffLimit: 1, " + threeOnFailure,
		"backoffLimit: 2147483647, " + threeOnFailure,
		strings.ReplaceAll(threeOnFailure, "OnFailure", "Never"),
		"parallelism: 0, " + threeOnFailure,
	} {
		for _, in := range []string{jobHead + "spec: {" + spec + "}\n", cronHead + "spec: {schedule: \"0 9 * * *\", jobTemplate: {spec: {" + spec + "}}}\n"} {
			report := explained(in, explain.Options{At: tenOClock})
			if have := string(text(t, report)); len(report.Objects) != 1 || strings.Contains(have, "RestartsShared") {
				t.Errorf("%s:\n%s", in, have)
			}
		}
	}
}

// TestTimeline_SameSecond: a pod that ends in the second in which it starts has a visible bar.
func TestTimeline_SameSecond(t *testing.T) {
	report := explained(jobHead+"spec: {"+template+"}\nstatus: {failed: 1, startTime: \"2026-01-01T09:00:00Z\"}\n"+pod("p", "0", "status: {phase: Failed, startTime: \"2026-01-01T09:00:05Z\", "+
		"containerStatuses: [{name: main, state: {terminated: {exitCode: 3, finishedAt: \"2026-01-01T09:00:05Z\"}}}]}\n"), explain.Options{At: tenOClock, Timeline: true})
	bars := 0
	for _, lane := range report.Objects[0].Timeline.Lanes {
		for _, b := range lane.Bars {
			if b.Kind == "job" {
				continue
			}
			if bars++; b.Kind != "failed" || b.To.Sub(b.From) != 5*time.Second {
				t.Errorf("%+v", b)
			}
		}
	}
	if bars != 1 {
		t.Errorf("%d bars", bars)
	}
}

// TestForecast_Ignored: ignored failures also lengthen the backoff of an index in a forecast.
func TestForecast_Ignored(t *testing.T) {
	report := explained(jobHead+"spec: {completions: 2, parallelism: 1, completionMode: Indexed, backoffLimitPerIndex: 9, podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: [3]}}]}, "+template+"}\n"+
		"status: {startTime: \"2026-01-01T09:00:00Z\"}\n"+strings.Replace(pod("p", "0", "status: {phase: Failed, startTime: \"2026-01-01T09:59:00Z\", containerStatuses: [{name: main, state: {terminated: {exitCode: 3, finishedAt: \"2026-01-01T09:59:50Z\"}}}]}\n"),
		"\"0\"", "\"0\", batch.kubernetes.io/job-index-ignored-failure-count: \"3\"", 1), explain.Options{At: tenOClock, For: 8 * time.Hour})
	var created []string
	for _, e := range report.Objects[0].Forecast.Events {
		if e.Reason == "Create" {
			created = append(created, e.At.Format(time.TimeOnly))
		}
	}
	// Each pod is created 80, 160, 320 or 600 seconds after the pod before it has ended.
	if got := strings.Join(created[:4], " "); got != "10:01:10 11:03:40 12:08:50 13:18:40" {
		t.Errorf("pods are created at %s", got)
	}
}

// TestPlots draws all situations, with names that need escapes in XML.
func TestPlots(t *testing.T) {
	var all []explain.Explanation
	for _, name := range []string{"forbid", "backoff", "per_index", "node_lost"} {
		objects, o := situation(t, "testdata/situations/"+name)
		o.Timeline = true
		all = append(all, explain.All(objects, o).Objects...)
	}
	all[0].Name = `<a> & "b"`
	var b bytes.Buffer
	must.OK(t, explain.Plot(&b, all))
	compare(t, "testdata/plots.svg", b.Bytes())
}

// TestCommands: a shell splits a command into the right words, whatever the names in the input contain.
func TestCommands(t *testing.T) {
	in := strings.ReplaceAll(jobHead, "name: a,",
		`name: "a; touch 'x' $(id)",`) + "spec: {parallelism: 0, " + template + "}\n"
	report := explained(in, explain.Options{At: tenOClock})
	const want = `kubectl -n n patch job 'a; touch '\''x'\'' $(id)' --type=merge -p '{"spec":{"parallelism":1}}'`
	if got := report.Objects[0].Findings[0].Remedies[0].Command; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestPileUp: if three Jobs are active at the same time, they pile up, unless the policy prevents
// it.
func TestPileUp(t *testing.T) {
	for _, test := range []struct {
		policy string
		active int
		want   bool
	}{{"Allow", 2, false}, {"Allow", 3, true}, {"Forbid", 3, false}} {
		in := cron("0 * * * *", "concurrencyPolicy: "+test.policy+", ")
		for i := range test.active {
			in += child(fmt.Sprint("c-", i), fmt.Sprintf("09:0%d:00", i), "active: 1, startTime: \"2026-01-01T09:05:00Z\"")
		}
		have := string(text(t, explained(in, explain.Options{At: tenOClock})))
		if strings.Contains(have, "warning PileUp: ") != test.want {
			t.Errorf("%+v:\n%s", test, have)
		}
	}
}

// TestLint_When: a change of the clocks is reported until three days after it. A run on a rare date
// is reported only until it is due.
func TestLint_When(t *testing.T) {
	for _, test := range []struct{ schedule, at, want string }{
		{"30 2 * * *", "2026-10-28T00:59:59Z", "02:30 on 2026-10-25 comes twice"},
		{"30 2 * * *", "2026-10-28T01:00:00Z", "02:30 on 2027-10-31 comes twice"},
		{"30 2 * * *", "2026-04-01T00:59:59Z", "02:30 on 2026-03-29 does not exist"},
		{"30 2 * * *", "2026-04-01T01:00:00Z", "02:30 on 2027-03-28 does not exist"},
		{"0 0 29 2 *", "2028-02-28T22:59:59Z", "the next one is 2028-02-29"},
		{"0 0 29 2 *", "2028-02-28T23:00:00Z", "the next one is 2032-02-29"},
	} {
		at, err := time.Parse(time.RFC3339, test.at)
		must.OK(t, err)
		in := cron(test.schedule, "timeZone: Europe/Berlin, ")
		have := strings.Join(strings.Fields(string(text(t, explained(in, explain.Options{At: at})))), " ")
		if !strings.Contains(have, test.want) {
			t.Errorf("%s: no %q in\n%s", test.at, test.want, have)
		}
	}
}

// TestForecast_Habit: the forecast assumes that Jobs take as long as the last one did, and at least
// a second. A run does not start while the Job before it is active. It starts when that Job ends.
func TestForecast_Habit(t *testing.T) {
	for ended, want := range map[string]string{
		"09:58:00": "after 1s: 10:00 Create 10:01 Create",
		"09:58:01": "after 1s: 10:00 Create 10:01 Create",
		"09:58:02": "after 2s: 10:00 Create 10:01 Create",
		"09:59:00": "after 1m: 10:00 Create 10:01 Create",
		"09:59:01": "after 1m1s: 10:00 Create 10:01 Held",
	} {
		last := child("c-1", "09:58:00", "startTime: \"2026-01-01T09:58:00Z\", "+strings.ReplaceAll(failedBy("BackoffLimitExceeded"), "09:30:00", ended))
		report := explained(cron("* * * * *", "concurrencyPolicy: Forbid, failedJobsHistoryLimit: 9, ")+last, explain.Options{At: tenOClock, For: time.Minute + 500*time.Millisecond})
		f := report.Objects[0].Forecast
		_, have, _ := strings.Cut(f.Assumption, "fail ")
		have += ":"
		for _, e := range f.Events {
			have += e.At.Format(" 15:04 ") + e.Reason
		}
		if have != want {
			t.Errorf("until %s: got %q, want %q", ended, have, want)
		}
	}
}

// TestNames: a name selects objects of any kind in any namespace, unless it contains a kind or a
// namespace.
func TestNames(t *testing.T) {
	in := cron("0 9 * * *", "") + child("c", "09:00:00", "") + "---\n" + jobHead + "spec: {" + template + "}\n"
	for names, want := range map[string]string{
		"":                  "CronJob c, Job c, Job a",
		"c":                 "CronJob c, Job c",
		"n/c":               "CronJob c, Job c",
		"job/c":             "Job c",
		"Jobs/n/c":          "Job c",
		"CJ/c":              "CronJob c",
		"cronjobs/n/c":      "CronJob c",
		"cronjob/a":         "",
		"m/c job/m/c pod/c": "",
		"job/c a":           "Job c, Job a",
	} {
		var have []string
		for _, x := range explained(in, explain.Options{At: tenOClock, Names: strings.Fields(names)}).Objects {
			have = append(have, x.Kind+" "+x.Name)
		}
		if strings.Join(have, ", ") != want {
			t.Errorf("%q: %v, want %s", names, have, want)
		}
	}
}
