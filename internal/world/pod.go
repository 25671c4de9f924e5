package world

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// The functions below are the steps that a kubelet and an API server make with one pod. Each
// function gives the pod a new detail and does not write to the old one. It reports whether the pod
// has changed.

// RunPod starts a pod.
func RunPod(p *job.Pod, now time.Time) bool {
	if p.Phase != job.PodPending || p.Deletion != nil {
		return false
	}
	p.Assigned, p.Phase, p.Ready = true, job.PodRunning, true
	setContainer(p, now, jobpod.Container{State: jobpod.Running})
	return true
}

// FinishPod ends a pod that has not ended, with an exit code.
func FinishPod(p *job.Pod, now time.Time, exitCode int32) bool {
	if p.Phase == job.PodSucceeded || p.Phase == job.PodFailed {
		return false
	}

	p.Assigned, p.Ready = true, false
	p.Phase = job.PodSucceeded
	if exitCode != 0 {
		p.Phase = job.PodFailed
	}
	setContainer(p, now, jobpod.Container{State: jobpod.Terminated, ExitCode: exitCode, FinishedAt: now})
	return true
}

// RestartPod restarts the container of a running pod.
func RestartPod(p *job.Pod, now time.Time) bool {
	if p.Phase != job.PodRunning {
		return false
	}
	setContainer(p, now, jobpod.Container{State: jobpod.Running, Restarts: p.Detail.Containers[0].Restarts + 1})
	return true
}

// DisruptPod gives a pod the condition DisruptionTarget. It does not delete the pod.
func DisruptPod(p *job.Pod) bool {
	p.Detail = detailOf(p)
	disrupted := job.PodCondition{Type: "DisruptionTarget", Status: job.ConditionTrue}
	p.Detail.Conditions = append(slices.Clip(p.Detail.Conditions), disrupted)
	return true
}

// DeletePod marks a pod as being deleted. A running pod then has the duration Grace to end.
func DeletePod(p *job.Pod, now time.Time) bool {
	if p.Deletion != nil {
		return false
	}

	grace := Grace
	if p.Phase != job.PodRunning {
		grace = 0
	}

	p.Deletion = &job.PodDeletion{Timestamp: now.Add(grace), GracePeriodSeconds: int64(grace / time.Second)}
	return true
}

// IsCollected reports whether a pod that is being deleted is gone: it has ended or never
// ran, and nothing holds it.
func IsCollected(p *job.Pod) bool {
	return p.Deletion != nil && p.Untracked && p.Phase != job.PodRunning
}

// setContainer sets the only container of the pod, and the time at which Ready changed.
func setContainer(p *job.Pod, now time.Time, c jobpod.Container) {
	c.Name = "main"
	p.Detail = detailOf(p)
	p.Detail.ReadyTransition = now
	p.Detail.Containers = []jobpod.Container{c}
}

// detailOf copies the detail of a pod, since others may share the old one.
func detailOf(p *job.Pod) *job.PodDetail {
	if p.Detail == nil {
		return &job.PodDetail{}
	}
	detail := *p.Detail
	return &detail
}
