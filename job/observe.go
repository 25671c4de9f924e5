package job

import "github.com/batchplan/batchplan/job/jobquirk"

// podCounts are the figures of J11, counted afresh in each round.
type podCounts struct {
	active, ready, terminating int64
	// restarts sums the restarts of pods that have not ended (J22).
	restarts int64
}

// podSets are the pods that need a closer look, as places in Snapshot.Pods.
type podSets struct {
	// finished are tracked pods that ended, or count as failed since they are
	// being deleted (J7), and stand in no uncounted list: the new ones of J8.
	succeeded, failed []int32
	// recorded are tracked pods whose UID an earlier round has put into a list.
	recorded []int32
	// stray are tracked, ended pods of an Indexed job that have no valid index:
	// their finalizer goes, and nothing is counted (J8).
	stray []int32
	// leaving are tracked pods that are being deleted and do not count as failed yet.
	leaving []int32
	// inFlight are pods that ended or count as failed, whose finalizer was removed in
	// an earlier round and which the snapshot still shows with it: the status may be
	// as old, so their indexes count (J14, J16).
	inFlight []int32
	// accounted are failed pods without the finalizer, kept for the podFailurePolicy.
	accounted []int32
	// active is filled by activePods.
	active []int32
	// delayed are failed pods that keep their finalizer (J17), by index.
	delayed []int32
	// untimed are the failed pods whose finish time nothing tells, by UID.
	untimed []Sighting
	// due are the finalizers to remove, as far as the round has room.
	due []dueUntracking
	// creatable is scratch space of the creations, due indexes.
	creatable []pendingIndex
}

func (s *podSets) reset() {
	*s = podSets{
		succeeded: s.succeeded[:0],
		failed:    s.failed[:0],
		recorded:  s.recorded[:0],
		stray:     s.stray[:0],
		leaving:   s.leaving[:0],
		inFlight:  s.inFlight[:0],
		accounted: s.accounted[:0],
		active:    s.active[:0],
		delayed:   s.delayed[:0],
		untimed:   s.untimed[:0],
		due:       s.due[:0],
		creatable: s.creatable[:0],
	}
}

// observe looks at each pod once: it claims (J6), counts (J11), and sorts out
// the pods that need a closer look.
func (p *Planner) observe() error {
	p.readKnown()
	// What needs no more than the first line of a pod is done here: the loop runs
	// for a million pods. lookAt gives the same answers for all of them.
	indexed := p.job.isIndexed()
	plain := p.job.Spec.Template.RestartPolicy != RestartOnFailure && p.known.len() == 0 && p.snap.Options.PendingTimeout == 0
	forgets := plain && p.job.Spec.PodFailurePolicy == nil
	var active, ready int64
	for i := range p.snap.Pods {
		pod := &p.snap.Pods[i]
		switch {
		case pod.UID == "":
			return invalid(podField(pod, "uid"), pod.UID, "is required")
		case plain && pod.Phase < PodSucceeded && pod.Owner == Owned && pod.Deletion == nil:
			active++
			if pod.Ready {
				ready++
			}
			if indexed && p.hasValidIndex(pod) {
				p.activeIndexes.Add(pod.Index)
			}
		case forgets && !pod.Tracked && pod.Phase >= PodSucceeded && pod.Phase <= PodFailed && pod.Owner == Owned:
			// accounted for in an earlier round
		default:
			if err := p.lookAt(i, pod); err != nil {
				return err
			}
		}
	}
	p.counts.active += active
	p.counts.ready += ready
	p.sortFinished()
	p.absorbUncounted()
	return nil
}

// lookAt is observe for a pod of which more than its phase must be known.
func (p *Planner) lookAt(i int, pod *Pod) error {
	if pod.Phase > PodFailed {
		return invalid(podField(pod, "phase"), pod.Phase.String(), "is no phase")
	}
	place := int32(i)
	if !p.claim(place, pod) {
		return nil
	}
	tracked := p.isTracked(pod)
	switch {
	case pod.isTerminal():
		switch {
		case tracked:
			p.sortIn(place, pod)
		case p.isInFlight(pod):
			p.pods.inFlight = append(p.pods.inFlight, place)
		}
		if !tracked && p.job.Spec.PodFailurePolicy != nil && pod.Phase == PodFailed {
			p.pods.accounted = append(p.pods.accounted, place)
		}
	case pod.Deletion != nil:
		p.countTerminating(place, pod, tracked)
	default:
		p.countActive(place, pod)
	}
	return nil
}

// countTerminating counts a pod that is being deleted and has not ended. It is a
// failed one already, unless the job replaces only pods that have ended (J7).
func (p *Planner) countTerminating(place int32, pod *Pod, tracked bool) {
	p.countRestarts(pod)
	failed := !p.job.replacesOnlyFailed()
	if !failed && p.givenUp(pod) {
		failed = true
	} else {
		p.counts.terminating++
	}
	switch {
	case failed:
		switch {
		case tracked:
			p.sortIn(place, pod)
		case p.isInFlight(pod):
			p.pods.inFlight = append(p.pods.inFlight, place)
		}
		return
	case p.job.isIndexed() && p.hasValidIndex(pod):
		p.leavingIndexes.Add(pod.Index)
	}
	if tracked {
		p.pods.leaving = append(p.pods.leaving, place)
	}
}

func (p *Planner) countActive(place int32, pod *Pod) {
	p.counts.active++
	p.watchPending(place, pod)
	if pod.Ready {
		p.counts.ready++
	}
	if p.job.isIndexed() && p.hasValidIndex(pod) {
		p.activeIndexes.Add(pod.Index)
	}
	p.countRestarts(pod)
}

// countRestarts adds the restarts of a pod that has not ended (J22).
func (p *Planner) countRestarts(pod *Pod) {
	if p.job.Spec.Template.RestartPolicy == RestartOnFailure && (pod.Phase == PodPending || pod.Phase == PodRunning) {
		p.counts.restarts += restarts(pod)
	}
}

// sortIn puts a tracked pod that has ended into its set.
func (p *Planner) sortIn(place int32, pod *Pod) {
	switch {
	case p.known.facts(pod.UID)&(uidSucceeded|uidFailed) != 0:
		p.pods.recorded = append(p.pods.recorded, place)
	case p.job.isIndexed() && !p.hasValidIndex(pod):
		p.pods.stray = append(p.pods.stray, place)
	case pod.Phase == PodSucceeded:
		p.pods.succeeded = append(p.pods.succeeded, place)
	default:
		p.pods.failed = append(p.pods.failed, place)
	}
}

// claim reports whether the pod is the job's in this round, and plans adoption
// and release (J6).
func (p *Planner) claim(place int32, pod *Pod) bool {
	switch pod.Owner {
	case Owned:
		return true
	case OwnedUnmatched:
		// Its UID may stand in an uncounted list: it is counted once the finalizer is
		// gone, which it is with the release.
		switch {
		case !p.job.isDeleted():
			p.plan.Release = append(p.plan.Release, pod.ref())
		case p.snap.Options.Quirks.Has(jobquirk.UnmatchedStay):
		case p.isTracked(pod):
			p.pods.stray = append(p.pods.stray, place)
		}
	case Orphan:
		if p.known.facts(pod.UID)&uidUntracking != 0 {
			return true // adopted and accounted for already: the snapshot is older
		}
		if !p.job.isDeleted() && pod.Deletion == nil {
			p.plan.Adopt = append(p.plan.Adopt, pod.ref())
			return true
		}
	}
	return false
}

// isTracked reports whether the pod has still to be accounted for. A pod that is
// being adopted gets the finalizer with the controller reference; one whose
// finalizer was removed is done, though the snapshot may still show it (E4, M1).
func (p *Planner) isTracked(pod *Pod) bool {
	if !pod.Tracked && pod.Owner != Orphan {
		return false
	}
	facts := p.known.facts(pod.UID)
	if facts != 0 {
		p.known.add(pod.UID, uidSeen)
	}
	return facts&uidUntracking == 0
}

// isInFlight reports whether a pod that is not tracked any more lost its finalizer in
// an earlier round, which the snapshot does not show yet. It may not even show that an
// orphan was adopted.
func (p *Planner) isInFlight(pod *Pod) bool {
	return p.job.isIndexed() && (pod.Tracked || pod.Owner == Orphan)
}

func (p *Planner) hasValidIndex(pod *Pod) bool {
	return pod.Index >= 0 && pod.Index < *p.job.Spec.Completions
}

// sortFinished puts the sets into an order that the order of the snapshot does
// not show in (B3).
func (p *Planner) sortFinished() {
	for _, set := range [...][]int32{p.pods.succeeded, p.pods.failed, p.pods.recorded, p.pods.stray, p.pods.leaving} {
		p.sortPlaces(set, p.byAge)
	}
	sortRefs(p.plan.Adopt)
	sortRefs(p.plan.Release)
}

// countPods sums the successes (J9) and the failures (J10).
func (p *Planner) countPods() {
	status := &p.job.Status
	p.succeeded = int64(p.completed.Len())
	if !p.job.isIndexed() {
		p.succeeded = int64(status.Succeeded) + int64(len(p.pods.succeeded)) + int64(len(p.uncounted.Succeeded)+p.absorbed.succeeded)
	}
	p.failed = int64(status.Failed) + int64(len(p.uncounted.Failed)+p.absorbed.failed)
	for _, i := range p.pods.failed {
		if p.failureOf(&p.snap.Pods[i]).counts {
			p.failed++
		}
	}
	b := &p.plan.Basis
	b.Active = clamp32(p.counts.active)
	b.Ready = clamp32(p.counts.ready)
	b.Terminating = clamp32(p.counts.terminating)
	b.Succeeded = clamp32(p.succeeded)
	b.StartTime = status.StartTime
	if b.StartTime.IsZero() && !p.job.isSuspended() { // J12
		b.StartTime = p.snap.Now
	}
	if status.StartTime.After(p.snap.Now) {
		p.note("job.status.startTime", formatTime(status.StartTime), "lies in the future; the deadline counts from there")
	}
}
