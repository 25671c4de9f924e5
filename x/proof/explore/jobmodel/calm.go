package jobmodel

import (
	"errors"
	"fmt"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// Calm makes the next step of a world in which nothing goes wrong any more: a round continues to
// its end, everything is delivered, each controller with a reason to act begins a round, every pod
// makes a step and succeeds in the end, and then the clock moves to the next requeue.
//
// Controllers act only on an event, a retry or a requeue. For a controller that reads its own
// writes, these writes are not events. So a job that is at rest and has not ended has stalled (L1,
// L9).
func (w *worker) Calm(s *state) (next state, rest bool, err error) {
	next = *s
	defer func() {
		next.compact()
		if w.option&NoSymmetry == 0 {
			next.sort()
		}
	}()
	for _, step := range [...]func(*state) (bool, error){
		w.calmRounds, w.calmDelayed, w.calmDeliveries, w.calmBegin, w.checkStill, w.calmPods, w.calmClock,
	} {
		switch moved, err := step(&next); {
		case err == errNoRoom:
			w.tally.Cut++
			return next, true, nil
		case moved || err != nil:
			return next, false, err
		}
	}
	return next, true, w.checkRest(s)
}

// IsPassing reports whether a round is under way. Such a state does not last: Expand also makes
// each write of the round succeed, and a round has finitely many writes.
func (w *worker) IsPassing(s *state) bool {
	return s.control[0].round != 0 || s.control[1].round != 0
}

// errNoRoom ends a sequence of steps that leads out of the scope.
var errNoRoom = errors.New("the scope has no room for another pod")

// calmRounds finishes the rounds under way.
func (w *worker) calmRounds(s *state) (moved bool, err error) {
	for c := range w.rounds.scope.Controllers {
		for s.control[c].round != 0 {
			moved = true
			write := w.rounds.of(s.control[c].round).write
			o, broken, ok := w.write(s, c, write)
			switch {
			case broken != nil:
				return false, broken
			case !ok:
				return false, errNoRoom
			}
			w.learn(s, c, write, o)
		}
	}
	return moved, nil
}

func (w *worker) calmDelayed(s *state) (moved bool, err error) {
	if s.delayed == 0 {
		return false, nil
	}
	return true, w.takeEffect(s)
}

func (w *worker) calmDeliveries(s *state) (moved bool, err error) {
	if !w.rounds.scope.Late {
		return false, nil
	}
	for c := range w.rounds.scope.Controllers {
		news := s.see(c)
		news = s.seeGroups(c) || news
		for i := range s.pods[:s.known()] {
			if s.pods[i].seen[c] != s.pods[i].live {
				w.deliver(s, c, i)
				news = true
			}
		}
		moved = moved || news
	}
	return moved, nil
}

// calmBegin begins and finishes a round of each controller that has a reason to act.
func (w *worker) calmBegin(s *state) (moved bool, err error) {
	for c := range w.rounds.scope.Controllers {
		control := &s.control[c]
		due := control.again > 0 && control.again <= s.now+1
		if !control.dirty && !control.retry && !due {
			continue
		}
		moved = true
		v, order := w.look(s, c)
		if _, err := w.begin(s, c, v, order); err != nil {
			return false, err
		}
		if _, err := w.calmRounds(s); err != nil {
			return false, err
		}
	}
	return moved, nil
}

// checkStill checks a state in which no controller has a reason to act, before pods continue: a
// suspended job has no active pods (L7), no two active pods share an index (JI13), and a round is
// requested by the deadline (L6). It changes nothing.
func (w *worker) checkStill(s *state) (moved bool, err error) {
	status, spec := w.rounds.statuses.with(s.status, job.UncountedTerminatedPods{}), w.rounds.specs.of(s.spec)
	c := &s.control[0]
	switch {
	case w.rounds.scope.Controllers > 1, c.creations+c.deletions > 0, s.deletedAt > 0, isEnding(&status):
		return false, nil
	}

	suspended := *spec.Suspend
	var indexes uint64
	for i := range s.pods[:s.known()] {
		if s.pods[i].live == 0 {
			continue
		}

		p := w.rounds.pods.info(s.pods[i].live)
		if !p.active {
			continue
		}

		if suspended {
			return false, errors.New("L7: a pod of a suspended job stays active")
		}
		if at := p.Index.Int32(); spec.CompletionMode == job.Indexed && at >= 0 {
			if indexes&(1<<at) != 0 {
				return false, fmt.Errorf("JI13: two pods of index %d stay active", at)
			}
			indexes |= 1 << at
		}
	}

	if d := spec.ActiveDeadlineSeconds; d != nil && !suspended {
		if due := seconds(status.StartTime) + uint32(*d); c.again == 0 || c.again > due+1 || s.now >= due {
			return false, fmt.Errorf("L6: no round is asked for by the deadline, %d s after the start", *d)
		}
	}
	return false, nil
}

func isEnding(s *job.Status) bool {
	return s.Condition(job.ConditionFailureTarget).Status == job.ConditionTrue ||
		s.Condition(job.ConditionSuccessCriteriaMet).Status == job.ConditionTrue || s.Finished() != ""
}

// calmPods lets every pod make one step.
func (w *worker) calmPods(s *state) (moved bool, err error) {
	for i := range s.pods[:s.known()] {
		if s.pods[i].live == 0 {
			continue
		}
		p := w.rounds.pods.info(s.pods[i].live)
		if p.ended {
			continue
		}
		step := podStep{act: actFinish}
		switch {
		case p.deleting:
			step.code = 137
		case p.Phase == job.PodPending && !w.rounds.scope.Straight:
			step.act = actRun
		}
		w.change(s, i, step)
		moved = true
	}
	if moved {
		w.touch(s)
	}
	return moved, nil
}

func (w *worker) calmClock(s *state) (moved bool, err error) {
	at := uint32(0)
	for c := range w.rounds.scope.Controllers {
		if again := s.control[c].again; again > s.now+1 && (at == 0 || again < at) {
			at = again
		}
	}
	if at == 0 || at-s.now > 30*24*3600 {
		return false, nil
	}
	s.now = at - 1
	return true, nil
}

// checkEnding checks that the counts of pods justify the end (L3).
func checkEnding(s *job.Status, spec *job.Spec) error {
	isLimit := s.Condition(job.ConditionFailed).Reason == "BackoffLimitExceeded"
	isComplete := s.Finished() == job.ConditionComplete && spec.SuccessPolicy == nil
	switch {
	case isLimit && spec.Template.RestartPolicy == job.RestartNever && s.Failed <= *spec.BackoffLimit:
		return fmt.Errorf("L3: the job has failed after %d failures, backoffLimit %d", s.Failed, *spec.BackoffLimit)
	case isComplete && spec.Completions != nil && s.Succeeded < *spec.Completions:
		return fmt.Errorf("L3: the job is complete after %d successes, completions %d", s.Succeeded, *spec.Completions)
	}
	return nil
}

// checkRest checks a state at rest: L1, L3, L4, L5 and L7.
func (w *worker) checkRest(s *state) error {
	status, spec := w.rounds.statuses.with(s.status, job.UncountedTerminatedPods{}), w.rounds.specs.of(s.spec)
	finished := status.Finished() != ""
	for i := range s.pods[:s.known()] {
		p := &s.pods[i]
		if p.listed != 0 {
			return errors.New("L5: a UID stays uncounted")
		}
		if p.live == 0 {
			continue
		}
		info := w.rounds.pods.info(p.live)
		isOver := finished || s.deletedAt > 0
		isSuspended := spec.Suspend != nil && *spec.Suspend
		switch {
		case isOver && info.own && !info.Untracked:
			return errors.New("L4: a pod keeps its finalizer")
		case !isOver && isSuspended && info.active:
			return errors.New("L7: a pod of a suspended job is active")
		}
	}
	if err := checkEnding(&status, &spec); err != nil && !s.past.edited { // an edit can come after the decision
		return err
	}
	switch suspended := status.Condition(job.ConditionSuspended).Status == job.ConditionTrue; {
	case finished || s.deletedAt > 0:
	case *spec.Suspend && !suspended:
		return errors.New("L7: the job is suspended, and has no condition Suspended")
	case *spec.Suspend || *spec.Parallelism == 0:
	default:
		return fmt.Errorf("L1: the job rests and has not ended: %v", status)
	}
	return nil
}

// Describe describes a step in words. It shows pods as they were before the step.
func (w *worker) Describe(from *state, step explore.Step[state]) string {
	c, i, n := undetail(step.Detail)
	k := kind(step.Kind)
	text := kinds[k]
	if w.rounds.scope.Controllers > 1 && (k <= kindDeliverGroups) {
		text += fmt.Sprintf(" (controller %d)", c+1)
	}
	switch k {
	case kindRound:
		v, _ := w.look(from, c)
		s := w.rounds.snapshot(&v)
		plan, err := job.Reconcile(s)
		if err != nil {
			return text + ": " + err.Error()
		}
		return text + ": " + s.Job.Status.String() + "\n" + plan.String()
	case kindWrite, kindFail, kindLose, kindDelay, kindCrash, kindOldList:
		return text + ": " + w.describeWrite(w.rounds.of(from.control[c].round).write)
	case kindTick, kindBack:
		return fmt.Sprintf("%s %d s", text, step.Detail)
	case kindEdit:
		return text + ": " + w.rounds.scope.Edits[n]
	case kindDeliverJob, kindDeliverGroups, kindDeleteJob, kindOrphan, kindTakeEffect:
		return text
	}
	return fmt.Sprintf("%s %d (%s)", text, i+1, w.describePod(from.pods[i].live))
}

func (w *worker) describePod(id podID) string {
	if id == 0 {
		return "gone"
	}
	p := w.rounds.pods.info(id)
	return fmt.Sprintf("%s index %s", p.Phase, p.Index)
}

var verbs = [...]string{"adopt", "release", "create", "delete", "untrack, to delete", "untrack", "status"}

func (w *worker) describeWrite(write writeStep) string {
	if write.verb == verbStatus {
		s := w.rounds.statuses.with(write.status, job.UncountedTerminatedPods{})
		return "status " + s.String()
	}
	return fmt.Sprintf("%s %d", verbs[write.verb], write.place+1)
}
