package world

import (
	"context"
	"errors"
	"strconv"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
)

// ErrConflict is the error of a write whose object has changed since it was read.
var ErrConflict = errors.New("the object has changed since it was read")

// Round runs one round of the controller, and returns the plan. It does the same as the loop of an
// adapter: snapshot, plan, apply, conclude.
func (w *Job) Round() (*job.Plan, error) {
	plan, err := w.Plan()
	if err != nil {
		return nil, err
	}
	_, _ = w.CarryOut(context.Background(), plan) // an error is an injected fault
	return plan, nil
}

// CarryOut executes the plan of the round that has begun, and concludes the round. The error joins
// the errors of the writes.
func (w *Job) CarryOut(ctx context.Context, plan *job.Plan) (job.Conclusion, error) {
	end, err := jobapply.Executor{Parallel: 1}.Apply(ctx, w.Backend(), plan)
	w.Conclude(&end)
	return end, err
}

// Plan begins a round: it takes a snapshot and plans. The plan is valid until the next one of the same Planner.
func (w *Job) Plan() (*job.Plan, error) {
	snapshot := w.Snapshot()
	plan, err := w.Planner.Reconcile(&snapshot)
	if err != nil {
		return nil, err
	}
	w.Begin(&snapshot, plan)
	return plan, nil
}

// Begin begins a round with a plan that another planner has made from [Job.Snapshot].
// The plan must not change before the round is over.
func (w *Job) Begin(snapshot *job.Snapshot, plan *job.Plan) {
	w.tally.noticeEdits(w)
	w.Injector.Begin()
	w.plan, w.active, w.wrote = plan, -1, w.Writes
	w.note(jobcheck.Plan(snapshot, plan))
}

// Conclude ends the round. After a crash there is no conclusion: the controller starts
// again, without a memory and with a fresh list.
func (w *Job) Conclude(conclusion *job.Conclusion) {
	if w.Crashed() {
		w.Requeue, w.Retry = job.Requeue{}, true
		w.Restart(false)
		return
	}

	w.Memory = conclusion.Memory
	w.Requeue, w.Retry = conclusion.Requeue, conclusion.Retry
	w.Events = append(w.Events, conclusion.Events...)
	w.checkMetrics(conclusion.Outcome, &conclusion.Metrics)
}

// LastPlan returns the text of the plan of the last round.
func (w *Job) LastPlan() string {
	if w.plan == nil {
		return ""
	}
	return w.plan.String()
}

// Backend returns the world as an executor sees it. Each call is one write, which may have a fault.
// A search may use it directly, to make the writes of a plan one by one.
func (w *Job) Backend() jobapply.Adopter { return jobBackend{w} }

type jobBackend struct{ w *Job }

// write carries out one write, which may have a fault.
func (b jobBackend) write(verb Verb, name string, apply func() error) error {
	lost, err := b.w.Try(Write{verb, name}, apply)
	if lost {
		b.w.history.LostStatus = b.w.history.LostStatus || verb == WriteStatus
		if verb == Create {
			b.w.history.LostCreates++
		}
	}
	return err
}

// change makes a write to a pod that must exist.
func (b jobBackend) change(verb Verb, ref job.PodRef, apply func(*job.Pod) error) error {
	return b.write(verb, ref.Name, func() error {
		p := b.w.find(ref.UID)
		if p == nil {
			return jobapply.ErrGone
		}
		return apply(p)
	})
}

func (b jobBackend) Adopt(_ context.Context, c job.Claim) error {
	return b.change(Adopt, c.PodRef, func(p *job.Pod) error {
		if p.Owner == jobpod.Orphan {
			p.Owner, p.Untracked = jobpod.Owned, false
			b.w.touch(p)
		}
		return nil
	})
}

func (b jobBackend) Release(_ context.Context, c job.Claim) error {
	return b.change(Release, c.PodRef, func(p *job.Pod) error {
		p.Owner, p.Untracked = jobpod.Foreign, true
		b.w.touch(p)
		b.w.collect(p)
		return nil
	})
}

func (b jobBackend) WriteGroup(_ context.Context, g jobgroup.Write) (uid job.UID, err error) {
	err = b.write(WriteGroup, g.Kind.String()+" "+g.Name, func() error {
		st := b.w.state() // before the write
		if uid, err = b.w.writeGroup(g); err == nil {
			b.w.note(st.Group(&g))
		}
		return err
	})
	return uid, err
}

func (b jobBackend) Create(_ context.Context, c job.Creation) (ref job.PodRef, err error) {
	err = b.write(Create, c.NamePrefix, func() error {
		if b.w.active < 0 {
			b.w.active = jobcheck.Active(b.w.Pods)
		}
		active := b.w.active + 1
		st := b.w.state()
		b.w.note(st.Create(&c, active))

		p := b.w.AddPod(job.Pod{
			Name:   c.NamePrefix + strconv.Itoa(b.w.nextUID+1),
			Index:  c.Index,
			Detail: &job.PodDetail{FailureCount: c.FailureCount, IgnoredFailureCount: c.IgnoredFailureCount},
		})
		b.w.active = active
		ref = job.PodRef{Name: p.Name, UID: p.UID}
		return nil
	})
	if err == nil {
		b.w.tally.created++
	}
	return ref, err
}

func (b jobBackend) Delete(_ context.Context, d job.Deletion) error {
	if d.UntrackFirst {
		if err := b.untrackUnchanged(d); err != nil {
			return err
		}
	}
	return b.change(Delete, d.PodRef, func(p *job.Pod) error {
		b.w.Delete(p)
		return nil
	})
}

// untrackUnchanged removes the finalizer of a pod that has not changed since the
// plan.
func (b jobBackend) untrackUnchanged(d job.Deletion) error {
	return b.change(Untrack, d.PodRef, func(p *job.Pod) error {
		if p.Detail.ResourceVersion != d.ResourceVersion {
			return ErrConflict
		}

		st := b.w.state()
		b.w.note(st.DeleteUntracked(p))
		b.w.history.Of(p.UID).Removed = true
		p.Untracked = true

		b.w.touch(p)
		b.w.collect(p)
		return nil
	})
}

func (b jobBackend) Untrack(_ context.Context, u job.Untracking) error {
	return b.change(Untrack, u.PodRef, func(p *job.Pod) error {
		st := b.w.state()
		b.w.note(st.Untrack(p))
		b.w.tallyUntrack(p)
		p.Untracked = true
		b.w.touch(p)
		b.w.collect(p)
		return nil
	})
}

func (b jobBackend) WriteStatus(_ context.Context, s job.Status) error {
	err := b.write(WriteStatus, "", func() error {
		if b.w.readAt != b.w.version {
			return ErrConflict
		}

		st := b.w.state()
		b.w.note(st.Status(&s))
		b.w.tallyStatus(&b.w.Job.Status, &s)
		b.w.history.Recorded(&b.w.Job.Status, &s)

		b.w.Job.Status = s
		b.w.version++
		b.w.readAt = b.w.version
		return nil
	})
	return err
}

// JobVersion returns the version of the job after the last status write.
func (b jobBackend) JobVersion() int64 {
	if !b.w.Versions {
		return 0
	}
	return int64(b.w.version)
}
