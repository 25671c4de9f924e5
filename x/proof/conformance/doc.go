// Package conformance plays the same scripts to the unmodified controllers of
// Kubernetes and to the planners of batchplan. After each step it compares
// everything that can be observed: statuses, pods, jobs, events, and every write
// with its time.
//
// Both run in one bubble of testing/synctest, each on its own server, so hours pass in
// milliseconds. Package server is the API server, package script describes what happens, and theirs
// and ours are the controllers. Package probe compares the server's answers with a real
// kube-apiserver's.
//
// # What is left to chance and not compared
//
// The goroutines and caches of the real controllers race. Everything is compared, except:
//
//   - The order of writes within an instant: they are concurrent
//   - Resource versions: they follow from that order
//   - The order of UIDs in the uncounted lists, and of the active jobs of a CronJob: they have
//     none
//   - Which pod the message of a FailJob rule names, once more than one pod has failed: the first
//     that their cache lists
//   - Which pods the events of creations and deletions name: only their number counts: the
//     recorder combines similar events
//   - Which of more than 500 finished pods a job without indexes accounts for first: ours the
//     oldest; theirs follows its cache
//   - Events about an object that has 25 or more: the recorder drops some
//   - Ties in the ranking of pods for deletion: ours by UID; theirs follows its cache
//   - The order of notifications: on the test server, owners come milliseconds before what they
//     own: chance would decide which cache is ahead
//   - Patches of pods that change nothing, or find no pod: theirs also patches pods that the round
//     has deleted
//   - Creations in a namespace that is being deleted: theirs continues the batch after a refusal
//   - For CronJobs, conflicts of status writes, creations of existing objects, deletions of
//     missing objects and their events; fractions of a second: the cache may lack the controller's
//     own last write
//   - The order in which caches start: owners first: a notification about a pod without its job is
//     lost
//   - The number of events about CronJobs; failed deletions of a CronJob's jobs; several status
//     writes in one instant: a conflict repeats a round with its events; theirs stops at the first
//     failed deletion
//   - `stale_sync_skips_total`: the cache and the next round race
//   - How often a round of a CronJob is tried while its cache is behind for minutes: each delay
//     depends on the one before
//   - Orphans, where caches do not show own writes (as before 1.36): theirs adopts a released pod
//     again; ours could count it twice, and does not
//   - The TTL of a CronJob's jobs: the TTL controller and the history race
//   - A script whose outcome differs between two runs of the real controllers: a difference counts
//     only if each replay has it
//
// Where the two sides differ after one of these, the script ends there. Rows are those of
// docs/divergences.md.
//
//   - A look at a CronJob that has several jobs is refused: theirs stops at a point that depends
//     on its cache
//   - The finalizer of a pod whose job was deleted could not be removed: the row "A job was
//     deleted" above
//   - The server refuses a status of a job that the real controller has written and ours has not:
//     the job is stuck (JI2, J16)
//   - A pod has lost its finalizer before it was deleted, or is gone, where caches do not show own
//     writes (as before 1.36): theirs counts the pod again
//   - A look at a job of a CronJob is refused, or one to be replaced is gone: "An active job that
//     the cache ..." and "The job that Replace ..." above
//   - An orphan with the finalizer was adopted and lost the finalizer in one instant: the
//     controllers of jobs and of orphans race
//   - A pod that is recorded as failed has succeeded: "A pod that is deleted counts as failed ..."
//     above
//   - Several failed pods of an index have the finalizer, and the one with the most failures
//     before it has not finished last, or they are equal (J17): ours counts the one with the most
//     failures; theirs follows its cache
//   - "A job of another namespace names the CronJob ..." above
//   - A run has started three times: "A finished job beyond the history limit ..." above
package conformance
