package jobstatus_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
)

// conditions returns a JSON list of conditions of these types. They are True, except for those
// written as "Type=Status".
func conditions(types ...string) string {
	var out []string
	for _, t := range types {
		name, status, found := strings.Cut(t, "=")
		if !found {
			status = "True"
		}
		out = append(out, fmt.Sprintf(`{"type":%q,"status":%q}`, name, status))
	}
	return `"conditions":[` + strings.Join(out, ",") + `]`
}

func TestCheckTransition(t *testing.T) {
	const (
		indexed  = `"completionMode":"Indexed","completions":5`
		perIndex = indexed + `,"backoffLimitPerIndex":1`
		elastic  = indexed + `,"parallelism":5`
		started  = `"startTime":"2026-01-01T00:00:00Z"`
		later    = `"startTime":"2026-01-01T00:00:01Z"`
		done     = `"completionTime":"2026-01-01T00:01:00Z"`
	)

	met := conditions("SuccessCriteriaMet")
	target := conditions("FailureTarget")
	complete := started + "," + done + "," + conditions("SuccessCriteriaMet", "Complete")
	failed := started + "," + conditions("FailureTarget", "Failed")
	uncounted := func(succeeded, failed string) string {
		return `"uncountedTerminatedPods":{"succeeded":[` + succeeded + `],"failed":[` + failed + `]}`
	}

	for _, test := range []struct {
		name            string
		spec, old, next string // the text within the braces
		want            string // the problems, each without "status."
	}{
		{"nothing happens", "", "", "", ""},
		{"a job starts", "", "", started + `,"active":2,"ready":0,"terminating":0`, ""},
		{"JI6: a job without indexes has none to keep", "", `"completedIndexes":"0"`, "", ""},
		{"JI20: negative counters", "", "", `"active":-1,"ready":-2,"terminating":-3,"succeeded":-4,"failed":-5`,
			"active: -1: must not be negative; ready: -2: must not be negative; terminating: -3: must not be negative; " +
				"succeeded: -4: must not be negative; failed: -5: must not be negative; failed: -5: must not decrease from 0; " +
				"succeeded: -4: must not decrease from 0"},
		{"JI20: negative counters are not tolerated", "", `"active":-1`, `"active":-1`, "active: -1: must not be negative"},
		{"JI20: all active pods are ready", "", "", `"active":2,"ready":2`, ""},
		{"JI20: more are ready than active", "", "", `"active":1,"ready":2`, "ready: 2: must be at most active, 1"},
		{"JI20: more are ready than active, as before", "", `"active":1,"ready":2`, `"active":1,"ready":2,"terminating":1`, ""},
		{"JI2: an empty UID", "", "", uncounted(`"a",""`, `"b"`), `uncountedTerminatedPods.succeeded[1]: "": must not be empty`},
		{"JI2: a UID twice in a list", "", "", uncounted(`"a","a"`, ``), `uncountedTerminatedPods.succeeded[1]: "a": must not appear twice`},
		{"JI2: a UID in both lists", "", "", uncounted(`"a"`, `"a"`), `uncountedTerminatedPods.failed[0]: "a": must not appear twice`},
		{"JI2, JI15: UIDs come before conditions", "", "", uncounted(``, `""`) + "," + conditions("FailureTarget", "SuccessCriteriaMet"),
			`uncountedTerminatedPods.failed[0]: "": must not be empty; ` +
				`conditions[FailureTarget]: "True": must not hold together with SuccessCriteriaMet`},
		{"JI20, JI2: the counters, the UIDs and the pods that are ready, in this order", "", "", `"active":-1,"ready":0,` + uncounted(`"a","a"`, ``),
			`active: -1: must not be negative; uncountedTerminatedPods.succeeded[1]: "a": must not appear twice; ready: 0: must be at most active, -1`},
		{"JI2: a UID in both lists leaves one", "", uncounted(`"a"`, `"a"`), uncounted(`"a"`, ``), ""},
		{"JI2: a UID in both lists is counted once", "", uncounted(`"a"`, `"a"`), `"failed":1`, ""},
		{"JI14: the way to failure is kept", "", target, started + "," + target, ""},
		{"JI14: FailureTarget vanishes", "", target, "", `conditions[FailureTarget]: "": must stay True`},
		{"JI14: SuccessCriteriaMet turns False", "", met, conditions("SuccessCriteriaMet=False"), `conditions[SuccessCriteriaMet]: "False": must stay True`},
		{"JI15: success after failure", "", target, conditions("FailureTarget", "SuccessCriteriaMet"),
			`conditions[FailureTarget]: "True": must not hold together with SuccessCriteriaMet`},
		{"JI15: Complete and Failed", "", met, complete[:len(complete)-1] + "," + conditions("Failed", "FailureTarget")[len(`"conditions":[`):],
			`conditions[FailureTarget]: "True": must not hold together with SuccessCriteriaMet; ` +
				`conditions[Failed]: "True": must not hold together with SuccessCriteriaMet; ` +
				`conditions[FailureTarget]: "True": must not hold together with Complete; ` +
				`conditions[Failed]: "True": must not hold together with Complete`},
		{"JI15: both conditions in one write", "", started, failed, ""},
		{"JI15: Failed without FailureTarget", "", started, started + "," + conditions("Failed"), `conditions[Failed]: "True": needs FailureTarget`},
		{"JI15: Complete without SuccessCriteriaMet", "", started, started + "," + done + "," + conditions("Complete"),
			`conditions[Complete]: "True": needs SuccessCriteriaMet`},
		{"JI15: Complete without SuccessCriteriaMet is one problem, also with a successPolicy", indexed + `,"successPolicy":{"rules":[{}]}`, started,
			started + "," + done + "," + conditions("Complete"),
			`conditions[Complete]: "True": needs SuccessCriteriaMet`},
		{"JI15: a job that an old controller has ended", "", started + "," + conditions("Failed"), started + "," + conditions("Failed"), ""},
		{"JI8: a job ends in success", "", started + `,"active":1,` + met, complete + `,"terminating":0`, ""},
		{"JI8: pods are left at the end", "", started, failed + `,"active":1,"terminating":2,` + uncounted(`"a"`, `"b"`),
			"active: 1: must be 0 when finished; terminating: 2: must be 0 when finished; uncountedTerminatedPods: 2: must be empty when finished"},
		{"JI8: pods are left when the end is declared", "", started, started + `,"active":1,"terminating":2,` + uncounted(`"a"`, `"b"`) + "," + target, ""},
		{"JI17: no start before the end", "", "", target[:len(target)-1] + `,{"type":"Failed","status":"True"}]`, "startTime: <nil>: is required when finished"},
		{"JI17: a suspended job with nothing to do ends before it starts", `"suspend":true,"completions":0`, "", conditions("FailureTarget", "Failed"), ""},
		{"JI17: a suspended job with something to do does not", `"suspend":true,"completions":1`, "", conditions("FailureTarget", "Failed"),
			"startTime: <nil>: is required when finished"},
		{"JI16: an empty list of failed indexes comes after the end", perIndex, failed, failed + `,"failedIndexes":""`,
			`failedIndexes: "": must not change after the end`},
		{"JI14: one of two conditions of a type vanishes after the end", "", started + "," + conditions("FailureTarget", "Failed=False", "Failed"),
			started + "," + conditions("FailureTarget", "Failed=False"),
			`conditions[Failed]: "False": must not change after the end`},
		{"JI17: Complete without completionTime", "", started, started + "," + conditions("SuccessCriteriaMet", "Complete"),
			"completionTime: <nil>: is required when Complete"},
		{"JI17: completionTime without Complete", "", started, started + "," + done + "," + met,
			`completionTime: "2026-01-01T00:01:00Z": must not be set unless Complete`},
		{"JI17: completionTime of a failed job", "", started, failed + "," + done, `completionTime: "2026-01-01T00:01:00Z": must not be set unless Complete`},
		{"JI17: a completionTime too early is removed", "", started + "," + done, started, ""},
		{"JI17: a completionTime too early stays", "", started + "," + done, started + "," + done + `,"active":1`, ""},
		{"JI17: a completionTime too early changes", "", started + "," + done, started + `,"completionTime":"2026-01-01T00:02:00Z"`,
			`completionTime: "2026-01-01T00:02:00Z": must not be set unless Complete; ` +
				`completionTime: "2026-01-01T00:02:00Z": must stay 2026-01-01T00:01:00Z`},
		{"JI17: completion before start", "", `"startTime":"2026-01-01T00:02:00Z"`, strings.Replace(complete, "00:00:00Z", "00:02:00Z", 1),
			`completionTime: "2026-01-01T00:01:00Z": must not be before startTime, 2026-01-01T00:02:00Z`},
		{"JI17: startTime changes", "", started, later, `startTime: "2026-01-01T00:00:01Z": must stay 2026-01-01T00:00:00Z while the job is not suspended`},
		{"JI17: startTime changes by less than a second", "", started, `"startTime":"2026-01-01T00:00:00.9Z"`, ""},
		{"JI17: startTime is removed", "", started, "", "startTime: <nil>: must stay 2026-01-01T00:00:00Z while the job is not suspended"},
		{"JI17: suspension removes startTime", `"suspend":true`, started, conditions("Suspended"), ""},
		{"JI17: resumption sets startTime anew", "", started + "," + conditions("Suspended"), later + "," + conditions("Suspended=False"), ""},
		{"JI17: startTime changes after the job was resumed", "", started + "," + conditions("Suspended=False"), later + "," + conditions("Suspended=False"),
			`startTime: "2026-01-01T00:00:01Z": must stay 2026-01-01T00:00:00Z while the job is not suspended`},
		{"JI17: startTime changes before the job is resumed", "", started + "," + conditions("Suspended"), later + "," + conditions("Suspended"),
			`startTime: "2026-01-01T00:00:01Z": must stay 2026-01-01T00:00:00Z while the job is not suspended`},
		{"JI4: failed decreases", "", `"failed":2`, `"failed":1`, "failed: 1: must not decrease from 2"},
		{"JI4: succeeded decreases", "", `"succeeded":2`, `"succeeded":1`, "succeeded: 1: must not decrease from 2"},
		{"JI4: an elastic job has shrunk", elastic, `"succeeded":3,"completedIndexes":"0,1,7"`, `"succeeded":2,"completedIndexes":"0,1"`, ""},
		{"JI4: a job that is not elastic", indexed, `"succeeded":3,"completedIndexes":"0,1,7"`, `"succeeded":2,"completedIndexes":"0,1"`,
			"succeeded: 2: must not decrease from 3"},
		{"JI6: indexes of a job without", "", "", `"completedIndexes":"1","failedIndexes":"2"`,
			`completedIndexes: "1": needs completionMode Indexed; failedIndexes: "2": needs spec.backoffLimitPerIndex`},
		{"JI6: failed indexes without a limit for each", indexed, "", `"failedIndexes":""`, `failedIndexes: "": needs spec.backoffLimitPerIndex`},
		{"JI6: indexes succeed and fail", perIndex, `"failedIndexes":""`, `"succeeded":3,"completedIndexes":"0-2","failedIndexes":"3"`, ""},
		{"JI6: corrupt pieces", perIndex, "", `"succeeded":1,"completedIndexes":"0,x","failedIndexes":"3-1"`,
			`completedIndexes: "x": is neither an index nor a range; failedIndexes: "3-1": is neither an index nor a range`},
		{"JI6: corrupt pieces, as before", indexed, `"succeeded":1,"completedIndexes":"0,x"`, `"active":1,"succeeded":1,"completedIndexes":"0,x"`, ""},
		{"JI6: indexes out of order", indexed, "", `"succeeded":2,"completedIndexes":"3,1"`, `completedIndexes: "3,1": must be in canonical form, "1,3"`},
		{"JI6: a run that is not written as one", indexed, "", `"succeeded":3,"completedIndexes":"1,2,3"`,
			`completedIndexes: "1,2,3": must be in canonical form, "1-3"`},
		{"JI20, JI6: the lists of indexes come last", indexed, "", `"active":1,"ready":2,"succeeded":1,"completedIndexes":"5"`,
			`ready: 2: must be at most active, 1; completedIndexes: "5": must be below completions, 5`},
		{"JI6: the first index beyond completions", indexed, "", `"succeeded":1,"completedIndexes":"5"`, `completedIndexes: "5": must be below completions, 5`},
		{"JI6: indexes beyond completions", indexed, "", `"succeeded":4,"completedIndexes":"3-6"`, `completedIndexes: "5,6": must be below completions, 5`},
		{"JI6: an index in both lists", perIndex, "", `"succeeded":2,"completedIndexes":"0,1","failedIndexes":"1,2"`,
			`failedIndexes: "1": must not be in completedIndexes as well`},
		{"JI6: succeeded is another number", indexed, "", `"succeeded":1,"completedIndexes":"0,1"`, "succeeded: 1: must be the number of completedIndexes, 2"},
		{"JI6: a completed index is lost", indexed, `"succeeded":2,"completedIndexes":"0,1"`, `"succeeded":2,"completedIndexes":"1,2"`,
			`completedIndexes: "1,2": must not lose 0`},
		{"JI6: a failed index is lost", perIndex, `"failedIndexes":"0-2"`, `"failedIndexes":"1"`, `failedIndexes: "1": must not lose 0,2`},
		{"JI6: failed indexes are forgotten", perIndex, `"failedIndexes":"0"`, "", `failedIndexes: "": must not lose 0`},
		{"JI1: a UID is counted", "", `"failed":1,` + uncounted(`"a","b"`, `"c"`), `"succeeded":2,"failed":1,` + uncounted(``, `"c"`), ""},
		{"JI1: UIDs come and go at once", "", uncounted(`"a"`, ``), `"succeeded":1,` + uncounted(`"b"`, `"c"`), ""},
		{"JI1: a UID is lost", "", uncounted(`"a"`, `"b"`), `"succeeded":1`,
			"failed: 0: must rise from 0 by 1, the number of UIDs that leave uncountedTerminatedPods.failed"},
		{"JI1: a UID is counted twice", "", uncounted(`"a"`, ``), `"succeeded":2`,
			"succeeded: 2: must rise from 0 by 1, the number of UIDs that leave uncountedTerminatedPods.succeeded"},
		{"JI3: a pod is counted and its UID stays", "", uncounted(`"a"`, ``), `"succeeded":1,` + uncounted(`"a"`, ``),
			"succeeded: 1: must rise from 0 by 0, the number of UIDs that leave uncountedTerminatedPods.succeeded"},
		{"JI1: a failure becomes a success", "", uncounted(``, `"a"`), uncounted(`"a"`, ``),
			`uncountedTerminatedPods.succeeded[0]: "a": must not move here from failed`},
		{"JI1: a success becomes a failure", "", uncounted(`"a"`, ``), uncounted(``, `"a"`),
			`uncountedTerminatedPods.failed[0]: "a": must not move here from succeeded`},
		{"JI1: indexes need no UIDs", indexed, "", `"succeeded":2,"completedIndexes":"0,1"`, ""},
		{"JI1: the failures of indexes do", indexed, "", `"failed":1`,
			"failed: 1: must rise from 0 by 0, the number of UIDs that leave uncountedTerminatedPods.failed"},
		{"J25: the success policy ends a job", indexed + `,"successPolicy":{"rules":[{"succeededCount":1}]}`, "",
			strings.Replace(met, `"status"`, `"reason":"SuccessPolicy","status"`, 1), ""},
		{"J25: a success policy that is not there", "", "", strings.Replace(met, `"status"`, `"reason":"SuccessPolicy","status"`, 1),
			`conditions[SuccessCriteriaMet]: "SuccessPolicy": needs spec.successPolicy`},
		{"a condition twice", "", "", conditions("Held", "Held=False"), `conditions[1].type: "Held": must not appear twice`},
		{"a status that is none", "", "", conditions("Held=true"), `conditions[0].status: "true": must be True, False or Unknown`},
		{"J39: a job is suspended", `"suspend":true`, "", conditions("Suspended"), ""},
		{"J39: a job is resumed", "", conditions("Suspended"), conditions("Suspended=False"), ""},
		{"J39: suspended for no reason", "", "", conditions("Suspended"), `conditions[Suspended]: "True": must not turn True while spec.suspend is not set`},
		{"J39: resumed for no reason", `"suspend":true`, conditions("Suspended"), conditions("Suspended=False"),
			`conditions[Suspended]: "False": must not turn False while spec.suspend is set`},
		{"J39: added as False", "", "", conditions("Suspended=False"), `conditions[Suspended]: "False": must not be added unless True`},
		{"J39: the condition vanishes", "", conditions("Suspended"), "", `conditions[Suspended]: "": must not vanish`},
		{"J39: suspended while the job is ending", `"suspend":true`, target, conditions("FailureTarget", "Suspended"),
			`conditions[Suspended]: "True": must not change when the end is declared`},
		{"J4: all is as it was", "", complete, complete, ""},
		{"J4: another client's condition after the end", "", failed, failed[:len(failed)-1] + `,{"type":"Held","status":"True"}]`, ""},
		{"J4: counters after the end", "", failed, failed + `,"succeeded":1,"failed":1`,
			"succeeded: 1: must not change after the end; failed: 1: must not change after the end"},
		{"J4: a success becomes a failure", "", complete, failed,
			`conditions[FailureTarget]: "True": must not change after the end; conditions[SuccessCriteriaMet]: "": must not change after the end; ` +
				`conditions[Failed]: "True": must not change after the end; conditions[Complete]: "": must not change after the end; ` +
				`completionTime: <nil>: must not change after the end`},
		{"J4: the rest after the end", perIndex, failed, strings.Replace(failed, started, later, 1) + `,"completedIndexes":"","failedIndexes":"1",` + uncounted(`"a"`, ``),
			`uncountedTerminatedPods: 1: must be empty when finished; startTime: "2026-01-01T00:00:01Z": must not change after the end; ` +
				`failedIndexes: "1": must not change after the end; uncountedTerminatedPods: "1 UIDs": must not change after the end`},
		{"J4: a completed index after the end", indexed, failed, failed + `,"succeeded":1,"completedIndexes":"0"`,
			`succeeded: 1: must not change after the end; completedIndexes: "0": must not change after the end`},
	} {
		var spec job.Spec
		var old, next job.Status
		unmarshal(t, test.spec, &spec)
		unmarshal(t, test.old, &old)
		unmarshal(t, test.next, &next)
		job.Default(&spec)

		if got := must.Problems(t, jobstatus.CheckTransition(old, next, spec, release.Newest()),
			"status."); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func unmarshal(t *testing.T, fields string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte("{"+fields+"}"), into); err != nil {
		t.Fatalf("%s: %v", fields, err)
	}
}

// written is a status that a controller has written (next), and the status before that write (old).
type written struct {
	old, next job.Status
	spec      job.Spec
}

// watched lets a job live under faults and returns the statuses that were written. It looks before
// each write and after each round, so it sees each status that is written.
func watched(t *rapid.T) []written {
	w := world.NewJob(jobgen.Specs().Draw(t, "spec"))
	w.Stale = rapid.Bool().Draw(t, "stale")
	var all []written
	last := w.Job.Status
	look := func() {
		if now := w.Job.Status; !reflect.DeepEqual(last, now) {
			all = append(all, written{last, now, w.Job.Spec})
			last = now
		}
	}
	for range rapid.IntRange(5, 60).Draw(t, "steps") {
		switch n := rapid.IntRange(0, 19).Draw(t, "step"); {
		case n < 9:
			jobgen.DrawFaults(t, w, jobgen.AllFaults)
			fault := w.Fault
			w.Fault = func(write world.Write) world.Fault {
				look()
				if fault == nil {
					return world.None
				}
				return fault(write)
			}
			jobgen.MustRound(t, w)
			look()
		case n < 17:
			jobgen.Act(t, w)
		case n < 19:
			jobgen.Deliver(t, w)
		case isElastic(&w.Job):
			// If parallelism changed now, succeeded could no longer be lowered.
		default:
			jobgen.Meddle(t, w)
		}
	}
	return all
}

// isElastic reports whether completions was lowered, and the index list still has indexes beyond
// it.
func isElastic(j *job.Job) bool {
	completed, _ := job.ParseIndexes(j.Status.CompletedIndexes)
	return j.Spec.Completions != nil && !completed.Equal(completed.Clip(*j.Spec.Completions))
}

// TestCheckTransition_Planner: every status that the planner writes passes, even under faults and
// with stale snapshots.
func TestCheckTransition_Planner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, w := range watched(t) {
			if err := jobstatus.CheckTransition(w.old, w.next, w.spec, release.Newest()); err != nil {
				t.Fatalf("%v\n%s", err, w)
			}
		}
	})
}

func (w written) String() string {
	return strings.Join([]string{text(w.spec), text(w.old), text(w.next)}, "\n")
}

// mutations break a status that the planner has written. Each returns false if it does not apply.
var mutations = []struct {
	name  string
	apply func(t *rapid.T, w *written) bool
}{
	{"failed decreases", func(_ *rapid.T, w *written) bool { w.next.Failed = w.old.Failed - 1; return true }},
	{"succeeded decreases", func(_ *rapid.T, w *written) bool {
		planned := w.next.Succeeded // this is lower as well if completions has shrunk
		w.next.Succeeded = w.old.Succeeded - 1
		return w.next.Succeeded < planned
	}},
	{"a failure is counted for nothing", func(_ *rapid.T, w *written) bool { w.next.Failed++; return true }},
	{"a success is counted for nothing", func(_ *rapid.T, w *written) bool { w.next.Succeeded++; return true }},
	{"more pods are ready than active", func(_ *rapid.T, w *written) bool { w.next.Ready = value.To(w.next.Active + 1); return true }},
	{"a condition is dropped", func(t *rapid.T, w *written) bool {
		if len(w.old.Conditions) == 0 {
			return false
		}
		dropped := rapid.SampledFrom(w.old.Conditions).Draw(t, "dropped").Type
		w.next.Conditions = slices.DeleteFunc(slices.Clone(w.next.Conditions),
			func(c job.Condition) bool { return c.Type == dropped })
		return true
	}},
	{"a condition turns", func(t *rapid.T, w *written) bool {
		n := rapid.IntRange(0, max(len(w.old.Conditions)-1, 0)).Draw(t, "turned")
		if len(w.old.Conditions) == 0 || w.old.Conditions[n].Type == job.ConditionSuspended {
			return false
		}
		w.next.Conditions = slices.Clone(w.next.Conditions)
		w.next.Conditions[n].Status = job.ConditionFalse
		return true
	}},
	{"a job fails after all", func(_ *rapid.T, w *written) bool {
		w.next.Conditions = append(slices.Clip(w.next.Conditions),
			job.Condition{Type: job.ConditionFailureTarget, Status: job.ConditionTrue})
		return w.next.Condition(job.ConditionSuccessCriteriaMet).Status == job.ConditionTrue
	}},
	{"a UID is added twice", func(t *rapid.T, w *written) bool {
		lists := listsOf(&w.next)
		all := slices.Concat(lists.Succeeded, lists.Failed)
		if len(all) == 0 {
			return false
		}
		uid := rapid.SampledFrom(all).Draw(t, "uid")
		if rapid.Bool().Draw(t, "failed") {
			lists.Failed = append(lists.Failed, uid)
		} else {
			lists.Succeeded = append(lists.Succeeded, uid)
		}
		w.next.UncountedTerminatedPods = lists
		return true
	}},
	{"a counted UID stays", func(t *rapid.T, w *written) bool {
		was, is := listsOf(&w.old), listsOf(&w.next)
		left := slices.DeleteFunc(was.Failed, func(uid job.UID) bool { return slices.Contains(is.Failed, uid) })
		if len(left) == 0 {
			return false
		}
		is.Failed = append(is.Failed, left[0])
		w.next.UncountedTerminatedPods = is
		return true
	}},
	{"a UID is forgotten", func(_ *rapid.T, w *written) bool {
		was, is := listsOf(&w.old), listsOf(&w.next)
		kept := slices.DeleteFunc(was.Failed, func(uid job.UID) bool { return !slices.Contains(is.Failed, uid) })
		if len(kept) == 0 {
			return false
		}
		is.Failed = slices.DeleteFunc(is.Failed, func(uid job.UID) bool { return uid == kept[0] })
		w.next.UncountedTerminatedPods = is
		return true
	}},
	{"startTime is forgotten", func(_ *rapid.T, w *written) bool {
		resumed := w.old.Condition(job.ConditionSuspended).Status != w.next.Condition(job.ConditionSuspended).Status
		w.next.StartTime = time.Time{}
		return !w.old.StartTime.IsZero() && !*w.spec.Suspend && !resumed
	}},
	{"completionTime moves", func(_ *rapid.T, w *written) bool {
		if w.next.CompletionTime.IsZero() {
			w.next.CompletionTime = w.next.StartTime
			return !w.next.StartTime.IsZero()
		}
		w.next.CompletionTime = time.Time{}
		return true
	}},
	{"a pod is left at the end", func(t *rapid.T, w *written) bool {
		switch rapid.IntRange(0, 2).Draw(t, "pod") {
		case 0:
			w.next.Active = 1
		case 1:
			w.next.Terminating = value.To[int32](1)
		default:
			w.next.UncountedTerminatedPods = &job.UncountedTerminatedPods{Failed: []job.UID{"x"}}
		}
		return w.next.Finished() != ""
	}},
	{"an index is lost or invented", func(t *rapid.T, w *written) bool {
		i := rapid.Int32Range(0, 6).Draw(t, "index")
		is, _ := job.ParseIndexes(w.next.CompletedIndexes)
		one := job.Indexes{}.With(i, i)
		w.next.CompletedIndexes = is.Minus(one).Union(one.Minus(is)).String()
		return true
	}},
	{"an index has failed and succeeded", func(_ *rapid.T, w *written) bool {
		w.next.FailedIndexes = value.To(w.next.CompletedIndexes)
		return w.next.CompletedIndexes != ""
	}},
}

// listsOf returns a copy of the uncounted lists.
func listsOf(s *job.Status) *job.UncountedTerminatedPods {
	u := s.UncountedTerminatedPods
	if u == nil {
		return &job.UncountedTerminatedPods{}
	}
	return &job.UncountedTerminatedPods{Succeeded: slices.Clone(u.Succeeded), Failed: slices.Clone(u.Failed)}
}

// TestCheckTransition_Mutations makes one mistake at a time in statuses that the planner has
// written: each mistake is found.
func TestCheckTransition_Mutations(t *testing.T) {
	met := make([]int, len(mutations))
	rapid.Check(t, func(t *rapid.T) {
		for _, w := range watched(t) {
			for n, m := range mutations {
				broken := w
				if !m.apply(t, &broken) {
					continue
				}
				met[n]++
				if jobstatus.CheckTransition(broken.old, broken.next, broken.spec, release.Newest()) == nil {
					t.Fatalf("%s, and nobody notices:\n%s", m.name, broken)
				}
			}
		}
	})
	for n, times := range met { // a rare mutation may be missing in a short run
		t.Logf("%s: %d times", mutations[n].name, times)
	}
}
