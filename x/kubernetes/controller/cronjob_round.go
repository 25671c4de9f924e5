package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// cronRound is one round of a CronJob. A round may make several plans: each builds on the writes of
// the one before, which the caches do not show yet.
type cronRound struct {
	*CronJobs
	key      types.NamespacedName
	object   Object // as the plan saw it
	snapshot cronjob.Snapshot
	planner  *cronjob.Planner
	report   CronReport // of the last plan
}

// Reconcile runs one round of one CronJob. It returns the time when the next round is due even if
// nothing changes, or the zero time. An error requests another round soon.
func (c *CronJobs) Reconcile(ctx context.Context, key types.NamespacedName) (next time.Time, err error) {
	object := c.at(key)
	if object == nil || !c.takes(object) {
		return next, c.forget(ctx, key, object == nil)
	}

	c.kept.add(key)
	value := c.kind.value(object)
	r := &cronRound{CronJobs: c, key: key, object: object, planner: c.planners.Get().(*cronjob.Planner)}
	memory, err := c.options.Memories.Get(ctx, key)
	err = ofMemory(err)
	r.snapshot = cronjob.Snapshot{
		CronJob:  value,
		Now:      c.options.clock().Now(),
		Schedule: c.compile(key, object, &value),
		Memory:   memory,
		Options:  c.options.Planner,
	}
	r.look(&value)
	err = errors.Join(err, r.readRequests(ctx))

	if err == nil {
		next, err = r.run(ctx)
	} else {
		r.report = CronReport{Schedule: r.snapshot.Schedule, Err: err}
		err = c.of(key, err)
	}

	if isReported(ctx, err) {
		err = told(err, c.kind.tell(ctx, r.object, &r.report))
	}
	c.planners.Put(r.planner) // not after a panic
	return next, err
}

// readRequests reads the requests into the snapshot.
func (r *cronRound) readRequests(ctx context.Context) error {
	if r.options.Requests == nil {
		return nil
	}
	open, err := r.options.Requests.Get(ctx, r.key)
	if err != nil {
		return ofRequests(err)
	}
	r.snapshot.Triggers, r.snapshot.Backfills = open.Triggers, open.Backfills
	return nil
}

// look reads the children into the snapshot.
func (r *cronRound) look(value *cronjob.CronJob) {
	r.snapshot.Children = nil
	for _, j := range r.children(r.object) {
		r.snapshot.Children = append(r.snapshot.Children, r.kind.child(value, j, &r.options.Planner))
	}
}

// mostTurns is the highest number of plans in a round. After that many, the next round waits for
// aBreath, so that no sequence of plans holds up a worker (CL5).
const (
	mostTurns = 10
	aBreath   = time.Second
)

// run makes plans and carries them out until nothing is due immediately, at most mostTurns.
func (r *cronRound) run(ctx context.Context) (next time.Time, err error) {
	for range mostTurns {
		end, written, err := r.plan(ctx)
		if err != nil {
			return time.Time{}, err
		}
		if written == nil || end.Requeue.At.IsZero() || end.Requeue.At.After(r.snapshot.Now) {
			return end.Requeue.At, nil
		}

		// The next plan builds on what was written, and on what has happened since.
		r.snapshot.Memory = end.Memory
		value := r.kind.value(written)
		r.snapshot.CronJob.Status, r.snapshot.Now = value.Status, r.options.clock().Now()
		r.look(&value)
	}
	return r.snapshot.Now.Add(aBreath), nil
}

// plan makes one plan and carries it out. It returns the written CronJob, or nil.
func (r *cronRound) plan(ctx context.Context) (end cronjob.Conclusion, written Object, err error) {
	r.report = CronReport{Schedule: r.snapshot.Schedule}
	plan, object, err := r.decide(ctx)
	if r.report.Err = err; err != nil {
		if isInvalid(err) {
			round := CronJobRound{Snapshot: &r.snapshot, Plan: &cronjob.Plan{}, Metrics: &cronjob.Metrics{}}
			events := []job.Event{{
				Type:    job.EventWarning,
				Reason:  "Invalid" + r.kind.parent().Kind,
				Message: err.Error(),
			}}
			r.options.report(ctx, r.object, true, r.edited(r.object, round, events)...)
		}
		return end, nil, r.of(r.key, err)
	}

	r.log(ctx, plan)

	r.report.Plan = plan
	b := r.newBackend(object)
	end, err = cronjobapply.Executor{}.Apply(ctx, b, plan)
	r.report.Err = err
	if r.object = object; b.written() != nil {
		r.object = b.written()
	}
	if lost := r.conclude(ctx, object, plan, &end); lost != nil {
		r.report.Err = errors.Join(err, lost)
		return end, nil, errors.Join(err, r.of(r.key, lost))
	}

	switch {
	case !end.Retry:
		return end, b.written(), nil
	case r.passesGone(plan, &end.Outcome):
		r.snapshot.Memory = end.Memory
		again, written, failed := r.plan(ctx)
		if failed == nil && written == nil {
			failed = err // the status still names the jobs that are gone
		}
		return again, written, failed
	}
	return end, nil, err
}

// decide makes a plan. The cache of jobs may be ahead of the cache of CronJobs (C3). So if the plan
// finds jobs that are missing in the cached status, and the status on the server has them, decide
// plans again from the status on the server.
func (r *cronRound) decide(ctx context.Context) (*cronjob.Plan, Object, error) {
	if err := r.kind.check(r.object); err != nil {
		return nil, nil, invalid{err}
	}

	plan, err := r.planner.Reconcile(&r.snapshot)
	if err != nil || len(plan.Unexpected) == 0 {
		return plan, r.object, err
	}

	fresh, err := r.newBackend(r.object).reread(ctx)
	if err != nil {
		return nil, nil, err
	}

	status := r.kind.value(fresh).Status
	named := func(unexpected cronjob.Reference) bool {
		return slices.ContainsFunc(status.Active, func(a cronjob.Reference) bool { return a.UID == unexpected.UID })
	}
	isEdited := fresh.GetGeneration() != r.object.GetGeneration() // writing the cached version will be a conflict
	if isEdited || !slices.ContainsFunc(plan.Unexpected, named) {
		return plan, r.object, nil
	}

	r.snapshot.CronJob.Status = status
	plan, err = r.planner.Reconcile(&r.snapshot)
	if !r.snapshot.Options.Quirks.IsZero() {
		fresh = r.object // the built-in controller writes the cached version, which is a conflict
	}
	return plan, fresh, err
}

// conclude stores and reports the results of a plan. It returns an error if the memory or the
// requests could not be stored.
func (r *cronRound) conclude(ctx context.Context, object Object, plan *cronjob.Plan, end *cronjob.Conclusion) error {
	round := CronJobRound{&r.snapshot, plan, end.Outcome, &end.Metrics}
	if r.options.Hooks.Round != nil {
		r.options.Hooks.Round(round)
	}
	if r.options.Metrics.Round != nil {
		r.options.Metrics.Round(round)
	}

	lost := ofMemory(r.options.Memories.Set(ctx, r.key, end.Memory))
	events := end.Events
	for i := range events { // the events belong to this round
		events[i].Message = r.kind.says(events[i].Message)
	}
	isRefusal := func(e cronjob.Effect) bool { return e.Result == cronjobreason.ResultRefused }
	isRefused := slices.ContainsFunc(end.Outcome.Created, isRefusal)
	if isRefused {
		namespace, asKubernetes := r.snapshot.CronJob.Namespace, !r.options.Planner.Quirks.IsZero()
		events = append(events, closing(ctx, object, r.kind.childKind(), namespace, asKubernetes)...)
	}
	isLogged := end.Retry && !isRefused // as the error of the round
	r.options.report(ctx, object, isLogged, r.edited(object, round, events)...)

	if len(end.Triggered)+len(end.Backfills) == 0 {
		return lost
	}
	if err := r.options.Requests.Advance(ctx, r.key, Advance{end.Triggered, end.Backfills}); err != nil {
		return errors.Join(lost, ofRequests(err))
	}
	return errors.Join(lost, r.readRequests(ctx))
}

// edited returns the events to report about a parent.
func (r *cronRound) edited(about Object, round CronJobRound, events []job.Event) []job.Event {
	if r.options.EditEvents == nil {
		return events
	}
	return r.options.EditEvents(about, round, events)
}

// passesGone removes from the snapshot's status the active jobs that the round has found to be
// gone, and reports whether there were any. Forbid has held back a run because of these jobs. The
// built-in controller starts that run in the same round, even if the status cannot be written,
// whereas the planner would write the status first.
func (r *cronRound) passesGone(plan *cronjob.Plan, o *cronjob.Outcome) bool {
	s := &r.snapshot.CronJob
	if !r.options.LiveReads || s.Spec.ConcurrencyPolicy != cronjob.Forbid {
		return false
	}

	gone := map[job.UID]bool{}
	for i, look := range o.Verified {
		if look.Result == cronjobreason.ResultGone {
			gone[plan.Verify[i].UID] = true
		}
	}

	left := slices.DeleteFunc(slices.Clone(s.Status.Active), func(a cronjob.Reference) bool { return gone[a.UID] })
	passed := len(left) < len(s.Status.Active)
	s.Status.Active = left
	return passed
}

// log logs each decision with its reason.
func (r *cronRound) log(ctx context.Context, plan *cronjob.Plan) {
	log := klog.FromContext(ctx).V(4)
	if !log.Enabled() {
		return
	}
	for line := range strings.Lines(plan.String()) {
		log.Info("decision", r.kind.logKey(), r.key, "decision", r.kind.says(strings.TrimSpace(line)))
	}
}

// cronBackend is the backend of one plan.
type cronBackend struct {
	writer
	options *CronJobOptions
}

func (r *cronRound) newBackend(object Object) *cronBackend {
	return &cronBackend{r.kind.newBackend(object, &r.report), &r.options}
}

// Delete implements [cronjobapply.Backend]. With Planner.Quirks, Delete fails if the job is gone:
// the built-in controller reports a failure then, and tries again.
func (b *cronBackend) Delete(ctx context.Context, d cronjob.Deletion) error {
	if b.options.LiveReads && d.Reason == cronjobreason.DeleteReplaced {
		if _, err := b.Get(ctx, d.Name); err != nil {
			return err
		}
	}
	err := b.writer.Delete(ctx, d)
	if errors.Is(err, cronjobapply.ErrGone) && !b.options.Planner.Quirks.IsZero() {
		return fmt.Errorf("jobs.batch %q not found", d.Name)
	}
	return err
}
