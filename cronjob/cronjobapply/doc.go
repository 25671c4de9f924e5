// Package cronjobapply carries out the plans of package cronjob over a small backend interface: the
// reads and writes in the plan's order, creations only if [cronjob.Plan.MayCreate] allows them, a
// bounded number of concurrent deletions. The status is computed from all results, so it is true
// even after failures.
//
// The loop of an adapter follows. Its snapshots are Consistent only if they are read from a
// database in one transaction.
//
//	plan, err := planner.Reconcile(&snapshot)
//	if err != nil {
//		return err // the snapshot breaks the contract
//	}
//	conclusion, err := executor.Apply(ctx, backend, plan)
//	memory = conclusion.Memory // for the next snapshot of this CronJob
//
// Then report conclusion.Events, drop the triggers and store the backfills that the
// conclusion names. Plan again at conclusion.Requeue, when the CronJob or one of its jobs
// changes, and after a delay when conclusion.Retry is set.
//
// The interfaces of this package never get another method. A later feature would be an optional
// interface like [Observer], which the executor looks for. A backend that wraps another needs a
// method Unwrap() [Backend], so that the executor finds the optional interfaces of the wrapped
// backend.
package cronjobapply
