package job

import (
	"time"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job/jobpod"
)

// census counts the pods of each kind (J11) and lists those that need a closer look. It is made in
// one pass over the pods. The lists hold places in Snapshot.Pods.
type census struct {
	// pods counts all pods of the job, including those that have ended.
	pods                       int64
	active, ready, terminating int64
	// restarts sums the restarts of pods that have not ended (J22).
	restarts int64
	// done counts the pods that have ended, no longer have the finalizer, and are not being
	// deleted.
	done int64
	// activeIndexes are the indexes of active pods. leavingIndexes are those of terminating pods
	// that must end before they are replaced (J33).
	activeIndexes, leavingIndexes indexset.Set

	// adopted and released are the pods that change their owner (J6).
	adopted, released []Claim
	// succeeded and failed are the newly finished pods of J8: tracked, and in no uncounted list.
	// failed includes pods that count as failed because they are being deleted (J7).
	succeeded, failed []int32
	// recorded are tracked pods whose UID an earlier round has put into an uncounted list.
	recorded []int32
	// stray are tracked pods that cannot be counted: they ended without a valid index
	// (J8), or no longer match the selector of a job that is being deleted.
	stray []int32
	// leaving are tracked pods that are being deleted and do not count as failed yet.
	leaving []int32
	// inFlight are pods of an Indexed job that ended or count as failed. An earlier round removed
	// their finalizer, but the snapshot is older and still shows it. The status in the snapshot may
	// also be too old to list the indexes of these pods, so this round adds the indexes (J14, J16).
	inFlight []int32
	// accounted are failed pods without the finalizer. The podFailurePolicy needs them.
	accounted []int32
	// late are active pods that have not started in time. nextTimeout is the earliest time at which
	// another pod exceeds its time to start or to end.
	late        []int32
	nextTimeout time.Time
}

// reset empties the census and keeps its buffers.
func (c *census) reset() {
	c.activeIndexes.Reset()
	c.leavingIndexes.Reset()
	*c = census{
		activeIndexes:  c.activeIndexes,
		leavingIndexes: c.leavingIndexes,
		adopted:        c.adopted[:0],
		released:       c.released[:0],
		succeeded:      c.succeeded[:0],
		failed:         c.failed[:0],
		recorded:       c.recorded[:0],
		stray:          c.stray[:0],
		leaving:        c.leaving[:0],
		inFlight:       c.inFlight[:0],
		accounted:      c.accounted[:0],
		late:           c.late[:0],
	}
}

// shortcuts tell which pods can be counted by their first cache line alone. The loop over the pods
// runs up to a million times; shortcuts make it faster and do not change its results.
type shortcuts struct {
	// active is true if active pods need only be counted.
	active bool
	// accounted is true if ended pods that an earlier round has accounted for need only be counted.
	accounted bool
}

func shortcutsOf(s *Snapshot, known *uidTable) shortcuts {
	spec := &s.Job.Spec
	plain := spec.Template.RestartPolicy != RestartOnFailure && known.len() == 0 && s.Options.PendingTimeout == 0
	return shortcuts{active: plain, accounted: plain && spec.PodFailurePolicy == nil}
}

// plain holds the numbers of pods that need no closer look.
type plain struct{ pods, active, ready, done int }

func (n plain) plus(m plain) plain {
	return plain{n.pods + m.pods, n.active + m.active, n.ready + m.ready, n.done + m.done}
}

// countPlain counts the pods of a NonIndexed job up to the first that needs a closer look. The loop
// calls nothing, which halves its time.
func countPlain(pods []Pod, short shortcuts) (n plain) {
	for i := range pods {
		pod := &pods[i]
		if pod.UID == "" || pod.Owner != jobpod.Owned {
			return n
		}

		if pod.Phase < PodSucceeded {
			if !short.active || pod.Deletion != nil {
				return n
			}
			n.active++
			if pod.Ready {
				n.ready++
			}
		} else {
			if !short.accounted || !pod.Untracked || pod.Phase > PodFailed {
				return n
			}
			if pod.Deletion == nil {
				n.done++
			}
		}
		n.pods++
	}
	return n
}

// countPlainIndexed is countPlain for an Indexed job. It adds the indexes of active pods to the set
// active. An active pod without an index of its own needs a closer look. The pods are read twice,
// in blocks that stay in the processor's cache, because a loop that does everything is slower. The
// blocks grow, so that little is read in vain if every pod needs a closer look.
func countPlainIndexed(pods []Pod, short shortcuts, limit int32, active *indexset.Set) (n plain) {
	for block := 1; n.pods < len(pods); block = min(2*block, 256) {
		rest := pods[n.pods:]
		rest = rest[:min(len(rest), block)]

		run := countPlain(rest, short)
		own := addIndexes(rest[:run.pods], limit, active)
		if own < run.pods {
			run = countPlain(rest[:own], short)
		}
		if n = n.plus(run); run.pods < len(rest) {
			break
		}
	}
	return n
}

// addIndexes adds the indexes of active pods to the set, up to the first pod that needs a closer
// look. It returns the number of pods before that pod.
func addIndexes(pods []Pod, limit int32, active *indexset.Set) int {
	var near indexset.Near
	for i := range pods {
		pod := &pods[i]
		if pod.Phase >= PodSucceeded {
			if pod.Index == (Index{}) {
				return i
			}
			continue
		}

		if !hasIndexBelow(pod, limit) {
			return i
		}
		index := pod.index()
		if !near.Holds(index) {
			near = active.Near(index)
		}
		if !near.Add(index) {
			return i
		}
	}
	return len(pods)
}

// take makes the census. It looks at each pod once, claims it (J6), counts it (J11), and lists it
// if it needs a closer look. In table known, it marks the UIDs of pods that still carry the
// finalizer.
func (c *census) take(s *Snapshot, known *uidTable, short shortcuts) error {
	c.reset()
	indexed, limit := s.Job.Spec.isIndexed(), indexLimit(&s.Job.Spec)

	// Each turn of the loop counts the next pods that need no closer look, and then looks at the
	// pod after them.
	for place := 0; ; place++ {
		var run plain
		if rest := s.Pods[place:]; indexed {
			run = countPlainIndexed(rest, short, limit, &c.activeIndexes)
		} else {
			run = countPlain(rest, short)
		}
		c.add(run)
		if place += run.pods; place == len(s.Pods) {
			break
		}

		switch pod := &s.Pods[place]; {
		case pod.UID == "":
			return invalid(podField(pod, "uid"), "", "is required")
		case indexed && pod.Index == (Index{}) && pod.Owner != jobpod.Foreign:
			return invalid(podField(pod, "index"), pod.Index.String(),
				"is required when completionMode is Indexed; NoIndex says that there is none")
		}

		if err := c.lookAt(s, known, int32(place)); err != nil {
			return err
		}
	}
	c.sort(s.Pods)
	return nil
}

// add counts pods that need no closer look.
func (c *census) add(n plain) {
	c.pods += int64(n.pods)
	c.active += int64(n.active)
	c.ready += int64(n.ready)
	c.done += int64(n.done)
}

// lookAt counts a pod that needs a closer look.
func (c *census) lookAt(s *Snapshot, known *uidTable, place int32) error {
	pod := &s.Pods[place]
	if pod.Phase > PodFailed {
		return invalid(podField(pod, "phase"), pod.Phase.String(), "is not a phase")
	}

	facts := known.facts(pod.UID)
	tracked := isTracked(pod, facts)
	switch claimOf(pod, facts, &s.Job, s.Options.Quirks) {
	case leaveAlone:
		return nil
	case disown:
		c.released = append(c.released, Claim{pod.ref()})
		return nil
	case adopt:
		c.adopted = append(c.adopted, adoptionOf(pod, s.Options.Quirks))
	case letGo:
		known.see(pod, facts)
		if tracked {
			c.stray = append(c.stray, place)
		}
		return nil
	}

	c.pods++
	known.see(pod, facts)
	switch {
	case pod.isTerminal():
		c.addEnded(s, facts, place)
		if !carriesFinalizer(pod) && pod.Deletion == nil && facts&uidUntracking == 0 {
			c.done++
		}
		if !tracked && s.Job.Spec.PodFailurePolicy != nil && pod.Phase == PodFailed {
			c.accounted = append(c.accounted, place)
		}
	case pod.Deletion != nil:
		c.addTerminating(s, facts, place)
	default:
		c.addActive(s, place)
	}
	return nil
}

// addActive counts a pod that has neither ended nor is being deleted.
func (c *census) addActive(s *Snapshot, place int32) {
	pod := &s.Pods[place]
	c.active++
	if pod.Ready {
		c.ready++
	}
	if hasIndexBelow(pod, indexLimit(&s.Job.Spec)) {
		c.activeIndexes.Add(pod.index())
	}
	c.restarts += restartsCounted(&s.Job.Spec, pod)

	if due := startDue(pod, &s.Options); isOver(due, s.Now) {
		c.late = append(c.late, place)
	} else {
		c.nextTimeout = earliest(c.nextTimeout, due)
	}
}

// addTerminating counts a pod that is being deleted and has not ended (J7).
func (c *census) addTerminating(s *Snapshot, facts uidFacts, place int32) {
	pod := &s.Pods[place]
	spec := &s.Job.Spec
	c.restarts += restartsCounted(spec, pod)

	if !replacesOnlyFailed(spec) {
		c.terminating++
		c.addEnded(s, facts, place)
		return
	}

	due := giveUpDue(pod, &s.Options)
	if isOver(due, s.Now) {
		c.addEnded(s, facts, place)
		return
	}

	c.nextTimeout = earliest(c.nextTimeout, due)
	c.terminating++
	if hasIndexBelow(pod, indexLimit(spec)) {
		c.leavingIndexes.Add(pod.index())
	}
	if isTracked(pod, facts) {
		c.leaving = append(c.leaving, place)
	}
}

// addEnded puts a pod that has ended, or counts as failed, into its list (J8). A pod without the
// finalizer is in no list.
func (c *census) addEnded(s *Snapshot, facts uidFacts, place int32) {
	pod := &s.Pods[place]
	indexed := s.Job.Spec.isIndexed()
	list := &c.failed

	switch {
	case !carriesFinalizer(pod), facts&uidUntracking != 0 && !indexed:
		return
	case facts&uidUntracking != 0:
		list = &c.inFlight
	case facts&uidRecorded != 0:
		list = &c.recorded
	case lacksIndex(pod, &s.Job.Spec):
		list = &c.stray
	case pod.Phase == PodSucceeded:
		list = &c.succeeded
	}
	*list = append(*list, place)
}

// sort puts the lists into an order that does not depend on the order of the
// snapshot (B3).
func (c *census) sort(pods []Pod) {
	for _, list := range [...][]int32{c.succeeded, c.failed, c.recorded, c.stray, c.leaving} {
		if len(list) > 1 {
			sortPlaces(pods, list, byAge)
		}
	}

	sortClaims(c.adopted)
	sortClaims(c.released)
}
