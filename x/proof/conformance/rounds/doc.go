// Package rounds compares single rounds: the real controllers and ours get the same
// random snapshot, and everything that they do with it is compared. Rounds reach
// states that whole lives rarely reach. Without a server, a cache and a queue,
// thousands of them take one second.
//
// The code that calls the real controllers needs the build tag of package overlay.
//
// # What explains a difference
//
// Besides the rows of docs/divergences.md, which "above" means here, only these explain a difference:
//
//   - The order in which a cache lists objects: theirs agrees with another order
//   - A UID is in both uncounted lists (JI2): above
//   - A failed index whose other pod succeeds in the same round (J16): above
//   - The status holds an index list that is not in order: their counters decrease, and it panics;
//     ours reads the set
//   - A pod is recorded as failed and has succeeded, or the other way round (J8): theirs counts
//     the pod again and may complete the job
//   - Of several failed pods of an index, one has more failures and another has ended later (J17):
//     theirs keeps the one listed first, ours the one with more failures
//   - A suspended job ends (J38, J39): above
//   - More pods finish in a round than it records: which of them: theirs follows its cache
//   - Which pod the message of a FailJob rule names, once more than one pod has failed: above;
//     theirs lists orphans last
//   - Some finalizers of a round can be removed and others cannot (J42): their metric never counts
//     these pods
//   - A ready pod is gone before its finalizer could be removed (J11): theirs counts it as ready
//     for a round, and the status can be refused
//   - The start time lies in the future (JI17): ours completes at the start time: a server refuses
//     an end before it
//   - A failed pod has no time at all, not even a creation time (J32): theirs: it failed in the
//     year 1, without backoff; ours: in the round that first sees it
//   - `status.succeeded` is not the number of completed indexes: ours writes it immediately,
//     theirs with its next write
//   - Orphans, where caches do not show own writes (as before 1.36): above
//   - An active job's name is another job's by now (C5): theirs compares only the name, and keeps
//     the entry
//   - A write of the status that changes nothing, and fails: theirs always writes after a deletion
//     from the history
//   - The first job that cannot be deleted or read ends the round: only in theirs
//   - A status cannot be written, and an active job is gone (C5, C11): above
package rounds
