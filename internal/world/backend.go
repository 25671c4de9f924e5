package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

var errConflict = errors.New("the job has changed since it was read")

// Round lets the controller reconcile once, and returns the plan. It is the loop
// of an adapter: snapshot, plan, apply, conclude.
func (w *World) Round() (*job.Plan, error) {
	w.tally.noticeEdits(&w.Job.Status)
	snapshot := w.Snapshot()
	plan, err := w.planner.Reconcile(&snapshot)
	if err != nil {
		return nil, err
	}
	w.LastPlan = plan.String()
	w.checkPlan(&snapshot, plan)
	w.Begin()
	conclusion, _ := jobapply.Executor{Parallel: 1}.Apply(context.Background(), backend{w}, plan)
	if w.Crashed() {
		w.Again, w.Retry = job.Requeue{}, true
		w.Restart(false)
		return plan, nil
	}
	w.Memory = conclusion.Memory
	if w.Versions {
		w.Memory.Written = int64(w.acked)
	}
	w.Again, w.Retry = conclusion.Requeue, conclusion.Retry
	w.Events = append(w.Events, conclusion.Events...)
	w.checkMetrics(plan, conclusion.Outcome, &conclusion.Metrics)
	return plan, nil
}

// backend is the world as the executor sees it.
type backend struct{ *World }

// write carries out one write under the faults.
func (b backend) write(name string, apply func() error) error {
	lost, err := b.Write(name, apply)
	if lost {
		b.ghost.lost(name)
	}
	return err
}

func (b backend) Adopt(_ context.Context, ref job.PodRef) error {
	return b.write("adopt "+ref.Name, func() error {
		p := b.find(ref)
		if p == nil {
			return jobapply.ErrGone
		}
		if p.Owner == job.Orphan {
			p.Owner, p.Untracked = job.Owned, false
			b.touch(p)
		}
		return nil
	})
}

func (b backend) Release(_ context.Context, ref job.PodRef) error {
	return b.write("release "+ref.Name, func() error {
		p := b.find(ref)
		if p == nil {
			return jobapply.ErrGone
		}
		p.Owner, p.Untracked = job.Foreign, true
		b.touch(p)
		b.collect(p)
		return nil
	})
}

func (b backend) Create(_ context.Context, c job.Creation) (ref job.PodRef, err error) {
	err = b.write("create "+c.NamePrefix, func() error {
		if b.Job.Status.Finished() != "" && !(b.Stale && b.ghost.lostStatus) && !b.ghost.traveled {
			b.fail("JI16", "a pod is created after the end")
		}
		p := b.AddPod(job.Pod{
			Name:   fmt.Sprintf("%s%d", c.NamePrefix, b.nextUID+1),
			Index:  c.Index,
			Detail: &job.PodDetail{FailureCount: c.FailureCount, IgnoredFailureCount: c.IgnoredFailureCount},
		})
		ref = job.PodRef{Name: p.Name, UID: p.UID}
		b.checkParallelism()
		return nil
	})
	if err == nil {
		b.tally.created++
	}
	return ref, err
}

func (b backend) Delete(_ context.Context, d job.Deletion) error {
	if d.UntrackFirst {
		if err := b.untrackUnchanged(d); err != nil {
			return err
		}
	}
	return b.write("delete "+d.Name, func() error {
		p := b.find(d.PodRef)
		if p == nil {
			return jobapply.ErrGone
		}
		b.Evict(p)
		return nil
	})
}

// untrackUnchanged removes the finalizer of a pod that has not changed since the
// plan.
func (b backend) untrackUnchanged(d job.Deletion) error {
	return b.write("untrack "+d.Name, func() error {
		p := b.find(d.PodRef)
		switch {
		case p == nil:
			return jobapply.ErrGone
		case p.Detail.ResourceVersion != d.ResourceVersion:
			return errConflict
		case !p.Untracked && p.Phase == job.PodSucceeded:
			b.fail("JI9", "the success of %s is lost", p.Name)
		}
		b.ghost.pods[p.UID].removed = true
		p.Untracked = true
		b.touch(p)
		b.collect(p)
		return nil
	})
}

func (b backend) Untrack(_ context.Context, ref job.PodRef) error {
	return b.write("untrack "+ref.Name, func() error {
		p := b.find(ref)
		if p == nil {
			return jobapply.ErrGone
		}
		b.checkUntrack(p)
		b.tallyUntrack(p)
		p.Untracked = true
		b.touch(p)
		b.collect(p)
		return nil
	})
}

func (b backend) WriteStatus(_ context.Context, s job.Status) error {
	err := b.write("status", func() error {
		if b.readAt != b.version {
			return errConflict
		}
		b.checkStatus(&b.Job.Status, &s)
		b.tallyStatus(&b.Job.Status, &s)
		b.Job.Status = s
		b.version++
		b.readAt = b.version
		return nil
	})
	if err == nil {
		b.acked = b.version
	}
	return err
}

func (w *World) find(ref job.PodRef) *job.Pod {
	for _, p := range w.Pods {
		if p.UID == ref.UID {
			return p
		}
	}
	return nil
}

// Evict deletes a pod as an API server does. The pod ends within its grace period,
// or at once if it never ran or has ended.
func (w *World) Evict(p *job.Pod) {
	if p.Deletion == nil {
		grace := Grace
		if p.Phase != job.PodRunning {
			grace = 0
		}
		w.touch(p)
		p.Deletion = &job.PodDeletion{Timestamp: w.Now.Add(grace), GracePeriodSeconds: int32(grace / time.Second)}
	}
	w.collect(p)
}

// collect removes a deleted pod once it has ended or if it never ran, and only
// without the finalizer.
func (w *World) collect(p *job.Pod) {
	if p.Deletion == nil || !p.Untracked || p.Phase == job.PodRunning {
		return
	}
	w.Pods = slices.DeleteFunc(w.Pods, func(q *job.Pod) bool { return q == p })
}

// Run starts a pod.
func (w *World) Run(p *job.Pod) {
	if p.Phase == job.PodPending && p.Deletion == nil {
		p.Assigned, p.Phase, p.Ready = true, job.PodRunning, true
		w.setContainer(p, job.Container{State: job.ContainerRunning})
	}
}

// Finish ends a pod that has not ended, with an exit code.
func (w *World) Finish(p *job.Pod, exitCode int32) {
	if p.Phase == job.PodSucceeded || p.Phase == job.PodFailed {
		return
	}
	p.Assigned, p.Ready = true, false
	p.Phase = job.PodSucceeded
	if exitCode != 0 {
		p.Phase = job.PodFailed
	}
	w.setContainer(p, job.Container{State: job.ContainerTerminated, ExitCode: exitCode, FinishedAt: w.Now})
	w.ghost.ended(p)
	w.collect(p)
}

// setContainer sets the only container of the pod, and the time at which Ready
// changed.
func (w *World) setContainer(p *job.Pod, c job.Container) {
	c.Name = "main"
	w.touch(p)
	p.Detail.ReadyTransition = w.Now
	p.Detail.Containers = []job.Container{c}
}

// Restart restarts the container of a running pod.
func (w *World) RestartContainer(p *job.Pod) {
	if p.Phase == job.PodRunning {
		w.setContainer(p, job.Container{State: job.ContainerRunning, Restarts: p.Detail.Containers[0].Restarts + 1})
	}
}

// Disrupt gives the pod a condition and evicts it.
func (w *World) Disrupt(p *job.Pod) {
	w.touch(p)
	p.Detail.Conditions = append(slices.Clip(p.Detail.Conditions), job.PodCondition{Type: "DisruptionTarget", Status: job.ConditionTrue})
	w.Evict(p)
}

// State describes the pods and the status, one line each.
func (w *World) State() string {
	var b strings.Builder
	fmt.Fprintf(&b, "T+%v %v\n", w.Now.Sub(Start), w.Job.Status)
	for _, p := range w.Pods {
		fmt.Fprintf(&b, "%s %v", p.Name, p.Phase)
		if w.Job.Spec.CompletionMode == job.Indexed {
			fmt.Fprintf(&b, " index=%d", p.Index.Int32())
		}
		for _, flag := range []struct {
			is   bool
			name string
		}{{p.Ready, "ready"}, {!p.Untracked, "tracked"}, {p.Deletion != nil, "deleted"}} {
			if flag.is {
				b.WriteString(" " + flag.name)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
