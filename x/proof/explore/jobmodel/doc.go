// Package jobmodel is a Job with its pods and its controllers as a system to explore.
//
// A state holds the job, its pods, the clock, how often each fault may still happen, and for each
// controller: what it has seen, its memory, its expectations and the remaining writes of its round.
// A move is one of these:
//
//   - A round begins. Its next write succeeds, fails, loses its reply, or finds its object changed
//     or gone. A status write may seem to fail and take effect later.
//   - The controller crashes. One object is delivered.
//   - A pod starts, ends, is restarted, deleted or evicted, loses its finalizer, or appears
//     without an owner.
//   - A user suspends, resumes, scales or deletes.
//   - The clock advances to the next requeue, or goes back.
//
// A [Scope] is a spec, the number of pods, and how often each of these may happen. It also names
// the rules that its search must exercise; a search that misses one of them fails.
//
// # Liveness
//
// From every state, calm steps must lead to rest: nothing fails, pods succeed, and controllers act
// only on an event, a retry or a requeue.
//
//   - L1, L9: a job at rest has ended; rest comes within 60 to 80 calm steps.
//   - L2: a job that has ended comes to rest; by JI14 and JI16 its status stays the same.
//   - L3: at rest, the failures exceed backoffLimit if that is the reason for the end, and a
//     complete job has enough successes. Not checked in worlds with edits.
//   - L4, L5: at rest no pod of an ended or deleted job keeps its finalizer, and no UID is
//     uncounted.
//   - L6, L7, JI13: while no controller has a reason to act, a round is requested by the deadline,
//     a suspended job has no active pods (and at rest its condition), and no two active pods share
//     an index.
//   - L8: wherever a write of a Job can fail, lose its reply, be delayed or be cut off by a crash,
//     calm steps lead to the same end as without the fault: condition, reason and, with
//     backoffLimitPerIndex, both index lists. Not checked for pods that fail after the fault, edits
//     and deletions of the job, orphans, restarts in place, and surplus pods.
//
// # What makes a search smaller
//
// Pods that differ only in their UID are the same. UIDs break ties, so a round tries each way to
// assign UIDs to pods that look the same to the controller. Moves that are independent of a write
// are made only after it, and a delivery only when a round begins or its object changes: the
// comment of Expand gives the reasons. TestReductionsReachTheSame switches both off and reaches the
// same statuses and pods. TestModelIsTheWorld compares the model with world.Job. A counterexample
// becomes a story (Model.Story).
//
// # Known exceptions
//
//   - A controller that compares no versions (E6) can plan from a status before the end, and create
//     a pod while the end, or the removal of finalizers from failed pods, is on its way (JI16).
//   - A job that a user deletes before the controller has seen it stays in the active list until
//     the next run (CL2, package cronmodel).
//   - If an index's replacement is deleted as surplus after the wait for unseen writes ran out, the
//     index starts again without failures (JI21), as in Kubernetes: the same round releases the pod
//     that carries the count.
package jobmodel
