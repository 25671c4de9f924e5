package sim

import "github.com/batchplan/batchplan/job"

// scheduleExpiry waits for the TTL of a finished job.
func (e *engine) scheduleExpiry(js *jobState) {
	expired, at, err := job.Expire(js.truth, js.of.Options, e.clock())
	switch {
	case err != nil || at.IsZero():
	case expired:
		e.at(e.now, evExpire, js.id, js.life)
	default:
		e.at(e.since(at), evExpire, js.id, js.life)
	}
}

// expire deletes a finished job in the foreground, unless it is gone.
func (e *engine) expire(ev *event) {
	js := e.jobs[ev.id]
	if js.life != ev.gen || js.gone || js.deleting {
		return
	}
	if expired, _, _ := job.Expire(js.truth, js.of.Options, e.clock()); expired {
		e.result.Expired++
		e.deleteJob(js, true)
	}
}

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

// jobGone is when the object of a job is removed. Its pods need no finalizer any more.
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

// jobEmptied is when a pod of the job has gone: the last one lets a deleted job go, and
// then its place can be used again.
func (e *engine) jobEmptied(js *jobState) {
	if js.existing > 0 {
		return
	}
	if js.deleting && !js.gone {
		e.jobGone(js)
	}
	if js.gone && !js.busy && js.of != nil && js.underway == 0 {
		js.of = nil
		e.view.leave(js)
		e.view.tracker.Forget(js.trackerKey())
		e.freeJobs = append(e.freeJobs, js.id)
	}
}

// eachPod calls for each pod of a job, which may go meanwhile.
func (e *engine) eachPod(js *jobState, call func(int32, *pod)) {
	for id := js.pods; id >= 0; {
		next := e.pods.all[id].next
		call(id, &e.pods.all[id])
		id = next
	}
}
