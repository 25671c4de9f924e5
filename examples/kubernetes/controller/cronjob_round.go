package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/examples/kubernetes/backend"
	"github.com/batchplan/batchplan/examples/kubernetes/convert"
	"github.com/batchplan/batchplan/job"
)

// cronRound is one round of a CronJob. A round may make several plans: the next one builds on
// what the last has written, which the caches do not show yet.
type cronRound struct {
	*CronJobs
	key      types.NamespacedName
	object   *batchv1.CronJob // as the plan saw it
	snapshot cronjob.Snapshot
	planner  *cronjob.Planner
}

// Reconcile is one round of one CronJob. It returns when the next one is due although nothing
// happens, or the zero time. An error asks for another one soon.
func (c *CronJobs) Reconcile(ctx context.Context, key types.NamespacedName) (next time.Time, err error) {
	object := c.at(key)
	if object == nil || !c.takes(object) {
		c.forget(key)
		return next, nil
	}
	value := convert.CronJob(object)
	r := &cronRound{CronJobs: c, key: key, object: object, planner: c.planners.Get().(*cronjob.Planner)}
	r.snapshot = cronjob.Snapshot{
		CronJob: value, Now: time.Now(), Schedule: c.compile(key, &value),
		Memory: c.options.Memories.Get(key), Options: c.options.Planner,
	}
	for _, j := range c.children(object) {
		r.snapshot.Children = append(r.snapshot.Children, convert.Child(&value, j))
	}
	if c.options.Requests != nil {
		r.snapshot.Triggers, r.snapshot.Backfills = c.options.Requests.Get(key)
	}
	next, err = r.run(ctx)
	c.planners.Put(r.planner) // and not after a panic
	return next, err
}

// run plans and acts until nothing is left to do at once.
func (r *cronRound) run(ctx context.Context) (next time.Time, err error) {
	for {
		end, written, err := r.plan(ctx)
		if err != nil {
			return time.Time{}, err
		}
		if written == nil || end.Requeue.At.IsZero() || end.Requeue.At.After(r.snapshot.Now) {
			return end.Requeue.At, nil
		}
		r.object, r.snapshot.Memory = written, end.Memory
		r.snapshot.CronJob.Status = convert.CronJob(written).Status
	}
}

// plan makes one plan and carries it out. It returns the CronJob if that was written.
func (r *cronRound) plan(ctx context.Context) (end cronjob.Conclusion, written *batchv1.CronJob, err error) {
	plan, object, err := r.decide(ctx)
	if err != nil {
		var invalid *job.InputError
		if errors.As(err, &invalid) {
			r.options.report(ctx, r.object, true, job.Event{Type: job.EventWarning, Reason: "InvalidCronJob", Message: err.Error()})
		}
		return end, nil, fmt.Errorf("CronJob %s: %w", r.key, err)
	}
	r.log(ctx, plan)
	b := r.newBackend(object)
	end, err = cronjobapply.Executor{}.Apply(ctx, b, plan)
	r.conclude(ctx, object, plan, &end)
	switch {
	case !end.Retry:
		return end, b.written, nil
	case r.passesGone(plan, &end.Outcome):
		r.snapshot.Memory = end.Memory
		again, written, failed := r.plan(ctx)
		if failed == nil && written == nil {
			failed = cmp.Or(err, error(errOwnWrites)) // the status still names the jobs that are gone
		}
		return again, written, failed
	}
	return end, nil, cmp.Or(err, error(errOwnWrites))
}

var errOwnWrites = errors.New("the caches do not show the controller's own writes yet")

// decide plans. The children may be ahead of the cache of CronJobs (C3): if the plan finds
// jobs that the status does not name and a fresh look does, it plans from that.
func (r *cronRound) decide(ctx context.Context) (*cronjob.Plan, *batchv1.CronJob, error) {
	plan, err := r.planner.Reconcile(&r.snapshot)
	if err != nil || len(plan.Unexpected) == 0 {
		return plan, r.object, err
	}
	fresh, err := r.client.BatchV1().CronJobs(r.object.Namespace).Get(ctx, r.object.Name, metav1.GetOptions{})
	if err != nil {
		return nil, nil, err
	}
	status := convert.CronJob(fresh).Status
	named := func(unexpected cronjob.Reference) bool {
		return slices.ContainsFunc(status.Active, func(a cronjob.Reference) bool { return a.UID == unexpected.UID })
	}
	if !slices.ContainsFunc(plan.Unexpected, named) {
		return plan, r.object, nil
	}
	r.snapshot.CronJob.Status = status
	plan, err = r.planner.Reconcile(&r.snapshot)
	if r.snapshot.Options.Quirks != 0 {
		fresh = r.object // the built-in controller writes on the version of the cache, a conflict
	}
	return plan, fresh, err
}

// conclude keeps and reports what a plan has led to.
func (r *cronRound) conclude(ctx context.Context, object *batchv1.CronJob, plan *cronjob.Plan, end *cronjob.Conclusion) {
	if r.options.Hooks.Round != nil {
		r.options.Hooks.Round(&r.snapshot, plan, end.Outcome)
	}
	if r.options.Metrics != nil {
		r.options.Metrics.CronJobRound(&end.Metrics)
	}
	r.options.Memories.Set(r.key, end.Memory)
	r.options.report(ctx, object, end.Retry, end.Events...)
	if r.options.Requests != nil && len(end.Triggered)+len(end.Backfills) > 0 {
		r.options.Requests.Advance(r.key, end.Triggered, end.Backfills)
		r.snapshot.Triggers, r.snapshot.Backfills = r.options.Requests.Get(r.key)
	}
}

// passesGone takes the active jobs that the round has found gone off the snapshot's list, and
// reports whether there were any. The built-in controller starts the run that Forbid has held
// back for them in the same round, whether or not the status can be written; the planner
// would first write the status.
func (r *cronRound) passesGone(plan *cronjob.Plan, o *cronjob.Outcome) bool {
	s := &r.snapshot.CronJob
	if !r.options.LiveReads || s.Spec.ConcurrencyPolicy != cronjob.Forbid {
		return false
	}
	gone := map[job.UID]bool{}
	for i, result := range o.Verified {
		if result == cronjob.ResultGone {
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
		log.Info("decision", "cronJob", r.key, "decision", strings.TrimSpace(line))
	}
}

// cronBackend is the backend of one plan.
type cronBackend struct {
	*backend.CronJob
	options *CronJobOptions
	written *batchv1.CronJob
}

func (r *cronRound) newBackend(object *batchv1.CronJob) *cronBackend {
	b := &cronBackend{CronJob: backend.NewCronJob(r.client, object), options: &r.options}
	b.Wrote = func(o *batchv1.CronJob) { b.written = o }
	return b
}

// Delete implements [cronjobapply.Backend]. With quirks, a job that is gone is a failure: the
// built-in controller reports one, and tries again.
func (b *cronBackend) Delete(ctx context.Context, d cronjob.Deletion) error {
	if b.options.LiveReads && d.Reason == cronjob.DeleteReplaced {
		if _, err := b.Get(ctx, d.Name); err != nil {
			return err
		}
	}
	err := b.CronJob.Delete(ctx, d)
	if errors.Is(err, cronjobapply.ErrGone) && b.options.Planner.Quirks != 0 {
		return fmt.Errorf("jobs.batch %q not found", d.Name)
	}
	return err
}
