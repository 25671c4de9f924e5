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
	p.running, p.began = e.now, -1
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
	if behave.Quorum > 0 {
		e.meet(p.of)
		return
	}
	e.beginWork(id, p)
}

// beginWork begins the work of a pod.
func (e *engine) beginWork(id int32, p *pod) {
	p.began = e.now
	e.at(e.now+int64(p.run.For), evEnd, id, p.timer)
}

// meet begins the work of all running pods of a job with a Quorum if there are enough of them, or if
// the work of one has begun.
func (e *engine) meet(js *jobState) {
	running, begun := int32(0), false
	e.eachMeeting(js, func(_ int32, p *pod) {
		running++
		begun = begun || p.began >= 0
	})
	if running < js.of.Pod.Quorum && !begun {
		return
	}
	e.eachMeeting(js, func(id int32, p *pod) {
		if p.began < 0 {
			e.beginWork(id, p)
		}
	})
}

// idlePods counts the pods of a job that run and wait for its Quorum.
func (e *engine) idlePods(js *jobState) (pods int) {
	e.eachMeeting(js, func(_ int32, p *pod) {
		if p.began < 0 {
			pods++
		}
	})
	return pods
}

// eachMeeting calls a function for each pod of a job that runs, answers and is not being deleted.
func (e *engine) eachMeeting(js *jobState, call func(int32, *pod)) {
	e.eachPod(js, func(id int32, p *pod) {
		if p.state == podRunning && p.Deletion == nil && !p.lost {
			call(id, p)
		}
	})
}

func (e *engine) setReady(id int32, p *pod, ready bool) {
	p.Ready = ready
	e.changed(id, p)
}
