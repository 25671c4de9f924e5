package cronmodel

import (
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// Expand makes every move from a state. No delivery and no tick comes between the calls of a
// round.
func (w *worker) Expand(s *state, tally *explore.Tally, step func(explore.Step[state])) {
	w.step, w.tally = step, tally
	if s.control.round != 0 {
		w.calls(s)
	} else {
		w.beginRound(s)
		w.deliveries(s)
		w.ticks(s)
	}
	if s.delayed != 0 {
		next := *s
		broken := w.takeEffect(&next)
		w.emit(&next, kindTakeEffect, 0, broken)
	}
	for i := range s.jobs {
		w.jobMoves(s, i)
	}
	w.userMoves(s)
}

// look returns what the controller sees.
func (w *worker) look(s *state) view {
	v := view{
		now:      s.now,
		status:   s.status,
		spec:     s.spec,
		triggers: s.triggers,
		backfill: s.backfill,
		memory:   s.control.memory,
	}
	if w.scope.Late {
		v.status, v.spec = s.control.status, s.control.spec
	}
	for i, j := range s.jobs {
		v.jobs[i] = j.live
		if w.scope.Late {
			v.jobs[i] = j.seen
		}
	}
	return v
}

func (w *worker) beginRound(s *state) {
	next := *s
	rules, err, ok := w.begin(&next)
	if !ok {
		w.tally.Cut++
		return
	}
	rules.Count(w.tally)
	w.emit(&next, kindRound, 0, err)
}

// begin begins a round. It returns the rules of the plan and the invariant that the plan breaks; ok
// is false if the round needs a job for which the scope has no place.
func (w *worker) begin(s *state) (rules explore.RuleSet, broken error, ok bool) {
	id, ok := w.inScope(func() roundID { return w.at(w.look(s), nil) })
	if !ok {
		return 0, nil, false
	}
	c := &s.control
	c.current = !w.scope.Late || c.status == s.status && c.spec == s.spec
	c.dirty, c.round = false, id
	round := w.of(id)
	w.endRound(s)
	return round.rules, round.broken, true
}

// inScope calls f. It reports false if f needs a job for which the scope has no place.
func (w *worker) inScope(f func() roundID) (id roundID, ok bool) {
	defer func() {
		if r := recover(); r != nil && r != any(errOutside) {
			panic(r)
		}
	}()
	return f(), true
}

// endRound concludes a round that has no further call.
func (w *worker) endRound(s *state) {
	c := &s.control
	round := w.of(c.round)
	if !round.over {
		return
	}
	e := &round.end
	c.memory, c.again, c.retry, c.round, c.current = e.memory, e.again, e.retry, 0, false
	s.triggers &^= e.triggered
	if e.stores {
		s.backfill = e.backfill
	}
}

// calls makes the next call of a round: it succeeds, fails, loses its reply, or the
// controller crashes before it.
func (w *worker) calls(s *state) {
	write := w.of(s.control.round).write
	done := *s
	o, broken := w.call(&done, write)
	lost := done
	w.learn(&done, o, kindWrite, broken)

	if s.left.Fails > 0 && write.verb != verbStore {
		next := *s
		next.left.Fails--
		w.learn(&next, outcomeFailed, kindFail, nil)
	}

	isWrite := write.verb != verbGet && write.verb != verbStore
	if s.left.Lost > 0 && o == outcomeDone && isWrite {
		lost.left.Lost--
		w.learn(&lost, outcomeFailed, kindLose, broken)
	}

	if s.left.Delays > 0 && o == outcomeDone && write.verb == verbStatus {
		next := *s
		next.left.Delays--
		next.delayed = write.status
		w.learn(&next, outcomeFailed, kindDelay, nil)
	}

	if s.left.Crashes > 0 {
		next := *s
		next.left.Crashes--
		w.crash(&next)
		w.emit(&next, kindCrash, 0, nil)
	}
}

// learn tells the controller the result of its call.
func (w *worker) learn(s *state, o outcome, k kind, broken error) {
	id, ok := w.inScope(func() roundID { return w.next(s.control.round, o) })
	if !ok {
		w.tally.Cut++
		return
	}
	s.control.round = id
	w.endRound(s)
	w.emit(s, k, int(o), broken)
}

// crash restarts the controller: it forgets everything and lists the objects.
func (w *worker) crash(s *state) {
	s.control = controller{retry: true, dirty: true, moved: s.control.moved}
	if w.scope.Late {
		w.deliverAll(s)
	}
}

// call carries out a call on the objects of the world, as a server does.
func (w *worker) call(s *state, write writeStep) (o outcome, broken error) {
	j := &s.jobs[write.job]
	switch write.verb {
	case verbGet:
		switch {
		case j.live == 0:
			return outcomeGone, nil
		case w.children.Of(uint32(j.live)).Foreign:
			return outcomeForeign, nil
		}
	case verbDelete:
		if j.live == 0 || w.children.Of(uint32(j.live)).Foreign {
			return outcomeGone, nil
		}
		w.remove(s, int(write.job), write.foreground)
	case verbCreate:
		if j.live != 0 {
			return outcomeExists, nil
		}
		return outcomeDone, w.create(s, write)
	case verbStatus:
		if !s.control.current {
			return outcomeFailed, nil
		}
		broken = w.setStatus(s, write.status)
		if !w.scope.Late {
			return outcomeDone, broken
		}
		s.control.current = true
	}
	return outcomeDone, broken
}

// setStatus writes a status, and returns the invariant that this breaks, or nil.
func (w *worker) setStatus(s *state, id statusID) (broken error) {
	st := w.check(s)
	next := w.statuses.Of(uint32(id))
	broken = first(st.Status(&next, func(run time.Time) bool { return w.wasStarted(s, run) }))
	s.status, s.delayed = id, 0
	return broken
}

// takeEffect carries out the status write that is on its way.
func (w *worker) takeEffect(s *state) (broken error) {
	broken = w.setStatus(s, s.delayed)
	s.control.current = false
	s.control.dirty = s.control.dirty || !w.scope.Late
	return broken
}

// remove deletes a job. Deleted in the foreground, it stays until its pods are gone.
func (w *worker) remove(s *state, place int, foreground bool) {
	j := &s.jobs[place]
	if !foreground {
		j.live = 0
		return
	}
	c := w.children.Of(uint32(j.live))
	if c.DeletionTimestamp.IsZero() {
		c.DeletionTimestamp = clock(s.now)
	}
	j.live = w.childNumber(c)
}

func (w *worker) create(s *state, write writeStep) (broken error) {
	c := w.children.Of(uint32(write.child))
	creation := cronjob.Creation{Name: c.Name, ScheduledTime: c.ScheduledTime}
	switch write.creation {
	case ofTrigger:
		creation.Trigger = triggerOf(int(write.job)).ID
	case ofBackfill:
		creation.Backfill = "b"
	}
	st := w.check(s)
	if broken = first(st.Create(&creation)); s.started&(1<<write.job) != 0 {
		broken = cronjobcheck.Violation{Rule: "CI1", Problem: c.Name + " was started twice"}
	}
	s.started |= 1 << write.job
	c.CreationTimestamp, c.StartTime = clock(s.now), clock(s.now)
	s.jobs[write.job].live = w.childNumber(c)
	return broken
}

func (w *worker) wasStarted(s *state, at time.Time) bool {
	for place := range w.scope.Times {
		if w.run(place).Equal(at) {
			return s.started&(1<<place) != 0
		}
	}
	return false
}

func (w *worker) jobMoves(s *state, i int) {
	if s.jobs[i].live == 0 {
		return
	}
	c := w.children.Of(uint32(s.jobs[i].live))
	if c.Foreign {
		return
	}

	move := func(k kind, change func(*state)) {
		next := *s
		change(&next)
		next.control.dirty = next.control.dirty || !w.scope.Late
		w.emit(&next, k, i, nil)
	}

	if c.Finished == "" {
		move(kindComplete, func(s *state) { s.jobs[i].live = w.finished(s.jobs[i].live, job.ConditionComplete, s.now) })
		if w.scope.Failures {
			move(kindFailJob,
				func(s *state) { s.jobs[i].live = w.finished(s.jobs[i].live, job.ConditionFailed, s.now) })
		}
	}

	if !c.DeletionTimestamp.IsZero() {
		move(kindPodsGone, func(s *state) { s.jobs[i].live = 0 })
	} else if known := !w.scope.Late || s.jobs[i].seen != 0; known && s.left.Deletes > 0 && w.isRecorded(s, i) {
		move(kindDeleteJob, func(s *state) {
			s.left.Deletes--
			w.remove(s, i, w.scope.Grace && c.Finished == "")
		})
	}
}

// isRecorded reports whether the status has recorded the run, so that deleting its job loses
// nothing.
func (w *worker) isRecorded(s *state, place int) bool {
	status := w.statuses.Of(uint32(s.status))
	awaited := s.backfill > 0 || s.triggers != 0
	return w.isRun(place) && !awaited && !w.run(place).After(status.LastScheduleTime)
}

// userMoves makes the moves of users and of other owners.
func (w *worker) userMoves(s *state) {
	if s.left.Edits > 0 {
		for n, to := range w.edits[s.spec] {
			if to == int(s.spec) || to < 0 {
				continue
			}

			next := *s
			next.left.Edits--
			next.spec, next.delayed, next.control.current = uint8(to), 0, false
			next.control.dirty = next.control.dirty || !w.scope.Late
			w.emit(&next, kindEdit, n, nil)
		}
	}

	if s.left.Triggers > 0 {
		next := *s
		next.left.Triggers--
		next.triggers |= 1 << (len(w.scope.Times) + int(s.asked))
		next.asked++
		next.control.dirty = true
		w.emit(&next, kindTrigger, 0, nil)
	}

	if s.left.Backfills > 0 && s.backfill == 0 {
		next := *s
		next.left.Backfills--
		next.backfill = seconds(w.scope.Backfill.After) + 1
		next.control.dirty = true
		w.emit(&next, kindBackfill, 0, nil)
	}

	for place := range w.scope.Times {
		hasJob := s.jobs[place] != child{} || s.started&(1<<place) != 0
		if s.left.Taken == 0 || hasJob || !w.run(place).After(clock(s.now)) {
			continue
		}

		next := *s
		next.left.Taken--
		next.jobs[place].live = w.childNumber(
			cronjob.Child{Name: w.names[place], UID: "foreign", Foreign: true, CreationTimestamp: clock(s.now)})
		next.control.dirty = next.control.dirty || !w.scope.Late
		w.emit(&next, kindTake, place, nil)
		return // the next run only
	}
}

// deliveries makes the moves that bring one object in the controller's view up to date.
func (w *worker) deliveries(s *state) {
	if !w.scope.Late {
		return
	}
	for i, j := range s.jobs {
		if j.seen != j.live {
			next := *s
			next.jobs[i].seen = j.live
			next.control.dirty = true
			w.emit(&next, kindDeliverJob, i, nil)
		}
	}
	if s.control.status != s.status || s.control.spec != s.spec {
		next := *s
		next.control.status, next.control.spec, next.control.dirty = s.status, s.spec, true
		w.emit(&next, kindDeliverCronJob, 0, nil)
	}
}

// deliverAll brings the whole view up to date, and reports whether anything was new.
func (w *worker) deliverAll(s *state) (news bool) {
	before := *s
	for i := range s.jobs {
		s.jobs[i].seen = s.jobs[i].live
	}
	s.control.status, s.control.spec = s.status, s.spec
	if *s == before {
		return false
	}
	s.control.dirty = true
	return true
}

// ticks makes the moves of the clock, which wait until everything is delivered.
func (w *worker) ticks(s *state) {
	if w.scope.Late {
		if seen := *s; w.deliverAll(&seen) {
			return
		}
	}

	move := func(k kind, now uint32, left *uint8) {
		if *left == 0 {
			return
		}
		*left--
		next := *s
		*left++
		next.now = now
		next.control.moved = next.control.moved || k == kindBack
		w.emit(&next, k, 0, nil)
	}

	if again := s.control.again; again > s.now+1 && again < s.now+3600*24 {
		move(kindTick, again-1, &s.left.Ticks)
	}
	move(kindTick, s.now+1800, &s.left.Ticks)
	move(kindJump, s.now+uint32(w.scope.Jump/time.Second), &s.left.Jumps)
	if s.now >= 3600 {
		move(kindBack, s.now-3600, &s.left.Backs)
	}
}
