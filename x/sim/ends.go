package sim

import (
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// podEvent plays an event of a pod, unless a later change has voided it.
func (e *engine) podEvent(ev *event) {
	p := &e.pods.all[ev.id]
	if p.timer != ev.gen || p.of == nil {
		return
	}
	switch ev.kind() {
	case evQueue:
		p.state = podPending
		e.scheduler.add(ev.id, p)
	case evStart:
		e.startPod(ev.id, p)
	case evReady:
		e.setReady(ev.id, p, true)
	case evEnd:
		e.containerEnds(ev.id, p)
	}
}

// The delays with which a node restarts a container that ends again and again.
const (
	crashDelay    = 10 * time.Second
	crashDelayMax = 5 * time.Minute
)

// containerEnds restarts the container, or ends the pod.
func (e *engine) containerEnds(id int32, p *pod) {
	if p.run.Disrupted && p.Deletion == nil {
		e.result.Evictions++
	}
	isStopped := p.state == podBound || p.Deletion != nil || p.run.Disrupted
	restarts := p.of.spec().Template.RestartPolicy == job.RestartOnFailure && p.run.ExitCode != 0
	if isStopped || !restarts {
		e.endPod(id, p)
		return
	}

	p.restarts++
	p.timer++
	p.Ready = false
	d := e.changeDetail(p)
	d.containers[0] = jobpod.Container{Name: p.of.container, State: jobpod.Waiting, Restarts: p.restarts}
	d.Containers = d.containers[:]

	e.record.podRestarted(p)
	e.changed(id, p)

	p.state = podBound
	delay := min(crashDelay<<min(p.restarts-1, 8), crashDelayMax)
	e.at(e.now+int64(delay), evStart, id, p.timer)
}

// endPod ends the pod, in the phase that follows from its exit code.
func (e *engine) endPod(id int32, p *pod) {
	p.timer++
	p.state, p.Ready = podEnded, false
	p.Phase = job.PodSucceeded
	if p.run.ExitCode != 0 {
		p.Phase = job.PodFailed
	}

	finished := e.stampOf(p.node)
	d := e.changeDetail(p)
	d.ReadyTransition = finished
	d.containers[0] = jobpod.Container{
		Name:       p.of.container,
		State:      jobpod.Terminated,
		Restarts:   p.restarts,
		ExitCode:   p.run.ExitCode,
		FinishedAt: finished,
	}
	d.Containers = d.containers[:]
	if p.run.Disrupted {
		d.Conditions = disrupted
	}

	e.nodes.release(p.node, id, p, e.now)
	if n := p.node; n >= 0 && e.nodes.all[n].group != nil && e.nodes.all[n].count == 0 {
		e.scaler.emptied(n)
	}
	e.scheduler.hasLeft(p)
	e.record.podEnded(e.now, p)
	e.podHasEnded(id, p)
	e.changed(id, p)
	if p.Deletion != nil {
		e.collectPod(id, p)
	}

	e.scheduler.run()
	e.scaler.wake()
}

// disrupted are the conditions of a pod that was evicted.
var disrupted = []job.PodCondition{{Type: "DisruptionTarget", Status: job.ConditionTrue}}
