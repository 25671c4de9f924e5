package jobtest

import (
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// checkSnapshot checks the memory of a snapshot (JI22). If the program has a watch, the snapshot
// must have the objects that the watch has shown. A Consistent snapshot must show what the store
// holds.
func (e *Env) checkSnapshot(s *job.Snapshot) {
	isFirst := s.Memory.JobUID == s.Job.UID && !e.planned[s.Job.UID]
	if isFirst && !s.Memory.Equal(job.Memory{JobUID: s.Job.UID}) {
		e.life.Breaks("JI22", "the first snapshot of %s comes with a memory of another job: "+
			"no round of this one is over", s.Job.UID)
	}
	e.planned[s.Job.UID] = true

	e.checkPurged(s)
	e.checkGroupsShown(s)
	if e.watch != nil {
		e.checkSeen(s)
	}
	if !s.Consistent {
		return
	}

	if s.Job.UID != e.truth.Object.UID || !sameStatus(&s.Job.Status, &e.truth.Object.Status) {
		e.life.Breaks("Store", "the snapshot is Consistent, and shows the status %s of %s; it is %s of %s",
			s.Job.Status, s.Job.UID, e.truth.Object.Status, e.truth.Object.UID)
	}

	is := e.truth.Object
	is.Status, is.Version = s.Job.Status, s.Job.Version // a backend that reads its own writes needs no version
	if text := life.Difference(&is, &s.Job); text != "" {
		e.life.Breaks("Store", "the snapshot is Consistent, and shows the job otherwise than the store: %s", text)
	}

	for old, p := range e.truth.Against(life.Pointers(s.Pods)) {
		switch {
		case p == nil:
			e.life.Breaks("Store", "the snapshot is Consistent, and shows %s, which is gone", old.Name)
		case old == nil && (p.Owner == jobpod.Foreign || isDone(p)):
		case old == nil:
			e.life.Breaks("Store", "the snapshot is Consistent, and lacks %s", p.Name)
		case !samePod(old, p):
			e.life.Breaks("Store", "the snapshot is Consistent, and shows %s as %s; it is %s",
				p.Name, describe(old), describe(p))
		default:
			if text := e.otherwise(p, old); text != "" {
				e.life.Breaks("Store", "the snapshot is Consistent, and shows %s otherwise than the store: %s",
					p.Name, text)
			}
		}
	}
}

// otherwise describes how a pod in a snapshot differs from the real pod. It returns "" if they are
// the same. The detail may be missing while the pod runs, and once it is accounted for.
func (e *Env) otherwise(is, shown *job.Pod) string {
	want, got := e.reported(is), e.reported(shown)
	if got.Detail == nil && (is.Phase < job.PodSucceeded || isDone(is)) {
		want.Detail = nil
	}
	return life.Difference(want, got)
}

// checkSeen compares the snapshot of a program that has a watch with the pods that the watch has
// shown. The snapshot may have other pods, which the program has created itself.
func (e *Env) checkSeen(s *job.Snapshot) {
	if e.watch.Shows() != e.shows {
		return // more was shown since the round began
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		was, shown := e.watch.Shown(string(p.UID)).(job.Pod)
		if !shown {
			if e.pod(p.UID) == nil && e.history.Of(p.UID) != nil {
				e.life.Breaks("Store", "the snapshot shows %s, and the program was shown that it is gone", p.Name)
			}
			continue
		}

		was.Deletion = p.Deletion
		if text := e.otherwise(&was, p); text != "" {
			e.life.Breaks("Store", "the snapshot shows %s otherwise than the program was shown: %s", p.Name, text)
		}
	}
}

// isDone reports whether a snapshot may leave the pod out: it has ended and is accounted for.
func isDone(p *job.Pod) bool {
	return p.Untracked && (p.Phase >= job.PodSucceeded || world.IsCollected(p))
}
