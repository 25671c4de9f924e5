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

// Backend is what a plan is carried out on. Its methods are called concurrently,
// except for WriteStatus and for an [Executor] with Parallel 1.
//
// An error means that the write did not take effect, or that nobody knows. Three
// errors say more: [ErrGone], [ErrStillTracked] and [ErrNamespaceTerminating].
type Backend interface {
	// Adopt makes the job the pod's controller and adds the finalizer, after a
	// fresh look at the job (J6). A pod that has a controller by now is left as it
	// is: adding the finalizer again could count it again; pod.ResourceVersion is the
	// condition for that, where it is not empty. [ErrGone] ends the round without an error:
	// the next one plans without the pod.
	Adopt(ctx context.Context, pod job.PodRef) error
	// Release removes the controller reference and the finalizer (J6).
	Release(ctx context.Context, pod job.PodRef) error
	// Delete asks for the pod's end, on condition of its UID: from then on snapshots have
	// job.Pod.Deletion set. A pod that still runs or has the finalizer stays in them. With
	// d.UntrackFirst Delete removes the finalizer before, in one transaction if it can, on
	// condition that the pod is still as the plan saw it (d.ResourceVersion, where that is
	// not empty): a pod that has succeeded since would be lost (JI9).
	Delete(ctx context.Context, d job.Deletion) error
	// Create creates a pod with the finalizer and returns its name and UID. No pod may ever
	// have had that UID.
	Create(ctx context.Context, c job.Creation) (job.PodRef, error)
	// Untrack removes the finalizer, on condition of the pod's UID.
	Untrack(ctx context.Context, pod job.PodRef) error
	// WriteStatus replaces the job's status, on condition of the version that the
	// snapshot was taken from or that the last WriteStatus of the round has made. Where the
	// version is another one, any error will do: the next round looks again.
	WriteStatus(ctx context.Context, s job.Status) error
}

// Versioned is a Backend that knows which version of the job it has written, for the Reply of the
// status and Memory.Written: no round plans until a snapshot shows it (E6).
type Versioned interface {
	Backend
	// JobVersion returns the version that the last WriteStatus has made, in the form that
	// Job.Version of a snapshot has; 0 if it is not known. It is called only after a WriteStatus
	// without an error.
	JobVersion() int64
}

// Grouper is a Backend that has workloads and pod groups, for plans with job.Options.Gangs. A plan that
// needs them fails on another one.
type Grouper interface {
	Backend
	// WriteGroup creates or resizes a workload or a pod group, and returns its UID. Its calls come
	// one after the other, before the first Delete or Create. A creation fails if the name is
	// taken; only the size changes of an object that there is, on condition of its UID. The
	// workload of a pod group that is created is given with the UID that the one before has
	// returned, and so is the group of a creation.
	WriteGroup(ctx context.Context, g jobgroup.Write) (job.UID, error)
}

// Observer is a Backend whose status says more than that of a Job, such as conditions of its own.
type Observer interface {
	Backend
	// Executed is called once in a round, before the first status is written or left as it is, with what became
	// of the writes to pods that come before it.
	Executed(job.Writes)
}

// ErrGone is the error of Delete, Untrack and Release for a pod that does not
// exist any more: as good as done. It is also an error of Adopt.
var ErrGone = errors.New("the pod is gone")

// ErrStillTracked is the error of Delete when the finalizer could not be removed:
// the pod was not deleted, and no event is to say so.
var ErrStillTracked = errors.New("the finalizer is still there")

// ErrNamespaceTerminating is the error of Create where no pod can be created any
// more: nothing to retry (J34).
var ErrNamespaceTerminating = step.ErrNamespaceTerminating

// Expecter is a Backend whose program sees its writes late, by notifications. Without it the next Memory of
// the plan is the only record of them.
type Expecter interface {
	Backend
	// Expectations returns the record of the job's writes, or nil for a round without one. It is called
	// once, before the first write.
	Expectations() Expectations
}

// Expectations learns of writes before they are made, so that events which arrive
// while they are under way find the record (E2, E3, E4). expectations.Tracker.Of makes
// one for a job.
type Expectations interface {
	// Expect replaces the record of creations and deletions still to be observed.
	Expect(creations, deletions int)
	// Lower takes off what failed or was skipped.
	Lower(creations, deletions int)
	// ExpectUntracked adds pods that are about to lose their finalizer (E4), and returns
	// those that it has not held before.
	ExpectUntracked(uids ...job.UID) (added []job.UID)
	// LowerUntracked takes pods off that this round has added and that keep their
	// finalizer. One that was gone already, or that an earlier round has added, stays: the
	// cache may still show it, and then it would be counted again.
	LowerUntracked(uids ...job.UID)
}

// Executor carries out plans. The zero value is ready to use, and safe for
// concurrent use: one serves all jobs.
type Executor struct {
	// Parallel is the most writes that run concurrently; 0 means DefaultParallel.
	Parallel int
}

// DefaultParallel is the number of concurrent writes of an Executor with Parallel 0.
const DefaultParallel = step.DefaultParallel

// Apply carries out the plan and concludes it. The conclusion is true whatever the
// error; the error joins what went wrong, step by step. Where it is not nil, something
// has to be repeated, and the conclusion's Retry is true.
//
// A cancelled context starts no further write: what was not tried says so in the
// outcome, and the next round takes it up.
func (e Executor) Apply(ctx context.Context, b Backend, plan *job.Plan) (job.Conclusion, error) {
	r := &round{Executor: e, ctx: ctx, backend: b, plan: plan}
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

// round is one Apply under way.
type round struct {
	Executor
	ctx     context.Context
	backend Backend
	plan    *job.Plan
	errs    []error
	// expectations are nil if the next Memory of the plan is the only record.
	expectations Expectations
}

// claim adopts and releases. The plan assumed that all of it succeeds (J6).
func (r *round) claim() job.Reply {
	claims := len(r.plan.Adopt) + len(r.plan.Release)
	if claims == 0 {
		return job.Reply{Result: jobreason.ResultDone}
	}

	results := newResults(claims)
	r.each(results.len(), func(i int) {
		if i < len(r.plan.Adopt) {
			results.set(i, r.backend.Adopt(r.ctx, r.plan.Adopt[i]))
			return
		}
		err := r.backend.Release(r.ctx, r.plan.Release[i-len(r.plan.Adopt)])
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

// remove deletes pods. A failure does not stop the others.
func (r *round) remove() []job.Effect {
	deletions := r.plan.Delete
	if len(deletions) == 0 {
		return nil
	}

	ending := r.plan.Verdict.Type != "" // then an older record must stay
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

	results := newResults(len(deletions))
	r.each(len(deletions), func(i int) { results.set(i, r.backend.Delete(r.ctx, deletions[i])) })

	if !ending {
		r.lower(0, len(deletions)-results.count(jobreason.ResultDone))
	}

	r.takeOffKept(results, added, func(i int) job.UID { return deletions[i].UID })
	r.note(results.Err(r.ctx, "delete pods"))
	return results.Effects
}

// create creates in batches of 1, 2, 4, ...: a cause that stops all, such as a
// quota, shows on the first, and the rest is skipped (J34).
func (r *round) create(grouped []jobgroup.Effect) []job.Effect {
	creations := r.plan.Create
	if len(creations) == 0 {
		return nil
	}

	r.expect(len(creations), 0)
	results := newResults(len(creations))

	for start, size := 0, 1; start < len(creations); start, size = start+size, 2*size {
		size = min(size, len(creations)-start)
		r.each(size, func(i int) {
			c := creations[start+i]
			c.Group = created(c.Group, r.plan.Groups, grouped)
			pod, err := r.backend.Create(r.ctx, c)
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
	uids := make([]job.UID, len(pods))
	for i := range pods {
		uids[i] = pods[i].UID
	}

	added := r.expectUntracked(uids)
	results := newResults(len(pods))
	r.each(len(pods), func(i int) { results.set(i, r.backend.Untrack(r.ctx, pods[i].PodRef)) })

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

// note keeps what went wrong.
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
// removal is still unseen.
func (r *round) expectUntracked(uids []job.UID) (added []job.UID) {
	if r.expectations == nil || len(uids) == 0 {
		return nil
	}
	return r.expectations.ExpectUntracked(uids...)
}

// takeOffKept takes the pods off again that this round has added and that keep their finalizer.
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
