package sim

import "time"

// The delays after which the pods of a lost node become unready, and are deleted.
const (
	unreachableAfter = 40 * time.Second
	evictedAfter     = unreachableAfter + 300*time.Second
)

// disrupt begins a disruption of a node.
func (e *engine) disrupt(index int32) {
	d := &e.world.Disruptions[index]
	n := &e.nodes.all[d.Node]
	n.closed++
	e.nodes.update(d.Node)
	if d.Back > 0 {
		e.at(int64(d.Back), evBack, index, 0)
	}
	e.scaler.wake() // pods may have waited for this node to start

	if d.Kind == NodeDrained {
		for _, id := range sortedIDs(n.pods) {
			e.evict(id)
		}
		return
	}

	n.lost = true
	for _, id := range sortedIDs(n.pods) {
		p := &e.pods.all[id]
		p.lost = true
		p.timer++ // nobody sees what happens to the pod from now on
	}

	e.at(e.now+int64(unreachableAfter), evUnreachable, index, 0)
	e.at(e.now+int64(evictedAfter), evEvict, index, 0)
	if d.Removed > 0 {
		e.at(int64(d.Removed), evRemoved, index, 0)
	}
}

// evict deletes a pod with the condition DisruptionTarget.
func (e *engine) evict(id int32) {
	p := &e.pods.all[id]
	if p.Deletion != nil || p.state == podEnded {
		return
	}
	e.addCondition(p)
	e.deletePod(id, p)
	e.result.Evictions++
}

func (e *engine) addCondition(p *pod) {
	e.changeDetail(p).Conditions = disrupted
}

func (e *engine) unreachable(d *Disruption) {
	for _, id := range e.lostOn(d.Node) {
		if p := &e.pods.all[id]; p.Ready {
			e.setReady(id, p, false)
		}
	}
}

// lostOn returns the pods of a node if it is still lost.
func (e *engine) lostOn(node int) []int32 {
	if n := &e.nodes.all[node]; n.lost {
		return sortedIDs(n.pods)
	}
	return nil
}

func (e *engine) evictLost(d *Disruption) {
	for _, id := range e.lostOn(d.Node) {
		e.evict(id)
	}
}

// removeNode ends the pods of a lost node whose object is deleted.
func (e *engine) removeNode(d *Disruption) {
	for _, id := range e.lostOn(d.Node) {
		p := &e.pods.all[id]
		if p.Deletion == nil {
			e.result.Evictions++
		}
		e.addCondition(p)
		p.run.ExitCode, p.run.Disrupted = exitKilled, true
		e.endPod(id, p)
		e.deletePod(id, p)
	}
}

// nodeBack makes a node accept pods again. Pods that are still on the node continue.
func (e *engine) nodeBack(d *Disruption, byChance bool) {
	n := &e.nodes.all[d.Node]
	n.closed--
	if byChance {
		e.isBack(int32(d.Node))
	}

	if d.Kind == NodeLost && n.lost {
		n.lost = false
		for _, id := range sortedIDs(n.pods) {
			e.heardOf(id, &e.pods.all[id])
		}
	}

	e.nodes.update(d.Node)
	e.scheduler.run()
	e.scaler.wake()
}

// heardOf continues a pod whose node is back.
func (e *engine) heardOf(id int32, p *pod) {
	p.lost = false
	p.timer++
	switch {
	case p.Deletion != nil:
		e.stopPod(id, p, p.of.grace())
	case p.state == podBound:
		e.at(e.now, evStart, id, p.timer)
	case p.began < 0:
		e.setReady(id, p, true)
		e.meet(id, p)
	default:
		e.setReady(id, p, true)
		e.at(p.began+int64(p.run.For), evEnd, id, p.timer)
		if p.of.of.Pod.Quorum > 0 {
			e.beginAll(id, p.of)
		}
	}
}

// drawFate plans the next disruption of a node.
func (e *engine) drawFate(node int32) {
	n := &e.nodes.all[node]
	rate := n.spec.Losses + n.spec.Preemptions
	if rate <= 0 {
		return
	}

	f := &n.fate
	f.drawn++
	r := e.chance.of(forNodes, node, purpose(f.drawn))
	at := e.now + int64(eachHour(rate, r))
	f.kind = NodeDrained
	if r.Float64()*rate < n.spec.Losses {
		f.kind = NodeLost
	}

	if f.away = n.spec.Away.Draw(r); at <= e.until {
		e.idle++
		e.at(at, evFate, node, 0)
	}
}

// meetFate disrupts a node by chance. After all jobs have ended nothing more happens to nodes.
func (e *engine) meetFate(node int32) {
	if e.idle--; !e.hasWork() {
		return
	}

	f := &e.nodes.all[node].fate
	f.since = e.now
	d := Disruption{Kind: f.kind, Node: int(node), At: time.Duration(e.now)}
	if f.away > 0 {
		if d.Back = d.At + f.away; int64(d.Back) <= e.until {
			e.idle++
		}
	}

	e.world.Disruptions = append(e.world.Disruptions, d)
	e.result.NodesLost++
	e.disrupt(int32(len(e.world.Disruptions) - 1))
}

// isBack ends a random disruption of a node.
func (e *engine) isBack(node int32) {
	f := &e.nodes.all[node].fate

	e.idle--
	until := e.now
	if !e.hasWork() {
		until = max(int64(e.result.LastEnd), f.since) // the figures end there
	}
	f.gone += until - f.since
	f.since = -1
	e.drawFate(node)
}

// hasWork reports whether a job is open or may come.
func (e *engine) hasWork() bool {
	r := e.result
	return e.arrivals != nil || len(e.crons) > 0 || r.JobsSubmitted > r.JobsComplete+r.JobsFailed
}
