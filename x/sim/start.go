package sim

import (
	"math/rand/v2"
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
	r := e.drawRun(p)

	ready := behave.Ready.Draw(r)
	if ready == 0 {
		p.Ready = true
	} else if ready < p.run.For {
		e.at(e.now+int64(ready), evReady, id, p.timer)
	}
	e.changed(id, p)
	if behave.Quorum > 0 {
		e.meet(id, p)
		return
	}
	e.beginWork(id, p)
}

// drawRun draws the end of a container whose work begins now. It returns the generator for further
// draws.
func (e *engine) drawRun(p *pod) *rand.Rand {
	r := e.chance.of(p.of.key, p.number, forRun+purpose(p.restarts))
	p.run = p.of.of.Pod.run(Start{
		Job:     p.of.of.Name,
		Number:  p.number,
		Index:   p.Index.Int32(),
		Restart: p.restarts,
		At:      time.Duration(e.now),
		Node:    p.node,
	}, r)
	p.run.For = min(max(p.run.For, 0), century)
	return r
}

// beginWork begins the work of a pod. What depends on the time, such as a window in which pods fail,
// is drawn again if the pod has waited for a Quorum.
func (e *engine) beginWork(id int32, p *pod) {
	if e.now > p.running {
		e.drawRun(p)
	}
	p.began = e.now
	e.record.workBegan(e.now, p)
	e.at(e.now+int64(p.run.For), evEnd, id, p.timer)
}

// meet lets a pod of a job with a Quorum begin its work if another pod is at work. If enough pods
// run, it lets all of them begin. To save time, it looks at the running pods only if js.meeting has
// reached the Quorum.
func (e *engine) meet(id int32, p *pod) {
	js := p.of
	if other := &e.pods.all[js.worker]; other.of == js && isMeeting(other) && other.began >= 0 {
		e.beginWork(id, p)
		return
	}
	if js.meeting++; js.meeting < js.of.Pod.Quorum {
		return
	}

	begun := false
	js.meeting = 0
	e.eachMeeting(js, func(_ int32, p *pod) {
		js.meeting++
		begun = begun || p.began >= 0
	})
	if js.meeting >= js.of.Pod.Quorum || begun {
		e.beginAll(id, js)
	}
}

// beginAll lets the waiting pods of a job begin their work. Pod id works already or begins as well.
func (e *engine) beginAll(id int32, js *jobState) {
	js.worker, js.meeting = id, js.of.Pod.Quorum
	e.eachMeeting(js, func(id int32, p *pod) {
		if p.began < 0 {
			e.beginWork(id, p)
		}
	})
}

// isMeeting reports whether a pod runs, answers and is not being deleted.
func isMeeting(p *pod) bool { return p.state == podRunning && p.Deletion == nil && !p.lost }

// idlePods counts the pods of a job that run and wait for its Quorum.
func (e *engine) idlePods(js *jobState) (pods int) {
	e.eachMeeting(js, func(_ int32, p *pod) {
		if p.began < 0 {
			pods++
		}
	})
	return pods
}

// eachMeeting calls a function for each pod of a job for which isMeeting is true.
func (e *engine) eachMeeting(js *jobState, call func(int32, *pod)) {
	e.eachPod(js, func(id int32, p *pod) {
		if isMeeting(p) {
			call(id, p)
		}
	})
}

func (e *engine) setReady(id int32, p *pod, ready bool) {
	p.Ready = ready
	e.changed(id, p)
}
