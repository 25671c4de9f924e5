package jobmodel

import (
	"slices"

	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// beginRounds lets a controller look and plan. Pods get their UIDs by their order in the view. If
// different pods look the same to the controller, a round begins with each order of them. The
// argument delivered has a bit for each delivery right before the round.
func (w *worker) beginRounds(s *state, c, delivered int) {
	v, order := w.look(s, c)
	if w.option&NoSymmetry != 0 {
		w.beginRound(s, c, v, order, delivered)
		return
	}
	w.orders(s, c, v, order, 0, delivered)
}

// orders begins one round for each order of the pods from the place from on. Two pods change places
// only if they differ and the controller cannot tell them apart.
func (w *worker) orders(s *state, c int, v view, order []int, from, delivered int) {
	if from >= len(order)-1 {
		w.beginRound(s, c, v, order, delivered)
		return
	}
	for i := from; i < len(order) && v.pods[i] == v.pods[from]; i++ {
		if met := order[from:i]; slices.ContainsFunc(met, func(j int) bool { return s.pods[j] == s.pods[order[i]] }) {
			continue // the same pod in all respects
		}
		swapped := slices.Clone(order)
		swapped[from], swapped[i] = swapped[i], swapped[from]
		w.orders(s, c, v, swapped, from+1, delivered)
	}
}

// look returns a controller's view, and the indexes of the pods in the order of the view.
func (w *worker) look(s *state, c int) (v view, order []int) {
	control, late := &s.control[c], w.rounds.scope.Late
	v = view{
		now:       s.now,
		status:    s.status,
		deletedAt: s.deletedAt,
		spec:      s.spec,
		groups:    s.groups,
		memory:    control.memory,
	}

	if late {
		v.status, v.deletedAt, v.spec, v.groups = control.status, control.deletedAt, control.spec, control.groups
		v.creations, v.deletions, v.expectedAt = control.creations, control.deletions, control.expectedAt
		if control.unacked > 0 && control.behind >= control.unacked {
			v.stale = control.behind - control.unacked + 1
		}
	}

	var seen [maxPods]seenPod
	for i := range s.pods[:s.known()] {
		p := &s.pods[i]
		seen[i] = seenPod{p.live, p.listed, p.noted[c]}
		if late {
			seen[i].pod, seen[i].listed = p.seen[c], p.seenIn[c]
		}
		if seen[i] != (seenPod{}) {
			order = append(order, i)
		}
	}

	if w.option&NoSymmetry == 0 {
		slices.SortStableFunc(order, func(a, b int) int { return compareSeen(seen[a], seen[b]) })
	}
	for n, i := range order {
		v.pods[n] = seen[i]
	}
	return v, order
}

func compareSeen(a, b seenPod) int {
	word := func(p seenPod) int { return int(p.pod)<<16 | int(p.listed)<<8 | int(p.noted) }
	return word(a) - word(b)
}

func (w *worker) beginRound(s *state, c int, v view, order []int, delivered int) {
	next := *s
	rules, err := w.begin(&next, c, v, order)
	rules.Count(w.tally)
	w.emit(&next, kindRound, detail(c, 0, delivered), err)
}

// begin begins a round with a view. It returns the rules of the plan and the invariant that
// the plan breaks.
func (w *worker) begin(s *state, c int, v view, order []int) (explore.RuleSet, error) {
	control, late := &s.control[c], w.rounds.scope.Late
	isExpecting := v.creations > 0 || v.deletions > 0
	isExpired := v.now < v.expectedAt || v.now-v.expectedAt >= 300
	if late && isExpecting && isExpired {
		s.past.lagged = true // see world.Job.Snapshot
	}
	for n, i := range order {
		p := &s.pods[i]
		p.place[c] = uint8(n + 1)
		p.facts &^= changedFor(c)
		if late && p.seen[c] != p.live {
			p.facts |= changedFor(c)
		}
	}
	control.current = !late || control.behind == 0
	control.dirty = false
	control.round = w.rounds.begin(v)
	begun := w.rounds.of(control.round).begun
	w.endRound(s, c)
	return begun.rules, begun.broken
}

// writes makes the next write of a round: it succeeds, fails, loses its reply, or the
// controller crashes before it.
func (w *worker) writes(s *state, c int) {
	write := w.rounds.of(s.control[c].round).write
	done := *s
	o, broken, ok := w.write(&done, c, write)

	if !ok {
		w.tally.Cut++
		return
	}

	lost := done
	w.learn(&done, c, write, o)
	w.emit(&done, kindWrite, detail(c, 0, int(o)), broken)

	if s.left.Fails > 0 {
		next := *s
		next.left.Fails--
		w.learn(&next, c, write, outcomeFailed)
		w.emit(&next, kindFail, detail(c, 0, 0), nil)
	}

	if s.left.Lost > 0 && o == outcomeDone {
		lost.left.Lost--
		lost.past.lostStatus = lost.past.lostStatus || write.verb == verbStatus
		if write.verb == verbCreate {
			lost.past.lostCreates++
		}
		w.learn(&lost, c, write, outcomeFailed)
		w.emit(&lost, kindLose, detail(c, 0, 0), broken)
	}

	if s.left.Delays > 0 && o == outcomeDone && write.verb == verbStatus {
		next := *s
		next.left.Delays--
		next.delayed = write.status
		for i, in := range next.lists(c, write) {
			next.pods[i].delayed = in
		}
		w.learn(&next, c, write, outcomeFailed)
		w.emit(&next, kindDelay, detail(c, 0, 0), nil)
	}

	if s.left.Crashes > 0 {
		next := *s
		next.left.Crashes--
		w.crash(&next, c)
		w.emit(&next, kindCrash, detail(c, 0, 0), nil)

		if s.left.OldLists > 0 && w.rounds.scope.Late {
			next := *s
			next.left.Crashes--
			next.left.OldLists--
			w.forget(&next, c)
			next.past.traveled = true
			w.emit(&next, kindOldList, detail(c, 0, 0), nil)
		}
	}
}

// learn tells a controller the result of its write.
func (w *worker) learn(s *state, c int, write writeStep, o outcome) {
	control := &s.control[c]
	isStored := o == outcomeDone && write.verb == verbStatus
	if isStored && w.rounds.scope.Late && w.rounds.scope.Versions {
		control.unacked = 1
	}
	control.round = w.rounds.next(control.round, o)
	w.endRound(s, c)
}

// endRound concludes a round that has no further write.
func (w *worker) endRound(s *state, c int) {
	control := &s.control[c]
	e := w.rounds.of(control.round).end
	if e == nil {
		return
	}
	control.memory, control.creations = e.memory, e.creations
	control.deletions, control.expectedAt = e.deletions, e.expectedAt

	if !w.rounds.scope.Late {
		control.creations, control.deletions, control.expectedAt = 0, 0, 0 // everything is seen
	}

	control.again, control.retry = e.again, e.retry
	control.round, control.current = 0, false

	for i := range s.pods {
		p := &s.pods[i]
		p.noted[c] = 0
		if p.place[c] > 0 {
			p.noted[c] = e.noted[p.place[c]-1]
		}
		p.place[c] = 0
		p.facts &^= changedFor(c)
	}
}

// crash restarts a controller: it forgets everything and lists the objects.
func (w *worker) crash(s *state, c int) {
	w.forget(s, c)
	if !w.rounds.scope.Late {
		return
	}
	s.see(c)
	s.seeGroups(c)
	for i := range s.pods {
		s.pods[i].seen[c] = s.pods[i].live
	}
}

// forget restarts a controller. It keeps the objects that it has seen, and loses its memory.
func (w *worker) forget(s *state, c int) {
	control := &s.control[c]
	*control = controller{
		status: control.status, deletedAt: control.deletedAt, spec: control.spec,
		groups: control.groups, behind: control.behind, retry: true, dirty: true,
	}
	for i := range s.pods {
		p := &s.pods[i]
		p.noted[c], p.place[c] = 0, 0
		p.facts &^= changedFor(c)
	}
	s.past.restarted = true
}

// write carries out a write on the objects of the world. It returns the outcome that the writer
// learns, and the invariant that the write breaks; ok is false if the write leads out of the scope.
func (w *worker) write(s *state, c int, write writeStep) (o outcome, broken error, ok bool) {
	switch write.verb {
	case verbCreate:
		broken, ok = w.create(s, c, write)
		return outcomeDone, broken, ok
	case verbStatus:
		o, broken = w.writeStatus(s, c, write)
		return o, broken, true
	case verbGroup:
		return s.writeGroup(write), nil, true
	}
	i := s.at(c, write.place)
	if i < 0 || s.pods[i].live == 0 {
		return outcomeGone, nil, true
	}
	p := &s.pods[i]
	changed := p.facts&changedFor(c) != 0
	switch write.verb {
	case verbAdopt:
		if w.rounds.pods.info(p.live).Owner == jobpod.Orphan {
			w.change(s, i, podStep{act: actAdopt})
		}
	case verbRelease:
		w.change(s, i, podStep{act: actRelease})
	case verbUntrack:
		broken = w.check.untrack(w, s, i)
		w.change(s, i, podStep{act: actUntrack})
	case verbUntrackFirst:
		if changed {
			return outcomeFailed, nil, true
		}
		broken = w.check.deleteUntracked(w, s, i)
		p.facts |= factRemoved
		w.change(s, i, podStep{act: actUntrack})
	case verbDelete:
		w.change(s, i, podStep{act: actDelete})
	}
	return outcomeDone, broken, true
}

func (w *worker) create(s *state, c int, write writeStep) (broken error, ok bool) {
	i := s.known()
	if i >= w.rounds.scope.Pods {
		return nil, false
	}
	broken = w.check.create(w, s, write)
	s.pods[i] = pod{live: w.rounds.pods.created(jobpod.Owned, write.index, write.failures, write.ignored, s.now)}
	s.pods[i].place[c] = write.place + 1
	if w.option&named != 0 {
		s.number(i)
	}
	return broken, true
}

func (w *worker) writeStatus(s *state, c int, write writeStep) (outcome, error) {
	if !s.control[c].current {
		return outcomeFailed, nil
	}
	return outcomeDone, w.first(w.setStatus(s, c, write.status, s.lists(c, write)))
}

// lists returns, for each pod, the uncounted list that names it in the status of a write.
func (s *state) lists(c int, write writeStep) (in [maxPods]listed) {
	for i := range s.pods {
		if place := s.pods[i].place[c]; place > 0 {
			in[i] = write.listed[place-1]
		}
	}
	return in
}

// setStatus changes the status for a writer. The argument by is the number of the controller that
// wrote it. It is -1 for a delayed write, since no controller knows that such a write has taken
// effect.
func (w *worker) setStatus(s *state, by int, id statusID, lists [maxPods]listed) []jobcheck.Violation {
	found := w.check.status(w, s, id, lists)
	s.status = id
	for i := range s.pods {
		p := &s.pods[i]
		was := p.listed
		p.listed = lists[i]
		if gone := was &^ p.listed; gone&listedSucceeded != 0 {
			p.facts |= factCountedSucceeded
		} else if gone&listedFailed != 0 {
			p.facts |= factCountedFailed
		}
	}
	w.newVersion(s, by)
	return found
}

// takeEffect carries out the status write that is on its way. A controller that compares no
// versions may have created a pod meanwhile, since it cannot know that the end of the job is on its
// way. Such a pod does not break JI16. jobcheck.History.LostStatus allows the same after an end
// whose reply was lost.
func (w *worker) takeEffect(s *state) (broken error) {
	var lists [maxPods]listed
	for i := range s.pods {
		lists[i] = s.pods[i].delayed
	}
	s.past.lostStatus = true
	found := w.setStatus(s, -1, s.delayed, lists)
	w.touch(s)
	if scope := &w.rounds.scope; scope.Late && !scope.Versions {
		found = slices.DeleteFunc(found, func(v jobcheck.Violation) bool { return v.Rule == "JI16" })
	}
	return w.first(found)
}
