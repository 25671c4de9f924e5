package sim

import (
	"time"

	"github.com/batchplan/batchplan/job"
)

// deleteJob deletes a job. In the foreground it stays until its pods are gone.
func (e *engine) deleteJob(js *jobState, foreground bool) {
	if js.gone || js.deleting {
		return
	}
	if foreground {
		js.deleting = true
		js.truth.DeletionTimestamp = e.stamp()
		js.truth.Version++
		e.jobChanged(js, wakeLater)
		e.eachPod(js, func(id int32, p *pod) { e.deletePod(id, p) })
		e.jobEmptied(js)
		return
	}

	e.jobGone(js)
	e.eachPod(js, func(id int32, p *pod) { e.deletePod(id, p) })
	e.jobEmptied(js)
}

// jobGone is called when the object of a job is removed. Its pods need no finalizer any more.
func (e *engine) jobGone(js *jobState) {
	js.gone, js.wake = true, 0
	if !js.finished {
		e.admission.finish(js)
	}
	e.record.jobGone(e.now, js)
	if js.cron != nil {
		delete(e.children, js.truth.Name)
		e.childGone(js)
	}
	e.eachPod(js, func(id int32, p *pod) { e.untrackPod(id, p) })
}

// childGone is called when the object of a child is removed.
func (e *engine) childGone(js *jobState) {
	if !e.view.immediate {
		js.underway++
		e.lagged(delivery{cron: func() {
			e.hideChild(js.cron, js)
			js.underway--
			e.jobEmptied(js)
		}})
		return
	}
	e.hideChild(js.cron, js)
}

// jobEmptied is called when a pod of the job is gone. After the last one, a deleted job is removed,
// and its place can be used again.
func (e *engine) jobEmptied(js *jobState) {
	if js.existing > 0 {
		return
	}
	if js.deleting && !js.gone {
		e.jobGone(js)
	}
	isUnused := !js.busy && js.underway == 0
	if js.gone && js.of != nil && isUnused {
		js.of = nil
		e.view.leave(js)
		e.freeJobs = append(e.freeJobs, js.id)
	}
}

// eachPod calls a function for each pod of a job. The call may remove the pod.
func (e *engine) eachPod(js *jobState, call func(int32, *pod)) {
	for id := js.pods; id >= 0; {
		next := e.pods.all[id].next
		call(id, &e.pods.all[id])
		id = next
	}
}

// deletePod deletes a pod as an API server does: with a grace period if it is on a node.
func (e *engine) deletePod(id int32, p *pod) {
	if p.of == nil || p.Deletion != nil {
		return
	}

	grace := time.Duration(0)
	if p.state == podBound || p.state == podRunning {
		grace = p.of.grace()
	}
	p.detail.deletion = job.PodDeletion{
		Timestamp:          e.stamp().Add(grace),
		GracePeriodSeconds: int64(grace / time.Second),
	}
	p.Deletion = &p.detail.deletion
	e.record.podDeleted(e.now, p)

	switch p.state {
	case podNew, podPending:
		p.timer++
		e.scheduler.remove(id, p)
		e.changed(id, p)
		e.collectPod(id, p)
	case podEnded:
		e.changed(id, p)
		e.collectPod(id, p)
	default:
		e.changed(id, p)
		if !p.lost {
			e.stopPod(id, p, grace)
		}
	}
}

// stopPod ends a pod that is being deleted, within its grace period.
func (e *engine) stopPod(id int32, p *pod, grace time.Duration) {
	p.timer++
	stop := time.Duration(0)
	if p.state == podRunning {
		stop = p.of.of.Pod.Stop.Draw(e.chance.of(p.of.key, p.number, forStop))
	}

	code := int32(exitStopped)
	if stop > grace || p.state == podBound {
		stop, code = min(stop, grace), exitKilled
	}
	ends := time.Duration(p.began) + p.run.For - time.Duration(e.now)
	if p.state == podRunning && p.began >= 0 && ends <= stop {
		stop = max(ends, 0) // the pod ends by itself earlier
	} else {
		p.run.ExitCode = code
	}

	e.at(e.now+int64(stop), evEnd, id, p.timer)
}

// untrackPod removes the finalizer.
func (e *engine) untrackPod(id int32, p *pod) {
	if p.Untracked {
		return
	}
	p.Untracked = true
	p.of.tracked--
	e.changed(id, p)
	e.collectPod(id, p)
}

// collectPod removes a deleted pod that has no finalizer and does not run any more.
func (e *engine) collectPod(id int32, p *pod) {
	isHeld := !p.Untracked || p.state == podBound || p.state == podRunning
	if p.Deletion == nil || isHeld {
		return
	}

	js := p.of
	if p.state == podEnded {
		e.gc.ended--
	}
	e.record.podGone(e.now, p)

	if p.next >= 0 {
		e.pods.all[p.next].prev = p.prev
	}
	if p.prev >= 0 {
		e.pods.all[p.prev].next = p.next
	} else {
		js.pods = p.next
	}

	js.existing--
	e.vanished(id, p)

	if e.view.immediate {
		e.pods.used = append(e.pods.used, p.detail)
	}
	p.of, p.Detail, p.Deletion, p.detail = nil, nil, nil, nil
	p.timer++
	e.jobEmptied(js)
}
