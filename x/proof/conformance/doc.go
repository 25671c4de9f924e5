// Package conformance plays the same scripts to the unmodified controllers of
// Kubernetes and to the planners of batchplan. After each step it compares
// everything that can be observed: statuses, pods, jobs, events, and every write
// with its time.
//
// Both run in one bubble of testing/synctest, each on its own server, so hours pass in
// milliseconds. Package server is the API server, and package script describes what happens.
// Package theirs runs the controllers of Kubernetes, and package ours those of batchplan. Below,
// "theirs" and "ours" mean these controllers. Package probe compares the server's answers with a
// real kube-apiserver's.
//
// # What is left to chance and not compared
//
// The goroutines and caches of the real controllers race. Everything is compared except the
// following, for the reason after the colon:
//
//   - The order of writes within an instant: controllers write concurrently
//   - Resource versions: they follow from that order
//   - The order of UIDs in the uncounted lists, and of the active jobs of a CronJob: it has no
//     meaning
//   - Which pod the message of a FailJob rule names, once more than one pod has failed: theirs
//     takes the first that its cache lists
//   - Which pods the events of creations and deletions name, but not how many there are: the
//     recorder combines similar events
//   - Which 500 pods a job without indexes accounts for first, if more than 500 have finished: ours
//     takes the oldest; theirs follows the order of its cache
//   - Events about an object that has 25 events or more: the recorder drops some
//   - Ties in the ranking of pods for deletion: ours breaks them by UID; theirs follows the order
//     of its cache
//   - The order of notifications: on the test server, notifications about an owner come some
//     milliseconds before those about its objects; otherwise chance would decide which cache is
//     ahead
//   - Patches of pods that change nothing, or find no pod: theirs also patches pods that the round
//     has deleted
//   - Creations in a namespace that is being deleted: theirs continues the batch after a refusal
//   - For CronJobs, fractions of a second, conflicts of status writes, creations of existing
//     objects, deletions of missing objects, and the events about these: the cache may lack the
//     controller's own last write
//   - The order in which caches start, which is owners first: a notification about a pod is lost if
//     its job is not yet in the cache
//   - The number of events about CronJobs, and several status writes in one instant: a conflict
//     repeats a round with its events
//   - Failed deletions of a CronJob's jobs: theirs stops at the first one
//   - `stale_sync_skips_total`: the cache and the next round race
//   - How often a round of a CronJob is tried while its cache is behind for minutes: each delay
//     depends on the one before
//   - Orphans, where caches do not show own writes (as before 1.36): theirs may adopt a released
//     pod again; ours does not, since the pod could count twice
//   - The TTL of a CronJob's jobs: the TTL controller and the history race
//   - A script whose outcome differs between two runs of the real controllers: a difference counts
//     only if each replay shows the difference
//
// After each of the following events, the two sides may differ. If they do, the script ends there.
// A text in quotes is the beginning of a row of docs/divergences.md.
//
//   - A read of a CronJob that has several jobs is refused: theirs stops at a point that depends on
//     its cache
//   - The finalizer of a pod whose job was deleted could not be removed: "A job was deleted, and
//     the finalizer ..."
//   - The server refuses a job's status that only the real controller writes: the job is stuck
//     (JI2, J16)
//   - A pod has lost its finalizer before it was deleted, or is gone, where caches do not show own
//     writes (as before 1.36): theirs counts the pod again
//   - A read of a CronJob's job is refused, or a job to be replaced is gone: "An active job that
//     the cache ..." and "The job that Replace ..."
//   - An orphan with the finalizer was adopted and lost the finalizer in one instant: the
//     controllers of jobs and of orphans race
//   - A pod that is recorded as failed has succeeded: "A pod that is deleted counts as failed ..."
//   - Several failed pods of an index have the finalizer, and the pod with the highest failure
//     count is not the last one that finished, or the pods are equal (J17): ours counts the pod
//     with the highest count; theirs follows the order of its cache
//   - A job of another namespace names the CronJob as its controller: "A job of another namespace
//     ..."
//   - A run has started three times: "A finished job beyond the history limit ..."
package conformance
