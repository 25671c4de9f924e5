package jobmodel

import (
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// Expand makes every move from a state.
//
// A move meets a write of a round if their order can make a difference. Before each write of a
// round, Expand makes only the moves that can meet the write (partial order reduction). Any other
// move leads to the same state before the write and after it, so it is enough to make the move
// after the write. In detail:
//
//   - A write to a pod meets what happens to this pod. A status write meets changes of the job. The
//     creation of a pod meets nothing, and neither does a write to a group, which nobody else
//     writes. Pods and jobs that the write does not touch are the same before and after the write,
//     and so the same moves are possible with them.
//   - A delayed status meets everything.
//   - No delivery, no tick and no other round comes between the writes of a round, in any
//     search; a round takes no time. With two controllers there is no reduction.
//   - A crash meets everything, since the restarted controller lists all objects. But if something
//     happens after the crash and is then delivered, the state is the same as if it had happened
//     before the crash.
//   - The checks of a write look at other objects: at pods that are active or carry the finalizer,
//     at pods that have not succeeded, and at the greatest parallelism so far. What happens around
//     a controller makes none of these checks stricter: it activates no pod, adds no finalizer,
//     undoes no success, and the greatest parallelism only grows. So if a check fails after such a
//     move, it also fails before the move.
//   - A round has finitely many writes, so no move is postponed forever.
//
// A delivery meets only moves that read the view or change the delivered object: the beginning of a
// round, and a change of the same object. So it is postponed until right before one of these, and
// made together with it: a round begins after every set of deliveries, and an object changes either
// before or after its last state was delivered.
func (w *worker) Expand(s *state, tally *explore.Tally, step func(explore.Step[state])) {
	w.step, w.tally = step, tally
	if s.delayed != 0 {
		next := *s
		broken := w.takeEffect(&next)
		w.emit(&next, kindTakeEffect, 0, broken)
	}
	busy := false
	for c := range w.rounds.scope.Controllers {
		busy = busy || s.control[c].round != 0
	}
	for c := range w.rounds.scope.Controllers {
		switch {
		case s.control[c].round != 0:
			w.writes(s, c)
			if w.isReduced() {
				w.meeting(s, w.rounds.of(s.control[c].round).write)
				return
			}
		case w.isReduced():
			w.beginAfterDeliveries(s, c)
		default:
			w.beginRounds(s, c, 0)
		}
	}
	for i := range s.pods[:s.known()] {
		w.podMoves(s, i)
	}
	w.userMoves(s)
	if w.rounds.scope.Late && !w.isReduced() {
		w.deliveries(s)
	}
	if !busy {
		w.ticks(s)
	}
}

// isReduced reports whether the search leaves out moves that commute with others.
func (w *worker) isReduced() bool {
	return w.option&NoReduction == 0 && w.rounds.scope.Controllers == 1
}

// meeting makes the moves that meet a write. Expand describes when a move meets a write.
func (w *worker) meeting(s *state, write writeStep) {
	switch write.verb {
	case verbCreate, verbGroup:
	case verbStatus:
		w.jobMoves(s)
	default:
		if i := s.at(0, write.place); i >= 0 {
			w.podMoves(s, i)
		}
	}
}

// at returns the index in s.pods of a pod, by its place in the snapshot of a controller's round. It
// returns -1 if no pod has this place.
func (s *state) at(c int, place uint8) int {
	for i := range s.pods {
		if s.pods[i].place[c] == place+1 {
			return i
		}
	}
	return -1
}

// podMoves makes the moves of one pod: by its kubelet, and by others who delete
// it or remove its finalizer.
func (w *worker) podMoves(s *state, i int) {
	if s.pods[i].live == 0 {
		return
	}
	p := w.rounds.pods.info(s.pods[i].live)
	if !p.ended {
		w.kubeletMoves(s, i, p)
	}
	left := &s.left
	if left.PodDeletes > 0 && !p.deleting {
		w.movePod(s, i, kindDeletePod, podStep{act: actRemove}, &left.PodDeletes)
	}
	if left.Evictions > 0 && !p.deleting && !p.ended {
		w.movePod(s, i, kindEvict, podStep{act: actEvict}, &left.Evictions)
	}
	if left.Strips > 0 && !p.Untracked && !p.ended {
		w.movePod(s, i, kindStrip, podStep{act: actStrip}, &left.Strips)
	}
}

func (w *worker) kubeletMoves(s *state, i int, p *podInfo) {
	running := p.Phase == job.PodRunning
	if p.Phase == job.PodPending && !p.deleting && !w.rounds.scope.Straight {
		w.movePod(s, i, kindRun, podStep{act: actRun}, nil)
	}
	if running || w.rounds.scope.Straight && !p.deleting {
		for _, code := range w.rounds.scope.Exits {
			k := kindSucceed
			if code != 0 {
				k = kindFailPod
			}
			w.movePod(s, i, k, podStep{act: actFinish, code: code}, nil)
		}
	}
	if p.deleting {
		w.movePod(s, i, kindKubelet, podStep{act: actFinish, code: 137}, nil)
	}
	if running && s.left.Restarts > 0 {
		w.movePod(s, i, kindRestart, podStep{act: actRestart}, &s.left.Restarts)
	}
}

// movePod makes something happen to a pod. Unless budget is nil, it points to a field of s, and
// movePod takes 1 from it in the next state.
func (w *worker) movePod(s *state, i int, k kind, step podStep, budget *uint8) {
	next := *s
	if budget != nil {
		*budget--
		next.left = s.left
		*budget++
	}
	if w.delivers(s) && s.pods[i].seen[0] != s.pods[i].live {
		delivered := next
		w.deliver(&delivered, 0, i)
		w.change(&delivered, i, step)
		w.emit(&delivered, k, detail(0, i, int(step.code)|afterDelivery), nil)
	}
	w.change(&next, i, step)
	w.touch(&next)
	w.emit(&next, k, detail(0, i, int(step.code)), nil)
}

// afterDelivery is a bit in the detail of a move. It is set if the object that the move changes was
// delivered right before.
const afterDelivery = 1 << 15

// change lets something happen to the live pod, and notes it in the pod's history.
func (w *worker) change(s *state, i int, step podStep) {
	p := &s.pods[i]
	before := w.rounds.pods.info(p.live)
	step.pod, step.now = p.live, s.now
	p.live = w.rounds.pods.after(step)
	for c := range p.place {
		if p.place[c] > 0 {
			p.facts |= changedFor(c)
		}
	}
	if step.act != actFinish || before.ended {
		return
	}
	if step.code != 0 {
		p.facts |= factFailed
		return
	}
	p.facts |= factSucceeded
	if index := before.Index.Int32(); index >= 0 && index < 8 {
		s.past.succeeded |= 1 << index
	}
}

// touch gives the controllers a reason to act if they see changes immediately. If the scope is
// Late, the delivery of the change gives them one.
func (w *worker) touch(s *state) {
	for c := range w.rounds.scope.Controllers {
		s.control[c].dirty = s.control[c].dirty || !w.rounds.scope.Late
	}
}

// userMoves makes the moves of users that concern no existing pod.
func (w *worker) userMoves(s *state) {
	w.jobMoves(s)
	if s.left.Orphans == 0 {
		return
	}

	next := *s
	next.left.Orphans--
	i := next.known()
	if i >= w.rounds.scope.Pods {
		w.tally.Cut++
		return
	}

	index := job.NoIndex()
	if w.rounds.scope.Spec.CompletionMode == job.Indexed {
		index = job.IndexAt(0)
	}
	next.pods[i] = pod{live: w.rounds.pods.created(jobpod.Orphan, index, 0, 0, s.now)}
	if w.option&named != 0 {
		next.number(i)
	}

	w.touch(&next)
	w.emit(&next, kindOrphan, 0, nil)
}

// jobMoves makes the moves that change the job itself.
func (w *worker) jobMoves(s *state) {
	if s.left.Edits > 0 {
		for n, e := range w.rounds.scope.Edits {
			next := *s
			if next.spec = w.rounds.specs.edit(s.spec, e); next.spec == s.spec {
				continue
			}
			next.left.Edits--
			next.past.edited = true
			spec := w.rounds.specs.of(next.spec)
			next.past.maxParallelism = max(s.past.maxParallelism, uint8(*spec.Parallelism))
			w.moveJob(s, &next, kindEdit, n)
		}
	}
	if s.left.Deletes > 0 && s.deletedAt == 0 {
		next := *s
		next.left.Deletes--
		next.deletedAt = s.now + 1
		w.moveJob(s, &next, kindDeleteJob, 0)
	}
}

// delivers reports whether the search also delivers the old state of a changed object to the first
// controller right before the change.
func (w *worker) delivers(s *state) bool {
	return w.isReduced() && w.rounds.scope.Late && s.control[0].round == 0
}

// moveJob emits a change of the job.
func (w *worker) moveJob(s, next *state, k kind, number int) {
	if delivered := *s; w.delivers(s) && delivered.see(0) {
		after := *next
		after.control = delivered.control
		for i := range after.pods {
			after.pods[i].seenIn = delivered.pods[i].seenIn
		}
		w.newVersion(&after, -1)
		w.emit(&after, k, detail(0, 0, number|afterDelivery), nil)
	}
	w.newVersion(next, -1)
	w.touch(next)
	w.emit(next, k, detail(0, 0, number), nil)
}

// newVersion notes a write to the job. The argument by is the controller that wrote, or -1 for
// another writer or a delayed write. If versions are not compared, it is enough to know whether a
// view is behind.
func (w *worker) newVersion(s *state, by int) {
	if s.delayed != 0 { // its write was conditional on the version
		s.delayed = 0
		for i := range s.pods {
			s.pods[i].delayed = 0
		}
	}
	most := uint8(0)
	switch scope := &w.rounds.scope; {
	case scope.Late && scope.Versions:
		most = 100
	case scope.Late:
		most = 1
	}
	for c := range w.rounds.scope.Controllers {
		control := &s.control[c]
		control.behind = min(control.behind+1, most)
		if control.unacked > 0 {
			control.unacked = min(control.unacked+1, most)
		}
		if c != by {
			control.current = false
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// see shows a controller the job, and reports whether anything was new.
func (s *state) see(c int) bool {
	before := *s
	s.control[c].see(s)
	for i := range s.pods {
		s.pods[i].seenIn[c] = s.pods[i].listed
	}
	if *s == before {
		return false
	}
	s.control[c].dirty = true
	return true
}

func (c *controller) see(s *state) {
	c.status, c.deletedAt, c.spec, c.behind = s.status, s.deletedAt, s.spec, 0
}

// ticks moves the clock: to the time of a requeue, by a step of the scope, or back.
func (w *worker) ticks(s *state) {
	if s.left.Ticks > 0 {
		var met [maxControllers]uint32
		for c := range s.control {
			at := s.control[c].again
			if at <= s.now+1 || c > 0 && at == met[0] {
				continue
			}
			met[c] = at
			w.tickTo(s, at-1)
		}
		for _, d := range w.rounds.scope.Steps {
			w.tickTo(s, s.now+uint32(d/time.Second))
		}
	}
	if s.left.Backs > 0 && s.now >= 60 {
		next := *s
		next.left.Backs--
		next.now -= 60
		w.emit(&next, kindBack, 60, nil)
	}
}

func (w *worker) tickTo(s *state, now uint32) {
	if now-s.now > 24*3600 {
		return // no scope waits for that
	}
	next := *s
	next.left.Ticks--
	next.now = now
	w.emit(&next, kindTick, now-s.now, nil)
}
