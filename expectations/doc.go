// Package expectations remembers what was written and has not been seen yet.
//
// A controller that plans from a cache can be asked to plan again before its own
// writes have come back through the watch. It would then create the same pods a
// second time. Expectations close that gap: before writing, the adapter records
// how many creations and deletions it is about to do; every notification takes
// one off; and while some are missing, nothing is created or deleted.
//
//   - [Counts] is that record for one job, a plain value (E1, E2).
//   - [UIDs] is the set of pods that were asked to lose their finalizer and have
//     not been seen without it; a pod in it is not counted again (E4, J8).
//   - [Tracker] keeps both for many jobs and may be used by many goroutines. It
//     is for adapters that watch; the two values need no lock and no clock.
//
// An adapter that watches calls [Tracker.Expect] before the writes, since a
// notification may arrive before the write returns; [Tracker.Lower] for writes
// that failed or were skipped; the Observed methods from its watch handlers; and
// [Tracker.Forget] when the job is gone. An adapter that reads its own writes (a
// database, say) needs no tracker: it sets job.Snapshot.Consistent.
//
// A stronger protection than counting is to compare versions: an adapter that
// knows the version of its own last status write puts it into job.Memory.Written,
// and a snapshot of an older job is not planned from (E6).
package expectations
