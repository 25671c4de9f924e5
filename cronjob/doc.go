// Package cronjob decides what a CronJob controller does: which run is due, which jobs to create
// and delete, what to write into the status, and when to plan again. It is the CronJob controller
// of Kubernetes as a pure function: it reads only the snapshot and returns a plan.
//
//	compiled := cronjob.Compile(&cronJob) // once, and after schedule or timeZone change
//	...
//	plan, err := cronjob.Reconcile(cronjob.Snapshot{
//		CronJob: cronJob, Children: children, Now: clock(), Schedule: compiled, Memory: memory,
//	})
//	if err != nil {
//		return err // the snapshot breaks the contract; the error names the field
//	}
//	var writes cronjob.Writes
//	writes.Verified = lookUp(plan.Verify)
//	writes.Deleted = remove(plan.Delete)
//	if plan.MayCreate(writes) {
//		writes.Created = create(plan.Create)
//	}
//	settlement := plan.Settle(writes)
//	var settled cronjob.Reply
//	if settlement.Write {
//		settled = write(settlement.Status)
//	}
//	conclusion := settlement.Conclude(settled)
//	memory = conclusion.Memory
//
// Then report the conclusion's events and plan again at its Requeue, sooner if its Retry is set.
// Package cronjob/cronjobapply does everything after Reconcile through a backend of four methods.
// An adapter that executes plans elsewhere stores the plan and its [Outcome], and calls
// [Plan.Conclude] for all steps from Settle on.
//
// # Duties of the adapter
//
// In this order; a crash may happen between any two steps:
//
//  1. Call [Compile] outside the rounds, once for each schedule and timeZone: it
//     reads the zone database and parses. A round does neither.
//  2. Read the CronJob and all jobs that could be its children. The children may be
//     stale: a run cannot start twice, since its job's name is taken (C13). CronJob and
//     children may both lack the controller's own writes for a while: the memory has
//     them (CI15). A snapshot that is read from a database in one transaction contains
//     all writes: then set [Snapshot.Consistent].
//  3. Reconcile. Carry out the plan in the order of its fields: look up Verify,
//     delete, create if MayCreate, write the status that Settle returns. The status
//     write is conditional on the version that was read.
//  4. If a creation is refused because the name exists, read that job. The result is
//     ResultAlreadyExists if the CronJob is its controller, otherwise ResultNameTaken (C14).
//  5. Keep the memory, report the events and drop the triggers that the conclusion
//     names. Store the backfills that it hands back before the next round, so that no
//     restart forgets them. Plan again at its Requeue, when the CronJob or one of its
//     jobs changes, and soon if Retry is set. After a change of schedule or timeZone,
//     compile first (C17).
//
// # Children that are not jobs
//
// A [Child] is anything with a name and a UID that starts and ends. [Options] define its kind, how
// its name follows from its run ([Naming]), where it stores the time of the run ([Marks]), and
// which status fields the CronJob's kind lacks. Besides Complete and Failed, a Child can have other
// endings. None of that needs package job.
//
// # Exactness
//
// The due run is the latest in (earliest, now] for every schedule, and the number of missed runs is
// exact; neither takes longer to find after ten years than after a day. Kubernetes estimates both,
// and so often starts nothing after an outage if the schedule is irregular; [Kubernetes] restores
// that. docs/divergences.md lists all differences.
//
// # Words
//
// Run, due, recorded, held, missed and the other words of this package are
// explained in docs/glossary.md of the repository.
//
// # Compatibility
//
// The zero [Options] are recommended. Their behaviour may improve in a release; its notes list such
// changes under "Semantics". The decisions under [Kubernetes] for a given release do not change.
// Fields may be added to all structs: use named fields in literals. Sentences (messages of waits and
// notes) may change.
//
// [Namer] never gets another method. A later feature would be an optional interface that embeds
// Namer and adds a method.
package cronjob
