package sim

import "github.com/batchplan/batchplan/job"

// scheduleExpiry schedules the expiry of a finished job.
func (e *engine) scheduleExpiry(js *jobState) {
	expired, at, err := job.Expire(&js.truth, js.of.Options, e.clock())
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
	if expired, _, _ := job.Expire(&js.truth, js.of.Options, e.clock()); expired {
		e.result.Expired++
		e.deleteJob(js, true)
	}
}
