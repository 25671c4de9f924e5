package job

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// The cases in this file were found by running the controllers of Kubernetes beside
// the planner. Each also has a script in the corpus of proof/conformance.

func TestJ22_RestartsOfTerminatingPods(t *testing.T) {
	restarted := func(phase PodPhase, going bool) Pod {
		p := activePod("a")
		p.Phase = phase
		p.Detail = &PodDetail{Containers: []Container{{Name: "main", Restarts: 2}}}
		if going {
			p.Deletion = &PodDeletion{Timestamp: second(60), GracePeriodSeconds: 30}
		}
		return p
	}
	spec := `{"backoffLimit": 2, "template": {"spec": {"restartPolicy": "OnFailure"}}}`
	for _, test := range []struct {
		pod  Pod
		ends bool
	}{
		{restarted(PodRunning, false), true},
		{restarted(PodPending, true), true},
		{restarted(PodUnknown, false), false},
	} {
		plan := PlanOf(t, snapshotOf(t, spec, test.pod))
		if got := plan.Verdict.Reason == "BackoffLimitExceeded"; got != test.ends {
			t.Errorf("%s, terminating %t: ends %t, want %t", test.pod.Phase, test.pod.Deletion != nil, got, test.ends)
		}
	}
}

func TestJ38_TheEndWaitsForEveryFinalizer(t *testing.T) {
	stray := endedPod("b", PodFailed)
	stray.Index = IndexAt(7) // not counted
	done := endedPod("a", PodSucceeded)
	done.Index = IndexAt(0)
	s := snapshotOf(t, `{"completions": 1, "completionMode": "Indexed"}`, done, stray)
	plan := PlanOf(t, s)
	o := doneAll(plan)
	if settled(plan, o).Status.Finished() != ConditionComplete {
		t.Fatal("the job does not end")
	}
	for i, u := range plan.Record(o.Writes).Untrack {
		if u.UID == "b" {
			o.Untracked[i] = ResultUnsuccessful
		}
	}
	if got := settled(plan, o).Status.Finished(); got != "" {
		t.Errorf("the job is %s, and a finalizer is left", got)
	}
}

func TestJ6_AReleasedPodIsCountedWithTheRelease(t *testing.T) {
	p := endedPod("a", PodSucceeded)
	p.Owner = OwnedUnmatched
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

// TestJ40_SuccessesOfAnotherWriter: the API server would refuse a smaller number again
// and again.
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
	older, adopted := endedPod("a", PodFailed), endedPod("b", PodFailed)
	older.Index, adopted.Index, adopted.Owner = IndexAt(0), IndexAt(0), Orphan
	for _, pods := range [][]Pod{{older, adopted}, {adopted, older}} {
		s := snapshotOf(t, `{"completions": 1, "completionMode": "Indexed", "backoffLimitPerIndex": 3}`, pods...)
		plan := PlanOf(t, s)
		if slices.ContainsFunc(plan.Record(doneAll(plan).Writes).Untrack, func(u Untracking) bool { return u.UID == "b" }) {
			t.Errorf("the adopted pod loses its finalizer:\n%s", plan)
		}
	}
}

func TestJ37_ADeletedJobLetsGoThoughDeletionsFail(t *testing.T) {
	s := snapshotOf(t, `{"parallelism": 2, "activeDeadlineSeconds": 10}`, activePod("a"))
	s.Job.DeletionTimestamp = second(20)
	plan := PlanOf(t, s)
	o := Outcome{Writes: Writes{Deleted: []Effect{{Result: ResultUnsuccessful}}}}
	if got := plan.Record(o.Writes).Untrack; len(got) != 1 || got[0].As != NotCounted {
		t.Errorf("finalizers to remove: %v", got)
	}
	if status := plan.Record(o.Writes).Status; len(status.uncounted().Failed) > 0 {
		t.Errorf("%v is counted", status)
	}
}

// Each quirk decides as the reference does, and nothing else does.
func TestSlips_FoundByRunning(t *testing.T) {
	record := func(t *testing.T, quirks jobquirk.Set, s Snapshot, o Outcome) Conclusion {
		s.Options.Quirks = quirks
		return PlanOf(t, s).Conclude(o)
	}
	t.Run("EarlyEvents", func(t *testing.T) {
		s := snapshotOf(t, `{"suspend": true}`)
		refused := Outcome{Recorded: ResultUnsuccessful}
		if n, m := len(record(t, 0, s, refused).Events), len(record(t, jobquirk.EarlyEvents, s, refused).Events); n != 0 || m != 1 {
			t.Errorf("%d events, with the quirk %d", n, m)
		}
	})
	t.Run("RefusedAreActive", func(t *testing.T) {
		s := snapshotOf(t, `{"parallelism": 2, "completions": 2}`)
		o := Outcome{Writes: Writes{Created: []Effect{{Result: ResultRefused}, {Result: ResultRefused}}}, Recorded: ResultDone}
		if got := record(t, 0, s, o).Memory.Expectations.Creations; got != 0 {
			t.Errorf("%d are expected", got)
		}
		if got := record(t, jobquirk.RefusedAreActive, s, o).Memory.Expectations.Creations; got != 2 {
			t.Errorf("with the quirk %d are expected", got)
		}
	})
	t.Run("EarlierFailure", func(t *testing.T) {
		p := endedPod("a", PodFailed)
		p.Detail.Containers[0].FinishedAt = second(5)
		s := snapshotOf(t, `{"backoffLimit": 9}`, p)
		s.Memory = Memory{JobUID: "job-1"}
		s.Memory.Backoff.Failures, s.Memory.Backoff.LastFailure = 1, second(20)
		o := Outcome{Recorded: ResultDone, Untracked: []Result{ResultDone}, Settled: ResultDone}
		if got := record(t, 0, s, o).Memory.Backoff.LastFailure; !got.Equal(second(20)) {
			t.Errorf("the last failure was at %s", got)
		}
		if got := record(t, jobquirk.EarlierFailure, s, o).Memory.Backoff.LastFailure; !got.Equal(second(5)) {
			t.Errorf("with the quirk the last failure was at %s", got)
		}
		// With it, a pod that an earlier round has handled counts again.
		s.Memory.rest.Handled = expectations.NewUIDs("a")
		s.Memory.Backoff.LastFailure = second(1)
		for quirks, want := range map[jobquirk.Set]time.Time{0: second(1), jobquirk.EarlierFailure: second(5)} {
			if got := record(t, quirks, s, o).Memory.Backoff.LastFailure; !got.Equal(want) {
				t.Errorf("quirks %b, a handled pod: the last failure was at %s, want %s", quirks, got, want)
			}
		}
	})
	t.Run("UncheckedUntrack", func(t *testing.T) {
		// The pod was adopted and recorded, and its finalizer could not be removed. The snapshot
		// lacks the adoption, which cannot be repeated since the job is being deleted.
		p := endedPod("a", PodSucceeded)
		p.Owner = Orphan
		s := snapshotOf(t, `{"parallelism": 0}`, p)
		s.Job.DeletionTimestamp = second(10)
		s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Succeeded: []UID{p.UID}}
		for quirks, want := range map[jobquirk.Set]int32{0: 0, jobquirk.UncheckedUntrack: 1} {
			s.Options.Quirks = quirks
			plan := PlanOf(t, s)
			r := plan.Record(Writes{})
			if r.Status.Succeeded != want || len(r.Untrack) != 1-int(want) {
				t.Errorf("quirks %b: %d are counted and %d lose their finalizer, want %d counted", quirks, r.Status.Succeeded, len(r.Untrack), want)
			}
		}
	})
	t.Run("UnmatchedStay", func(t *testing.T) {
		p := activePod("a")
		p.Owner = OwnedUnmatched
		s := snapshotOf(t, `{}`, p)
		s.Job.DeletionTimestamp = second(10)
		for quirks, want := range map[jobquirk.Set]int{0: 1, jobquirk.UnmatchedStay: 0} {
			s.Options.Quirks = quirks
			if got := len(PlanOf(t, s).Untrack); got != want {
				t.Errorf("quirks %b: %d finalizers go, want %d", quirks, got, want)
			}
		}
	})
	t.Run("DeleteCounts", func(t *testing.T) {
		s := snapshotOf(t, `{"parallelism": 0, "completions": 3}`, activePod("a"))
		for quirks, want := range map[jobquirk.Set]int32{0: 0, jobquirk.DeleteCounts: 1} {
			s.Options.Quirks = quirks
			got := PlanOf(t, s).Record(Writes{Deleted: []Effect{{Result: ResultGone}}}).Status
			if *got.Terminating != want {
				t.Errorf("quirks %b: %d terminating, want %d", quirks, *got.Terminating, want)
			}
		}
	})
}

// A finalizer that could not be removed is repeated, and no event tells of it: the
// pod was not deleted.
func TestJ41_StillTracked(t *testing.T) {
	s := snapshotOf(t, `{"parallelism": 0, "completions": 3}`, activePod("a"))
	end := PlanOf(t, s).Conclude(Outcome{Writes: Writes{Deleted: []Effect{{Result: ResultStillTracked, Error: "x"}}}, Recorded: ResultDone})
	if len(end.Events) != 0 || !end.Retry {
		t.Errorf("%+v", end)
	}
}
