package jobstatus_test

import (
	"encoding/json"
	"fmt"
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
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
)

// servers returns all releases, and some with gates that change the checks of a server.
func servers() []release.Release {
	all := release.All()
	for _, text := range []string{"1.31,JobManagedBy=true", "1.31,JobPodReplacementPolicy=false",
		"1.33,JobManagedBy=false",
		"1.33,JobManagedBy=false,JobPodReplacementPolicy=false"} {
		r, err := release.Parse(text)
		if err != nil {
			panic(err)
		}
		all = append(all, r)
	}
	return all
}

// TestAggregate_Lives lets several jobs live and joins their statuses from time to time, sometimes
// without one of them. Each server must accept each status, no count of ended pods decreases, and
// the end comes exactly when the parts have ended.
func TestAggregate_Lives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := jobgen.Specs().Draw(t, "spec")
		spec.ManagedBy = nil
		whole := spec
		var worlds []*world.Job
		divided := rapid.Bool().Draw(t, "divided")
		for i := range rapid.IntRange(1, 3).Draw(t, "parts") {
			w := world.NewJob(spec)
			w.Consistent = true
			worlds = append(worlds, w)
			if divided && i > 0 && spec.Completions != nil {
				whole.Completions = value.To(*whole.Completions + *spec.Completions)
			}
		}

		old := make([]job.Status, len(servers()))
		for range rapid.IntRange(3, 25).Draw(t, "steps") {
			w := worlds[rapid.IntRange(0, len(worlds)-1).Draw(t, "part")]
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				on := rapid.Bool().Draw(t, "suspend")
				whole.Suspend = value.To(on)
				for _, w := range worlds {
					w.Edit(func(s *job.Spec) { s.Suspend = value.To(on) })
				}
			case 1, 2:
				jobgen.Act(t, w)
			default:
				jobgen.MustRound(t, w)
			}

			missing := rapid.IntRange(0, 9).Draw(t, "missing")
			var parts []jobstatus.Part
			for i, w := range worlds {
				p := jobstatus.Part{Name: fmt.Sprint("part-", i), Status: w.Job.Status}
				if divided && spec.Completions != nil {
					p.First = int32(i) * *spec.Completions
				}
				if i != missing || len(worlds) == 1 {
					parts = append(parts, p)
				}
			}

			for i, r := range servers() {
				next := jobstatus.Aggregate(old[i], whole, parts, w.Now, r)
				checkAggregate(t, r, &old[i], &next, &whole, parts)
				old[i] = next
			}
		}
	})
}

func checkAggregate(t *rapid.T, r release.Release, old, next *job.Status, spec *job.Spec, parts []jobstatus.Part) {
	if err := jobstatus.CheckServed(*old, *next, *spec, r); err != nil {
		t.Fatalf("%v: %v\n%s\n%s", r, err, text(old), text(next))
	}
	if next.Failed < old.Failed || next.Succeeded < old.Succeeded {
		t.Fatalf("%v: counters go back\n%s\n%s", r, text(old), text(next))
	}
	if old.Finished() != "" {
		if text(old) != text(next) {
			t.Fatalf("%v: the end changes\n%s\n%s", r, text(old), text(next))
		}
		return
	}
	isTrue := func(s *job.Status, c job.ConditionType) bool { return s.Condition(c).Status == job.ConditionTrue }
	complete, failed, busy, suspended := len(parts) > 0, isTrue(old, job.ConditionFailureTarget), false, len(parts) > 0
	for _, p := range parts {
		suspended = suspended && isTrue(&p.Status, job.ConditionSuspended)
		complete = complete && p.Status.Finished() == job.ConditionComplete
		failed = failed || p.Status.Finished() == job.ConditionFailed
		busy = busy || p.Status.Active > 0 || value.Of(p.Status.Terminating) > 0
	}
	// The whole job is suspended once all parts are, and resumed with the first part.
	was, is := isTrue(old, job.ConditionSuspended), isTrue(next, job.ConditionSuspended)
	ends := isTrue(next, job.ConditionFailureTarget) || isTrue(next, job.ConditionSuccessCriteriaMet) ||
		next.Finished() != ""
	if asked := value.Of(spec.Suspend); !ends && is != (was && (asked || suspended) || asked && suspended) {
		t.Fatalf("%v: suspended %t, was %t, asked for %t, the parts %t\n%s", r, is, was, asked, suspended, text(next))
	}
	// A count that no part has must be missing in the whole.
	for name, of := range map[string]func(*job.Status) *int32{
		"ready":       func(s *job.Status) *int32 { return s.Ready },
		"terminating": func(s *job.Status) *int32 { return s.Terminating },
	} {
		known := slices.ContainsFunc(parts, func(p jobstatus.Part) bool { return of(&p.Status) != nil })
		if (of(next) != nil) != known {
			t.Fatalf("%v: %s is known: %t\n%s", r, name, known, text(next))
		}
	}
	// The first end that is announced names the parts that have failed.
	if c := next.Condition(job.ConditionFailureTarget); c.Status == job.ConditionTrue &&
		!isTrue(old, job.ConditionFailureTarget) {
		for _, p := range parts {
			named := strings.Contains(c.Message, p.Name)
			if ended := p.Status.Finished() == job.ConditionFailed; named != ended {
				t.Fatalf("%v: %s has failed: %t; the message is %q", r, p.Name, ended, c.Message)
			}
		}
	}
	want := job.ConditionType("")
	switch {
	case failed && !busy:
		want = job.ConditionFailed
	case complete && !failed && !busy:
		want = job.ConditionComplete
	}
	if next.Finished() != want {
		t.Fatalf("%v: finished %q, want %q\n%s", r, next.Finished(), want, text(parts))
	}
}

// TestCheckServed_Lives: the statuses that the planner writes pass the checks of servers.
func TestCheckServed_Lives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world.NewJob(jobgen.Specs().Draw(t, "spec"))
		w.Consistent = true
		for range rapid.IntRange(5, 30).Draw(t, "steps") {
			before := w.Job.Status
			if rapid.Bool().Draw(t, "live") {
				jobgen.Act(t, w)
				continue
			}

			plan, err := w.Plan()
			must.OK(t, err)
			recording := plan.Record(jobgen.DrawOutcome(t, plan, jobreason.ResultDone).Writes)
			for _, r := range servers() {
				err := jobstatus.CheckServed(before, recording.Status, w.Job.Spec, r)
				if err != nil && !isKnown(r, err) {
					t.Fatalf("%v: %v", r, err)
				}
			}

			jobgen.MustRound(t, w)
		}
	})
}

// isKnown reports whether docs/releases.md lists the refusal: older servers refuse some statuses
// that 1.36 writes.
func isKnown(r release.Release, err error) bool {
	return strings.Contains(err.Error(), "since the gates JobManagedBy and JobPodReplacementPolicy are off") ||
		r.IsBefore(release.V132()) && r.Has(release.JobManagedBy) && strings.Contains(err.Error(), "startTime")
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func parsed(t *testing.T, text string) release.Release {
	t.Helper()
	r, err := release.Parse(text)
	must.OK(t, err)
	return r
}

var (
	midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	noon     = midnight.Add(12 * time.Hour)
)

func condition(t job.ConditionType) job.Condition {
	return job.Condition{Type: t, Status: job.ConditionTrue, LastTransitionTime: noon}
}

// holding returns the status with conditions of these types that are True.
func holding(s job.Status, types ...job.ConditionType) job.Status {
	for _, t := range types {
		s.Conditions = append(s.Conditions, condition(t))
	}
	return s
}

// plain is the spec of a job that runs one pod.
const plain = `{"template":{"spec":{"restartPolicy":"Never"}}}`

// TestReports repeats problems that others have reported. In each, 1.36 refuses a status that a
// program wrote by hand, and 1.31 accepts it. Each server accepts the status that this package
// writes instead.
func TestReports(t *testing.T) {
	const met, complete, target, failed = job.ConditionSuccessCriteriaMet, job.ConditionComplete, job.ConditionFailureTarget, job.ConditionFailed
	spec, started := jobgen.SpecOf(plain), job.Status{StartTime: midnight}
	running := job.Status{StartTime: midnight, Active: 1, Ready: value.To[int32](1)}
	earlier := running
	earlier.StartTime = midnight.Add(-time.Second)
	failedPart := jobstatus.Part{Status: holding(job.Status{StartTime: midnight, Failed: 7}, target, failed)}
	completePart := jobstatus.Part{Status: holding(job.Status{StartTime: midnight, CompletionTime: noon, Succeeded: 1},
		met, complete)}
	success, failure := job.Verdict{Type: met, Reason: "CompletionsReached"},
		job.Verdict{Type: target, Reason: "BackoffLimitExceeded"}

	finish := func(s job.Status, end job.Verdict) func(release.Release) (job.Status, error) {
		return func(r release.Release) (job.Status, error) { return jobstatus.Finish(s, spec, end, noon, r) }
	}
	aggregate := func(old job.Status, parts ...jobstatus.Part) func(release.Release) (job.Status, error) {
		return func(r release.Release) (job.Status, error) {
			return jobstatus.Aggregate(old, spec, parts, noon, r), nil
		}
	}

	for _, test := range []struct {
		name        string
		old, byHand job.Status
		refused     string // by 1.36
		right       func(release.Release) (job.Status, error)
	}{
		{"karmada#7844: Failed without FailureTarget", running, holding(job.Status{StartTime: midnight, Failed: 7}, failed),
			"needs FailureTarget", aggregate(running, failedPart)},
		{"karmada#6964, karmada#6975: Complete without SuccessCriteriaMet", running,
			holding(job.Status{StartTime: midnight, CompletionTime: noon, Succeeded: 2}, complete),
			"needs SuccessCriteriaMet", aggregate(running, completePart, completePart)},
		{"karmada#7846: one cluster still runs", running, holding(job.Status{StartTime: midnight, Failed: 7, Active: 1}, target, failed),
			"active: 1: must be 0 when finished", aggregate(running, failedPart, jobstatus.Part{Status: running})},
		{"karmada#7135: another cluster has started earlier", running, earlier,
			"must stay 2026-01-01T00:00:00Z while the job is not suspended", aggregate(running, jobstatus.Part{Status: earlier})},
		{"jobset#828, jobset#860: a test completes a job", job.Status{}, holding(job.Status{Succeeded: 3}, complete),
			"completionTime: <nil>: is required when Complete", finish(job.Status{}, success)},
		{"jobset#882: a test completes a job without times", job.Status{}, holding(job.Status{Succeeded: 1}, met, complete),
			"startTime: <nil>: is required when finished", finish(job.Status{}, success)},
		{"jobset#882: a test fails a job", job.Status{}, holding(job.Status{}, failed), "needs FailureTarget", finish(job.Status{}, failure)},
		{"jobset#882: a test makes pods ready, and none active", job.Status{}, job.Status{Ready: value.To[int32](3)}, "ready: 3: must be at most active, 0",
			aggregate(job.Status{},
				jobstatus.Part{Status: job.Status{StartTime: midnight, Active: 3, Ready: value.To[int32](3)}})},
		{"kueue#4027, kueue#4029: a test completes a job", job.Status{}, holding(job.Status{}, complete),
			"startTime: <nil>: is required when finished", finish(job.Status{}, success)},
		{"kuberay#4324: a test completes a job with a pod", running, holding(job.Status{StartTime: midnight, Active: 1}, complete),
			"active: 1: must be 0 when finished", finish(started, success)},
		{"a failure with a completionTime", running, holding(job.Status{StartTime: midnight, CompletionTime: noon}, target, failed),
			`completionTime: "2026-01-01T12:00:00Z": must not be set unless Complete`, finish(started, failure)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := jobstatus.CheckServed(test.old, test.byHand, spec, release.V136()); err == nil ||
				!strings.Contains(err.Error(), test.refused) {
				t.Errorf("by hand: %v, want %q", err, test.refused)
			}
			if err := jobstatus.CheckServed(test.old, test.byHand, spec, release.V131()); err != nil {
				t.Errorf("by hand, 1.31: %v", err)
			}

			for _, r := range servers() {
				next, err := test.right(r)
				must.OK(t, err)
				if err := jobstatus.CheckServed(test.old, next, spec, r); err != nil {
					t.Errorf("%v: %v\n%s", r, err, text(next))
				}
			}
		})
	}
}

// TestCheckServed_CriteriaMet: a server without JobManagedBy also checks that SuccessCriteriaMet is
// not withdrawn, and is not added after Complete.
func TestCheckServed_CriteriaMet(t *testing.T) {
	met := holding(job.Status{StartTime: midnight}, job.ConditionSuccessCriteriaMet)
	complete := holding(job.Status{StartTime: midnight, CompletionTime: noon}, job.ConditionComplete)
	both := holding(complete, job.ConditionSuccessCriteriaMet)
	for _, test := range []struct {
		name      string
		old, next job.Status
		want      string
	}{
		{"it goes", met, job.Status{StartTime: midnight}, "must stay True"},
		{"it stays", met, met, ""},
		{"it comes with the end", job.Status{StartTime: midnight}, both, ""},
		{"it comes after the end", complete, both, "must not come after Complete"},
		{"it was there before the end", both, both, ""},
	} {
		err := jobstatus.CheckServed(test.old, test.next, jobgen.SpecOf(plain), release.V131())
		if got := fmt.Sprint(err); test.want == "" && err != nil || !strings.Contains(got, test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestCheckTransition_Release: CheckTransition refuses a status that a server of the release would
// refuse, and requires no condition that such a server would not accept.
func TestCheckTransition_Release(t *testing.T) {
	spec := jobgen.SpecOf(plain)
	running := job.Status{StartTime: midnight, Active: 1}
	undeclared := holding(job.Status{StartTime: midnight, CompletionTime: noon, Succeeded: 1}, job.ConditionComplete)
	declared := holding(undeclared, job.ConditionSuccessCriteriaMet)
	counted := job.Status{StartTime: midnight,
		UncountedTerminatedPods: &job.UncountedTerminatedPods{Succeeded: []job.UID{"a"}}}
	suspended := holding(job.Status{StartTime: midnight}, job.ConditionSuspended)
	resumed := job.Status{StartTime: noon,
		Conditions: []job.Condition{{Type: job.ConditionSuspended, Status: job.ConditionFalse}}}

	tests := []struct {
		name      string
		release   string
		old, next job.Status
		refused   string
	}{
		{"an end without SuccessCriteriaMet", "1.37", counted, undeclared, "needs SuccessCriteriaMet"},
		{"with it", "1.37", counted, declared, ""},
		{"without it, with one of the gates", "1.31", counted, undeclared, "needs SuccessCriteriaMet"},
		{"without it and the gates", "1.31,JobPodReplacementPolicy=false", counted, undeclared, ""},
		{"with it, without the gates", "1.31,JobPodReplacementPolicy=false", counted, declared, "needs a successPolicy"},
		{"without the gates, counts stay true", "1.31,JobPodReplacementPolicy=false", running, undeclared, "succeeded"},
		{"startTime at the resumption", "1.32", suspended, resumed, ""},
		{"startTime at the resumption, in 1.31", "1.31,JobManagedBy=true", suspended, resumed, "startTime"},
	}
	for _, test := range tests {
		err := jobstatus.CheckTransition(test.old, test.next, spec, parsed(t, test.release))
		if (err != nil) != (test.refused != "") || err != nil && !strings.Contains(err.Error(), test.refused) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.refused)
		}
	}
}

// TestReports_GatesOff: from 1.32 on, a mirror must write SuccessCriteriaMet. A server without the
// two gates, as 1.30 is, refuses that condition (karmada#6414). So a status that is joined for such
// a server does not have it.
func TestReports_GatesOff(t *testing.T) {
	spec, off := jobgen.SpecOf(plain), parsed(t, "1.31,JobPodReplacementPolicy=false")
	running := job.Status{StartTime: midnight, Active: 1}
	complete := holding(job.Status{StartTime: midnight, CompletionTime: noon, Succeeded: 1},
		job.ConditionSuccessCriteriaMet, job.ConditionComplete)
	if err := jobstatus.CheckServed(running, complete, spec, off); err == nil ||
		!strings.Contains(err.Error(), "needs a successPolicy") {
		t.Errorf("by hand: %v", err)
	}
	if err := jobstatus.CheckServed(running, complete, spec, release.V136()); err != nil {
		t.Errorf("by hand, 1.36: %v", err)
	}
	joined := jobstatus.Aggregate(running, spec, []jobstatus.Part{{Status: complete}}, noon, off)
	if err := jobstatus.CheckServed(running, joined, spec, off); err != nil ||
		joined.Finished() != job.ConditionComplete {
		t.Errorf("%v: %s", err, text(joined))
	}
}

// TestFinish_Errors: Finish refuses an end that comes too early.
func TestFinish_Errors(t *testing.T) {
	spec := jobgen.SpecOf(`{"suspend":true,"template":{"spec":{"restartPolicy":"Never"}}}`)
	success, declared := job.Verdict{Type: job.ConditionSuccessCriteriaMet},
		holding(job.Status{}, job.ConditionFailureTarget)

	for _, test := range []struct {
		s    job.Status
		end  job.Verdict
		want string
	}{
		{job.Status{Active: 1}, success, "status.active: 1: must be 0 when finished"},
		{job.Status{Terminating: value.To[int32](2)}, success, "status.terminating: 2: must be 0 when finished"},
		{job.Status{UncountedTerminatedPods: &job.UncountedTerminatedPods{Failed: []job.UID{"a"}}}, success, "status.uncountedTerminatedPods: 1: must be empty"},
		{job.Status{}, job.Verdict{Type: job.ConditionComplete}, "end.type: \"Complete\": must be SuccessCriteriaMet or FailureTarget"},
		{declared, success, "excludes SuccessCriteriaMet"},
	} {
		if _, err := jobstatus.Finish(test.s, spec, test.end, noon, release.V136()); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}

	if _, err := jobstatus.Suspend(declared, spec, noon, release.V136()); err == nil ||
		!strings.Contains(err.Error(), "is neither suspended nor resumed") {
		t.Error(err)
	}
	if _, err := jobstatus.Resume(job.Status{}, spec, noon, release.V136()); err == nil ||
		!strings.Contains(err.Error(), "spec.suspend: true: must be false") {
		t.Error(err)
	}

	spec.Suspend = value.To(false)
	if _, err := jobstatus.Suspend(job.Status{}, spec, noon, release.V136()); err == nil ||
		!strings.Contains(err.Error(), "spec.suspend: false: must be true") {
		t.Error(err)
	}
}

// TestSuspend: suspending removes startTime from 1.36 on, and keeps it before. Resuming sets a new
// startTime, unless the server refuses that.
func TestSuspend(t *testing.T) {
	suspended, spec := jobgen.SpecOf(`{"suspend":true,"template":{"spec":{"restartPolicy":"Never"}}}`),
		jobgen.SpecOf(plain)
	old := job.Status{StartTime: midnight}
	kept := map[string]bool{"1.31": true, "1.34": true, "1.35": true,
		"1.35,MutableSchedulingDirectivesForSuspendedJobs=true": false, "1.36": false, "1.31,JobManagedBy=true": true}
	for text, keeps := range kept {
		r := parsed(t, text)
		s, err := jobstatus.Suspend(old, suspended, noon, r)
		if err != nil || s.StartTime.IsZero() == keeps ||
			s.Condition(job.ConditionSuspended).Status != job.ConditionTrue {
			t.Errorf("%v: %+v, %v", r, s, err)
		}

		resumed, err := jobstatus.Resume(s, spec, noon, r)
		want := noon
		if text == "1.31,JobManagedBy=true" {
			want = midnight
		}
		if err != nil || !resumed.StartTime.Equal(want) ||
			resumed.Condition(job.ConditionSuspended).Status != job.ConditionFalse {
			t.Errorf("%v: %+v, %v", r, resumed, err)
		}

		if err := jobstatus.CheckServed(s, resumed, spec, r); err != nil {
			t.Errorf("%v: %v", r, err)
		}
		if !slices.Equal(old.Conditions, nil) {
			t.Errorf("the argument was written to: %+v", old)
		}
	}
}

// TestCheckServed: a server with JobManagedBy checks only the fields that a write changes.
func TestCheckServed(t *testing.T) {
	const indexed = `{"completionMode":"Indexed","completions":5,"backoffLimitPerIndex":1,"template":{"spec":{"restartPolicy":"Never"}}}`
	started, done := job.Status{StartTime: midnight}, job.Status{CompletionTime: noon}
	left := holding(started, job.ConditionFailureTarget, job.ConditionFailed)
	left.UncountedTerminatedPods = &job.UncountedTerminatedPods{Failed: []job.UID{"a"}}
	both := holding(started, job.ConditionComplete, job.ConditionFailureTarget, job.ConditionFailed)

	lists := func(completed, failed string) job.Status {
		return job.Status{StartTime: midnight, CompletedIndexes: completed, Succeeded: 2, FailedIndexes: &failed}
	}
	complete := func(at time.Time) job.Status {
		return holding(job.Status{StartTime: midnight, CompletionTime: at}, job.ConditionSuccessCriteriaMet,
			job.ConditionComplete)
	}

	for _, c := range []struct {
		name, spec string
		old, next  job.Status
		want       string // in the error
	}{
		{"two ends, as before", plain, both, both, ""},
		{"an end with pods that are not counted", plain, holding(started, job.ConditionFailureTarget), left, "uncountedTerminatedPods"},
		{"no startTime, as before", plain, holding(done, job.ConditionSuccessCriteriaMet, job.ConditionComplete),
			holding(done, job.ConditionSuccessCriteriaMet, job.ConditionComplete), ""},
		{"a completionTime that moves", plain, complete(noon), complete(noon.Add(time.Second)), "completionTime: \"2026-01-01T12:00:01Z\": must stay 2026-01-01T12:00:00Z"},
		{"failed indexes of a job without such a limit", plain, started, lists("", "0"), "failedIndexes: \"0\": needs spec.backoffLimitPerIndex"},
		{"failed indexes out of order", indexed, started, lists("2-3", "1,0"), "failedIndexes"},
		{"failed indexes beyond the completions", indexed, started, lists("2-3", "7"), "failedIndexes"},
		{"an index in both lists", indexed, started, lists("2-3", "0-2"), "failedIndexes: 2"},
		{"the end of a range in both lists", indexed, started, lists("2-3", "3"), "failedIndexes: 3"},
		{"an index behind one that is in no other list", indexed, started, lists("0,4", "1,4"), "failedIndexes: 4"},
		{"an index that ends a range of the other list", indexed, started, lists("3-4", "1,2-3"), "failedIndexes: 3"},
		{"lists apart", indexed, started, lists("2-3", "0-1,4"), ""},
	} {
		err := jobstatus.CheckServed(c.old, c.next, jobgen.SpecOf(c.spec), release.V136())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestAggregate_Sums: counts are the sums of the parts, and a job whose failure was announced
// fails, even if its parts complete.
func TestAggregate_Sums(t *testing.T) {
	part := func(active, ready, terminating int32) jobstatus.Part {
		return jobstatus.Part{Status: job.Status{StartTime: midnight, Active: active, Ready: &ready,
			Terminating: &terminating}}
	}

	got := jobstatus.Aggregate(job.Status{StartTime: midnight}, jobgen.SpecOf(plain),
		[]jobstatus.Part{part(2, 1, 1), part(3, 2, 2)}, noon, release.V136())
	if got.Active != 5 || *got.Ready != 3 || *got.Terminating != 3 {
		t.Errorf("%d active, %d ready, %d terminating", got.Active, *got.Ready, *got.Terminating)
	}

	for _, test := range []struct {
		name        string
		parts       []jobstatus.Part
		ready, ends *int32
	}{
		{"no part knows", []jobstatus.Part{{Status: job.Status{Active: 2}}, {Status: job.Status{Active: 1}}}, nil, nil},
		{"one part knows", []jobstatus.Part{{Status: job.Status{Active: 2}}, part(1, 1, 2)}, value.To[int32](1), value.To[int32](2)},
		{"one part knows that there are none", []jobstatus.Part{part(1, 0, 0), {}}, value.To[int32](0), value.To[int32](0)},
		{"one part knows only what is ready", []jobstatus.Part{{Status: job.Status{Active: 2, Ready: value.To[int32](2)}}}, value.To[int32](2), nil},
		{"a part says more than can be", []jobstatus.Part{part(1, 7, -1)}, value.To[int32](1), value.To[int32](0)},
		{"no part is here", nil, nil, nil},
	} {
		for _, old := range []job.Status{{}, part(5, 4, 3).Status} {
			got := jobstatus.Aggregate(old, jobgen.SpecOf(plain), test.parts, noon, release.V136())
			if !value.Equal(got.Ready, test.ready) || !value.Equal(got.Terminating, test.ends) {
				t.Errorf("%s, after %s: %s", test.name, text(old), text(got))
			}
		}
	}

	old := job.Status{Succeeded: 7, Failed: 8}
	if got := jobstatus.Aggregate(old, jobgen.SpecOf(plain), nil, noon, release.V136()); got.Succeeded != 7 ||
		got.Failed != 8 {
		t.Errorf("without its parts, %d succeeded, %d failed", got.Succeeded, got.Failed)
	}

	completeAt := func(hour int) jobstatus.Part {
		at := midnight.Add(time.Duration(hour) * time.Hour)
		return jobstatus.Part{Status: holding(job.Status{StartTime: at.Add(-time.Hour), CompletionTime: at},
			job.ConditionSuccessCriteriaMet, job.ConditionComplete)}
	}
	complete := completeAt(1)
	got = jobstatus.Aggregate(job.Status{}, jobgen.SpecOf(plain),
		[]jobstatus.Part{complete, completeAt(3), completeAt(2)}, noon, release.V136())
	if got.Finished() != job.ConditionComplete || !got.StartTime.Equal(midnight) ||
		!got.CompletionTime.Equal(midnight.Add(3*time.Hour)) {
		t.Errorf("complete from %v to %v: %v", got.StartTime, got.CompletionTime, got.Conditions)
	}

	again, err := jobstatus.Finish(got, jobgen.SpecOf(plain), job.Verdict{Type: job.ConditionFailureTarget}, noon,
		release.V136())
	if err != nil || again.Finished() != job.ConditionComplete {
		t.Errorf("what has ended ends as %q, %v", again.Finished(), err)
	}

	announced := holding(job.Status{StartTime: midnight}, job.ConditionFailureTarget)
	if got := jobstatus.Aggregate(announced, jobgen.SpecOf(plain), []jobstatus.Part{complete}, noon,
		release.V136()); got.Finished() != job.ConditionFailed {
		t.Errorf("announced is a failure, and the job ends as %q", got.Finished())
	}
}

// TestAggregate_Words: the message of the end names the parts that have failed, and why. The caller
// then ends the other parts. The announced message does not change when they fail as well.
func TestAggregate_Words(t *testing.T) {
	failed := func(name, reason, message string) jobstatus.Part {
		c := job.Condition{Type: job.ConditionFailed, Status: job.ConditionTrue, Reason: reason, Message: message}
		return jobstatus.Part{Name: name, Status: job.Status{StartTime: midnight, Conditions: []job.Condition{c}}}
	}
	running := jobstatus.Part{Name: "c", Status: job.Status{StartTime: midnight, Active: 1}}
	const limit, late = "Job has reached the specified backoff limit", "Job was active longer than specified deadline"
	ofLimit := func(name string) jobstatus.Part { return failed(name, "BackoffLimitExceeded", limit) }
	ofDeadline := func(name string) jobstatus.Part { return failed(name, "DeadlineExceeded", late) }
	for _, test := range []struct {
		name            string
		parts           []jobstatus.Part
		reason, message string
	}{
		{"one part of several", []jobstatus.Part{running, ofLimit("b")}, "BackoffLimitExceeded", "b: " + limit},
		{"a part without a name", []jobstatus.Part{ofLimit("")}, "BackoffLimitExceeded", limit},
		{"a part that does not say why", []jobstatus.Part{failed("a", "", "")}, "", "a"},
		{"a part that says nothing", []jobstatus.Part{failed("", "", "")}, "", ""},
		{"two for the same reason", []jobstatus.Part{ofLimit("a"), running, ofLimit("d")}, "BackoffLimitExceeded", "a, d: " + limit},
		{"three for two reasons", []jobstatus.Part{ofDeadline("a"), ofLimit("b"), ofDeadline("d")}, "DeadlineExceeded", "a, d: " + late + "; b: " + limit},
		{"the second says why", []jobstatus.Part{failed("a", "", ""), ofLimit("b")}, "BackoffLimitExceeded", "a; b: " + limit},
	} {
		announced := jobstatus.Aggregate(job.Status{}, jobgen.SpecOf(plain), test.parts, noon, release.V136())
		all := append([]jobstatus.Part{failed("later", "Late", "late")}, test.parts...)
		all = slices.DeleteFunc(all, func(p jobstatus.Part) bool { return p.Status.Active > 0 })
		ended := jobstatus.Aggregate(announced, jobgen.SpecOf(plain), all, noon.Add(time.Minute), release.V136())
		for _, c := range []job.Condition{announced.Condition(job.ConditionFailureTarget),
			ended.Condition(job.ConditionFailureTarget), ended.Condition(job.ConditionFailed)} {
			if c.Status != job.ConditionTrue || c.Reason != test.reason || c.Message != test.message {
				t.Errorf("%s: %s says %q, %q", test.name, c.Type, c.Reason, c.Message)
			}
		}
	}

	count := func(failed []jobstatus.Part) (reason, message string) {
		return "PartsFailed", fmt.Sprintf("%d have failed, the last is %s", len(failed), failed[len(failed)-1].Name)
	}
	parts := []jobstatus.Part{ofLimit("a"), running, ofDeadline("d")}
	got := jobstatus.AggregateFunc(job.Status{}, jobgen.SpecOf(plain), parts, count, noon,
		release.V136()).Condition(job.ConditionFailureTarget)
	if got.Reason != "PartsFailed" || got.Message != "2 have failed, the last is d" {
		t.Errorf("the caller's words: %q, %q", got.Reason, got.Message)
	}
}
