package sim

import (
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// schedule puts restarts and outages of the controllers on the calendar.
func (p *plane) schedule(e *engine) {
	for _, at := range p.spec.Restarts {
		e.at(int64(at), evDown, 0, 0)
		e.at(int64(at), evUp, 0, 0)
	}
	for _, o := range p.spec.Outages {
		if o.Of == Controllers {
			e.at(int64(o.From), evDown, 0, 0)
			e.at(int64(o.From+o.For), evUp, 0, 0)
		}
	}
}

// down stops the controllers and ends all rounds.
func (p *plane) down(e *engine) {
	p.downs++
	e.jobController.abort()
	e.cronController.abort()
}

// up starts the controllers again after an outage. They list all objects, and have lost everything
// else, except their memories if KeepMemory is set.
func (p *plane) up(e *engine) {
	if p.downs--; p.downs > 0 {
		return
	}

	e.result.Restarts++
	e.view.catchUp()

	for _, js := range e.jobs {
		e.restartJob(js)
	}
	for _, cs := range e.crons {
		if cs.started {
			e.restartCron(cs)
		}
	}
}

// restartJob is called when a restarted controller lists the job.
func (e *engine) restartJob(js *jobState) {
	js.queued, js.busy, js.dirty, js.wake, js.failures = false, false, false, 0, 0
	if js.jobView == nil {
		return
	}
	if !js.snap.Consistent {
		e.view.tracker.Forget(js.trackerKey())
	}
	if !e.world.ControlPlane.KeepMemory {
		js.snap.Memory = job.Memory{}
	}
	e.enqueueJob(js)
}

// restartCron is called when a restarted controller lists the CronJob.
func (e *engine) restartCron(cs *cronState) {
	cs.queued, cs.busy, cs.dirty, cs.wake, cs.failures, cs.quietUntil = false, false, false, 0, 0, 0
	if !e.world.ControlPlane.KeepMemory {
		cs.snap.Memory = cronjob.Memory{}
	}
	e.enqueueCron(cs)
}
