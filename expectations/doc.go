// Package expectations remembers writes that have not been observed yet.
//
// A controller that plans from a cache can be asked to plan again before its own writes have come
// back through the watch. It would then create the same pods a second time. Expectations close that
// gap: before writing, the adapter records how many creations and deletions it is about to make;
// each notification lowers one of these numbers. Until both are zero, nothing is created or
// deleted.
//
//   - [Counts] is that record for one job, a plain value (E1, E2).
//   - [UIDs] is the set of pods whose finalizer is being removed. A pod stays in it until it is seen
//     without the finalizer, and is not counted again meanwhile (E4, J8).
//   - [Tracker] keeps both for many jobs and may be used by many goroutines. It
//     is for adapters that watch; the two values need no lock and no clock.
//
// An adapter that watches does four things:
//
//   - Its backend implements jobapply.Expecter by returning [Tracker.Of]. The executor announces
//     each write before it is made, since a notification may arrive before the write returns. Then
//     it lowers the record by the writes that failed or were skipped.
//   - Its watch handlers call [Tracker.Observe] for each pod that is new, has changed or is
//     gone.
//   - Before each round it sets Expectations and Untracking of job.Memory to what
//     [Tracker.Snapshot] returns.
//   - It calls [Tracker.Forget] when the job is gone.
//
// An adapter that reads its own writes (a database, say) needs no tracker: it sets
// job.Snapshot.Consistent.
//
// Comparing versions protects better than counting: if a backend knows the version of its own last
// status write and implements jobapply.Versioned, no round plans from an older version of the job
// (E6).
package expectations
