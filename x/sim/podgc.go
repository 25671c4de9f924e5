package sim

import "time"

// The default limit of ended pods, and how often it is checked.
const (
	defaultPodGC = 12_500
	podGCPeriod  = 20 * time.Second
)

// podGC deletes the oldest pods that have ended, once there are too many.
type podGC struct {
	limit int
	// ended counts the pods that have ended and still exist. queue has these pods, the oldest
	// first. It may also have entries of pods that are gone, which count for nothing.
	ended   int
	queue   heap
	planned bool
}

func (g *podGC) init(limit int) {
	if g.limit = limit; limit == 0 {
		g.limit = defaultPodGC
	}
}

// podHasEnded counts an ended pod. If there are too many, the oldest are deleted at the next
// multiple of podGCPeriod.
func (e *engine) podHasEnded(id int32, p *pod) {
	g := &e.gc
	if g.limit < 0 {
		return
	}
	g.ended++
	if p.Deletion == nil {
		g.queue.push(event{at: p.created, order: uint64(p.life), id: id, gen: p.life})
	}
	e.planPodGC()
}

func (e *engine) planPodGC() {
	if g := &e.gc; g.ended > g.limit && !g.planned {
		g.planned = true
		next := (time.Duration(e.now)/podGCPeriod + 1) * podGCPeriod
		e.at(int64(next), evPodGC, 0, 0)
	}
}

// collectEnded deletes the oldest ended pods. A pod with a finalizer stays until its job has counted it.
func (e *engine) collectEnded() {
	g := &e.gc
	g.planned = false
	for excess := g.ended - g.limit; excess > 0 && len(g.queue.events) > 0; {
		old := g.queue.pop()
		p := &e.pods.all[old.id]
		if p.of == nil || p.life != old.gen || p.Deletion != nil {
			continue
		}
		excess--
		e.deletePod(old.id, p)
		e.result.PodsCollected++
	}

	if len(g.queue.events) > 0 {
		e.planPodGC()
	}
}
