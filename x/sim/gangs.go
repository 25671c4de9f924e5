package sim

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// gang holds the pods of a job that belong to a pod group with the policy gang. A pod gets a node
// only if at least min of the pods have nodes afterwards. While more than one is missing, pods get
// nodes only together.
type gang struct {
	js *jobState
	// min is the minCount of the group. placed is the number of pods on nodes, including those that are
	// being deleted; waiting are the pods that wait for a node, in the order in which they came.
	min, placed int
	waiting     []int32
	// single is true if each waiting pod has a ticket of its own. Otherwise a complete gang has one
	// ticket, and a change of turn makes that ticket void. together is the number of pods that must
	// get their nodes at the same moment, or 0.
	single   bool
	together int
	turn     uint32
}

// gangOf returns the gang of a pod, or nil.
func gangOf(p *pod) *gang {
	if p.grouped {
		return p.of.gang
	}
	return nil
}

// missing returns how many more pods must get nodes.
func (g *gang) missing() int { return max(g.min-g.placed, 0) }

// isComplete reports whether enough pods wait for nodes.
func (g *gang) isComplete() bool { return len(g.waiting) >= g.missing() }

// leave removes a pod that does not wait any more. It reports whether the pod was waiting.
func (g *gang) leave(id int32) bool {
	switch at := slices.Index(g.waiting, id); at {
	case -1:
		return false
	case 0: // nearly always
		g.waiting = g.waiting[1:]
	default:
		g.waiting = slices.Delete(g.waiting, at, at+1)
	}
	return true
}

// regroup replaces the tickets of a gang whose pods have changed. If the gang lacks at most one
// pod, each of its pods gets a node on its own.
func (s *scheduler) regroup(g *gang) {
	if s.own != nil {
		return
	}

	single, together := g.missing() <= 1, 0
	if !single && g.isComplete() {
		together = g.missing()
	}

	if together != g.together {
		g.together = together
		g.turn++
		if together > 0 {
			s.push(fit{g.js.need(), together}, ticket{gang: g, timer: g.turn})
		}
	}

	if single != g.single {
		g.single = single
		for _, id := range g.waiting {
			p := &s.e.pods.all[id]
			p.timer++ // voids the ticket; a waiting pod has no event
			if single {
				s.push(fit{need: needOf(p)}, ticket{id: id, timer: p.timer})
			}
		}
	}
}

// bindOne binds a pod that had a ticket of its own.
func (s *scheduler) bindOne(id, node int32) {
	if g := gangOf(&s.e.pods.all[id]); g != nil {
		g.placed++
		g.leave(id)
		s.regroup(g)
	}
	s.e.bindPod(id, node)
}

// bindGang binds the first pods of a gang together.
func (s *scheduler) bindGang(g *gang, places []int32) {
	pods := slices.Clone(g.waiting[:len(places)])
	g.placed += len(places)
	g.waiting = g.waiting[len(places):]
	s.regroup(g)
	for i, id := range pods {
		s.e.bindPod(id, places[i])
	}
}

// hasLeft counts a pod that has left its node.
func (s *scheduler) hasLeft(p *pod) {
	if g := gangOf(p); g != nil {
		g.placed--
		s.regroup(g)
	}
}

// reservation is a place on a node that is kept free for a pod of a gang.
type reservation struct {
	id, node     int32
	since, order int64
}

// settle binds the pods that World.Scheduler has placed, if their gangs are complete with these
// pods. The other pods wait again.
func (s *scheduler) settle() {
	reserved := s.reserved
	s.reserved = nil

	together := map[*gang]int{}
	for _, r := range reserved {
		p := &s.e.pods.all[r.id]
		s.e.nodes.free(r.node, needOf(p))
		together[gangOf(p)]++
	}

	for _, r := range reserved {
		p := &s.e.pods.all[r.id]
		g := gangOf(p)
		if together[g] < g.missing() {
			s.since[r.id], s.order[r.id] = r.since, r.order
			continue
		}
		together[g]-- // each bound pod also makes missing one less
		s.bindOne(r.id, r.node)
	}
}

// WriteGroup implements jobapply.Grouper.
func (b *jobBackend) WriteGroup(_ context.Context, w jobgroup.Write) (uid job.UID, err error) {
	b.grouped = 0
	err = b.call('g', func() (err error) {
		if b.isGone() {
			return errConflict
		}
		uid, err = b.engine.writeGroup(b.js, w)
		return err
	})
	b.grouped = 0
	return uid, err
}

// writeGroup writes a workload or a pod group of a job. The job has at most one of each.
func (e *engine) writeGroup(js *jobState, w jobgroup.Write) (job.UID, error) {
	e.born++
	groups, uid, err := world.ChangeGroups(js.groups, w, job.UID("g"+strconv.FormatUint(e.born, 36)))
	if err != nil {
		return "", err
	}
	js.groups = groups
	if w.Kind == jobgroup.KindPodGroup && w.MinCount > 0 {
		e.at(e.now, evGang, js.id, js.life)
	}

	if e.view.immediate {
		js.snap.Groups = groups
	} else {
		e.lagged(delivery{js: js, groups: &groups})
	}
	return uid, nil
}

// resizeGang lets the scheduler see the new size of a gang.
func (e *engine) resizeGang(ev *event) {
	js := e.jobs[ev.id] // still there: only jobs that have ended or belong to a CronJob are removed
	if js.gang == nil {
		js.gang = &gang{js: js}
	}
	js.gang.min = int(js.groups.PodGroups[0].MinCount)
	e.scheduler.regroup(js.gang)
	e.scheduler.run()
}

// why explains what the gang waits for, or returns an empty text if it does not wait.
func (g *gang) why(e *engine) string {
	if g == nil || len(g.waiting) == 0 {
		return ""
	}
	missing := g.missing()
	switch {
	case !g.isComplete():
		return fmt.Sprintf("has a gang of %d and only %s: without %d more, none gets a node",
			g.min, value.Count(g.placed+len(g.waiting), "pod"), missing-len(g.waiting))
	case missing > 1:
		return fmt.Sprintf("has a gang that does not fit: %d pods must get a node together, and there is room for %d",
			missing, e.nodes.total(g.js.need()))
	}
	return ""
}
