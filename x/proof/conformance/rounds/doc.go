// Package rounds compares single rounds: the real controllers and ours get the same
// random snapshot, and everything that they do with it is compared. Rounds reach
// states that whole lives rarely reach. Without a server, a cache and a queue,
// thousands of them take one second.
//
// The code that calls the real controllers needs the build tag of package overlay.
//
// # What explains a difference
//
// Only these explain a difference. Some are rows of docs/divergences.md, and two are explained in
// the comment of package conformance.
//
//   - The order in which a cache lists objects: with another order, theirs agrees
//   - A UID is in both uncounted lists (JI2): a row of docs/divergences.md
//   - A failed index whose other pod succeeds in the same round (J16): a row of docs/divergences.md
//   - The status holds an index list that is not in order: theirs lets a counter decrease, and
//     panics; ours reads the list as a set
//   - A pod is recorded as failed and has succeeded, or the other way round (J8): theirs counts
//     the pod again and may complete the job
//   - Of several failed pods of an index, one has more failures and another has ended later (J17):
//     theirs keeps the one listed first, ours the one with more failures
//   - A workload of another size has no pod group yet (J45): theirs creates the group with the
//     workload's size and resizes it; ours creates it with the new size
//   - A suspended job ends (J38, J39): a row of docs/divergences.md
//   - Which pods are recorded, if too many end in a round: theirs follows the order of its cache
//   - Which pod the message of a FailJob rule names, once more than one pod has failed: see package
//     conformance; here theirs lists orphans last
//   - Some finalizers of a round can be removed and others cannot (J42): the metric of theirs never
//     counts the pods whose finalizers were removed
//   - A ready pod is gone before its finalizer could be removed (J11): theirs counts it as ready
//     for a round, and the status can be refused
//   - The start time lies in the future (JI17): ours completes the job at the start time, since a
//     server refuses an end before it
//   - A failed pod has no time at all, not even a creation time (J32): to theirs it failed in the
//     year 1, so there is no backoff; to ours it failed in the round that first sees it
//   - `status.succeeded` is not the number of completed indexes: ours writes it immediately,
//     theirs with its next write
//   - Orphans, where caches do not show own writes (as before 1.36): see package conformance
//   - Another job now has the name of an active job (C5): theirs compares only the name, and keeps
//     the entry
//   - A write of the status that changes nothing, and fails: theirs always writes the status after
//     a deletion from the history
//   - The first job that cannot be deleted or read ends the round: ours tries the others as well
//   - A status cannot be written, and an active job is gone (C5, C11): a row of docs/divergences.md
package rounds
