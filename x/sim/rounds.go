package sim

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// jobDue puts a job into the queue of its controller.
func (e *engine) jobDue(ev *event) {
	js := e.jobs[ev.id]
	if js.life != ev.gen || js.wake == 0 || js.wake > e.now {
		return
	}
	js.wake = 0
	e.enqueueJob(js)
}

// jobRound is one round of a job: snapshot, plan, writes, conclusion.
func (e *engine) jobRound(w *worker, id int32) {
	js := e.jobs[id]
	js.queued = false
	if js.finished || js.gone {
		return
	}

	e.result.Rounds++
	js.busy = true
	js.snap.Now = e.clock()
	if !js.snap.Consistent {
		js.snap.Memory.Expectations, js.snap.Memory.Untracking = e.view.tracker.Snapshot(js.trackerKey())
	}

	plan, err := w.planner.Reconcile(&js.snap)
	if err != nil {
		e.err = problem(js.of.Source, js.truth.Name, "%v", err)
		return
	}

	if e.world.Watch != nil { // the writes change the snapshot of the plan
		pods := append(w.seen.Pods[:0], js.snap.Pods...)
		w.seen = js.snap
		w.seen.Pods = pods
	}

	b := &w.jobBackend
	*b = jobBackend{worker: w, engine: e, js: js, life: js.life, version: js.snap.Job.Version}
	w.conclusion, _ = jobapply.Executor{Parallel: 1}.Apply(context.Background(), b, plan)
	conclusion := &w.conclusion

	js.busy = false
	if w.aborted || b.isGone() {
		e.jobEmptied(js)
		return
	}

	if e.world.Watch != nil {
		e.world.Watch.Job(JobRound{time.Duration(e.now), &w.seen, plan, conclusion})
	}
	if js.finished {
		e.forget(js)
		return
	}

	js.snap.Memory = conclusion.Memory
	e.planAgain(js, plan, conclusion)
}

// forget drops what nobody needs of a job that has ended, after its last round.
func (e *engine) forget(js *jobState) {
	e.view.leave(js)
	isOver := js.truth.Spec.TTLSecondsAfterFinished == nil
	e.eachPod(js, func(_ int32, p *pod) { isOver = isOver && p.state == podEnded })
	if isOver {
		js.of = &over
	}
}

// over takes the place of the Job of a job that has ended, if its pods have ended and it never
// expires. Nothing reads a Job then: no pod needs room or a grace period, no edit comes after the
// end, and no time to live runs out.
var over Job

// planAgain schedules the next round of a job.
func (e *engine) planAgain(js *jobState, plan *job.Plan, c *job.Conclusion) {
	if js.finished || js.gone {
		return
	}
	if !plan.Requeue.At.IsZero() {
		e.wakeJob(js, max(e.since(plan.Requeue.At), e.now+1))
	}
	if c.Retry {
		js.failures++
		e.result.Retries++
		e.wakeJob(js, e.now+int64(backoff.Retry().Delay(js.failures)))
	} else {
		js.failures = 0
	}

	if js.dirty {
		js.dirty = false
		e.enqueueJob(js)
	}
}
