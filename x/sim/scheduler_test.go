package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
)

func TestRun_Quota(t *testing.T) {
	for _, backfill := range []bool{false, true} {
		w := small(3)
		w.Admission = &Quota{Pods: 9, Backfill: backfill}
		r := play(t, w)
		balance(t, r)
		running, at := 0, make([][2]int64, 0)
		for _, j := range r.Jobs {
			if j.Admitted == None {
				t.Fatalf("%s was never admitted", j.Name)
			}
			at = append(at, [2]int64{int64(j.Admitted), 1}, [2]int64{int64(j.Finished), -1})
		}
		slices.SortFunc(at, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
		for _, change := range at {
			if running += int(change[1]); running > 2 {
				t.Fatalf("%d jobs of 4 pods run at once, with a quota of 9", running)
			}
		}
	}
}

// last is a Scheduler that fills the last node first.
type last struct{}

func (last) Schedule(q *Pending) {
	for _, p := range q.Pods() {
		for n := q.Nodes() - 1; n >= 0; n-- {
			if q.Bind(p, n) {
				break
			}
		}
	}
}

func TestRun_OwnScheduler(t *testing.T) {
	w := small(4)
	w.Scheduler = last{}
	r := play(t, w)
	balance(t, r)
	on := map[int32]int{}
	for _, p := range r.Pods {
		on[p.Node]++
	}
	if on[2] <= on[0] {
		t.Errorf("pods by node: %v", on)
	}
}

// preempting is a scheduler that evicts a pod of another job for each pod of the job "urgent".
type preempting struct{ evicted, urgent int }

func (s *preempting) Schedule(q *Pending) {
	waiting := 0
	for _, p := range q.Pods() {
		switch {
		case bound(q, p):
			s.urgent += count(p.Job)
		default:
			waiting += count(p.Job)
		}
	}
	for n := range q.Nodes() {
		for _, victim := range q.On(n) {
			if !strings.HasPrefix(victim.Name, victim.Job+"-") {
				panic("pod " + victim.Name + " is not of the job " + victim.Job)
			}
			if s.evicted-s.urgent < waiting && count(victim.Job) == 0 && q.Evict(victim) {
				s.evicted++
				if q.Evict(victim) {
					panic("a pod is evicted twice")
				}
			}
		}
	}
}

func count(name string) int {
	if name == "urgent" {
		return 1
	}
	return 0
}

func bound(q *Pending, p PendingPod) bool {
	for n := range q.Nodes() {
		if q.Bind(p, n) {
			return true
		}
	}
	return false
}

// A scheduler may preempt: the pods that it evicts end within their grace period, the others take
// their place, and failures that the podFailurePolicy ignores do not count.
func TestRun_Preemption(t *testing.T) {
	batch := Spec(8, 4)
	batch.BackoffLimit = new(int32)
	batch.PodFailurePolicy = &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{{
		Action: job.IgnoreFailure, OnPodConditions: []job.PodCondition{{Type: "DisruptionTarget", Status: job.ConditionTrue}},
	}}}
	own := &preempting{}
	r := play(t, World{
		Nodes: Nodes(2, Node{Pods: 2}), Scheduler: own,
		Jobs: Of(
			Job{Name: "batch", Spec: batch, Pod: Pod{Duration: Constant(10 * time.Minute), Stop: Constant(20 * time.Second)}},
			Job{Name: "urgent", Submit: 5 * time.Minute, Spec: Spec(3, 3), Pod: Pod{Duration: Constant(time.Minute)}},
		),
	})

	balance(t, r)
	for i := range r.Jobs {
		if r.Jobs[i].End != job.ConditionComplete {
			t.Errorf("%s ends with %q", r.Jobs[i].Name, r.Jobs[i].End)
		}
	}

	disrupted := 0
	for _, p := range r.Pods {
		switch name := r.Jobs[p.Job].Name; {
		case name == "urgent" && p.Started > 5*time.Minute+time.Minute:
			t.Errorf("an urgent pod starts at %v", p.Started)
		case name == "batch" && p.Deleted != None && !p.Succeeded:
			disrupted++
			if p.Ended != p.Deleted+20*time.Second {
				t.Errorf("a pod is evicted at %v and ends at %v", p.Deleted, p.Ended)
			}
		}
	}

	if own.evicted != 3 || disrupted != 3 || r.Evictions != 3 {
		t.Errorf("%d evicted, %d ended so, result %d; want 3", own.evicted, disrupted, r.Evictions)
	}
}
