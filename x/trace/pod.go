package trace

import (
	"time"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

type podState struct {
	seen
	owner      job.UID
	phase      job.PodPhase
	isDeleting bool
	tracked    bool
	index      int32
	// isRecorded is true once a status has listed the pod.
	isRecorded bool
	// isShown is true if changes of its status are in the log.
	isShown bool
	// finished is when the app containers ended, zero if unknown. ended is the first version that
	// showed the end of the pod.
	finished time.Time
	ended    uint64
	ending   ending
	// before is how many earlier pods of the same index had failed when the pod was created.
	before int
}

// tally counts the pods of a job.
type tally struct {
	epoch int
	// pods is the number of pods in the log. The other numbers count only the pods that certainly
	// exist.
	pods, active, terminating int
	// succeeded counts the pods that have succeeded and that no status lists.
	succeeded int
	indexes   map[int32]int
	// adopted is set once the job has a pod that it may not have created.
	adopted bool
	// lost are pods whose success may not be recorded.
	lost []job.UID
}

// reset forgets pods if the log no longer shows that they exist.
func (t *tally) reset(epoch int) {
	if t.epoch != epoch {
		t.epoch, t.active, t.terminating, t.succeeded = epoch, 0, 0, 0
		clear(t.indexes)
	}
}

// activeIn returns how many pods are surely active.
func (t *tally) activeIn(epoch int) int {
	t.reset(epoch)
	return t.active
}

func (t *tally) add(p *podState, c *checker)    { t.count(p, c, 1) }
func (t *tally) remove(p *podState, c *checker) { t.count(p, c, -1) }

func (t *tally) count(p *podState, c *checker, n int) {
	t.reset(c.epoch[kindPod])
	if !c.isCertainPod(p) {
		return
	}

	switch {
	case p.phase == job.PodSucceeded && p.tracked && !p.isRecorded:
		t.succeeded += n
	case p.phase >= job.PodSucceeded:
	case p.isDeleting:
		t.terminating += n
	default:
		t.active += n
		if p.index >= 0 {
			if t.indexes == nil {
				t.indexes = map[int32]int{}
			}
			if t.indexes[p.index] += n; t.indexes[p.index] == 0 {
				delete(t.indexes, p.index)
			}
		}
	}
}

func (c *checker) podEvent(e *event) {
	uid := job.UID(e.meta.UID)
	p := c.pods[uid]
	owner := ownerOf(e, kindJob)
	switch {
	case e.change == isDeleted, owner == "" && e.change != isLost:
		c.podGone(uid) // the pod is gone or no longer owned
		return
	case p == nil && e.change == isLost:
		return
	case p == nil:
		p = &podState{index: -1}
		c.pods[uid] = p
	}

	if e.change == isLost {
		c.jobOf(p.owner).tally.remove(p, c)
		p.epoch = -1
		return
	}
	active := c.jobOf(p.owner).tally.activeIn(c.epoch[kindPod])
	if p.known {
		c.jobOf(p.owner).tally.remove(p, c)
	}

	was := *p
	how := c.advance(&p.seen, e)
	if how == isRepeated {
		c.jobOf(p.owner).tally.add(p, c)
		return
	}

	p.take(e, owner)
	s := c.jobOf(owner)
	isKnownWhole := how == isNext || how == isFirst && isNewPod(e)
	p.ending.isVague = p.ending.isVague || !isKnownWhole
	p.ending.note(e.pod)
	c.noteDoom(s, p, e.pod, active)
	if how == isFirst {
		c.Pods++
		s.tally.pods++
		c.enrolled(s, e)
		c.firstPod(s, p, e)
		s.tally.adopted = s.tally.adopted || e.change == isModified && !e.audited
	} else if was.owner != owner {
		c.jobOf(was.owner).tally.pods--
		s.tally.pods++
		s.tally.adopted, s.roll.isSpoilt = true, true
	}

	s.tally.add(p, c)
	c.podEnded(s, p, &was, e)
	if isLast(e) {
		c.podGone(uid)
	}
}

// take copies the contents of a version.
func (p *podState) take(e *event, owner job.UID) {
	pod := e.pod
	p.owner, p.phase, p.isDeleting, p.tracked = owner, pod.Phase, pod.Deletion != nil, !pod.Untracked
	p.index = pod.Index.Int32()

	isWatched := !e.audited && e.change != isThere
	isStillShown := e.audited && p.isShown
	p.isShown = isWatched || e.isStatus || isStillShown
	if d := pod.Detail; d != nil {
		p.before = int(d.FailureCount) + int(d.IgnoredFailureCount)
		if p.phase >= job.PodSucceeded {
			p.finished = finishOf(d)
		}
	}
}

// finishOf returns when the app containers ended, zero if this is unknown for one of them. The
// controller uses this time or a later one.
func finishOf(d *job.PodDetail) (last time.Time) {
	for i := range d.Containers {
		k := &d.Containers[i]
		switch {
		case k.Kind != jobpod.App:
		case k.State != jobpod.Terminated || k.FinishedAt.IsZero():
			return time.Time{}
		case k.FinishedAt.After(last):
			last = k.FinishedAt
		}
	}
	return last
}

func (c *checker) podGone(uid job.UID) {
	p := c.pods[uid]
	if p == nil {
		return
	}

	delete(c.pods, uid)
	s := c.jobOf(p.owner)
	s.tally.remove(p, c)
	if s.doom.uid == uid && !p.isRecorded {
		s.doom = doom{} // the controller may not have seen the failure
	}
	if s.tally.pods--; s.tally.pods == 0 && !s.known {
		delete(c.jobs, p.owner)
	}
}

// podEnded notes how a pod has ended, and whether its success may be lost.
func (c *checker) podEnded(s *jobState, p, was *podState, e *event) {
	ended := p.phase >= job.PodSucceeded && was.phase < job.PodSucceeded
	if ended {
		p.ended = e.version
	}
	if ended && p.phase == job.PodSucceeded {
		s.streak.succeeded(p)
		s.completed(p)
	}
	if ended && p.phase == job.PodFailed && p.index >= 0 {
		if !p.finished.IsZero() {
			s.failures[p.index] = failure{p.finished, p.before, p.uid}
		}
	}

	losesFinalizer := was.known && was.tracked && !p.tracked
	if losesFinalizer && p.phase == job.PodSucceeded && c.mayBeLost(s, p, e) {
		s.tally.lost = append(s.tally.lost, p.uid)
	}
}

// mayBeLost reports whether a pod has lost its finalizer too early: no status has recorded its
// success, and the job still counts pods.
func (c *checker) mayBeLost(s *jobState, p *podState, e *event) bool {
	j := &s.job
	isKnown := c.isCertain(&s.seen) && s.precedes(e)
	isAccounted := p.isRecorded || p.isDeleting || s.pods[digestOf(p.uid)]&isCounted != 0
	isEnding := isTrue(&j.Status, job.ConditionFailureTarget) || isTrue(&j.Status, job.ConditionSuccessCriteriaMet)
	switch {
	case !s.judged || !isKnown || isAccounted:
		return false
	case j.Status.Finished() != "" || isEnding:
		return false
	case !j.DeletionTimestamp.IsZero() || !s.limits.set:
		return false
	case j.Spec.CompletionMode != job.Indexed:
		return true
	}
	return p.index >= 0 && p.index < s.limits.completions && !hasEnded(&j.Status, p.index)
}

// hasEnded reports whether an index has completed or failed for good.
func hasEnded(s *job.Status, i int32) bool {
	return indexset.Lists(s.CompletedIndexes, i) || indexset.Lists(value.Of(s.FailedIndexes), i)
}
