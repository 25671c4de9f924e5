package job

import (
	"cmp"
	"slices"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// The limits of one round (J30, J35).
const (
	// maxPodWrites is the most creations, and the most deletions of surplus pods.
	maxPodWrites = 500
	// maxUncounted is the most UIDs in the uncounted lists together with new
	// completed indexes.
	maxUncounted = 500
)

// absorbed counts the uncounted UIDs whose pods have lost the finalizer: they
// move into the counters with the next write (J35, step 3).
type absorbed struct{ succeeded, failed int }

// readKnown fills the table of known UIDs from the memory and from the uncounted
// lists. A UID that stands twice in the lists keeps its first verdict (JI2, M5).
func (p *Planner) readKnown() {
	untracking := p.plan.Basis.Memory.Untracking
	lists := p.job.Status.UncountedTerminatedPods
	if lists == nil {
		lists = &UncountedTerminatedPods{}
	}
	handled := p.plan.Basis.Memory.Handled
	p.known.reset(untracking.Len() + handled.Len() + len(lists.Succeeded) + len(lists.Failed))
	for uid := range untracking.All() {
		if uid == "" {
			p.note("memory.untracking", `""`, "an empty UID is left out")
			continue
		}
		p.known.add(uid, uidUntracking)
	}
	for uid := range handled.All() {
		p.known.add(uid, uidHandled)
	}
	p.uncounted.Succeeded = p.readList("job.status.uncountedTerminatedPods.succeeded", lists.Succeeded, uidSucceeded, p.uncounted.Succeeded[:0])
	p.uncounted.Failed = p.readList("job.status.uncountedTerminatedPods.failed", lists.Failed, uidFailed, p.uncounted.Failed[:0])
}

func (p *Planner) readList(field string, uids []string, fact uidFacts, out []string) []string {
	for _, uid := range uids {
		switch {
		case uid == "":
			p.note(field, `""`, "an empty UID is left out")
		case p.known.add(uid, fact)&(uidSucceeded|uidFailed) != 0:
			p.note(field, uid, "a UID that stands twice keeps its first verdict")
		default:
			out = append(out, uid)
		}
	}
	return out
}

// absorbUncounted takes those UIDs off the lists whose pods no longer carry the
// finalizer. The others stay: counting them while the finalizer is there would
// count them again in the next round (JI3, M4).
func (p *Planner) absorbUncounted() {
	stays := func(uid string) bool {
		facts := p.known.facts(uid)
		return facts&uidSeen != 0 && facts&uidUntracking == 0
	}
	keep := func(uids []string) (kept []string, gone int) {
		kept = slices.DeleteFunc(uids, func(uid string) bool { return !stays(uid) })
		return kept, len(uids) - len(kept)
	}
	p.uncounted.Succeeded, p.absorbed.succeeded = keep(p.uncounted.Succeeded)
	p.uncounted.Failed, p.absorbed.failed = keep(p.uncounted.Failed)
}

// dueUntracking is a finalizer that is to go, if this round has room for its pod.
type dueUntracking struct {
	Untracking
	place int32
	// withEnd and withoutEnd tell whether there is room in a round that declares the
	// end of the job, and in one that does not.
	withEnd, withoutEnd bool
}

// account decides how each tracked pod that has ended, or is not going to be
// waited for, is counted when its finalizer goes (J35, J37).
func (p *Planner) account() {
	p.pods.due = p.pods.due[:0]
	for _, i := range p.pods.recorded {
		p.dueRecorded(i)
	}
	for _, i := range p.pods.stray {
		p.due(i, NotCounted, false, "")
	}
	as := CountedSucceeded
	if p.job.isIndexed() {
		as = CountedIndex // the completed index is enough to avoid counting twice
	}
	for _, i := range p.pods.succeeded {
		p.due(i, as, false, "")
	}
	for _, i := range p.pods.failed {
		if delayed := p.isHeldBack(i); !delayed || p.plan.Verdict.decided() {
			p.dueFailed(i, delayed)
		}
	}
	p.dueUnfinished()
	p.untrackDue()
	p.fillBasis()
}

// isHeldBack reports whether the pod keeps its finalizer until the replacement exists,
// since it carries the failure count of its index (J17). The end of the job overrides
// that.
func (p *Planner) isHeldBack(place int32) bool { return p.isDelayed(place) && !p.job.isDeleted() }

// dueRecorded is about a pod whose UID is in an uncounted list. If the finalizer is
// held back, the UID stays in the list.
func (p *Planner) dueRecorded(place int32) {
	if delayed := p.isHeldBack(place); !delayed || p.plan.Verdict.decided() {
		p.due(place, AlreadyRecorded, delayed, p.policyOfRecorded(place))
	}
}

// dueFailed counts the pod as failed, unless the policy ignores it.
func (p *Planner) dueFailed(place int32, onEnd bool) {
	pod := &p.snap.Pods[place]
	failure := p.failureOf(pod)
	as := CountedFailed
	if !failure.counts {
		as = NotCounted
	}
	p.due(place, as, onEnd, p.unreported(pod, failure))
}

// dueUnfinished gives up the pods that have not ended, where the job is ending or
// being deleted. Only an end in failure counts them (J37).
func (p *Planner) dueUnfinished() {
	ending := p.plan.Verdict
	reached := p.completionsReached()
	if !ending.decided() && !reached && !p.job.isDeleted() {
		return
	}
	unfinished := p.pods.leaving
	if ending.decided() || p.job.isDeleted() {
		unfinished = slices.Concat(p.pods.leaving, p.trackedActive())
	}
	for _, i := range unfinished {
		pod := &p.snap.Pods[i]
		countable := ending.failed() && (!p.job.isIndexed() || p.hasValidIndex(pod)) &&
			p.known.facts(pod.UID)&(uidSucceeded|uidFailed) == 0
		if countable {
			p.dueFailed(i, true)
		} else {
			p.due(i, NotCounted, !p.job.isDeleted(), p.policyOfRecorded(i))
		}
	}
}

func (p *Planner) due(place int32, as CountedAs, onEnd bool, policy FailureAction) {
	pod := &p.snap.Pods[place]
	p.pods.due = append(p.pods.due, dueUntracking{
		Untracking: Untracking{PodRef: pod.ref(), As: as, OnEnd: onEnd, Ended: pod.isTerminal(), Policy: policy},
		place:      place,
	})
}

// untrackDue removes the finalizers that are due. The UIDs and the new indexes that a
// round records with them are at most 500 (J35); pods beyond that keep theirs until a
// later round. An Indexed job goes by index. Its completed indexes are written all at
// once whatever is left, so progress is not late and the list has no needless gaps.
//
// Whether the end is declared depends on the deletions. If it is not, the pods that
// only an end gives up leave their room to the others (J37).
func (p *Planner) untrackDue() {
	room := maxUncounted - len(p.uncounted.Succeeded) - len(p.uncounted.Failed)
	if len(p.pods.due) >= room && p.job.isIndexed() {
		p.sortDue()
		p.written.AddText(p.job.Status.CompletedIndexes, *p.job.Spec.Completions)
	}
	p.plan.Basis.Capped = p.fitDue(room, true)
	p.fitDue(room, false)
	for i := range p.pods.due {
		due := &p.pods.due[i]
		switch {
		case due.withEnd:
			p.plan.Untrack = append(p.plan.Untrack, due.Untracking)
		case due.withoutEnd:
			due.UnlessEnd = true
			p.plan.Untrack = append(p.plan.Untrack, due.Untracking)
		}
	}
}

// fitDue marks the pods for which the round has room, if it declares the end or if it
// does not, and reports whether some are left over.
func (p *Planner) fitDue(room int, withEnd bool) (capped bool) {
	stops := p.snap.Options.Quirks.Has(jobquirk.FullRound)
	for i := range p.pods.due {
		due := &p.pods.due[i]
		if due.OnEnd && !withEnd {
			continue
		}
		takes := p.takesRoom(due)
		if takes && room <= 0 && !stops {
			capped = true
			continue
		}
		if takes {
			room--
		}
		if withEnd {
			due.withEnd = true
		} else {
			due.withoutEnd = true
		}
		if stops && room <= 0 {
			return true
		}
	}
	return capped
}

// takesRoom reports whether the status has to record something new about the pod.
func (p *Planner) takesRoom(due *dueUntracking) bool {
	switch due.As {
	case CountedIndex:
		return !p.written.Has(p.snap.Pods[due.place].Index)
	case CountedSucceeded, CountedFailed:
		return true
	}
	return false
}

// sortDue orders what is due by index; pods without one come first.
func (p *Planner) sortDue() {
	pods := p.snap.Pods
	slices.SortFunc(p.pods.due, func(a, b dueUntracking) int {
		x, y := &pods[a.place], &pods[b.place]
		if x.Index != y.Index {
			return cmp.Compare(x.Index, y.Index)
		}
		return p.byAge(x, y)
	})
}

func (p *Planner) trackedActive() []int32 {
	var out []int32
	for _, i := range p.activePods() {
		if p.isTracked(&p.snap.Pods[i]) {
			out = append(out, i)
		}
	}
	return out
}

// fillBasis hands over what the status is made from.
func (p *Planner) fillBasis() {
	b := &p.plan.Basis
	b.Counted = Counters{
		Succeeded: clamp32(int64(p.job.Status.Succeeded) + int64(p.absorbed.succeeded)),
		Failed:    clamp32(int64(p.job.Status.Failed) + int64(p.absorbed.failed)),
		Uncounted: p.uncounted,
	}
	b.Untracking = p.stillTracked(b.Memory.Untracking)
	b.Handled = p.stillTracked(b.Memory.Handled)
	if p.job.isIndexed() {
		p.recordIndexes()
	}
}

// stillTracked drops the pods that the snapshot does not show with a finalizer (E4).
func (p *Planner) stillTracked(uids expectations.UIDs) expectations.UIDs {
	var seen []string
	for uid := range uids.All() {
		if p.known.facts(uid)&uidSeen == 0 {
			seen = append(seen, uid)
		}
	}
	if seen == nil {
		return uids
	}
	return uids.Without(seen...)
}

// cleanUp removes the finalizers of a job that has ended: nothing can be counted
// any more (J36, M6).
func (p *Planner) cleanUp() {
	p.plan.Adopt, p.plan.Release = p.plan.Adopt[:0], p.plan.Release[:0]
	p.plan.Basis.Stopped = true
	p.plan.Basis.Untracking = p.stillTracked(p.plan.Basis.Memory.Untracking)
	p.wait(Wait{Reason: WaitFinished, Name: string(p.job.Status.Finished())})
	pods := p.snap.Pods
	first := len(p.pods.active)
	for i := range pods {
		if pods[i].Owner <= OwnedUnmatched && pods[i].Tracked && p.known.facts(pods[i].UID)&uidUntracking == 0 {
			p.pods.active = append(p.pods.active, int32(i))
		}
	}
	p.sortPlaces(p.pods.active[first:], p.byAge)
	for _, i := range p.pods.active[first:] {
		p.plan.Untrack = append(p.plan.Untrack, Untracking{PodRef: pods[i].ref(), As: NotCounted, Ended: pods[i].isTerminal()})
	}
}

// Orphans returns the pods that still carry the finalizer of a job that does not
// exist any more: remove it from them, or they can never be deleted (J36). Pass
// the pods whose controller reference names a job of that UID; pods of a job
// that another controller manages must not be among them.
func Orphans(pods []Pod) []PodRef {
	var out []PodRef
	for i := range pods {
		if pods[i].Owner <= OwnedUnmatched && pods[i].Tracked {
			out = append(out, pods[i].ref())
		}
	}
	sortRefs(out)
	return out
}
