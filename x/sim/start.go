package sim

import (
	"time"

	"github.com/batchplan/batchplan/job"
)

// bindPod puts a pod on a node.
func (e *engine) bindPod(id int32, node int32) {
	p := &e.pods.all[id]
	p.node, p.state, p.Assigned = node, podBound, true
	e.nodes.take(node, id, p, e.now)
	e.record.podBound(e.now, p)
	e.changed(id, p)

	behave := &p.of.of.Pod
	if behave.Pull.IsZero() && behave.Init.IsZero() {
		e.startPod(id, p)
		return
	}
	r := e.chance.of(p.of.key, p.number, forStart)
	e.at(e.now+int64(behave.Pull.Draw(r)+behave.Init.Draw(r)), evStart, id, p.timer)
}

// startPod starts the containers.
func (e *engine) startPod(id int32, p *pod) {
	p.state, p.Phase = podRunning, job.PodRunning
	p.running = e.now
	e.record.podStarted(e.now, p)
	e.startContainer(id, p)
}

// startContainer draws how the container ends, and when.
func (e *engine) startContainer(id int32, p *pod) {
	behave := &p.of.of.Pod
	r := e.chance.of(p.of.key, p.number, forRun+purpose(p.restarts))
	p.run = behave.run(Start{
		Job:     p.of.of.Name,
		Number:  p.number,
		Index:   p.Index.Int32(),
		Restart: p.restarts,
		At:      time.Duration(e.now),
		Node:    p.node,
	}, r)
	p.run.For = min(max(p.run.For, 0), century)

	ready := behave.Ready.Draw(r)
	if ready == 0 {
		p.Ready = true
	} else if ready < p.run.For {
		e.at(e.now+int64(ready), evReady, id, p.timer)
	}
	e.changed(id, p)
	e.at(e.now+int64(p.run.For), evEnd, id, p.timer)
}

func (e *engine) setReady(id int32, p *pod, ready bool) {
	p.Ready = ready
	e.changed(id, p)
}
