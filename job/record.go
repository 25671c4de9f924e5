package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// Recording is the first status of a round and the finalizers that go after it. It is
// valid as long as its plan.
type Recording struct {
	Status Status
	// Write is false when there is nothing to write: the status has not changed, or a
	// claim has failed.
	Write bool
	// Untrack are the finalizers to remove once the status is written (J35). If that
	// write fails, they stay.
	Untrack []Untracking

	plan    *Plan
	writes  Writes
	end     Verdict // the end that the round declares
	changed bool    // whether the status differs from the snapshot's
}

// Record returns what to write before finalizers go: UIDs of finished pods in
// the uncounted lists, new completed indexes, the way the job ends. With the
// status written, a crash can neither lose nor repeat a count (J35, step 1).
func (p *Plan) Record(w Writes) Recording {
	b := &p.basis
	r := Recording{Status: b.Status, plan: p, writes: w}
	switch {
	case b.Idle:
		return r
	case b.isStopped():
		r.Untrack = p.Untrack
		return r
	case !p.hasClaimed(&w):
		return r
	}
	r.end = p.endDeclared(&w)
	r.Untrack = p.applicable(r.end)
	r.Status.StartTime = b.StartTime
	p.recordPods(&r.Status, &w)
	p.recordCounts(&r.Status, r.end)
	if r.end.decided() && !b.NoInterim {
		recordVerdict(&r.Status, r.end, b.Now)
	} else if !r.end.decided() && b.Managed {
		recordSuspension(&r.Status, b)
	}
	r.changed = !equalStatus(&b.Status, &r.Status)
	r.Write = r.changed && isToWrite(&b.Status, &r.Status, b.Indexed)
	return r
}

// intentOf says whether the plan writes something if all goes well. A plan without any write to
// a pod has one status, which is known now: the plan is idle if that is the snapshot's and
// declares no end.
func intentOf(plan *Plan) (writes, idle bool) {
	if len(plan.Adopt)+len(plan.Release)+len(plan.Delete)+len(plan.Create)+len(plan.Untrack) > 0 {
		return true, false
	}
	r := plan.Record(Writes{})
	return r.Write, !r.changed && !r.end.decided()
}

// isWritten reports whether what the recording asks for is in the status.
func (r *Recording) isWritten(recorded Result) bool {
	return r.plan.hasClaimed(&r.writes) && (!r.Write || recorded == ResultDone)
}

// isToWrite reports whether a change of the status is to be written (J40). A start time goes
// with the first write that there is. So does the number of successes of an Indexed job: it
// follows from the list of indexes, and differs alone only if another writer has set it,
// where the API server would refuse the write. A status that is written holds the
// uncounted lists, even if both are empty.
func isToWrite(before, status *Status, indexed bool) bool {
	compared := *status
	compared.StartTime = before.StartTime
	if indexed && status.CompletedIndexes == before.CompletedIndexes {
		compared.Succeeded = before.Succeeded
	}
	if equalStatus(before, &compared) {
		return false
	}
	if status.UncountedTerminatedPods == nil {
		status.UncountedTerminatedPods = &UncountedTerminatedPods{}
	}
	return true
}

// hasClaimed reports whether the claims that the plan assumed took effect (J6).
func (p *Plan) hasClaimed(w *Writes) bool {
	return len(p.Adopt)+len(p.Release) == 0 || w.Claimed == ResultDone
}

// endDeclared returns the verdict that this round may declare: every deletion
// must have succeeded, no own write may be outstanding, and no pod be active
// (J26, J27, JI8).
func (p *Plan) endDeclared(w *Writes) Verdict {
	b := &p.basis
	if p.activeAfter(w) > 0 || len(p.Create) > 0 {
		return Verdict{}
	}
	if !b.Satisfied && (p.Verdict.decided() || !b.Quirks.Has(jobquirk.UnseenCompletion)) {
		return Verdict{}
	}
	if p.Verdict.decided() {
		return p.Verdict
	}
	if !completionsReached(b.Completions, int64(b.Succeeded)) {
		return Verdict{}
	}
	return Verdict{ConditionSuccessCriteriaMet, "CompletionsReached", "Reached expected number of succeeded pods"}
}

// activeAfter counts the active pods after the deletions and creations (J11).
func (p *Plan) activeAfter(w *Writes) int32 {
	active := int64(p.basis.Active)
	for i := range p.Delete {
		if value.At(w.Deleted, i).Result.isDone() {
			active--
		}
	}
	for i := range p.Create {
		if p.isExpected(value.At(w.Created, i).Result) {
			active++
		}
	}
	return clamp32(active)
}

// isExpected reports whether a creation with that result is going to be seen.
func (p *Plan) isExpected(created Result) bool {
	return created == ResultDone || created == ResultRefused && p.basis.Quirks.Has(jobquirk.RefusedAreActive)
}

// Expected returns how many of the plan's creations will be observed, given their
// results: what an adapter that keeps expectations waits for (E2).
func (p *Plan) Expected(created []Effect) int {
	n := 0
	for i := range created {
		if p.isExpected(created[i].Result) {
			n++
		}
	}
	return n
}

// recordPods sets active, ready and terminating to what they are after the
// deletions and creations. A pod whose deletion failed stays ready.
func (p *Plan) recordPods(status *Status, w *Writes) {
	b := &p.basis
	ready, terminating := b.Ready, b.Terminating
	for i := range p.Delete {
		result := value.At(w.Deleted, i).Result
		quirk := b.Quirks.Has(jobquirk.DeleteCounts)
		if result == ResultDone || result == ResultGone && quirk {
			terminating++
		}
		if lowers := result.isDone() || result == ResultUnsuccessful && quirk; lowers && p.Delete[i].Ready {
			ready--
		}
	}
	status.Active = p.activeAfter(w)
	status.Ready = repoint(status.Ready, ready)
	status.Terminating = repoint(status.Terminating, terminating)
}

// repoint returns old where it points to the value already.
func repoint(old *int32, value int32) *int32 {
	if old != nil && *old == value {
		return old
	}
	changed := value // only this path allocates
	return &changed
}

// recordCounts brings the counters, the uncounted lists and the index lists up
// to date.
func (p *Plan) recordCounts(status *Status, end Verdict) {
	b := &p.basis
	status.Failed = b.Counted.Failed
	status.Succeeded = b.Counted.Succeeded
	if b.Indexed {
		status.Succeeded = b.CompletedIndexesCount
		status.CompletedIndexes = b.CompletedIndexes
		status.FailedIndexes = b.FailedIndexes
	}
	lists := UncountedTerminatedPods{
		Succeeded: slices.Clip(b.Counted.Uncounted.Succeeded),
		Failed:    slices.Clip(b.Counted.Uncounted.Failed),
	}
	for i := range p.Untrack {
		u := &p.Untrack[i]
		switch {
		case !u.applies(end):
		case u.As == CountedSucceeded:
			lists.Succeeded = append(lists.Succeeded, u.UID)
		case u.As == CountedFailed:
			lists.Failed = append(lists.Failed, u.UID)
		}
	}
	setUncounted(status, lists)
}

// setUncounted keeps the old value where nothing changed.
func setUncounted(status *Status, lists UncountedTerminatedPods) {
	if equalUncounted(status.UncountedTerminatedPods, &lists) {
		return
	}
	// The lists may be a planner's buffers: a status outlives those.
	status.UncountedTerminatedPods = &UncountedTerminatedPods{
		Succeeded: slices.Clone(lists.Succeeded),
		Failed:    slices.Clone(lists.Failed),
	}
}

// recordVerdict declares how the job is going to end. The condition that it has
// ended follows with Settle.
func recordVerdict(status *Status, end Verdict, now time.Time) {
	if status.isTrue(end.Type) {
		return
	}
	status.Conditions = withCondition(status.Conditions, Condition{
		Type:               end.Type,
		Status:             ConditionTrue,
		LastProbeTime:      now,
		LastTransitionTime: now,
		Reason:             end.Reason,
		Message:            end.Message,
	})
}

// applies reports whether the finalizer goes in a round that declares this end, or
// none.
func (u *Untracking) applies(end Verdict) bool {
	if end.decided() {
		return !u.UnlessEnd
	}
	return !u.OnEnd
}

// applicable returns the finalizers to remove, given whether the end is declared.
// Without it, pods that have not ended keep theirs, unless the job is being deleted:
// then they lose it uncounted (J37).
func (p *Plan) applicable(end Verdict) []Untracking {
	if !slices.ContainsFunc(p.Untrack, func(u Untracking) bool { return !u.applies(end) }) {
		return p.Untrack
	}
	var out []Untracking
	for _, u := range p.Untrack {
		switch {
		case u.applies(end):
			out = append(out, u)
		case u.OnEnd && p.basis.Deleted:
			out = append(out, Untracking{PodRef: u.PodRef, As: NotCounted, Ended: u.Ended})
		}
	}
	return out
}
