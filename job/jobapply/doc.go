// Package jobapply carries out the plans of package job over a small backend interface. It makes
// the writes in the plan's order, creates pods with slow start, and limits the number of concurrent
// writes. The status is computed from the results of all writes, so it is correct whatever fails.
//
// The loop of an adapter:
//
//	// snapshot.Consistent is true if the snapshot is sure to contain own writes
//	plan, err := planner.Reconcile(&snapshot)
//	if err != nil {
//		return err // the snapshot breaks the contract
//	}
//	conclusion, err := executor.Apply(ctx, backend, plan)
//	memory = conclusion.Memory // for the next snapshot of this job
//
// Then report conclusion.Events. Plan again at conclusion.Requeue, when a pod or the job
// changes, and after a delay when conclusion.Retry is set.
//
// The interfaces of this package never get another method. A later feature comes as an optional
// interface that the executor asks a backend for, like [Adopter], [Versioned], [Expecter],
// [Grouper] and [Observer] now. A backend that wraps another has a method Unwrap() [Backend], so
// that the executor finds the optional interfaces of the wrapped backend.
package jobapply
