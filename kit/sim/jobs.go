package sim

import (
	"slices"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// batchDelay is how long after a change of a pod or a status a job is planned, so that
// several changes make one round (J43).
const batchDelay = int64(time.Second)

// jobState is a job as the API server has it, and what its controller knows of it.
type jobState struct {
	of *Job
	id int32
	// life counts the jobs that have had this place.
	life uint32
	// key tells the job's draws from other jobs', in every variant of a world.
	key uint64

	// truth is the job as the API server has it. snap is what the controller sees: another
	// value while the watch lags.
	truth job.Job
	snap  job.Snapshot
	// viewed holds the place of each pod of snap.Pods in the store.
	viewed []int32

	// wake is when the job is to be planned, or 0.
	wake   int64
	queued bool
	busy   bool
	dirty  bool // planned again after the round under way
	// failures counts the rounds in a row that are to be repeated.
	failures int

	// pods is the first pod, or -1. existing counts them, tracked those with a finalizer,
	// created all that have ever been.
	pods              int32
	existing, tracked int32
	created           int32

	cron  *cronState // its owner, or nil
	child int32      // its place in the owner's list, or -1
	run   time.Time
	// underway counts the changes that the caches have not seen yet.
	underway  int32
	finished  bool
	deleting  bool // in the foreground
	gone      bool
	record    int32
	container string
	submitted int64
	// hasStarted is true once a pod has.
	hasStarted bool
}

func (js *jobState) spec() *job.Spec { return &js.truth.Spec }

func (js *jobState) grace() time.Duration {
	if g := js.of.Pod.Grace; g > 0 {
		return g
	}
	return defaultGrace
}

// newJob returns an empty job.
func (e *engine) newJob() *jobState {
	var js *jobState
	if n := len(e.freeJobs); n > 0 {
		js = e.jobs[e.freeJobs[n-1]]
		e.freeJobs = e.freeJobs[:n-1]
		*js = jobState{id: js.id, life: js.life}
	} else {
		js = &jobState{id: int32(len(e.jobs))}
		e.jobs = append(e.jobs, js)
	}
	js.life++
	js.pods, js.child, js.record = -1, -1, -1
	return js
}

// arrive submits the next job of the stream.
func (e *engine) arrive() {
	j := e.next
	number := e.arrived
	e.arrived++
	if e.err = e.pull(); e.err != nil {
		return
	}
	own := j // the only copy that outlives the stream
	js, err := e.submit(&own, j.Name, mix(uint64(number)+1))
	if err != nil {
		e.err = err
		return
	}
	e.admission.submit(js)
}

// submit creates a job.
func (e *engine) submit(j *Job, name string, key uint64) (*jobState, error) {
	spec := j.Spec
	job.Default(&spec)
	if err := job.Validate(spec); err != nil {
		return nil, problem(j.Source, name, "%v", err)
	}
	js := e.newJob()
	e.createJob(js, j, spec, name, key)
	return js, nil
}

// createChild creates the job of a run of a CronJob.
func (e *engine) createChild(cs *cronState, c *cronjob.Creation, key uint64) *jobState {
	js := e.newJob()
	js.cron, js.run = cs, c.ScheduledTime
	e.createJob(js, &cs.of.Job, cs.spec, c.Name, key)
	e.children[c.Name] = js
	return js
}

// createJob creates a job whose spec is valid.
func (e *engine) createJob(js *jobState, j *Job, spec job.Spec, name string, key uint64) {
	js.of, js.key = j, key
	js.container = "main"
	if c := spec.Template.Containers; len(c) > 0 {
		js.container = c[0]
	}
	e.born++
	js.truth = job.Job{
		Namespace: "default", Name: name, Version: 1, UID: job.UID("j" + strconv.FormatUint(e.born, 36)),
		CreationTimestamp: e.stamp(), Spec: spec,
	}
	if e.world.Admission != nil && j.Spec.Suspend == nil {
		js.truth.Spec.Suspend = &yes
	}
	js.snap.Options = j.Options
	js.snap.Consistent = e.view.immediate
	e.record.jobCreated(e.now, js)
	for i := range j.Edits {
		e.at(e.now+int64(j.Edits[i].After), evEdit, js.id, js.life<<8|uint32(i&0xff))
	}
	e.jobChanged(js, wakeNow)
}

// restartJob is when a controller has started that lists the job.
func (e *engine) restartJob(js *jobState) {
	js.queued, js.busy, js.dirty, js.wake, js.failures = false, false, false, 0, 0
	if !js.snap.Consistent {
		e.view.tracker.Forget(js.trackerKey())
	}
	if !e.world.ControlPlane.KeepMemory {
		js.snap.Memory = job.Memory{}
	}
	e.enqueueJob(js)
}

var yes, no = true, false

// edit changes the spec.
func (e *engine) edit(ev *event) {
	js := e.jobs[ev.id]
	if js.life<<8>>8 != ev.gen>>8 || js.finished || js.gone {
		return
	}
	js.of.Edits[ev.gen&0xff].Change(&js.truth.Spec)
	e.specChanged(js)
}

// specChanged is after an edit.
func (e *engine) specChanged(js *jobState) {
	js.truth.Version++
	if err := job.Validate(js.truth.Spec); err != nil && e.err == nil {
		e.err = problem(js.of.Source, js.truth.Name, "after an edit: %v", err)
	}
	e.jobChanged(js, wakeNow)
}

// wakeJob plans a job at a time, or sooner.
func (e *engine) wakeJob(js *jobState, at int64) {
	if js.wake != 0 && js.wake <= at || js.finished || js.gone {
		return
	}
	js.wake = at
	e.at(at, evJob, js.id, js.life)
}

// jobDue puts a job into the queue of its controller.
func (e *engine) jobDue(ev *event) {
	js := e.jobs[ev.id]
	if js.life != ev.gen || js.wake == 0 || js.wake > e.now {
		return
	}
	js.wake = 0
	e.enqueueJob(js)
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
	if e.world.Watch != nil { // the writes change the one that the plan was made from
		pods := append(w.seen.Pods[:0], js.snap.Pods...)
		w.seen = js.snap
		w.seen.Pods = pods
	}
	b := &w.jobBackend
	*b = jobBackend{worker: w, engine: e, js: js, life: js.life, version: js.snap.Job.Version}
	executor := jobapply.Executor{Parallel: 1}
	if !js.snap.Consistent {
		executor.Expectations = e.view.tracker.Of(js.trackerKey(), js.snap.Now)
	}
	w.conclusion, _ = executor.Apply(w.ctx, b, plan)
	conclusion := &w.conclusion
	js.busy = false
	if w.aborted || b.isGone() {
		e.jobEmptied(js)
		return
	}
	if e.world.Watch != nil {
		e.world.Watch.Job(time.Duration(e.now), js.truth.Name, &w.seen, plan, conclusion)
	}
	js.snap.Memory = conclusion.Memory
	if !js.snap.Consistent {
		js.snap.Memory.Written = max(js.snap.Memory.Written, b.wrote)
	}
	e.planAgain(js, plan, conclusion)
}

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

// writeStatus replaces the status of a job, whose times are cut to seconds.
func (e *engine) writeStatus(js *jobState, s job.Status) {
	cutTimes(&s)
	js.truth.Status = s
	js.truth.Version++
	e.record.statusWritten(e.now, js)
	if end := s.Finished(); end != "" && !js.finished {
		e.finishJob(js, end)
	}
	if adjust := js.of.Adjust; adjust != nil && !js.finished && adjust(time.Duration(e.now), &js.truth.Spec, &js.truth.Status) {
		e.specChanged(js)
		return
	}
	e.jobChanged(js, wakeLater)
}

// cutTimes cuts the times of a status to whole seconds, as the API does.
func cutTimes(s *job.Status) {
	s.StartTime, s.CompletionTime = s.StartTime.Truncate(time.Second), s.CompletionTime.Truncate(time.Second)
	for i := range s.Conditions {
		c := &s.Conditions[i]
		if c.LastTransitionTime.Nanosecond() == 0 && c.LastProbeTime.Nanosecond() == 0 {
			continue
		}
		s.Conditions = slices.Clone(s.Conditions)
		for i := range s.Conditions {
			c := &s.Conditions[i]
			c.LastTransitionTime, c.LastProbeTime = c.LastTransitionTime.Truncate(time.Second), c.LastProbeTime.Truncate(time.Second)
		}
		return
	}
}

// finishJob is when a job has got its final condition.
func (e *engine) finishJob(js *jobState, end job.ConditionType) {
	js.finished, js.wake = true, 0
	e.record.jobFinished(e.now, js, end)
	e.admission.finish(js)
	e.scheduleExpiry(js)
	if js.tracked > 0 {
		e.eachPod(js, func(id int32, p *pod) { e.untrackPod(id, p) }) // J36
	}
}
