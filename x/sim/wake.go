package sim

import "time"

// batchDelay is the time from a change of a pod or a status to the next round of the job, so that
// several changes make one round (J43). It also passes when the last pod of a job has ended, as in
// Kubernetes.
const batchDelay = int64(time.Second)

// wakeJob schedules a round of a job at a time, unless an earlier round is scheduled.
func (e *engine) wakeJob(js *jobState, at int64) {
	isPlanned := js.wake != 0 && js.wake <= at
	if isPlanned || js.finished || js.gone {
		return
	}
	js.wake = at
	e.at(at, evJob, js.id, js.life)
}

func (e *engine) wakeFor(js *jobState, wake wakeKind) {
	if wake == wakeNow {
		e.enqueueJob(js)
		return
	}
	e.wakeJob(js, e.now+batchDelay)
}

func (e *engine) enqueueJob(js *jobState) {
	switch {
	case js.finished || js.gone || js.queued:
	case js.busy:
		js.dirty = true
	default:
		js.queued = true
		e.jobController.push(js.id)
	}
}

func (e *engine) wakeCron(cs *cronState, at int64) {
	if cs.wake != 0 && cs.wake <= at {
		return
	}
	cs.wake = at
	e.at(at, evCron, cs.id, 0)
}

func (e *engine) enqueueCron(cs *cronState) {
	switch {
	case cs.queued || !cs.started:
	case cs.busy:
		cs.dirty = true
	default:
		cs.queued = true
		e.cronController.push(cs.id)
	}
}
