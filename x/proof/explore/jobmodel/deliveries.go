package jobmodel

import (
	"github.com/batchplan/batchplan/expectations"
)

// groupsPlace is the place of the groups in a set of deliveries.
const groupsPlace = maxPods + 1

// beginAfterDeliveries begins a round after each set of deliveries.
func (w *worker) beginAfterDeliveries(s *state, c int) {
	w.beginRounds(s, c, 0)
	if !w.rounds.scope.Late {
		return
	}
	var objects []int // places of pods, maxPods for the job, and groupsPlace for its groups
	for i := range s.pods[:s.known()] {
		if s.pods[i].seen[c] != s.pods[i].live {
			objects = append(objects, i)
		}
	}
	if next := *s; next.see(c) {
		objects = append(objects, maxPods)
	}
	if next := *s; next.seeGroups(c) {
		objects = append(objects, groupsPlace)
	}
	for set := 1; set < 1<<len(objects); set++ {
		next, mask := *s, 0
		for n, i := range objects {
			switch {
			case set&(1<<n) == 0:
				continue
			case i == maxPods:
				next.see(c)
				w.tally.Taken[kindDeliverJob]++
			case i == groupsPlace:
				next.seeGroups(c)
				w.tally.Taken[kindDeliverGroups]++
			default:
				w.deliver(&next, c, i)
				w.tally.Taken[kindDeliverPod]++
			}
			mask |= 1 << i
		}
		w.beginRounds(&next, c, mask)
	}
}

// deliveries makes the moves that bring one object in a controller's view up to date.
func (w *worker) deliveries(s *state) {
	for c := range w.rounds.scope.Controllers {
		if s.control[c].round != 0 {
			continue
		}
		for i := range s.pods[:s.known()] {
			if s.pods[i].seen[c] != s.pods[i].live {
				next := *s
				w.deliver(&next, c, i)
				w.emit(&next, kindDeliverPod, detail(c, i, 0), nil)
			}
		}
		if next := *s; next.see(c) {
			w.emit(&next, kindDeliverJob, detail(c, 0, 0), nil)
		}
		if next := *s; next.seeGroups(c) {
			w.emit(&next, kindDeliverGroups, detail(c, 0, 0), nil)
		}
	}
}

// deliver shows a controller the latest state of a pod, and lowers its expectations.
func (w *worker) deliver(s *state, c, i int) {
	p := &s.pods[i]
	was, is := p.seen[c], p.live
	p.seen[c] = is
	s.control[c].dirty = true
	creations, deletions := 0, 0
	switch {
	case is == 0:
		info := w.rounds.pods.info(was)
		if !info.own {
			return
		}
		deletions = count(!info.deleting)
	case was == 0:
		info := w.rounds.pods.info(is)
		if !info.own {
			return
		}
		creations, deletions = 1, count(info.deleting)
	default:
		info := w.rounds.pods.info(is)
		if !info.own {
			return
		}
		deletions = count(info.deleting && !w.rounds.pods.info(was).deleting)
	}
	s.control[c].observe(creations, deletions)
}

// observe lowers the expectations.
func (c *controller) observe(creations, deletions int) {
	counts := expectations.Counts{
		Creations: int(c.creations),
		Deletions: int(c.deletions),
		At:        clock(c.expectedAt),
	}.Lower(creations, deletions)
	c.creations, c.deletions = uint8(counts.Creations), uint8(counts.Deletions)
	if counts == (expectations.Counts{}) {
		c.expectedAt = 0
	}
}
