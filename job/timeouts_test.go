package job

import (
	"fmt"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job/jobreason"
)

// TestJ7_GivenUp: the job no longer waits for a terminating pod that has exceeded its time to start
// or to end. A pod that counts as failed anyway is not given up: the job does not wait for it, and
// it still counts as terminating.
func TestJ7_GivenUp(t *testing.T) {
	const failed = `{"backoffLimit": 9, "parallelism": 0, "podReplacementPolicy": "Failed"}`
	for _, c := range []struct {
		name, spec  string
		phase       PodPhase
		options     Options
		terminating int32
	}{
		{"waited for", failed, PodRunning, Options{}, 1},
		{"it has had its time to end", failed, PodRunning, Options{TerminatingTimeout: 10 * time.Second}, 0},
		{"it has not had it", failed, PodRunning, Options{TerminatingTimeout: 11 * time.Second}, 1},
		{"it has had its time to start", failed, PodPending, Options{PendingTimeout: 20 * time.Second}, 0},
		{"it has not had that", failed, PodPending, Options{PendingTimeout: 21 * time.Second}, 1},
		{"it has failed anyway", `{"backoffLimit": 9, "parallelism": 0}`, PodRunning, Options{TerminatingTimeout: 10 * time.Second}, 1},
	} {
		pod := Pod{UID: "a", Name: "a", Index: NoIndex(), Phase: c.phase, Deletion: &PodDeletion{Timestamp: second(20)},
			Detail: &PodDetail{CreationTimestamp: second(10)}}
		s := snapshotOf(t, c.spec, pod)
		s.Options = c.options

		if plan := PlanOf(t, s); plan.basis.Counts.Terminating != c.terminating {
			t.Errorf("%s: %d terminating, want %d\n%s", c.name, plan.basis.Counts.Terminating, c.terminating, plan)
		}
	}
}

// TestL6_GivenUpAtTheFirstTimeout: with both options, the next round is at the first of the two
// times, and then the pod is given up.
func TestL6_GivenUpAtTheFirstTimeout(t *testing.T) {
	const spec = `{"backoffLimit": 9, "parallelism": 0, "podReplacementPolicy": "Failed"}`
	for _, c := range []struct {
		name                string
		pending, terminated time.Duration
		created, deleted    time.Time
		again               time.Time // zero: never
	}{
		{"the start", 25 * time.Second, time.Hour, second(10), second(20), second(35)},
		{"the end", time.Hour, 15 * time.Second, second(10), second(20), second(35)},
		{"the end, at the time of the start", 25 * time.Second, 15 * time.Second, second(10), second(20), second(35)},
		{"the end alone, since the creation is unknown", 25 * time.Second, time.Minute, time.Time{}, second(20), second(80)},
		{"the start alone, since the deletion is unknown", time.Minute, 15 * time.Second, second(10), time.Time{}, second(70)},
		{"neither is known", time.Minute, time.Minute, time.Time{}, time.Time{}, time.Time{}},
	} {
		s := snapshotOf(t, spec,
			Pod{UID: "a", Name: "a", Index: NoIndex(), Deletion: &PodDeletion{Timestamp: c.deleted},
				Detail: &PodDetail{CreationTimestamp: c.created}})
		s.Options = Options{PendingTimeout: c.pending, TerminatingTimeout: c.terminated}

		plan := PlanOf(t, s)
		if plan.basis.Counts.Terminating != 1 || !plan.Requeue.At.Equal(c.again) {
			t.Errorf("%s: %d terminating, again at %v, want %v", c.name, plan.basis.Counts.Terminating, plan.Requeue.At,
				c.again)
		}

		if s.Now = c.again; c.again.IsZero() {
			continue
		}
		if plan = PlanOf(t, s); plan.basis.Counts.Terminating != 0 || plan.Requeue.Reason == jobreason.WaitTimeout {
			t.Errorf("%s: %d terminating at the time\n%s", c.name, plan.basis.Counts.Terminating, plan)
		}
	}
}

// TestJ7_PendingOfUnknownAge: a pod whose creation time is not known is not given up.
func TestJ7_PendingOfUnknownAge(t *testing.T) {
	for name, detail := range map[string]*PodDetail{"no detail": nil, "no time": {}} {
		s := snapshotOf(t, `{"completions": 1}`, Pod{UID: "a", Name: "a", Index: NoIndex(), Detail: detail})
		s.Options.PendingTimeout = time.Minute
		if plan := PlanOf(t, s); len(plan.Delete) > 0 {
			t.Errorf("%s: %s", name, plan)
		}
	}
}

// TestL6_AtMostSoManyPods: the limit of pod writes also bounds the deletions of pods that have not
// started.
func TestL6_AtMostSoManyPods(t *testing.T) {
	s := snapshotOf(t, `{"parallelism": 600}`)
	s.Options = Options{PendingTimeout: time.Second}
	for i := range s.Options.podWrites() + 1 {
		name := fmt.Sprint("p", i)
		s.Pods = append(s.Pods,
			Pod{UID: UID(name), Name: name, Index: NoIndex(), Detail: &PodDetail{CreationTimestamp: second(0)}})
	}
	if plan := PlanOf(t, s); len(plan.Delete) != s.Options.podWrites() {
		t.Errorf("%d deletions", len(plan.Delete))
	}
}
