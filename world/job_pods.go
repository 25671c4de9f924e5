package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
)

// Evict deletes a pod as an API server does. The pod ends within its grace period,
// or at once if it never ran or has ended.
func (w *Job) Evict(p *job.Pod) {
	w.active = -1
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
func (w *Job) collect(p *job.Pod) {
	if p.Deletion == nil || !p.Untracked || p.Phase == job.PodRunning {
		return
	}
	w.Pods = w.pods.remove(w.Pods, p)
}

// Run starts a pod.
func (w *Job) Run(p *job.Pod) {
	if p.Phase == job.PodPending && p.Deletion == nil {
		p.Assigned, p.Phase, p.Ready = true, job.PodRunning, true
		w.setContainer(p, job.Container{State: job.ContainerRunning})
	}
}

// Finish ends a pod that has not ended, with an exit code.
func (w *Job) Finish(p *job.Pod, exitCode int32) {
	if p.Phase == job.PodSucceeded || p.Phase == job.PodFailed {
		return
	}
	w.active = -1
	p.Assigned, p.Ready = true, false
	p.Phase = job.PodSucceeded
	if exitCode != 0 {
		p.Phase = job.PodFailed
	}
	w.setContainer(p, job.Container{State: job.ContainerTerminated, ExitCode: exitCode, FinishedAt: w.Now})
	w.history.Ended(p)
	w.collect(p)
}

// setContainer sets the only container of the pod, and the time at which Ready
// changed.
func (w *Job) setContainer(p *job.Pod, c job.Container) {
	c.Name = "main"
	w.touch(p)
	p.Detail.ReadyTransition = w.Now
	p.Detail.Containers = []job.Container{c}
}

// RestartContainer restarts the container of a running pod.
func (w *Job) RestartContainer(p *job.Pod) {
	if p.Phase == job.PodRunning {
		w.setContainer(p, job.Container{State: job.ContainerRunning, Restarts: p.Detail.Containers[0].Restarts + 1})
	}
}

// Disrupt gives the pod the condition DisruptionTarget and evicts it.
func (w *Job) Disrupt(p *job.Pod) {
	w.touch(p)
	p.Detail.Conditions = append(slices.Clip(p.Detail.Conditions), job.PodCondition{Type: "DisruptionTarget", Status: job.ConditionTrue})
	w.Evict(p)
}

// State describes the pods and the status, one line each.
func (w *Job) State() string {
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
