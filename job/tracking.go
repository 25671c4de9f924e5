package job

import (
	"slices"

	"github.com/batchplan/batchplan/expectations"
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
	p.known.reset(untracking.Len() + len(lists.Succeeded) + len(lists.Failed))
	for uid := range untracking.All() {
		if uid == "" {
			p.note("memory.untracking", `""`, "an empty UID is left out")
			continue
		}
		p.known.add(uid, uidUntracking)
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

// account decides how each tracked pod that has ended, or is not going to be
// waited for, is counted when its finalizer goes (J35, J37).
func (p *Planner) account() {
	room := max(maxUncounted-len(p.uncounted.Succeeded)-len(p.uncounted.Failed), 0)
	for _, i := range p.pods.recorded {
		p.untrack(i, AlreadyRecorded, false)
	}
	for _, i := range p.pods.stray {
		p.untrack(i, NotCounted, false)
	}
	room = p.accountSucceeded(room)
	room = p.accountFailed(room)
	p.accountUnfinished(room)
	if room == 0 && p.snap.Options.Slips.has(SlipFullRound) {
		p.plan.Basis.Capped = true
	}
	p.fillBasis()
}

func (p *Planner) accountSucceeded(room int) int {
	as := CountedSucceeded
	if p.job.isIndexed() {
		as = CountedIndex // the completed index is enough to avoid counting twice
	}
	for n, i := range p.pods.succeeded {
		if room == 0 {
			p.capAt(p.pods.succeeded[n:])
			break
		}
		p.untrack(i, as, false)
		room--
	}
	return room
}

// accountFailed leaves out the pods that carry the failure count of their index
// until the replacement exists (J17), unless the job ends.
func (p *Planner) accountFailed(room int) int {
	ending := p.plan.Verdict.decided()
	for _, i := range p.pods.failed {
		delayed := p.isDelayed(i)
		if delayed && !ending && !p.job.isDeleted() {
			continue
		}
		failure := p.failureOf(&p.snap.Pods[i])
		p.countPolicy(failure)
		room = p.untrackFailed(i, failure, delayed && !p.job.isDeleted(), room)
	}
	return room
}

// untrackFailed removes the finalizer of a pod that counts as failed, unless the
// policy ignores it. Without room the pod waits for a later round.
func (p *Planner) untrackFailed(place int32, failure failure, onEnd bool, room int) int {
	switch {
	case !failure.counts:
		p.untrack(place, NotCounted, onEnd)
	case room == 0:
		p.plan.Basis.Capped = true
	default:
		p.untrack(place, CountedFailed, onEnd)
		room--
	}
	return room
}

// accountUnfinished gives up the pods that have not ended, where the job is
// ending or being deleted. Only an end in failure counts them (J37).
func (p *Planner) accountUnfinished(room int) {
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
		switch {
		case countable:
			room = p.untrackFailed(i, p.failureOf(pod), true, room)
		default:
			p.untrack(i, NotCounted, !p.job.isDeleted())
		}
	}
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
	b.Untracking = p.stillUntracking(b.Memory.Untracking)
	if p.job.isIndexed() {
		p.recordIndexes()
	}
}

// stillUntracking drops the removals that the snapshot shows as done (E4).
func (p *Planner) stillUntracking(uids expectations.UIDs) expectations.UIDs {
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

func (p *Planner) untrack(place int32, as CountedAs, onEnd bool) {
	p.plan.Untrack = append(p.plan.Untrack, Untracking{PodRef: p.snap.Pods[place].ref(), As: as, OnEnd: onEnd})
}

// cleanUp removes the finalizers of a job that has ended: nothing can be counted
// any more (J36, M6).
func (p *Planner) cleanUp() {
	p.plan.Adopt, p.plan.Release = p.plan.Adopt[:0], p.plan.Release[:0]
	p.plan.Basis.Stopped = true
	p.plan.Basis.Untracking = p.stillUntracking(p.plan.Basis.Memory.Untracking)
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
		p.untrack(i, NotCounted, false)
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
