package cronmodel

import (
	"errors"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// soon is a number of seconds. A state in which the controller asks for a round within this time is
// not at rest.
const soon = 600

// Calm makes the next step of a world in which nothing goes wrong any more and no further run comes
// due: a round continues to its end, everything is delivered, the controller begins a round if it
// has a reason to, every job completes, and the clock moves to a requeue that is near. In a state
// at rest the last run that is due must have started (CL1, CL3, CL4), and the active list must be
// correct (CL2).
func (w *worker) Calm(s *state) (next state, rest bool, err error) {
	next = *s
	c := &next.control
	switch due := c.again > 0 && c.again <= next.now+1; {
	case c.round != 0:
		return w.calmRound(next)
	case s.delayed != 0:
		return next, false, w.takeEffect(&next)
	case w.scope.Late && w.deliverAll(&next):
		return next, false, nil
	case c.dirty || c.retry || due:
		_, broken, ok := w.begin(&next)
		if !ok {
			return next, true, nil // a job that the scope has no place for
		}
		return next, false, broken
	case w.calmJobs(&next):
		return next, false, nil
	case c.again > next.now+1 && c.again <= next.now+soon:
		next.now = c.again - 1
		return next, false, nil
	}
	return next, true, w.checkRest(s)
}

// IsPassing reports whether a round is under way. Such a state does not last: Expand also makes
// each call of the round succeed, and a round has finitely many calls.
func (w *worker) IsPassing(s *state) bool { return s.control.round != 0 }

// calmRound finishes a round.
func (w *worker) calmRound(s state) (next state, rest bool, err error) {
	for s.control.round != 0 {
		write := w.of(s.control.round).write
		o, broken := w.call(&s, write)
		if broken != nil {
			return s, false, broken
		}
		id, ok := w.inScope(func() roundID { return w.next(s.control.round, o) })
		if !ok {
			return s, true, nil
		}
		s.control.round = id
		w.endRound(&s)
	}
	return s, false, nil
}

func (w *worker) calmJobs(s *state) (moved bool) {
	for i := range s.jobs {
		id := s.jobs[i].live
		if id == 0 {
			continue
		}
		switch c := w.children.Of(uint32(id)); {
		case c.Foreign:
			continue
		case !c.DeletionTimestamp.IsZero():
			s.jobs[i].live = 0
		case c.Finished == "":
			s.jobs[i].live = w.finished(id, job.ConditionComplete, s.now)
		default:
			continue
		}
		moved = true
	}
	s.control.dirty = s.control.dirty || moved
	return moved
}

// checkSilence checks that a state at rest needs no round before the one that the controller has
// asked for (CL4): a round at the time of a run, or half an hour later, has nothing to write. Once
// the clock has gone back, it checks nothing. A controller waits for a duration, but the model
// knows only the time at which the wait was to end.
func (w *worker) checkSilence(s *state) error {
	if s.control.moved {
		return nil
	}

	for _, run := range w.scope.Times {
		for _, at := range []uint32{uint32(run / time.Second), uint32(run/time.Second) + 1800} {
			if again := s.control.again; at <= s.now || again > 0 && again <= at+2 {
				continue // a due run starts a moment later, which counts as the next second
			}

			later := *s
			later.now = at
			id, ok := w.inScope(func() roundID { return w.at(w.look(&later), nil) })
			if !ok {
				continue
			}

			if round := w.of(id); !round.over && round.write.verb != verbStore {
				snapshot := w.snapshot(&round.view)
				plan, err := cronjob.Reconcile(snapshot)
				found := fmt.Errorf("CL4: the controller waits, and at %s there is something to do:\n%s",
					clock(at), plan.String())
				return errors.Join(found, err)
			}
		}
	}
	return nil
}

func (w *worker) checkRest(s *state) error {
	if err := w.checkSilence(s); err != nil {
		return err
	}
	status, spec := w.statuses.Of(uint32(s.status)), &w.specs[s.spec]
	if len(status.Active) > 0 {
		return fmt.Errorf("CL2: %s is still active", status.Active[0].Name)
	}
	if s.triggers != 0 {
		return errors.New("CL4: a trigger has not started")
	}
	usual := w.scope.Options.IsZero() && w.scope.Budget.Taken == 0 && !s.control.moved
	if *spec.Suspend || spec.StartingDeadlineSeconds != nil || !usual {
		return nil
	}
	if latest, ok := w.compiled[s.spec].Schedule.Latest(start, clock(s.now)); ok &&
		status.LastScheduleTime.Before(latest) {
		return fmt.Errorf("CL1: the run of %s is due, and the last one was %s", latest, status.LastScheduleTime)
	}
	return nil
}
