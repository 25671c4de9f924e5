package job

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// The cases in this file were found by running the controllers of Kubernetes beside
// the planner. Each also has a script in the corpus of x/proof/conformance.

func TestJ38_TheEndWaitsForEveryFinalizer(t *testing.T) {
	stray := ofIndex(endedPod("b", PodFailed), 7) // not counted
	s := snapshotOf(t, `{"completions": 1, "completionMode": "Indexed"}`, ofIndex(endedPod("a", PodSucceeded), 0),
		stray)
	plan := PlanOf(t, s)
	o := doneAll(plan)
	if settled(plan, o).Status.Finished() != ConditionComplete {
		t.Fatal("the job does not end")
	}
	for i, u := range plan.Record(o.Writes).Untrack {
		if u.UID == "b" {
			o.Untracked[i] = Reply{Result: jobreason.ResultUnsuccessful}
		}
	}
	if got := settled(plan, o).Status.Finished(); got != "" {
		t.Errorf("the job is %s, and a finalizer is left", got)
	}
}

func TestJ6_AReleasedPodIsCountedWithTheRelease(t *testing.T) {
	p := endedPod("a", PodSucceeded)
	p.Owner = jobpod.OwnedUnmatched
	s := snapshotOf(t, `{"completions": 2}`, p)
	s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Succeeded: []UID{"a"}}
	plan := PlanOf(t, s)
	if got := plan.Record(doneAll(plan).Writes).Status; got.Succeeded != 1 || len(got.uncounted().Succeeded) != 0 {
		t.Error(got)
	}
}

func TestJ40_AStartTimeAloneIsNotWritten(t *testing.T) {
	s := snapshotOf(t, `{"parallelism": 1}`)
	s.Job.Status.StartTime = time.Time{}
	s.Memory = Memory{JobUID: "job-1", Expectations: expectations.Counts{Creations: 1, At: s.Now}}
	plan := PlanOf(t, s)
	if r := plan.Record(Writes{}); r.Write {
		t.Errorf("%s is written", r.Status)
	}
	if plan.basis.Facts.StartTime.IsZero() {
		t.Error("the job has no start time (J12)")
	}
}

// TestJ40_SuccessesOfAnotherWriter: another writer has set a greater number of successes. The API
// server refuses a smaller number, so the round does not write the status if nothing else has
// changed.
func TestJ40_SuccessesOfAnotherWriter(t *testing.T) {
	s := snapshotOf(t, `{"parallelism": 1, "completions": 3, "completionMode": "Indexed"}`)
	s.Memory = Memory{JobUID: "job-1", Expectations: expectations.Counts{Creations: 1, At: s.Now}}
	s.Job.Status = PlanOf(t, s).Record(Writes{}).Status
	s.Job.Status.Succeeded = 2
	if r := PlanOf(t, s).Record(Writes{}); r.Write {
		t.Errorf("%s is written", r.Status)
	}
	s.Job.Status.Active = 1 // another reason to write
	if r := PlanOf(t, s).Record(Writes{}); !r.Write || r.Status.Succeeded != 0 {
		t.Errorf("write is %v, succeeded %d", r.Write, r.Status.Succeeded)
	}
}

func TestE3_TheEndKeepsTheRecordOfCreations(t *testing.T) {
	s := snapshotOf(t, `{"parallelism": 2, "activeDeadlineSeconds": 10}`, activePod("a"))
	unseen := expectations.Counts{Creations: 1, At: s.Now.Add(-time.Second)}
	s.Memory = Memory{JobUID: "job-1", Expectations: unseen}
	plan := PlanOf(t, s)
	if len(plan.Delete) != 1 {
		t.Fatal(plan)
	}
	if got := plan.Conclude(doneAll(plan)).Memory.Expectations; got != unseen {
		t.Errorf("the record is %+v, want %+v", got, unseen)
	}
}

func TestJ17_TheAdoptedOneOfEqualFailures(t *testing.T) {
	older, adopted := ofIndex(endedPod("a", PodFailed), 0), ofIndex(endedPod("b", PodFailed), 0)
	adopted.Owner = jobpod.Orphan
	for _, pods := range [][]Pod{{older, adopted}, {adopted, older}} {
		s := snapshotOf(t, `{"completions": 1, "completionMode": "Indexed", "backoffLimitPerIndex": 3}`, pods...)
		plan := PlanOf(t, s)
		if slices.ContainsFunc(plan.Record(doneAll(plan).Writes).Untrack,
			func(u Untracking) bool { return u.UID == "b" }) {
			t.Errorf("the adopted pod loses its finalizer:\n%s", plan)
		}
	}
}

func TestJ37_ADeletedJobLetsGoThoughDeletionsFail(t *testing.T) {
	s := snapshotOf(t, `{"parallelism": 2, "activeDeadlineSeconds": 10}`, activePod("a"))
	s.Job.DeletionTimestamp = second(20)
	plan := PlanOf(t, s)
	o := Outcome{Writes: Writes{Deleted: []Effect{{Result: jobreason.ResultUnsuccessful}}}}
	if got := plan.Record(o.Writes).Untrack; len(got) != 1 || got[0].As != jobreason.NotCounted {
		t.Errorf("finalizers to remove: %v", got)
	}
	if status := plan.Record(o.Writes).Status; len(status.uncounted().Failed) > 0 {
		t.Errorf("%v is counted", status)
	}
}

// TestSlips_FoundByRunning: the planner decides as Kubernetes does only with the quirk.
func TestSlips_FoundByRunning(t *testing.T) {
	failed, unmatched, adopted := endedPod("a", PodFailed), activePod("a"), endedPod("a", PodSucceeded)
	failed.Detail.Containers[0].FinishedAt = second(5)
	unmatched.Owner, adopted.Owner = jobpod.OwnedUnmatched, jobpod.Orphan
	untracked := Outcome{Recorded: Reply{Result: jobreason.ResultDone},
		Untracked: []Reply{{Result: jobreason.ResultDone}}, Settled: Reply{Result: jobreason.ResultDone}}
	for _, test := range []struct {
		name         string
		quirk        jobquirk.Quirk
		ours, theirs any
		snap         Snapshot
		change       func(*Snapshot)
		decides      func(p *Plan) any
	}{
		{"events of a status that is refused", jobquirk.EarlyEvents, 0, 1, snapshotOf(t, `{"suspend": true}`), nil,
			func(p *Plan) any {
				return len(p.Conclude(Outcome{Recorded: Reply{Result: jobreason.ResultUnsuccessful}}).Events)
			}},
		{"expected creations that are refused", jobquirk.RefusedAreActive, 0, 2, snapshotOf(t, `{"parallelism": 2, "completions": 2}`), nil,
			func(p *Plan) any {
				o := Outcome{Writes: Writes{Created: []Effect{{Result: jobreason.ResultRefused},
					{Result: jobreason.ResultRefused}}}, Recorded: Reply{Result: jobreason.ResultDone}}
				return p.Conclude(o).Memory.Expectations.Creations
			}},
		{"the last failure, after an earlier one is seen", jobquirk.EarlierFailure, second(20), second(5), snapshotOf(t, `{"backoffLimit": 9}`, failed),
			func(s *Snapshot) {
				s.Memory = Memory{JobUID: "job-1", Backoff: backoff.Record{Failures: 1, LastFailure: second(20)}}
			},
			func(p *Plan) any { return p.Conclude(untracked).Memory.Backoff.LastFailure }},
		{"the last failure, where an earlier round has handled the pod", jobquirk.EarlierFailure, second(1), second(5), snapshotOf(t, `{"backoffLimit": 9}`, failed),
			func(s *Snapshot) {
				s.Memory = Memory{JobUID: "job-1", Backoff: backoff.Record{Failures: 1, LastFailure: second(1)}}
				s.Memory.rest.Handled = expectations.NewUIDs("a")
			},
			func(p *Plan) any { return p.Conclude(untracked).Memory.Backoff.LastFailure }},
		{"an index that waits beside one that starts", jobquirk.CoarseRequeue, true, false,
			snapshotOf(t, `{"parallelism": 2, "completions": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 3}`, ofIndex(failed, 0)),
			func(s *Snapshot) { s.Now = second(6) },
			func(p *Plan) any {
				isBackoff := func(w Wait) bool { return w.Reason == jobreason.WaitIndexBackoff }
				return len(p.Create) == 1 && slices.ContainsFunc(p.Waits, isBackoff)
			}},
		// The pod was adopted and recorded, and its finalizer could not be removed. The snapshot
		// lacks the adoption, which cannot be repeated since the job is being deleted.
		{"successes and finalizers of a recorded orphan", jobquirk.UncheckedUntrack, [2]int{0, 1}, [2]int{1, 0}, snapshotOf(t, `{"parallelism": 0}`, adopted),
			func(s *Snapshot) {
				s.Job.DeletionTimestamp = second(10)
				s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Succeeded: []UID{"a"}}
			},
			func(p *Plan) any {
				r := p.Record(Writes{})
				return [2]int{int(r.Status.Succeeded), len(r.Untrack)}
			}},
		{"finalizers of unmatched pods", jobquirk.UnmatchedStay, 1, 0, snapshotOf(t, `{}`, unmatched),
			func(s *Snapshot) { s.Job.DeletionTimestamp = second(10) },
			func(p *Plan) any { return len(p.Untrack) }},
		{"terminating pods that were gone", jobquirk.DeleteCounts, int32(0), int32(1), snapshotOf(t, `{"parallelism": 0, "completions": 3}`, activePod("a")), nil,
			func(p *Plan) any {
				return *p.Record(Writes{Deleted: []Effect{{Result: jobreason.ResultGone}}}).Status.Terminating
			}},
	} {
		if test.change != nil {
			test.change(&test.snap)
		}
		for quirks, want := range map[jobquirk.Set]any{{}: test.ours, jobquirk.SetOf(test.quirk): test.theirs} {
			test.snap.Options.Quirks = quirks
			if got := test.decides(PlanOf(t, test.snap)); got != want {
				t.Errorf("%s, quirks %b: got %v, want %v", test.name, quirks, got, want)
			}
		}
	}
}
