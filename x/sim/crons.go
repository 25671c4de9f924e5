package sim

import (
	"context"
	"strconv"
	"strings"
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

	// truth is the CronJob as the API server has it. snap is the view of the controller. Without lag,
	// truth is the CronJob in snap.
	truth *cronjob.CronJob
	snap  cronjob.Snapshot
	// jobs are the jobs of snap.Children, in the same places.
	jobs []*jobState

	wake     int64
	queued   bool
	busy     bool
	dirty    bool
	started  bool
	failures int
	// quietUntil is the time before which no round does anything unless the snapshot changes, and
	// again is when the next round is due then. quietUntil is 0 if this is not known.
	quietUntil, again int64
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

	cs := &cronState{of: c, id: int32(len(e.crons)), truth: &truth, key: hashText(c.Name)}
	cs.spec = c.Job.Spec
	job.Default(&cs.spec)
	if err := job.Validate(cs.spec); err != nil {
		return problem(c.Source, c.Name, "jobTemplate.%v", err)
	}
	if err := c.Job.Pod.validate(); err != nil {
		return problem(c.Source, c.Name, "job.pod.%v", err)
	}

	cs.snap = cronjob.Snapshot{Options: c.Options, Schedule: e.compile(cs), Consistent: e.view.immediate}
	if e.view.immediate {
		cs.snap.CronJob = truth
		cs.truth = &cs.snap.CronJob
	}
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
	if len(cs.of.Schedule) > 0 || strings.HasPrefix(spec.Schedule, "@") {
		return cronjob.Compile(cs.truth, cs.of.Schedule...)
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
		c = cronjob.Compile(cs.truth)
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
		object, version := *cs.truth, cs.version
		e.lagged(delivery{cron: func() {
			cs.snap.CronJob, cs.seen = object, version
			e.snapshotChanged(cs)
		}})
		return
	}
	cs.seen = cs.version
	e.snapshotChanged(cs)
}

// snapshotChanged is called after each change of what the controller sees of a CronJob.
func (e *engine) snapshotChanged(cs *cronState) {
	cs.quietUntil = 0
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
	if e.now < cs.quietUntil && e.world.Watch == nil {
		e.wakeCron(cs, cs.again) // as the same plan asks for
		return
	}

	cs.busy = true
	cs.quietUntil = 0
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
	if isQuiet(&cs.snap, plan, conclusion) {
		cs.quietUntil, cs.again = e.since(plan.NextRun), e.since(conclusion.Requeue.At)
	}
	cs.snap.Memory = conclusion.Memory
	e.cronAgain(cs, conclusion)
}

// isQuiet reports whether a round has done nothing but wait for the next run. With the same snapshot,
// each round before that run has the same plan.
func isQuiet(s *cronjob.Snapshot, plan *cronjob.Plan, c *cronjob.Conclusion) bool {
	writes := len(plan.Verify) + len(plan.Delete) + len(plan.Create)
	waitsForRun := len(plan.Waits) == 1 && plan.Waits[0].Until.Equal(plan.NextRun)
	switch {
	case !s.Consistent, // what the snapshot lacks shows after a while
		!s.Options.Quirks.IsZero(), // Kubernetes only estimates when its plan changes
		writes > 0,
		c.Outcome.Settled != cronjob.Reply{},
		plan.NextRun.IsZero(),
		!waitsForRun,
		c.Requeue.At.Before(plan.NextRun):
		return false
	}
	return c.Memory.Equal(s.Memory)
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
