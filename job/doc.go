// Package job decides what a Job controller does: a pure function from a snapshot
// to a plan, with the semantics of Kubernetes 1.37.
//
// A [Snapshot] holds the job's spec and status, its pods, the time, and what the
// controller remembers. [Reconcile] returns a [Plan]: which pods to create and
// delete, which finalizers to remove, when to look again, and why. Nothing here
// reads a clock, talks to a server, starts a goroutine or keeps state; inputs are
// never written to; the same snapshot gives the same plan, byte for byte.
//
// # Duties of an adapter
//
//  1. Read the job and its pods. [DecodeJob] and [DecodePod] take the JSON of
//     Kubernetes; any other backend fills the structs itself. Call [Default] and
//     [Validate] when a job is accepted, unless an API server does.
//  2. Reconcile. An error means that the snapshot breaks the contract: report it, and write
//     nothing.
//  3. Adopt and release pods. With Options.Gangs, write the groups. If anything fails, skip step 4.
//  4. Delete or create pods.
//  5. Write the status that [Plan.Record] returns. If that succeeds, remove the
//     finalizers that the [Recording] names.
//  6. Write the status that [Recording.Settle] returns.
//  7. Keep the memory that [Settlement.Conclude] returns, report its events and metrics, and plan
//     again: soon when Retry is set, when a pod or the job changes, and at the Requeue of the
//     [Conclusion] in any case. A job that has ended needs no more rounds once no pod has the
//     finalizer. [Expire] tells when to delete it.
//
// Each step takes the value of the one before it and the results of the writes in between. The
// order of steps 4, 5 and 6 makes a round safe: a crash between any two writes loses no pod and
// counts none twice (J35).
//
//	recording := plan.Record(job.Writes{Claimed: claimed, Grouped: grouped, Deleted: deleted, Created: created})
//	if recording.Write {
//		recorded = write(recording.Status)
//	}
//	if !recording.Write || recorded.Result == jobreason.ResultDone {
//		untracked = untrack(recording.Untrack)
//	}
//	settlement := recording.Settle(recorded, untracked)
//	if settlement.Write {
//		settled = write(settlement.Status)
//	}
//	conclusion := settlement.Conclude(settled)
//
// An adapter that executes plans elsewhere stores the plan and its [Outcome]; [Plan.Conclude] is
// the chain in one step. Package job/jobapply does steps 3 to 7 over a small interface:
//
//	for {
//		// snapshot.Consistent is true if the snapshot is sure to contain own writes
//		plan, err := planner.Reconcile(&snapshot)
//		if err != nil {
//			return err
//		}
//		conclusion, err := executor.Apply(ctx, backend, plan)
//		memory = conclusion.Memory
//		// wait for a change, for conclusion.Requeue, or for the retry delay; then
//		// make the next snapshot, with memory in it
//	}
//
// # Words
//
// Active, tracked, recorded, verdict and the other words of this package are
// explained in docs/glossary.md of the repository.
//
// Rules are cited by number: J17 is in docs/rules.md, the invariant JI9 in
// docs/invariants.md. KEP-3850 is an enhancement proposal of Kubernetes. "Quirk:"
// marks odd behaviour that is kept on purpose.
//
// # Compatibility
//
// The zero [Options] are recommended. Their behaviour may improve in a release; its notes list such
// changes under "Semantics". The decisions under [Kubernetes] for a given release do not change.
// Fields may be added to all structs: use named fields in literals.
package job
