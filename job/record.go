package job

import (
	"slices"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// Recording holds the first status of a round and the finalizers to remove after it is written.
// Only Status stays valid after the plan has become invalid.
type Recording struct {
	Status Status
	// Write is false when there is nothing to write: the status has not changed, or a
	// claim or a write to a group has failed.
	Write bool
	// Untrack are the finalizers to remove once the status is written (J35). If that
	// write fails, they stay.
	Untrack []Untracking

	plan        *Plan
	writes      Writes
	end         Verdict // the end that the round declares
	terminating int32   // pods, after the writes
}

// Record returns the status to write before finalizers are removed. It has the UIDs of finished
// pods in the uncounted lists, new completed indexes, and the condition that announces the job's
// end. Once it is written, a crash can neither lose nor repeat a count (J35, step 1).
func (p *Plan) Record(w Writes) Recording {
	b := &p.basis
	r := Recording{Status: b.Facts.Status, plan: p, writes: w}
	r.Status.UncountedTerminatedPods = withoutRoom(r.Status.UncountedTerminatedPods)

	switch {
	case b.Course.Idle:
		return r
	case b.isStopped():
		r.Untrack = slices.Clip(p.Untrack)
		return r
	case !hasBegun(p, &w):
		return r
	}

	after := b.Counts.after(changeOf(p.Delete, p.Create, &w, b.Facts.Quirks))
	if len(p.Create) == 0 {
		r.end = declaredEnd(p.Verdict, b, after.Active)
	}

	r.Untrack = applicable(p.Untrack, r.end, b.Facts.Deleted)
	r.terminating = after.Terminating
	r.Status = withFigures(r.Status, b, &after)
	recordUIDs(&r.Status, &b.Counts.Uncounted, p.Untrack, r.end)

	switch {
	case !r.end.decided():
		if b.Course.Managed {
			recordSuspension(&r.Status, &b.Facts)
		}
	case !isUnannounced(&b.Facts, r.end):
		recordVerdict(&r.Status, r.end, b.Facts.Now)
	}

	r.Write = isToWrite(&b.Facts.Status, &r.Status, b.Facts.Indexed)
	return r
}

// isWritten reports whether the status holds everything that the recording asks for.
func (r *Recording) isWritten(recorded Reply) bool {
	return hasBegun(r.plan, &r.writes) && (!r.Write || recorded.Result == jobreason.ResultDone)
}

// isToWrite reports whether a changed status must be written (J40). A new start time waits for the
// next write. So does the number of successes of an Indexed job if its list of indexes is
// unchanged: another writer has then set the number, and the API server would refuse the
// correction. Every written status has the uncounted lists, even if both are empty.
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

// hasBegun reports whether the writes before the deletions and creations took effect. If not, the
// round ends.
func hasBegun(p *Plan, w *Writes) bool {
	for i := range p.Groups {
		if value.At(w.Grouped, i).Result != jobreason.ResultDone {
			return false
		}
	}
	return hasClaimed(p, w)
}

// hasClaimed reports whether the claims that the plan assumed took effect (J6).
func hasClaimed(p *Plan, w *Writes) bool {
	return len(p.Adopt)+len(p.Release) == 0 || w.Claimed.Result == jobreason.ResultDone
}

// change is the effect of the writes to pods on the counts.
type change struct{ active, ready, terminating int32 }

// changeOf sums the results of the deletions and creations. A pod whose deletion failed stays
// ready.
func changeOf(deletions []Deletion, creations []Creation, w *Writes, quirks jobquirk.Set) (c change) {
	quirk := quirks.Has(jobquirk.DeleteCounts)
	for i := range deletions {
		lowersReady := false
		switch value.At(w.Deleted, i).Result {
		case jobreason.ResultDone:
			c.active--
			c.terminating++
			lowersReady = true
		case jobreason.ResultGone:
			c.active--
			if quirk {
				c.terminating++
			}
			lowersReady = true
		case jobreason.ResultUnsuccessful:
			lowersReady = quirk
		}

		if lowersReady && deletions[i].Ready {
			c.ready--
		}
	}

	for i := range creations {
		if isExpected(value.At(w.Created, i).Result, quirks) {
			c.active++
		}
	}
	return c
}

// after returns the counts of pods after the writes (J11).
func (c *counts) after(d change) counts {
	return counts{
		Active:      clamp32(int64(c.Active) + int64(d.active)),
		Ready:       c.Ready + d.ready,
		Terminating: c.Terminating + d.terminating,
	}
}

// isExpected reports whether a later snapshot will show the pod of a creation with that result.
func isExpected(created jobreason.Result, quirks jobquirk.Set) bool {
	switch created {
	case jobreason.ResultDone:
		return true
	case jobreason.ResultRefused:
		return quirks.Has(jobquirk.RefusedAreActive)
	}
	return false
}

// Expected returns the number of the plan's creations that will be observed, given their results.
// An adapter that keeps expectations waits for this number of creations (E2).
func (p *Plan) Expected(created []Effect) int {
	n := 0
	for i := range created {
		if isExpected(created[i].Result, p.basis.Facts.Quirks) {
			n++
		}
	}
	return n
}

// withFigures returns the status with the figures of the round. Argument pods has the numbers of
// pods after the round's writes. The counters include the UIDs that have left the uncounted lists.
// The number of successes of an Indexed job follows from its index lists.
func withFigures(status Status, b *basis, pods *counts) Status {
	status.StartTime = b.Facts.StartTime

	status.Active = pods.Active
	status.Ready = repoint(status.Ready, pods.Ready)
	if b.Facts.Without.Has(release.JobPodReplacementPolicy) {
		status.Terminating = nil
	} else {
		status.Terminating = repoint(status.Terminating, pods.Terminating)
	}

	status.Succeeded, status.Failed = b.Counts.CountedSucceeded, b.Counts.CountedFailed
	if p := &b.Progress; b.Facts.Indexed {
		status.Succeeded, status.CompletedIndexes, status.FailedIndexes = p.CompletedCount, p.Completed, p.Failed
	}
	return status
}

// isAt reports whether the pointer points to the value.
func isAt(p *int32, value int32) bool { return p != nil && *p == value }

// repoint returns pointer old if it points to the value already, and a new pointer otherwise.
func repoint(old *int32, value int32) *int32 {
	if isAt(old, value) {
		return old
	}
	changed := value // only this path allocates
	return &changed
}

// withoutRoom returns the lists without spare capacity, so that appending to a status never writes
// to the snapshot.
func withoutRoom(lists *UncountedTerminatedPods) *UncountedTerminatedPods {
	if lists == nil || cap(lists.Succeeded)+cap(lists.Failed) == len(lists.Succeeded)+len(lists.Failed) {
		return lists
	}
	return &UncountedTerminatedPods{Succeeded: slices.Clip(lists.Succeeded), Failed: slices.Clip(lists.Failed)}
}

// recordUIDs adds the UIDs of the pods that are to lose their finalizers to the uncounted lists.
func recordUIDs(status *Status, uncounted *UncountedTerminatedPods, untrack []Untracking, end Verdict) {
	lists := uncounted.clone() // the plan is only read, and its lists may be buffers of a planner
	for i := range untrack {
		u := &untrack[i]
		switch {
		case !u.applies(end):
		case u.As == jobreason.CountedSucceeded:
			lists.Succeeded = append(lists.Succeeded, u.UID)
		case u.As == jobreason.CountedFailed:
			lists.Failed = append(lists.Failed, u.UID)
		}
	}
	setUncounted(status, lists)
}

// setUncounted sets the uncounted lists, which the status keeps. If nothing has changed, it keeps
// the old value.
func setUncounted(status *Status, lists UncountedTerminatedPods) {
	if equalUncounted(status.UncountedTerminatedPods, &lists) {
		return
	}

	status.UncountedTerminatedPods = value.To(lists)
}

// applies reports whether the finalizer is removed in a round that declares this end. The zero
// Verdict means no end.
func (u *Untracking) applies(end Verdict) bool {
	if end.decided() {
		return !u.UnlessEnd
	}
	return !u.OnEnd
}

// applicable returns the finalizers to remove, given the end that the round declares. Without an
// end, pods that have not ended keep their finalizer. But if the job is being deleted, they lose it
// and are not counted (J37).
func applicable(untrack []Untracking, end Verdict, deleted bool) []Untracking {
	if !slices.ContainsFunc(untrack, func(u Untracking) bool { return !u.applies(end) }) {
		return slices.Clip(untrack)
	}

	var out []Untracking
	for _, u := range untrack {
		switch {
		case u.applies(end):
			out = append(out, u)
		case u.OnEnd && deleted:
			out = append(out, Untracking{PodRef: u.PodRef, As: jobreason.NotCounted, Ended: u.Ended})
		}
	}
	return out
}
