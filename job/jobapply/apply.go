package jobapply

import (
	"context"
	"errors"
	"fmt"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/step"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Backend makes the writes of a plan. Its methods are called concurrently, except for WriteStatus.
// An [Executor] with Parallel 1 calls none of them concurrently.
//
// An error means that the write did not take effect, or that this is unknown. Three errors are more
// precise: [ErrGone], [ErrStillTracked] and [ErrNamespaceTerminating].
type Backend interface {
	// Delete requests the deletion of the pod, on condition of its UID. From then on, snapshots
	// have job.Pod.Deletion set, as long as the pod runs or has the finalizer. With d.UntrackFirst,
	// Delete removes the finalizer first, in the same transaction if it can. The removal is
	// conditional on d.ResourceVersion, unless that is empty. Without the condition, the success of
	// a pod that has ended in the meantime would be lost (JI9).
	Delete(ctx context.Context, d job.Deletion) error
	// Create creates a pod with the finalizer and returns its name and UID. No pod may ever
	// have had that UID.
	Create(ctx context.Context, c job.Creation) (job.PodRef, error)
	// Untrack removes the finalizer, on condition of the pod's UID. u.As tells how the status
	// counts the pod.
	Untrack(ctx context.Context, u job.Untracking) error
	// WriteStatus replaces the job's status, on condition that the job has not changed since the
	// snapshot, or since the last WriteStatus of the round. If the job has changed, return any
	// error; the next round takes a new snapshot.
	WriteStatus(ctx context.Context, s job.Status) error
}

// Adopter is a Backend whose pods can change their owner, because it has labels and selectors. A
// plan that adopts or releases pods fails on any other Backend.
type Adopter interface {
	Backend
	// Adopt makes the job the pod's controller and adds the finalizer, after it has read the job
	// again (J6). It must leave alone a pod that has a controller by now: with a new finalizer, the
	// pod could be counted again. So the write is conditional on pod.ResourceVersion, unless that
	// is empty. ErrGone ends the round without an error, and the next round plans without the pod.
	Adopt(ctx context.Context, pod job.Claim) error
	// Release removes the controller reference and the finalizer (J6).
	Release(ctx context.Context, pod job.Claim) error
}

// Versioned is a Backend that knows the version of the job after a status write. The version goes
// into the Reply and Memory.Written. No round plans until a snapshot shows it (E6).
type Versioned interface {
	Backend
	// JobVersion returns the version of the job after the last WriteStatus, in the form of
	// Job.Version in a snapshot; 0 means unknown. It is called only after a WriteStatus without an
	// error.
	JobVersion() int64
}

// Grouper is a Backend that has workloads and pod groups, for plans with job.Options.Gangs. A plan
// that needs them fails on any other Backend.
type Grouper interface {
	Backend
	// WriteGroup creates or resizes a workload or a pod group, and returns its UID. It is called
	// for one object after the other, before the first Delete or Create. A creation must fail if
	// the name is taken. A resize changes only the size, on condition of the UID. If this round has
	// created the workload, g.Workload of its pod group has the UID that WriteGroup has returned.
	// Likewise, the Group of a creation has the UID of a pod group that this round has created.
	WriteGroup(ctx context.Context, g jobgroup.Write) (job.UID, error)
}

// Observer is a Backend whose status has more than a Job's, such as conditions of its own.
type Observer interface {
	Backend
	// Executed is called once in a round, with the results of the writes before the first status,
	// even if that status needs no write.
	Executed(job.Writes)
}

// ErrGone is the error of Delete, Untrack and Release for a pod that no longer exists. The write
// then counts as done. Adopt can return it as well.
var ErrGone = errors.New("the pod is gone")

// ErrStillTracked is the error of Delete when the finalizer could not be removed: the pod was not
// deleted, and no event reports that.
var ErrStillTracked = errors.New("the finalizer is still there")

// ErrNamespaceTerminating is the error of Create when the namespace is being deleted and takes no
// more pods. There is nothing to retry (J34).
var ErrNamespaceTerminating = step.ErrNamespaceTerminating

// Expecter is a Backend whose program sees its own writes late, through notifications. Without it,
// the next Memory of the plan is the only record of these writes.
type Expecter interface {
	Backend
	// Expectations returns the record of the job's writes, or nil for a round without one. It is
	// called once, before the first write.
	Expectations() Expectations
}

// Expectations records writes before they are made, so that events which arrive during a write find
// the record (E2, E3, E4). expectations.Tracker.Of returns one for a job.
type Expectations interface {
	// Expect replaces the record of creations and deletions still to be observed.
	Expect(creations, deletions int)
	// Lower subtracts the writes that failed or were skipped.
	Lower(creations, deletions int)
	// ExpectUntracked adds pods that are about to lose their finalizer (E4), and returns those that
	// it did not hold before.
	ExpectUntracked(uids ...job.UID) (added []job.UID)
	// LowerUntracked removes pods that this round has added and that have kept their finalizer. It
	// is not called for pods that were gone already, or that an earlier round has added. The cache
	// may still show such pods, and without the record they would be counted again.
	LowerUntracked(uids ...job.UID)
}

// Executor carries out plans. The zero value is ready to use, and safe for
// concurrent use: one serves all jobs.
type Executor struct {
	// Parallel is the most writes that run concurrently; 0 means a default.
	Parallel int
}

// Apply carries out the plan and concludes the round. The conclusion is valid even if there is an
// error. The error joins the errors of all steps. If it is not nil, some write must be retried, and
// the conclusion's Retry is true.
//
// Once the context is cancelled, no further write starts. The outcome shows which writes were not
// tried, and the next round plans them again.
func (e Executor) Apply(ctx context.Context, b Backend, plan *job.Plan) (job.Conclusion, error) {
	r := round{Executor: e, ctx: ctx, backend: b, plan: plan}
	if b, ok := step.As[Expecter](b); ok {
		r.expectations = b.Expectations()
	}

	var writes job.Writes
	if writes.Claimed = r.claim(); writes.Claimed.Result == jobreason.ResultDone {
		var ok bool
		if writes.Grouped, ok = r.group(); ok {
			writes.Deleted = r.remove()
			writes.Created = r.create(writes.Grouped)
		}
	}

	if b, ok := step.As[Observer](b); ok {
		b.Executed(writes)
	}

	recording := plan.Record(writes)
	recorded := r.write(recording.Write, recording.Status)

	var untracked []job.Reply
	if recorded.Result == jobreason.ResultDone { // what follows relies on the status (J35)
		untracked = r.untrack(recording.Untrack)
	}

	settlement := recording.Settle(recorded, untracked)
	settled := r.write(settlement.Write, settlement.Status)
	end := settlement.Conclude(settled)
	return end, errors.Join(r.errs...)
}

// round is the state of one call of Apply.
type round struct {
	Executor
	ctx     context.Context
	backend Backend
	plan    *job.Plan
	errs    []error
	// expectations are nil if the next Memory of the plan is the only record.
	expectations Expectations
}

// claim adopts and releases pods. The rest of the plan assumes that all of this succeeds (J6).
func (r *round) claim() job.Reply {
	claims := len(r.plan.Adopt) + len(r.plan.Release)
	if claims == 0 {
		return job.Reply{Result: jobreason.ResultDone}
	}
	b, ok := step.As[Adopter](r.backend)
	if !ok {
		r.note(fmt.Errorf("claim pods: %T is no Adopter", r.backend))
		return job.Reply{}
	}

	results, ctx, adopt, release := newResults(claims), r.ctx, r.plan.Adopt, r.plan.Release
	r.each(results.len(), func(i int) {
		if i < len(adopt) {
			results.set(i, b.Adopt(ctx, adopt[i]))
			return
		}
		err := b.Release(ctx, release[i-len(adopt)])
		if errors.Is(err, ErrGone) {
			err = nil
		}
		results.set(i, err)
	})

	r.note(results.Err(r.ctx, "claim pods"))
	return results.all()
}

// group creates and resizes the workload and the pod group. It stops at the first failure (J44).
func (r *round) group() (effects []jobgroup.Effect, ok bool) {
	groups := r.plan.Groups
	if len(groups) == 0 {
		return nil, true
	}
	b, ok := step.As[Grouper](r.backend)
	if !ok {
		r.note(fmt.Errorf("write %s: %T is no Grouper", groups[0].Kind, r.backend))
		return nil, false
	}

	effects = make([]jobgroup.Effect, len(groups))
	for i, g := range groups {
		if err := r.ctx.Err(); err != nil {
			r.note(fmt.Errorf("write %s: %w", g.Kind, err))
			return effects, false
		}

		g.Workload = created(g.Workload, groups[:i], effects)
		uid, err := b.WriteGroup(r.ctx, g)
		if err != nil {
			effects[i] = jobgroup.Effect{Result: jobreason.ResultUnsuccessful, Error: err.Error()}
			r.note(fmt.Errorf("write %s: %w", g.Kind, err))
			return effects, false
		}
		effects[i] = jobgroup.Effect{Result: jobreason.ResultDone, UID: uid}
	}
	return effects, true
}

// created returns the reference with the UID of the object, if one of the writes has created it.
func created(ref jobgroup.Ref, groups []jobgroup.Write, effects []jobgroup.Effect) jobgroup.Ref {
	for i := range groups {
		if ref.UID == "" && groups[i].Name == ref.Name {
			ref.UID = effects[i].UID
		}
	}
	return ref
}

// remove deletes pods. A failed deletion does not stop the others.
func (r *round) remove() []job.Effect {
	deletions := r.plan.Delete
	if len(deletions) == 0 {
		return nil
	}

	ending := r.plan.Verdict.Type != "" // an ending job keeps its older record
	if !ending {
		r.expect(0, len(deletions))
	}

	var first []job.UID
	for i := range deletions {
		if deletions[i].UntrackFirst {
			first = append(first, deletions[i].UID)
		}
	}
	added := r.expectUntracked(first)

	results, ctx, b := newResults(len(deletions)), r.ctx, r.backend
	r.each(len(deletions), func(i int) { results.set(i, b.Delete(ctx, deletions[i])) })

	if !ending {
		r.lower(0, len(deletions)-results.count(jobreason.ResultDone))
	}

	r.takeOffKept(results, added, func(i int) job.UID { return deletions[i].UID })
	r.note(results.Err(r.ctx, "delete pods"))
	return results.Effects
}

// create creates pods in batches of 1, 2, 4, ... A cause that stops all creations, such as a quota,
// shows in the first batch, and the rest is skipped (J34).
func (r *round) create(grouped []jobgroup.Effect) []job.Effect {
	creations := r.plan.Create
	if len(creations) == 0 {
		return nil
	}

	r.expect(len(creations), 0)
	results, ctx, b, groups := newResults(len(creations)), r.ctx, r.backend, r.plan.Groups

	for start, size := 0, 1; start < len(creations); start, size = start+size, 2*size {
		size = min(size, len(creations)-start)
		r.each(size, func(i int) {
			c := creations[start+i]
			c.Group = created(c.Group, groups, grouped)
			pod, err := b.Create(ctx, c)
			results.setCreated(start+i, pod, err)
		})
		if results.count(jobreason.ResultRefused) > 0 {
			results.refuseRest()
		}
		if results.count(jobreason.ResultDone) < start+size {
			break
		}
	}

	r.lower(len(creations)-r.plan.Expected(results.Effects), 0)
	r.note(results.Err(r.ctx, "create pods"))
	return results.Effects
}

// untrack removes the finalizers of the pods that are now accounted for.
func (r *round) untrack(pods []job.Untracking) []job.Reply {
	if len(pods) == 0 {
		return nil
	}

	var added []job.UID
	if r.expectations != nil {
		uids := make([]job.UID, len(pods))
		for i := range pods {
			uids[i] = pods[i].UID
		}
		added = r.expectUntracked(uids)
	}

	results, ctx, b := newResults(len(pods)), r.ctx, r.backend
	r.each(len(pods), func(i int) { results.set(i, b.Untrack(ctx, pods[i])) })

	r.takeOffKept(results, added, func(i int) job.UID { return pods[i].UID })
	r.note(results.Err(r.ctx, "remove finalizers"))
	return results.replies()
}

// write writes a status, if there is one to write.
func (r *round) write(write bool, s job.Status) job.Reply {
	if !write {
		return job.Reply{Result: jobreason.ResultDone}
	}
	if err := r.ctx.Err(); err != nil {
		r.note(fmt.Errorf("write status: %w", err))
		return job.Reply{}
	}
	if err := r.backend.WriteStatus(r.ctx, s); err != nil {
		r.note(fmt.Errorf("write status: %w", err))
		return job.Reply{Result: jobreason.ResultUnsuccessful, Error: err.Error()}
	}

	done := job.Reply{Result: jobreason.ResultDone}
	if b, ok := step.As[Versioned](r.backend); ok {
		done.Version = b.JobVersion()
	}
	return done
}

// note keeps an error for the result of Apply.
func (r *round) note(err error) {
	if err != nil {
		r.errs = append(r.errs, err)
	}
}

func (r *round) expect(creations, deletions int) {
	if r.expectations != nil {
		r.expectations.Expect(creations, deletions)
	}
}

func (r *round) lower(creations, deletions int) {
	if r.expectations != nil && creations+deletions > 0 {
		r.expectations.Lower(creations, deletions)
	}
}

// expectUntracked announces the removal of finalizers. It returns the pods for which no earlier
// removal was still expected.
func (r *round) expectUntracked(uids []job.UID) (added []job.UID) {
	if r.expectations == nil || len(uids) == 0 {
		return nil
	}
	return r.expectations.ExpectUntracked(uids...)
}

// takeOffKept removes from the expectations the pods that this round has added and that have kept
// their finalizer.
func (r *round) takeOffKept(results results, added []job.UID, uidOf func(i int) job.UID) {
	var kept []job.UID
	isNew := expectations.NewUIDs(added...)
	for i, effect := range results.Effects {
		removed := effect.Result == jobreason.ResultDone || effect.Result == jobreason.ResultGone
		if !removed && isNew.Has(uidOf(i)) {
			kept = append(kept, uidOf(i))
		}
	}
	if len(kept) > 0 {
		r.expectations.LowerUntracked(kept...)
	}
}
