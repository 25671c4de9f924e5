package job

import (
	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/job/jobreason"
)

// appendUntracking adds the finalizers to remove (J35, J37), and reports whether more pods have
// finished than the round may record.
func appendUntracking(
	untrack []Untracking, s *Snapshot, found *findings, end Verdict, buf *scratch,
) (out []Untracking, capped bool) {
	a := accounting{snap: s, found: found, end: end, reported: &found.memory.rest.Reported}
	buf.due = a.appendDue(buf.due[:0])
	buf.due = a.appendUnfinished(buf.due, buf)
	return appendFitting(untrack, buf.due, s, &found.lists, &buf.written)
}

// accounting decides how tracked pods are counted when their finalizers are removed (J35, J37).
// These pods have ended, or the job does not wait for them. The fields of accounting do not change.
type accounting struct {
	snap  *Snapshot
	found *findings
	end   Verdict
	// reported holds the figures that the metrics of earlier rounds have reported.
	reported *reported
}

// appendDue adds the finalizers of the pods that have ended, and of stray pods.
func (a *accounting) appendDue(due []dueUntracking) []dueUntracking {
	pods := a.found.pods
	for _, i := range pods.recorded {
		if !a.isHeldBack(i) {
			due = append(due, a.untracking(i, jobreason.AlreadyRecorded, a.isCarrier(i), a.policyOfRecorded(i)))
		}
	}

	for _, i := range pods.stray {
		due = append(due, a.untracking(i, jobreason.NotCounted, false, ""))
	}

	as := jobreason.CountedSucceeded
	if a.snap.Job.Spec.isIndexed() {
		as = jobreason.CountedIndex // the completed index is enough to avoid counting twice
	}
	for _, i := range pods.succeeded {
		due = append(due, a.untracking(i, as, false, ""))
	}

	for _, i := range pods.failed {
		if !a.isHeldBack(i) {
			due = append(due, a.failed(i, a.isCarrier(i)))
		}
	}
	return due
}

// appendUnfinished appends to due the finalizers of pods that have not ended, if the job is ending
// or being deleted (J37). failsUnfinished decides whether the pods count as failed.
func (a *accounting) appendUnfinished(due []dueUntracking, buf *scratch) []dueUntracking {
	isOver := a.end.decided() || a.snap.Job.isDeleted()
	if !isOver && !completionsReached(a.snap.Job.Spec.Completions, a.found.tally.succeeded) {
		return due
	}

	for _, i := range a.found.pods.leaving {
		due = append(due, a.unfinished(i))
	}
	if !isOver && !jobrules.EndsWithoutNotice(a.snap.Options.Without) {
		return due
	}

	buf.active = activePods(buf.active[:0], a.snap)
	sortPlaces(a.snap.Pods, buf.active, byAge)
	for _, i := range buf.active {
		if isTracked(&a.snap.Pods[i], a.factsOf(i)) {
			due = append(due, a.unfinished(i))
		}
	}
	return due
}

// isCarrier reports whether the pod keeps its finalizer until its replacement exists,
// since it carries the failure count of its index (J17). The deletion of the job
// overrides that.
func (a *accounting) isCarrier(place int32) bool {
	return !a.snap.Job.isDeleted() && a.found.carriers.has(place)
}

// isHeldBack reports whether the pod keeps its finalizer because it is a carrier (see isCarrier).
// Once the job is ending, no pod is held back.
func (a *accounting) isHeldBack(place int32) bool {
	return !a.end.decided() && a.isCarrier(place)
}

// failed counts the pod as failed, unless the policy ignores it.
func (a *accounting) failed(place int32, onEnd bool) dueUntracking {
	failure := a.found.policy.judge(&a.snap.Pods[place])
	as := jobreason.CountedFailed
	if !failure.counts {
		as = jobreason.NotCounted
	}
	return a.untracking(place, as, onEnd, unreported(failure, a.factsOf(place), a.snap.Options.Quirks))
}

// unfinished removes the finalizer of a pod that has not ended.
func (a *accounting) unfinished(place int32) dueUntracking {
	switch {
	case !a.failsUnfinished(),
		lacksIndex(&a.snap.Pods[place], &a.snap.Job.Spec),
		a.factsOf(place)&uidRecorded != 0:
		return a.untracking(place, jobreason.NotCounted, !a.snap.Job.isDeleted(), a.policyOfRecorded(place))
	}
	return a.failed(place, true)
}

// failsUnfinished reports whether a pod that has not ended counts as failed once the job ends. That
// is so for an end in failure, and for a success that no condition announces.
func (a *accounting) failsUnfinished() bool {
	if jobrules.EndsWithoutNotice(a.snap.Options.Without) && !a.end.decided() {
		return !a.snap.Job.isDeleted()
	}
	return a.end.failed()
}

func (a *accounting) untracking(place int32, as jobreason.Counted, onEnd bool, policy FailureAction) dueUntracking {
	pod := &a.snap.Pods[place]
	return dueUntracking{
		Untracking: Untracking{PodRef: pod.ref(), As: as, OnEnd: onEnd, Ended: pod.isTerminal(), Policy: policy},
		place:      place,
	}
}

func (a *accounting) policyOfRecorded(place int32) FailureAction {
	return unreportedOfRecorded(&a.snap.Pods[place], a.factsOf(place), &a.found.policy, a.reported)
}

func (a *accounting) factsOf(place int32) uidFacts {
	return a.found.known.facts(a.snap.Pods[place].UID)
}
