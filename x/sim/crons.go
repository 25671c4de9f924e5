package sim

import (
	"context"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/job"
)

// cronState is a CronJob as the API server has it, and its controller's knowledge of it.
type cronState struct {
	of   *CronJob
	id   int32
	key  uint64
	spec job.Spec // the spec of its jobs, with defaults

	truth cronjob.CronJob
	snap  cronjob.Snapshot
	// jobs are the jobs of snap.Children, in the same places.
	jobs []*jobState

	wake     int64
	queued   bool
	busy     bool
	dirty    bool
	started  bool
	failures int
	// version is the version of the object. seen is the version in the snapshot.
	version, seen int64
	// held is the run that waits for an active job to end, or 0. missed is the latest run known to be
	// missed. Both are in Unix seconds.
	held, missed int64
	// ran is set once a run was started or given up.
	ran bool
}

// schedules holds the compiled schedules, by text and time zone.
type schedules map[[2]string]cronjob.Compiled

// addCron checks a CronJob and puts its creation on the calendar.
func (e *engine) addCron(c *CronJob) error {
	spec := c.Spec
	cronjob.Default(&spec)
	truth := cronjob.CronJob{
		Namespace:         "default",
		Name:              c.Name,
		UID:               job.UID("c" + strconv.Itoa(len(e.crons))),
		Spec:              spec,
		CreationTimestamp: e.start.Add(c.Create).Truncate(time.Second),
	}
	if err := truth.Validate(); err != nil {
		return problem(c.Source, c.Name, "%v", err)
	}
	if c.Create < 0 {
		return problem(c.Source, c.Name, "create time %v is negative", c.Create)
	}

	cs := &cronState{of: c, id: int32(len(e.crons)), truth: truth, key: hashText(c.Name)}
	cs.spec = c.Job.Spec
	job.Default(&cs.spec)
	if err := job.Validate(cs.spec); err != nil {
		return problem(c.Source, c.Name, "jobTemplate.%v", err)
	}

	cs.snap = cronjob.Snapshot{Options: c.Options, Schedule: e.compile(cs), Consistent: e.view.immediate}
	e.crons = append(e.crons, cs)

	e.at(int64(c.Create), evCronArrive, cs.id, 0)
	for _, w := range c.Suspend {
		e.at(int64(w.From), evSuspend, cs.id, 0)
		e.at(int64(w.From+w.For), evSuspend, cs.id, 0)
	}
	return nil
}

// compile compiles the schedule. Equal schedules share the result, unless it depends on when
// the CronJob was created.
func (e *engine) compile(cs *cronState) cronjob.Compiled {
	spec := &cs.truth.Spec
	if len(cs.of.Schedule) > 0 || len(spec.Schedule) > 0 && spec.Schedule[0] == '@' {
		return cronjob.Compile(&cs.truth, cs.of.Schedule...)
	}

	key := [2]string{spec.Schedule}
	if spec.TimeZone != nil {
		key[1] = *spec.TimeZone
	}
	if e.compiled == nil {
		e.compiled = schedules{}
	}

	c, ok := e.compiled[key]
	if !ok {
		c = cronjob.Compile(&cs.truth)
		e.compiled[key] = c
	}
	return c
}

// startCron creates the CronJob.
func (e *engine) startCron(cs *cronState) {
	cs.started = true
	e.record.cronCreated(cs)
	e.suspendCron(cs)
}

// suspendCron sets spec.suspend according to the windows.
func (e *engine) suspendCron(cs *cronState) {
	for _, w := range cs.of.Suspend {
		if w.contains(time.Duration(e.now)) {
			cs.truth.Spec.Suspend = &yes
			e.cronChanged(cs)
			return
		}
	}

	if cs.truth.Spec.Suspend == &yes {
		cs.truth.Spec.Suspend = &no
	}
	e.cronChanged(cs)
}

// cronChanged is called after each change of a CronJob's object.
func (e *engine) cronChanged(cs *cronState) {
	cs.version++
	if !e.view.immediate {
		object, version := cs.truth, cs.version
		e.lagged(delivery{cron: func() {
			cs.snap.CronJob, cs.seen = object, version
			e.enqueueCron(cs)
		}})
		return
	}
	cs.snap.CronJob, cs.seen = cs.truth, cs.version
	e.enqueueCron(cs)
}

func (e *engine) cronDue(ev *event) {
	cs := e.crons[ev.id]
	if cs.wake == 0 || cs.wake > e.now {
		return
	}
	cs.wake = 0
	e.enqueueCron(cs)
}

// cronRound is one round of a CronJob.
func (e *engine) cronRound(w *worker, id int32) {
	cs := e.crons[id]
	cs.queued = false
	e.result.CronRounds++
	cs.busy = true
	cs.snap.Now = e.clock()

	plan, err := w.cronPlanner.Reconcile(&cs.snap)
	if err != nil {
		e.err = problem(cs.of.Source, cs.of.Name, "%v", err)
		return
	}

	if e.world.Watch != nil { // the writes change the snapshot of the plan
		children := append(w.cronSeen.Children[:0], cs.snap.Children...)
		w.cronSeen = cs.snap
		w.cronSeen.Children = children
	}

	w.cronBackend = cronBackend{worker: w, engine: e, cs: cs, version: cs.seen}
	w.cronConclusion, _ = cronjobapply.Executor{Parallel: 1}.Apply(context.Background(), &w.cronBackend, plan)
	conclusion := &w.cronConclusion

	cs.busy = false
	if w.aborted {
		return
	}

	if e.world.Watch != nil {
		e.world.Watch.CronJob(CronJobRound{time.Duration(e.now), &w.cronSeen, plan, conclusion})
	}
	e.record.cronRound(e.now, cs, plan, conclusion)
	cs.snap.Memory = conclusion.Memory
	e.cronAgain(cs, conclusion)
}

// cronAgain schedules the next round of a CronJob.
func (e *engine) cronAgain(cs *cronState, c *cronjob.Conclusion) {
	switch {
	case c.Retry:
		cs.failures++
		e.result.Retries++
		e.wakeCron(cs, e.cronController.retryAt(cs.failures))
	case !c.Requeue.At.IsZero():
		cs.failures = 0
		e.wakeCron(cs, max(e.since(c.Requeue.At), e.now+1))
	}
	if cs.dirty {
		cs.dirty = false
		e.enqueueCron(cs)
	}
}
