package jobtest

import (
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/kit/internal/life"
	"github.com/batchplan/batchplan/kit/jobcheck"
	"github.com/batchplan/batchplan/kit/world"
)

// Now is the time in this life.
func (e *Env) Now() time.Time { return e.life.Now() }

// Options are the options to plan with. Some lives have small limits, so that one round
// cannot do all that has to be done. A program that has options of its own may ignore
// them.
func (e *Env) Options() job.Options { return e.options }

// Planned shows the test what the program has planned, before anything is written. The
// plan and its snapshot are checked, and told in the story.
func (e *Env) Planned(s *job.Snapshot, p *job.Plan) {
	e.life.Writing.Lock()
	defer e.life.Writing.Unlock()
	e.options, e.edited = s.Options, !e.watch.HasSeen(life.ObjectKey)
	e.seen, e.troubled = s.Job.Spec, false
	e.life.TellPlan(e.of(), p.String())
	e.life.Note(jobcheck.Plan(s, p))
	e.checkSnapshot(s)
	e.checkWaits(s, p)
}

// Write makes a write of the program that does not go through a backend, such as storing its
// memory. It can fail, lose its reply, or be the one before which the program ends.
func (e *Env) Write(what string, write func() error) error {
	e.life.Writing.Lock()
	defer e.life.Writing.Unlock()
	_, err := e.life.Try(world.Write{Verb: world.Verb(what)}, write)
	e.troubled = e.troubled || err != nil
	return err
}

// Backend stands between an executor and the program's backend. It makes writes go wrong,
// and checks each before it is made and what happened to it.
func (e *Env) Backend(b jobapply.Backend) jobapply.Backend { return &checked{e, b} }

// Logf adds a line to the story.
func (e *Env) Logf(format string, args ...any) { e.life.Tell(format, args...) }

// checkSnapshot checks the memory of a snapshot (JI22), what a program behind a watch was shown, and, if
// the snapshot says that it is Consistent, all of it against the store.
func (e *Env) checkSnapshot(s *job.Snapshot) {
	if s.Memory.JobUID == s.Job.UID && !e.planned[s.Job.UID] && !s.Memory.Equal(job.Memory{JobUID: s.Job.UID}) {
		e.life.Breaks("JI22", "the first snapshot of %s comes with a memory of another job: no round of this one is over", s.Job.UID)
	}
	e.planned[s.Job.UID] = true
	if e.watch != nil {
		e.checkSeen(s)
	}
	if !s.Consistent {
		return
	}
	if s.Job.UID != e.truth.job.UID || !sameStatus(&s.Job.Status, &e.truth.job.Status) {
		e.life.Breaks("Store", "the snapshot is Consistent, and shows the status %s of %s; it is %s of %s",
			s.Job.Status, s.Job.UID, e.truth.job.Status, e.truth.job.UID)
	}
	if text := life.Difference(&e.truth.job.Spec, &s.Job.Spec); text != "" {
		e.life.Breaks("Store", "the snapshot is Consistent, and shows the spec otherwise than the store: %s", text)
	}
	seen := make(map[job.UID]*job.Pod, len(s.Pods))
	for i := range s.Pods {
		seen[s.Pods[i].UID] = &s.Pods[i]
	}
	for _, p := range e.truth.pods {
		switch old := seen[p.UID]; {
		case old == nil && p.Owner != job.Foreign && !isDone(p):
			e.life.Breaks("Store", "the snapshot is Consistent, and lacks %s", p.Name)
		case old != nil && !samePod(old, p):
			e.life.Breaks("Store", "the snapshot is Consistent, and shows %s as %s; it is %s", p.Name, describe(old), describe(p))
		case old != nil:
			if text := e.otherwise(p, old); text != "" {
				e.life.Breaks("Store", "the snapshot is Consistent, and shows %s otherwise than the store: %s", p.Name, text)
			}
		}
		delete(seen, p.UID)
	}
	for _, p := range s.Pods {
		if seen[p.UID] != nil {
			e.life.Breaks("Store", "the snapshot is Consistent, and shows %s, which is gone", p.Name)
		}
	}
}

// otherwise says in what a pod of a snapshot differs from the pod as it is, and is empty if it does not. The detail may be missing
// while the pod runs, and when it is accounted for.
func (e *Env) otherwise(is, shown *job.Pod) string {
	want, got := e.reported(is), e.reported(shown)
	if got.Detail == nil && (is.Phase < job.PodSucceeded || isDone(is)) {
		want.Detail = nil
	}
	return life.Difference(want, got)
}

// checkSeen compares the snapshot of a program behind a watch with what the program was shown. Pods that it was not shown may be its
// own creations.
func (e *Env) checkSeen(s *job.Snapshot) {
	if e.watch.Shows() != e.shows {
		return // more was shown since the round began
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		was, shown := e.watch.Shown(string(p.UID)).(job.Pod)
		if !shown {
			if e.truth.pod(p.UID) == nil && e.history.Of(p.UID) != nil {
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

// checkWaits notices expectations that nobody lowers: the plan waits for own writes, and the
// snapshot shows all of them (E1).
func (e *Env) checkWaits(s *job.Snapshot, p *job.Plan) {
	for _, w := range p.Waits {
		if w.Reason != job.WaitExpectations || w.Until.IsZero() || len(s.Pods) < len(e.truth.pods) {
			continue
		}
		for i := range s.Pods {
			if t := e.truth.pod(s.Pods[i].UID); t == nil || !samePod(t, &s.Pods[i]) {
				return
			}
		}
		e.life.Breaks("E1", "the plan waits for own writes to be seen, and the snapshot shows all of them: expectations are to be lowered when they are seen")
	}
}
