package job_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

var allFaults = jobgen.AllFaults

// TestLivesFresh plays random jobs with a controller that reads its own writes, and with faults
// between any two writes. The world checks JI1, JI2, JI3, JI4, JI5, JI6, JI7, JI8, JI9, JI10, JI11,
// JI13, JI14, JI15, JI16, JI17, JI18, JI20 and JI27 to JI30 on each plan and each write; the laws
// are checked on each snapshot (JI24, B3, B6, L6). At the end the faults stop, and the job must
// come to rest: L1, L2, L3, L4, L5 and L7.
func TestLivesFresh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { life(t, false, job.Options{}) })
}

// TestLivesStale is TestLivesFresh for a controller with a watch: it sees each object some time
// later, in any order, and relies on its expectations.
func TestLivesStale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { life(t, true, job.Options{}) })
}

// TestLives_NoSuccessCriteriaMet plays random jobs on a server that refuses SuccessCriteriaMet.
func TestLives_NoSuccessCriteriaMet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		life(t, rapid.Bool().Draw(t, "stale"), job.Options{NoSuccessCriteriaMet: true})
	})
}

func life(t *rapid.T, stale bool, options job.Options) {
	w := drawWorld(t)
	options.Gangs = w.Options.Gangs
	w.Options = options
	w.Stale = stale
	w.Consistent = !stale && rapid.Bool().Draw(t, "consistent")
	w.Versions = stale && rapid.Bool().Draw(t, "versions")
	liveToTheEnd(t, w)
}

// liveToTheEnd lets a job live under faults, and then come to rest.
func liveToTheEnd(t *rapid.T, w *world.Job) {
	for range rapid.IntRange(5, 40).Draw(t, "steps") {
		step(t, w, allFaults)
		if err := w.Err(); err != nil {
			t.Fatalf("%v\n%s", err, w.State())
		}
	}
	comeToRest(t, w)
}

// lived returns the world of a job after up to the given number of steps.
func lived(t *rapid.T, steps int, faults []world.Fault) *world.Job {
	w := drawWorld(t)
	for range rapid.IntRange(0, steps).Draw(t, "steps") {
		step(t, w, faults)
	}
	return w
}

func step(t *rapid.T, w *world.Job, faults []world.Fault) {
	switch n := rapid.IntRange(0, 19).Draw(t, "step"); {
	case n < 8:
		drawFaults(t, w, faults)
		round(t, w)
	case n < 16:
		live(t, w)
	case n < 18:
		deliver(t, w)
	case n < 19:
		meddle(t, w)
	default:
		jobgen.Restart(t, w)
	}
}

// round checks the laws on the snapshot that the controller sees, and then lets it act.
func round(t *rapid.T, w *world.Job) *job.Plan {
	checkLaws(t, w.Snapshot())
	plan := mustRound(t, w)
	checkNoStall(t, w)
	return plan
}

// comeToRest stops the faults, lets every pod succeed, and expects the job to end within the rounds
// of L1.
func comeToRest(t *rapid.T, w *world.Job) {
	w.Fault, w.Stale = nil, false
	w.Edit(func(s *job.Spec) { s.Suspend, s.Parallelism = ptr(false), ptr(max(*s.Parallelism, 1)) })
	limit := 4 * (12 + len(w.Pods))

	for n := 0; n < limit; n++ {
		kubelet(w)
		plan := round(t, w)
		if w.Job.Status.Finished() != "" {
			break
		}
		for _, p := range slices.Clone(w.Pods) {
			w.Run(p)
			w.Finish(p, 0)
		}
		if d, ok := plan.Requeue.After(w.Now); ok && d < 100*time.Hour {
			w.Now = w.Now.Add(d)
		}
	}

	if w.Job.DeletionTimestamp.IsZero() && w.Job.Status.Finished() == "" {
		t.Fatalf("L1: not finished after %d rounds\n%s\n%s", limit, w.State(), w.LastPlan())
	}
	checkReason(t, w)

	for range 3 {
		kubelet(w)
		round(t, w)
	}

	before := w.Writes
	if round(t, w); w.Writes != before {
		t.Fatalf("L2: still writing after the end\n%s\n%s", w.State(), w.LastPlan())
	}

	for _, p := range w.Pods {
		if !p.Untracked && p.Owner <= jobpod.OwnedUnmatched && w.Job.Status.Finished() != "" {
			t.Fatalf("L4: %s keeps its finalizer\n%s", p.Name, w.State())
		}
	}
	if u := w.Job.Status.UncountedTerminatedPods; u != nil && len(u.Succeeded)+len(u.Failed) > 0 {
		t.Fatalf("L5: uncounted pods are left\n%s", w.State())
	}
}

// checkReason checks L3. comeToRest lets all pods succeed, so if the job has failed, an earlier
// event must be the reason.
func checkReason(t *rapid.T, w *world.Job) {
	s, spec := &w.Job.Status, &w.Job.Spec
	failed := s.Condition(job.ConditionFailed)
	holds := true
	switch failed.Reason {
	case "BackoffLimitExceeded":
		holds = s.Failed > *spec.BackoffLimit || spec.Template.RestartPolicy == job.RestartOnFailure
	case "DeadlineExceeded":
		deadline := time.Duration(*spec.ActiveDeadlineSeconds) * time.Second
		holds = s.Condition(job.ConditionFailureTarget).LastTransitionTime.Sub(s.StartTime) >= deadline
	case "FailedIndexes", "MaxFailedIndexesExceeded":
		holds = s.FailedIndexes != nil && *s.FailedIndexes != ""
	case "PodFailurePolicy":
		holds = spec.PodFailurePolicy != nil
	case "":
		holds = w.Job.DeletionTimestamp.IsZero() == (s.Finished() == job.ConditionComplete) ||
			s.Finished() == job.ConditionComplete
	}
	if !holds {
		t.Fatalf("L3: the job ends as %s (%s) without reason\n%s", s.Finished(), failed.Reason, w.State())
	}
}

// checkLaws checks the laws that hold for a plan from any snapshot.
func checkLaws(t *rapid.T, s job.Snapshot) {
	before := text(s)
	plan := *job.PlanOf(t, s)
	if after := text(s); after != before {
		t.Fatalf("JI24: the snapshot was modified:\n%s", cmp.Diff(before, after))
	}

	again, _ := job.Reconcile(s)
	same(t, "JI24: planning twice differs", plan, again)

	shuffled := s
	shuffled.Pods = slices.Clone(s.Pods)
	slices.Reverse(shuffled.Pods)
	if n := len(shuffled.Pods); n > 2 {
		k := rapid.IntRange(0, n-1).Draw(t, "rotate")
		shuffled.Pods = slices.Concat(shuffled.Pods[k:], shuffled.Pods[:k])
	}
	permuted, _ := job.Reconcile(shuffled)
	same(t, "JI24: the order of the pods shows", plan, permuted)

	checkStored(t, &plan)
	checkIdle(t, &plan)
	checkQuiet(t, s, &plan)
	checkTranslation(t, s, plan)
	checkWakeUp(t, s, plan)
	checkShortcuts(t, s)
}

// checkShortcuts checks that the shortcuts of a census change nothing (J11).
func checkShortcuts(t *rapid.T, s job.Snapshot) {
	quick, thorough, err := job.TakeCensus(&s)
	if err != nil {
		return // the snapshot is refused
	}
	if !reflect.DeepEqual(quick, thorough) {
		t.Fatalf("J11: a shortcut changes the census:\n%+v\n%+v", quick, thorough)
	}
}

func same(t *rapid.T, law string, a, b job.Plan) {
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("%s:\n%s\n%s", law, a.String(), cmp.Diff(a, b))
	}
}

// checkTranslation shifts all times of the snapshot: the times of the plan shift with them.
func checkTranslation(t *rapid.T, s job.Snapshot, plan job.Plan) {
	const by = 1000 * time.Hour
	moved, err := job.Reconcile(translate(restored(s), by))
	if err != nil {
		t.Fatalf("JI24: the translated snapshot was refused: %v", err)
	}
	if at := plan.Requeue.At; !at.IsZero() && !moved.Requeue.At.Equal(at.Add(by)) {
		t.Fatalf("JI24: requeue %v is not moved by %v: %v", at, by, moved.Requeue.At)
	}
	same(t, "JI24: the plan depends on the absolute time", actions(plan), actions(moved))
}

// checkWakeUp plans again at a time before the requeue, and checks that the plan has not changed
// (L6).
func checkWakeUp(t *rapid.T, s job.Snapshot, plan job.Plan) {
	if at := plan.Requeue.At; !at.IsZero() && !at.After(s.Now) {
		t.Fatalf("L6: requeue at %v is not after now, %v:\n%s", at, s.Now, plan.String())
	}
	longest := 48 * time.Hour
	if d, ok := plan.Requeue.After(s.Now); ok {
		longest = d - 1
	}
	s.Now = s.Now.Add(time.Duration(rapid.Int64Range(0, int64(longest)).Draw(t, "later")))
	later := job.PlanOf(t, s)
	same(t, "L6: the plan changes before the requeue", actions(plan), actions(*later))
}

// actions returns a plan without its times.
func actions(p job.Plan) job.Plan {
	return job.Plan{Adopt: p.Adopt, Release: p.Release, Groups: p.Groups, Delete: p.Delete, Create: p.Create,
		Untrack: p.Untrack, Verdict: p.Verdict, Events: p.Events}
}

// translate moves every time of the snapshot.
func translate(s job.Snapshot, by time.Duration) job.Snapshot {
	move := func(at *time.Time) {
		if !at.IsZero() {
			*at = at.Add(by)
		}
	}

	move(&s.Now)
	move(&s.Job.DeletionTimestamp)
	move(&s.Job.Status.StartTime)
	move(&s.Job.Status.CompletionTime)
	move(&s.Memory.Backoff.LastFailure)
	s.Memory.MoveUntimed(by)
	if s.Memory.Expectations != (expectations.Counts{}) {
		move(&s.Memory.Expectations.At)
	}

	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Deletion != nil {
			move(&p.Deletion.Timestamp)
		}
		move(&p.Detail.CreationTimestamp)
		move(&p.Detail.ReadyTransition)
		for j := range p.Detail.Containers {
			move(&p.Detail.Containers[j].FinishedAt)
		}
	}
	return s
}

// TestInspectionMatchesPlan: an inspection has the figures from which the plan of the same snapshot
// was made.
func TestInspectionMatchesPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			step(t, w, nil)
			s := w.Snapshot()
			plan := job.PlanOf(t, s)
			found, err := job.Inspect(s)
			if err != nil {
				t.Fatal(err)
			}
			compareWithPlan(t, plan, &found)
		}
	})
}

func compareWithPlan(t *rapid.T, plan *job.Plan, found *job.Inspection) {
	retries := make(map[job.Index]job.IndexRetry)
	for _, r := range found.Retries {
		retries[r.Index] = r
	}

	for _, c := range plan.Create {
		r := retries[c.Index]
		if c.PerIndex && (r.Failures != c.FailureCount || r.Ignored != c.IgnoredFailureCount) {
			t.Fatalf("index %s: created with %d failures, inspected %d", c.Index, c.FailureCount, r.Failures)
		}
		if found.CompletedIndexes.Has(c.Index.Int32()) || found.FailedIndexes.Has(c.Index.Int32()) {
			t.Fatalf("index %s is created although it has ended", c.Index)
		}
	}

	for _, wait := range plan.Waits {
		if wait.Reason == jobreason.WaitBackoff && wait.Failures != int64(found.Backoff.Failures) {
			t.Fatalf("the plan waits after %d failures, the inspection has %d", wait.Failures, found.Backoff.Failures)
		}
		if wait.Reason == jobreason.WaitPods &&
			wait.Pods != found.Active-int64(len(plan.Delete))+int64(len(plan.Create)) {
			t.Fatalf("the plan waits for %d pods, the inspection has %d", wait.Pods, found.Active)
		}
	}

	if n := int64(len(plan.Create)); n > 0 && n > found.Wanted-found.Active {
		t.Fatalf("%d pods are created, where %d are wanted and %d active", n, found.Wanted, found.Active)
	}
}
