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
	"github.com/batchplan/batchplan/job/release"
)

func endedPod(uid string, phase PodPhase) Pod {
	return Pod{UID: UID(uid), Name: uid, Phase: phase, Index: NoIndex(), Detail: &PodDetail{
		Containers: []jobpod.Container{exited("main", jobpod.App, int32(phase-PodSucceeded))},
	}}
}

func activePod(uid string) Pod {
	return Pod{UID: UID(uid), Name: uid, Phase: PodRunning, Ready: true, Index: NoIndex()}
}

// planned returns the plan for the snapshot, and an outcome in which every write takes effect, with
// the given change applied to the outcome.
func planned(t *testing.T, s Snapshot, change func(*Outcome)) (*Plan, Outcome) {
	t.Helper()
	plan := PlanOf(t, s)
	o := doneAll(plan)
	if change != nil {
		change(&o)
	}
	return plan, o
}

// with returns the snapshot after the given change.
func with(s Snapshot, change func(*Snapshot)) Snapshot {
	change(&s)
	return s
}

// asSuspended returns the snapshot with that status of the condition Suspended.
func asSuspended(s Snapshot, status ConditionStatus) Snapshot {
	s.Job.Status.Conditions = []Condition{{Type: ConditionSuspended, Status: status}}
	return s
}

func TestJ41_Events(t *testing.T) {
	for _, test := range []struct {
		name    string
		snap    Snapshot
		outcome func(*Outcome)
		want    []string
	}{
		{"pods are created", snapshotOf(t, `{"parallelism": 2}`), nil,
			[]string{"Normal SuccessfulCreate: Created pod: j-x", "Normal SuccessfulCreate: Created pod: j-x"}},
		{"a creation fails, and the rest is not tried", snapshotOf(t, `{"parallelism": 3}`),
			func(o *Outcome) {
				o.Created = []Effect{{Result: jobreason.ResultDone, Pod: PodRef{Name: "j-x"}},
					{Result: jobreason.ResultUnsuccessful, Error: "exceeded quota"}}
			},
			[]string{"Normal SuccessfulCreate: Created pod: j-x",
				"Warning FailedCreate: Error creating: exceeded quota"}},
		{"the namespace is going away: no event", snapshotOf(t, `{}`),
			func(o *Outcome) { o.Created = []Effect{{Result: jobreason.ResultRefused, Error: "terminating"}} }, nil},
		{"a pod is deleted, another was gone, a third stays", snapshotOf(t, `{"parallelism": 0}`, activePod("a"), activePod("b"), activePod("c")),
			func(o *Outcome) {
				o.Deleted = []Effect{{Result: jobreason.ResultDone}, {Result: jobreason.ResultGone},
					{Result: jobreason.ResultUnsuccessful, Error: "timeout"}}
			},
			[]string{"Normal SuccessfulDelete: Deleted pod: a", "Warning FailedDelete: Error deleting: timeout"}},
		{"a finalizer stays, and so its pod is not deleted yet", snapshotOf(t, `{"parallelism": 0}`, activePod("a")),
			func(o *Outcome) { o.Deleted[0] = Effect{Result: jobreason.ResultStillTracked, Error: "x"} }, nil},
		{"the job is suspended", snapshotOf(t, `{"suspend": true}`), nil, []string{"Normal Suspended: Job suspended"}},
		{"the job is still suspended", asSuspended(snapshotOf(t, `{"suspend": true}`), ConditionTrue), nil, nil},
		{"the job is resumed", asSuspended(snapshotOf(t, `{}`, activePod("a")), ConditionTrue), nil, []string{"Normal Resumed: Job resumed"}},
		{"the job was resumed long ago", asSuspended(snapshotOf(t, `{}`, activePod("a")), ConditionFalse), nil, nil},
		{"the job was never suspended", snapshotOf(t, `{}`, activePod("a")), nil, nil},
		{"a condition that could not be written is not reported", snapshotOf(t, `{"suspend": true}`),
			func(o *Outcome) { o.Recorded = Reply{Result: jobreason.ResultUnsuccessful} }, nil},
		{"the job completes", snapshotOf(t, `{}`, endedPod("a", PodSucceeded)), nil, []string{"Normal Completed: Job completed"}},
		{"the last write fails: it is not complete", snapshotOf(t, `{}`, endedPod("a", PodSucceeded)),
			func(o *Outcome) { o.Settled = Reply{Result: jobreason.ResultUnsuccessful} }, nil},
		{"more pods succeed than are wanted", snapshotOf(t, `{}`, endedPod("a", PodSucceeded), endedPod("b", PodSucceeded)), nil,
			[]string{"Warning TooManySucceededPods: Too many succeeded pods running after completion count reached",
				"Normal Completed: Job completed"}},
		{"the backoff limit is exceeded", snapshotOf(t, `{"backoffLimit": 0}`, endedPod("a", PodFailed)), nil,
			[]string{"Warning BackoffLimitExceeded: Job has reached the specified backoff limit"}},
		{"the deadline has passed", snapshotOf(t, `{"activeDeadlineSeconds": 30}`), nil,
			[]string{"Warning DeadlineExceeded: Job was active longer than specified deadline"}},
		{"the failure policy decides", snapshotOf(t, `{"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}}`, endedPod("a", PodFailed)), nil,
			[]string{"Warning PodFailurePolicy: Container main for pod default/a failed with exit code 1 matching FailJob rule at index 0"}},
		{"the mode is unknown", snapshotOf(t, `{"completionMode": "Elastic"}`), nil,
			[]string{"Warning UnknownCompletionMode: Skipped Job sync because completion mode is unknown"}},
	} {
		plan, o := planned(t, test.snap, test.outcome)

		var got []string
		for _, e := range plan.Conclude(o).Events {
			got = append(got, string(e.Type)+" "+e.Reason+": "+e.Message)
		}
		Same(t, test.name+"\n"+plan.String(), test.want, got)
	}
}

func TestJ43_Retry(t *testing.T) {
	orphan := Pod{UID: "o", Name: "o", Owner: jobpod.Orphan, Index: NoIndex(), Untracked: true}
	for _, test := range []struct {
		name    string
		snap    Snapshot
		outcome func(*Outcome)
		want    bool
	}{
		{"all is done", snapshotOf(t, `{"parallelism": 2}`, endedPod("a", PodFailed)), nil, false},
		{"there was nothing to do", snapshotOf(t, `{"parallelism": 0}`), func(o *Outcome) { *o = Outcome{} }, false},
		{"nothing was tried", snapshotOf(t, `{}`), func(o *Outcome) { *o = Outcome{} }, true},
		{"a claim fails", snapshotOf(t, `{}`, orphan), func(o *Outcome) { o.Claimed = Reply{Result: jobreason.ResultUnsuccessful} }, true},
		{"a creation fails", snapshotOf(t, `{}`), func(o *Outcome) { o.Created[0].Result = jobreason.ResultUnsuccessful }, true},
		{"a creation was not tried", snapshotOf(t, `{"parallelism": 2}`), func(o *Outcome) { o.Created = o.Created[:1] }, true},
		{"a creation is refused: no namespace, no retry", snapshotOf(t, `{}`), func(o *Outcome) { o.Created[0].Result = jobreason.ResultRefused }, false},
		{"a deletion fails", snapshotOf(t, `{"parallelism": 0}`, activePod("a")), func(o *Outcome) { o.Deleted[0].Result = jobreason.ResultUnsuccessful }, true},
		{"one of two deletions fails", snapshotOf(t, `{"parallelism": 0}`, activePod("a"), activePod("b")), func(o *Outcome) { o.Deleted[0].Result = jobreason.ResultUnsuccessful }, true},
		{"a finalizer stays before a deletion", snapshotOf(t, `{"parallelism": 0}`, activePod("a")), func(o *Outcome) { o.Deleted[0].Result = jobreason.ResultStillTracked }, true},
		{"a pod was gone already", snapshotOf(t, `{"parallelism": 0}`, activePod("a")), func(o *Outcome) { o.Deleted[0].Result = jobreason.ResultGone }, false},
		{"the first status fails", snapshotOf(t, `{}`, endedPod("a", PodSucceeded)), func(o *Outcome) { o.Recorded = Reply{Result: jobreason.ResultUnsuccessful} }, true},
		{"a finalizer stays", snapshotOf(t, `{"parallelism": 0}`, endedPod("a", PodFailed)), func(o *Outcome) { o.Untracked = nil; o.Settled = Reply{Result: jobreason.ResultNotTried} }, true},
		{"a finalizer was gone with its pod", snapshotOf(t, `{}`, endedPod("a", PodSucceeded)), func(o *Outcome) { o.Untracked[0] = Reply{Result: jobreason.ResultGone} }, false},
		{"the second status fails", snapshotOf(t, `{}`, endedPod("a", PodSucceeded)), func(o *Outcome) { o.Settled = Reply{Result: jobreason.ResultUnsuccessful} }, true},
	} {
		plan, o := planned(t, test.snap, test.outcome)
		end := plan.Conclude(o)
		if end.Retry != test.want {
			t.Errorf("%s: got %v, want %v\n%s", test.name, end.Retry, test.want, plan.String())
		}
		// A retry does not change when to plan again.
		if end.Retry && end.Requeue != plan.Requeue {
			t.Errorf("%s: again at %v, want %v\n%s", test.name, end.Requeue, plan.Requeue, plan.String())
		}
		test.snap.Options = Kubernetes(release.Newest())
		if plan = PlanOf(t, test.snap); plan.Conclude(o).Requeue != plan.Requeue {
			t.Errorf("%s: Kubernetes: again at %v, want %v\n%s", test.name, plan.Conclude(o).Requeue, plan.Requeue,
				plan.String())
		}
	}
}

func TestB5_Memory(t *testing.T) {
	before := Memory{
		JobUID:       "job-1",
		Backoff:      backoff.Record{Failures: 2, LastFailure: second(25)},
		Expectations: expectations.Counts{Creations: 1, At: second(20)},
		Untracking:   expectations.NewUIDs("gone", "stale"),
	}

	stale := endedPod("stale", PodFailed) // an earlier round removed its finalizer
	remembered := func(s *Snapshot) { s.Memory = before }
	expired := func(s *Snapshot) { s.Memory, s.Now = before, second(0).AddDate(0, 0, 1) }
	another := func(s *Snapshot) { s.Memory, s.Job.UID = before, "job-2" }
	unseen := func(s *Snapshot) { s.Options.Quirks = jobquirk.SetOf(jobquirk.UnseenEnd) }

	for _, test := range []struct {
		name    string
		snap    Snapshot
		outcome func(*Outcome)
		want    Memory
	}{
		{"E4: a removal that is seen is forgotten, one that is not stays", with(snapshotOf(t, `{}`, stale), remembered), nil,
			Memory{JobUID: "job-1", Backoff: before.Backoff, Expectations: before.Expectations,
				Untracking: expectations.NewUIDs("stale")}},
		{"E3: a creation replaces the record", with(snapshotOf(t, `{"parallelism": 0}`, endedPod("f", PodFailed)), remembered), nil,
			Memory{JobUID: "job-1", Backoff: backoff.Record{Failures: 3, LastFailure: second(25)},
				Expectations: before.Expectations, Untracking: expectations.NewUIDs("f")}},
		{"J31: what was not recorded is not remembered", with(snapshotOf(t, `{"parallelism": 0}`, endedPod("f", PodFailed)), remembered), func(o *Outcome) { *o = Outcome{} },
			Memory{JobUID: "job-1", Backoff: before.Backoff, Expectations: before.Expectations}},
		{"J31: a success resets the backoff", with(snapshotOf(t, `{"completions": 2, "parallelism": 0}`, endedPod("s", PodSucceeded)), remembered), nil,
			Memory{JobUID: "job-1", Expectations: before.Expectations, Untracking: expectations.NewUIDs("s")}},
		{"E1: a record that has expired goes", with(snapshotOf(t, `{"parallelism": 0}`), expired), nil, Memory{JobUID: "job-1", Backoff: before.Backoff}},
		{"JI22: the memory of another job counts as none", with(snapshotOf(t, `{"parallelism": 0}`), another), nil, Memory{JobUID: "job-2"}},
		{"E2: deletions that failed or found nothing are not expected", snapshotOf(t, `{"parallelism": 0}`, activePod("a"), activePod("b"), activePod("c")),
			func(o *Outcome) {
				o.Deleted[0].Result, o.Deleted[1].Result = jobreason.ResultUnsuccessful, jobreason.ResultGone
			},
			Memory{JobUID: "job-1", Expectations: expectations.Counts{Deletions: 1, At: second(30)},
				Untracking: expectations.NewUIDs("b", "c")}},
		{"E5: the end that was written is remembered, the backoff is not", snapshotOf(t, `{"backoffLimit": 0}`, endedPod("f", PodFailed)), nil,
			Memory{JobUID: "job-1", Untracking: expectations.NewUIDs("f"), Finished: true}},
		{"E5: the reference keeps the backoff until it sees the end", with(snapshotOf(t, `{"backoffLimit": 0}`, endedPod("f", PodFailed)), unseen), nil,
			Memory{JobUID: "job-1", Backoff: backoff.Record{Failures: 1, LastFailure: second(1)},
				Untracking: expectations.NewUIDs("f"), Finished: true}},
	} {
		plan, o := planned(t, test.snap, test.outcome)
		got := plan.Conclude(o).Memory
		got.rest.Reported = reported{} // see TestJI27_ReportedOnce
		Same(t, test.name+"\n"+plan.String(), test.want, got)
	}
}

// TestJ42_RecordedButNotSettled: what the first status write has recorded is reported, and
// remembered as reported, even if the second status write fails.
func TestJ42_RecordedButNotSettled(t *testing.T) {
	plan := PlanOf(t, snapshotOf(t, `{"completions": 3, "parallelism": 0, "completionMode": "Indexed"}`,
		ofIndex(endedPod("s", PodSucceeded), 0), ofIndex(endedPod("f", PodFailed), 1)))
	o := doneAll(plan)
	o.Settled = Reply{Result: jobreason.ResultUnsuccessful}
	end := plan.Conclude(o)
	if end.Metrics.PodsSucceeded != 1 || !end.Retry {
		t.Errorf("%d succeeded, retry %v, want 1 and true", end.Metrics.PodsSucceeded, end.Retry)
	}
	if got := end.Memory.rest.Reported; got.Succeeded != 1 || !slices.Equal(got.Uncounted, []UID{"f"}) {
		t.Errorf("remembered as told: %+v", got)
	}
}

// TestL9_TheEarlierTime: a round has adopted a pod, and the next one builds on that. The next round
// comes after pollDelay, or at the time of the plan if that is earlier.
func TestL9_TheEarlierTime(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{
		0: pollDelay, time.Millisecond: time.Millisecond, pollDelay: pollDelay, time.Hour: pollDelay,
	} {
		p := &Plan{Adopt: []Claim{{PodRef{Name: "o", UID: "o"}}}}
		p.basis.Facts = facts{JobUID: "job-1", Now: second(30)}
		if after > 0 {
			p.Requeue.At = second(30).Add(after)
		}
		a := aftermath{basis: &p.basis, plan: p,
			outcome: &Outcome{Writes: Writes{Claimed: Reply{Result: jobreason.ResultDone}}}}
		if got := a.requeue(false).At.Sub(second(30)); got != want {
			t.Errorf("due after %v: again after %v, want %v", after, got, want)
		}
	}
}

func TestPlan_NothingToDo(t *testing.T) {
	if got := (&Plan{}).String(); got != "nothing to do\n" {
		t.Errorf("got %q", got)
	}
}

// TestJI24_ConcludedLists: appending to the lists in the status of a conclusion does not write to
// the lists of the snapshot.
func TestJI24_ConcludedLists(t *testing.T) {
	pod := endedPod("f", PodFailed)
	pod.Index = IndexAt(0)
	waits := with(snapshotOf(t, `{"completionMode": "Indexed", "completions": 1, "backoffLimitPerIndex": 1}`, pod),
		func(s *Snapshot) {
			s.Options.Backoff = backoff.Policy{Base: time.Hour}
			s.Job.Status.StartTime, s.Job.Status.FailedIndexes = s.Now, new(string)
			s.Job.Status.Ready, s.Job.Status.Terminating = new(int32), new(int32)
		})

	for _, test := range []struct {
		name     string
		snap     Snapshot
		recorded jobreason.Result
		idle     bool
	}{
		{"an index waits, and there is nothing to write", waits, jobreason.ResultDone, true},
		{"a refused status", snapshotOf(t, `{"parallelism": 1}`, pod), jobreason.ResultUnsuccessful, false},
	} {
		room := append(make([]UID, 0, 2), "f")
		test.snap.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Failed: room}
		plan, o := planned(t, test.snap, func(o *Outcome) { o.Recorded = Reply{Result: test.recorded} })

		if plan.basis.Course.Idle != test.idle {
			t.Errorf("%s: the plan is\n%s", test.name, plan)
		}
		lists := plan.Conclude(o).Status.UncountedTerminatedPods
		if lists == nil || len(lists.Failed) != 1 || cap(lists.Failed) != 1 {
			t.Errorf("%s: lists %v, of which an append writes to the snapshot", test.name, lists)
		}
	}
}
