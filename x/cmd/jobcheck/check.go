package main

import (
	"fmt"
	"slices"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
)

// asked is a question with its right answer and the life that it comes from.
type asked struct {
	snapshot job.Snapshot
	life     *world.Job
	right    *answer
	decision decision // of the right answer
}

// check returns what is wrong with an answer. With exact, the answer must also equal this
// library's.
func (q *asked) check(a *answer, exact bool) (broken []jobcheck.Violation) {
	s := &q.snapshot
	st := jobcheck.State{Job: &q.life.Job, Pods: q.life.Pods, History: q.life.History(), Options: s.Options}

	if p := a.Plan; p != nil {
		broken = jobcheck.Plan(s, p)
		if at := p.Requeue.At; !at.IsZero() && !at.After(s.Now) {
			broken = append(broken, violation("L6", "the requeue %s is not after now, %s", at, s.Now))
		}
		broken = append(broken, q.checkDeletions(&st, a)...)
		broken = append(broken, q.checkFinalizers(st, a)...)
		broken = append(broken, q.checkIdle(a)...)
	}

	if next := a.Status; next != nil {
		broken = append(broken, st.Status(next)...)
		if err := jobstatus.CheckTransition(s.Job.Status, *next, s.Job.Spec, release.Newest()); err != nil {
			broken = append(broken, violation("CheckTransition", "%v", err))
		}
	}

	if a.Settled != nil {
		broken = append(broken, q.checkSettled(a)...)
	}
	if exact {
		broken = append(broken, decisionOf(s, a).differences(q.decision)...)
	}
	return broken
}

func violation(rule, format string, args ...any) jobcheck.Violation {
	return jobcheck.Violation{Rule: rule, Problem: fmt.Sprintf(format, args...)}
}

// after returns the status after the answer is carried out. If the answer has no status, this
// library's is used.
func (q *asked) after(a *answer) *job.Status {
	switch {
	case a.Status != nil:
		return a.Status
	case q.right.Status != nil:
		return q.right.Status
	}
	return &q.snapshot.Job.Status
}

// checkDeletions checks that each deletion is justified: the job ends or is suspended, the pod has no
// valid index of its own, or more pods are active than wanted (J27 to J29).
func (q *asked) checkDeletions(st *jobcheck.State, a *answer) (broken []jobcheck.Violation) {
	s := &q.snapshot
	excess, indexes := int64(0), make(map[int32]bool)
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Owner != jobpod.Owned || p.Phase >= job.PodSucceeded || p.Deletion != nil {
			continue
		}

		excess++
		if at := p.Index.Int32(); s.Job.Spec.CompletionMode == job.Indexed && at >= 0 && at < *s.Job.Spec.Completions {
			indexes[at] = true
		}
	}

	wanted := q.wanted()
	if s.Job.Spec.CompletionMode == job.Indexed {
		wanted = min(wanted, int64(len(indexes)))
	}

	deleted := int64(0)
	for i := range a.Plan.Delete {
		d := &a.Plan.Delete[i]
		p := q.pod(d.UID)
		if p == nil || p.Owner == jobpod.Foreign {
			continue // JI22
		}
		if p.Phase >= job.PodSucceeded || p.Deletion != nil {
			broken = append(broken,
				violation("J29", "%s is deleted, which has ended or is being deleted already", p.Name))
			continue
		}

		deleted++
		if d.UntrackFirst {
			broken = append(broken, st.DeleteUntracked(p)...)
		}
	}
	ending := isEnding(&s.Job.Status) || isEnding(q.after(a))
	free := ending || valueOf(s.Job.Spec.Suspend) || s.Options.PendingTimeout > 0
	if excess = max(excess-wanted, 0); deleted > excess && !free {
		broken = append(broken,
			violation("J29", "%d active pods are deleted, and %d are more than wanted", deleted, excess))
	}
	return broken
}

func isTerminating(p *job.Pod) bool {
	return p.Owner == jobpod.Owned && p.Phase < job.PodSucceeded && p.Deletion != nil
}

// pod returns the live pod with a UID, or nil.
func (q *asked) pod(uid job.UID) *job.Pod {
	if i := slices.IndexFunc(q.life.Pods, func(p *job.Pod) bool { return p.UID == uid }); i >= 0 {
		return q.life.Pods[i]
	}
	return nil
}

// wanted returns the number of pods that should be active.
func (q *asked) wanted() int64 {
	inspection, err := job.Inspect(q.snapshot)
	if err != nil {
		return 0
	}
	return inspection.Wanted
}

// checkFinalizers checks that only pods that are accounted for lose their finalizers (JI3, JI21, J37).
func (q *asked) checkFinalizers(st jobcheck.State, a *answer) (broken []jobcheck.Violation) {
	s := &q.snapshot
	next := *st.Job
	next.Status = *q.after(a)
	st.Job = &next
	over := isEnding(&next.Status) || isEnding(&s.Job.Status) || !s.Job.DeletionTimestamp.IsZero()
	for i := range a.Plan.Untrack {
		u := &a.Plan.Untrack[i]
		p := q.pod(u.UID)
		switch {
		case p == nil, p.Owner == jobpod.Foreign, p.Untracked, !isApplied(s, a, u):
		case p.Phase < job.PodSucceeded && p.Deletion == nil && !over:
			broken = append(broken, violation("JI3", "the finalizer of %s is removed, which has not ended", p.Name))
		default:
			broken = append(broken, st.Untrack(p)...)
		}
	}
	return broken
}

// checkSettled checks the status that is written after the finalizers are removed.
func (q *asked) checkSettled(a *answer) (broken []jobcheck.Violation) {
	recorded, history := q.life.Job, q.life.History().Clone()
	recorded.Status = *q.after(a)
	history.Recorded(&q.life.Job.Status, &recorded.Status)
	st := jobcheck.State{Job: &recorded, Pods: q.podsAfter(a), History: &history, Options: q.snapshot.Options}
	broken = st.Status(a.Settled)
	if err := jobstatus.CheckTransition(recorded.Status, *a.Settled, recorded.Spec, release.Newest()); err != nil {
		broken = append(broken, violation("CheckTransition", "settled: %v", err))
	}
	return broken
}

// podsAfter returns the pods after the deletions and removals of finalizers in the answer.
func (q *asked) podsAfter(a *answer) (pods []*job.Pod) {
	for _, old := range q.life.Pods {
		p := *old
		named := func(ref job.PodRef) bool { return ref.UID == p.UID }
		if i := slices.IndexFunc(a.Plan.Delete, func(d job.Deletion) bool { return named(d.PodRef) }); i >= 0 {
			p.Untracked = p.Untracked || a.Plan.Delete[i].UntrackFirst
			world.DeletePod(&p, q.snapshot.Now)
		}
		if slices.ContainsFunc(a.Plan.Untrack,
			func(u job.Untracking) bool { return named(u.PodRef) && isApplied(&q.snapshot, a, &u) }) {
			p.Untracked = true
		}
		if !world.IsCollected(&p) {
			pods = append(pods, &p)
		}
	}
	return pods
}

// checkIdle checks that the answer does something if something must be done (L9). If another round
// follows anyway, the creation of pods may wait, and so may removing the finalizers of terminating
// pods.
func (q *asked) checkIdle(a *answer) []jobcheck.Violation {
	s, p, right := &q.snapshot, a.Plan, q.right.Plan
	acts := func(p *job.Plan) int {
		return len(p.Adopt) + len(p.Release) + len(p.Groups) + len(p.Delete) + len(p.Create) + len(p.Untrack)
	}

	if acts(right) == 0 || acts(p) > 0 {
		return nil
	}
	if a.Status != nil && len(decisionOf(s,
		&answer{Status: a.Status}).differences(decisionOf(s, &answer{Status: &s.Job.Status}))) > 0 {
		return nil // the next round can do it
	}

	terminating := 0 // finalizers of pods that will certainly end
	for i := range right.Untrack {
		if p := q.pod(right.Untrack[i].UID); p != nil && isTerminating(p) {
			terminating++
		}
	}

	waits := p.Requeue.At.After(s.Now) || slices.ContainsFunc(q.life.Pods, isTerminating)
	if waits && acts(right) == len(right.Create)+terminating {
		return nil
	}
	return []jobcheck.Violation{violation("L9", "nothing is done, and there is something to do:\n%s", right.String())}
}
