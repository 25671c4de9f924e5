package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/job"
)

// CronJob is a CronJob with its jobs and its controller. Its jobs run until the caller
// ends them.
type CronJob struct {
	Injector

	Now     time.Time
	CronJob cronjob.CronJob
	// Jobs are all jobs of the namespace, by name.
	Jobs     map[string]cronjob.Child
	Schedule cronjob.Compiled
	Options  cronjob.Options
	// Memory is the controller's memory. It survives crashes if Stored is true.
	Memory cronjob.Memory
	Stored bool
	// Unstarted are the runs that the controller has reported as given up.
	Unstarted []cronjob.Unstarted
	// Triggers and Backfills are what was requested. They survive crashes.
	Triggers  []cronjob.Trigger
	Backfills []cronjob.Backfill

	// Stale makes the controller see the jobs as they were delivered last. Lag, if not nil, decides
	// what it sees of the CronJob and its jobs.
	Stale bool
	Lag   *Lag
	// Consistent is copied into the snapshots. It must be false with Stale or Lag.
	Consistent bool

	// Requeue and Retry are from the last conclusion.
	Requeue cronjob.Requeue
	Retry   bool
	// Failed are the violations so far.
	Failed []error

	seen []cronjob.Child
	// history counts the jobs of each run and each trigger over the whole life.
	history cronjobcheck.History
	ids     int
}

// NewCronJob returns a world with this CronJob.
func NewCronJob(c cronjob.CronJob, options cronjob.Options) *CronJob {
	return &CronJob{
		Now:      Start,
		CronJob:  c,
		Jobs:     map[string]cronjob.Child{},
		Schedule: cronjob.Compile(&c),
		Options:  options,
	}
}

// Clone returns an independent copy of the world, without the faults.
func (w *CronJob) Clone() *CronJob {
	c := *w
	c.Injector = Injector{Writes: w.Writes}
	c.Jobs, c.history = maps.Clone(w.Jobs), w.history.Clone()
	c.Triggers, c.Backfills = slices.Clone(w.Triggers), slices.Clone(w.Backfills)
	c.seen, c.Failed = slices.Clip(w.seen), slices.Clip(w.Failed)
	c.Lag = w.Lag.clone()
	return &c
}

// Children returns all jobs, in the order of their names.
func (w *CronJob) Children() []cronjob.Child {
	children := make([]cronjob.Child, 0, len(w.Jobs))
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		children = append(children, w.Jobs[name])
	}
	return children
}

// State describes the status, the jobs and the backfills, one line each.
func (w *CronJob) State() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", w.Now.Format(time.DateTime), w.CronJob.Status)

	children := w.Children()
	slices.SortStableFunc(children, func(a, b cronjob.Child) int { return a.ScheduledTime.Compare(b.ScheduledTime) })
	for _, c := range children {
		fmt.Fprintf(&b, "  %s", c.Name)
		if !c.ScheduledTime.IsZero() {
			fmt.Fprintf(&b, ", the run of %s,", c.ScheduledTime.UTC().Format(time.DateTime))
		}
		words := map[cronjob.Ending]string{"": "runs", cronjob.Complete: "is complete", cronjob.Failed: "has failed"}
		if c.Foreign {
			words[c.Finished] = "belongs to another owner"
		}
		fmt.Fprintf(&b, " %s\n", words[c.Finished])
	}

	for _, f := range w.Backfills {
		fmt.Fprintf(&b, "  backfill %s is left after %s\n", f.ID, f.After.UTC().Format(time.DateTime))
	}
	return b.String()
}

// Deliver brings the controller's view of one job up to date.
func (w *CronJob) Deliver(name string) {
	w.seen = slices.DeleteFunc(slices.Clone(w.seen), func(c cronjob.Child) bool { return c.Name == name })
	if live, ok := w.Jobs[name]; ok {
		w.seen = append(w.seen, live)
	}
}

// DeliverAll brings the controller's view of all jobs up to date.
func (w *CronJob) DeliverAll() { w.seen = w.Children() }

// History returns the runs that have started so far.
func (w *CronJob) History() *cronjobcheck.History { return &w.history }

// Snapshot returns the controller's view.
func (w *CronJob) Snapshot() cronjob.Snapshot {
	c := w.CronJob
	switch {
	case w.Lag != nil:
		c, w.seen = w.Lag.look(w)
	case !w.Stale:
		w.DeliverAll()
	}

	return cronjob.Snapshot{
		CronJob:    c,
		Children:   slices.Clone(w.seen),
		Now:        w.Now,
		Schedule:   w.Schedule,
		Memory:     w.Memory,
		Options:    w.Options,
		Consistent: w.Consistent,
		Triggers:   slices.Clone(w.Triggers),
		Backfills:  slices.Clone(w.Backfills),
	}
}

// LookAgain returns a snapshot whose CronJob is read from the source of truth, as [cronjob.Plan]
// requests if a job is unexpected. The next snapshot may be older.
func (w *CronJob) LookAgain(s cronjob.Snapshot) cronjob.Snapshot {
	s.CronJob = w.CronJob
	if w.Lag != nil {
		w.Lag.fresh = true
	}
	return s
}

// Round runs one round of the controller, and returns the plan. It does the same as the loop of an
// adapter: snapshot, plan, apply, conclude.
func (w *CronJob) Round() (*cronjob.Plan, error) {
	plan, err := w.Plan()
	if err != nil {
		return nil, err
	}
	_, _ = w.CarryOut(context.Background(), plan) // an error is an injected fault
	return plan, nil
}

// Plan begins a round: it takes a snapshot and plans.
func (w *CronJob) Plan() (*cronjob.Plan, error) {
	plan, err := cronjob.Reconcile(w.Snapshot())
	if err != nil {
		return nil, err
	}
	w.Begin()
	return &plan, nil
}

// CarryOut executes a plan and concludes the round. The error joins the errors of the writes.
func (w *CronJob) CarryOut(ctx context.Context, plan *cronjob.Plan) (end cronjob.Conclusion, err error) {
	w.Begin()
	end, err = cronjobapply.Executor{Parallel: 1}.Apply(ctx, w.Backend(), plan)
	if end.Retry != (err != nil) {
		w.Failed = append(w.Failed, fmt.Errorf("the round is to be retried: %t, and its error is %v", end.Retry, err))
	}
	w.Conclude(&end)
	return end, err
}

// Conclude ends the round. After a crash there is no conclusion: the controller starts again with a
// fresh list, and without its memory unless Stored is true.
func (w *CronJob) Conclude(end *cronjob.Conclusion) {
	crashes := w.Crashed() || len(w.Backfills) > 0 && w.CrashesBefore(Write{Verb: StoreBackfills})
	if crashes {
		memory := w.Memory
		w.Requeue, w.Retry = cronjob.Requeue{}, true
		w.Restart(false)
		if w.Stored {
			w.Memory = memory
		}
		return
	}

	w.Memory, w.Requeue, w.Retry = end.Memory, end.Requeue, end.Retry
	w.Unstarted = append(slices.Clip(w.Unstarted), end.Unstarted...)
	w.store(end.Backfills)
	isTriggered := func(t cronjob.Trigger) bool { return slices.Contains(end.Triggered, t.ID) }
	w.Triggers = slices.DeleteFunc(w.Triggers, isTriggered)
}

// Restart makes the controller forget everything and list the objects again (F1).
// If old is true, the list shows only what the controller saw before (F2).
func (w *CronJob) Restart(old bool) {
	w.Memory = cronjob.Memory{}
	switch {
	case old:
	case w.Lag != nil:
		w.Lag.catchUp(w)
	default:
		w.DeliverAll()
	}
}

// Resume restarts the controller with its stored memory.
func (w *CronJob) Resume() { w.Memory = stored(w.Memory) }

// store keeps the progress of backfills, and drops complete ones.
func (w *CronJob) store(progress []cronjob.Backfill) {
	for _, b := range progress {
		at := slices.IndexFunc(w.Backfills, func(old cronjob.Backfill) bool { return old.ID == b.ID })
		w.Backfills[at] = b
	}
	w.Backfills = slices.DeleteFunc(w.Backfills, func(b cronjob.Backfill) bool { return b.IsComplete() })
}

// Trigger asks for a job outside of the schedule.
func (w *CronJob) Trigger(overlap cronjob.ConcurrencyPolicy) {
	w.ids++
	w.Triggers = append(w.Triggers, cronjob.Trigger{ID: fmt.Sprint(w.ids), Overlap: overlap})
}

// Backfill asks for the first n runs after b.After. It leaves out runs whose jobs are gone, since a
// planner cannot know of them.
func (w *CronJob) Backfill(b cronjob.Backfill, n int) {
	runs := slices.Collect(w.Schedule.Schedule.NextN(b.After, n))
	if len(runs) == 0 {
		return
	}

	w.ids++
	b.ID, b.Until = fmt.Sprint(w.ids), runs[len(runs)-1]
	for _, run := range w.history.Runs() {
		if _, ok := w.Jobs[w.Options.Naming.JobName(w.CronJob.Name, run)]; !ok {
			b.Except = append(b.Except, run)
		}
	}

	w.Backfills = append(w.Backfills, b)
}

// Awaits reports whether a run is in the rest of a backfill.
func (w *CronJob) Awaits(run time.Time) bool {
	return slices.ContainsFunc(w.Backfills, func(b cronjob.Backfill) bool {
		return run.After(b.After) && !run.After(b.Until) && !slices.ContainsFunc(b.Except, run.Equal)
	})
}

// Add adds a job that was created before the world began.
func (w *CronJob) Add(c cronjob.Child) {
	w.Jobs[c.Name] = c
	if !c.Foreign && !c.ScheduledTime.IsZero() {
		w.note(w.history.Started(c.Name, c.ScheduledTime))
	}
}

// AddForeign adds a job of another owner that has the name of a run, if the name is free.
func (w *CronJob) AddForeign(run time.Time) {
	name := w.Options.Naming.JobName(w.CronJob.Name, run)
	if _, ok := w.Jobs[name]; !ok {
		w.Jobs[name] = cronjob.Child{
			Name:              name,
			UID:               job.UID("foreign-" + name),
			Foreign:           true,
			CreationTimestamp: w.Now,
			ScheduledTime:     run,
		}
	}
}

// Runs returns the runs that a job was created for, in order.
func (w *CronJob) Runs() []time.Time { return w.history.Runs() }

// Running returns the names of the jobs that have not ended, in order.
func (w *CronJob) Running() []string {
	var names []string
	for _, c := range w.Children() {
		if c.Finished == "" {
			names = append(names, c.Name)
		}
	}
	return names
}

// Aborted and Skipped are ends of children that are not jobs.
const (
	Aborted cronjob.Ending = "Aborted"
	Skipped cronjob.Ending = "Skipped"
)

// KeptAs returns the history limit for jobs with the given ending: the limit of successful jobs for
// Skipped, and the default limit for any other ending.
func KeptAs(how cronjob.Ending) cronjob.Ending {
	if how == Skipped {
		return cronjob.Complete
	}
	return ""
}

// Finish ends a running job.
func (w *CronJob) Finish(name string, how cronjob.Ending) {
	c := w.Jobs[name]
	c.Finished, c.FinishTime, c.KeptAs = how, w.Now, KeptAs(how)
	if how == job.ConditionComplete {
		c.CompletionTime = w.Now
	}
	w.Jobs[name] = c
}

// BeginRemoval deletes a job, which stays until its pods are gone. A second deletion changes nothing.
func (w *CronJob) BeginRemoval(name string) {
	c := w.Jobs[name]
	if c.DeletionTimestamp.IsZero() {
		c.DeletionTimestamp = w.Now
	}
	w.Jobs[name] = c
}

// RemovePods ends the pods of all jobs that are being deleted, and so removes these jobs.
func (w *CronJob) RemovePods() {
	maps.DeleteFunc(w.Jobs, func(_ string, c cronjob.Child) bool { return !c.DeletionTimestamp.IsZero() })
}

// state returns the input of the checks of a write.
func (w *CronJob) state() cronjobcheck.State {
	st := cronjobcheck.State{CronJob: &w.CronJob, Options: &w.Options, Triggers: w.Triggers, Backfills: w.Backfills}
	for _, j := range w.Jobs {
		st.AddNeighbour(&j, w.Now)
	}
	return st
}

// note keeps the violations that a check has found.
func (w *CronJob) note(violations []cronjobcheck.Violation) {
	for _, v := range violations {
		w.Failed = append(w.Failed, v)
	}
}

// Err returns the first violated invariant.
func (w *CronJob) Err() error {
	if len(w.Failed) == 0 {
		return nil
	}
	return w.Failed[0]
}
