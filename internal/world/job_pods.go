package world

import (
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/job"
)

// Delete deletes a pod as an API server does. The pod ends within its grace period,
// or immediately if it never ran or has ended.
func (w *Job) Delete(p *job.Pod) {
	w.step(p, func() bool { return DeletePod(p, w.Now) })
	w.collect(p)
}

// step makes a step of a pod, and gives the pod a new version if it has changed.
func (w *Job) step(p *job.Pod, do func() bool) bool {
	if !do() {
		return false
	}
	w.active = -1
	w.touch(p)
	return true
}

// collect removes a deleted pod that has ended or never ran, once it has no finalizer.
func (w *Job) collect(p *job.Pod) {
	if IsCollected(p) {
		w.Pods = w.pods.remove(w.Pods, p)
	}
}

// Run starts a pod.
func (w *Job) Run(p *job.Pod) { w.step(p, func() bool { return RunPod(p, w.Now) }) }

// Finish ends a pod that has not ended, with an exit code.
func (w *Job) Finish(p *job.Pod, exitCode int32) {
	if w.step(p, func() bool { return FinishPod(p, w.Now, exitCode) }) {
		w.history.Ended(p)
		w.collect(p)
	}
}

// RestartContainer restarts the container of a running pod.
func (w *Job) RestartContainer(p *job.Pod) {
	w.step(p, func() bool { return RestartPod(p, w.Now) })
}

// Evict gives the pod the condition DisruptionTarget and deletes it.
func (w *Job) Evict(p *job.Pod) {
	w.step(p, func() bool { return DisruptPod(p) })
	w.Delete(p)
}

// State describes the pods and the status, one line each.
func (w *Job) State() string {
	var b strings.Builder
	fmt.Fprintf(&b, "T+%v %v\n", w.Now.Sub(Start), w.Job.Status)
	for _, g := range w.Groups.PodGroups {
		fmt.Fprintf(&b, "%s minCount=%d\n", g.Name, g.MinCount)
	}

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
