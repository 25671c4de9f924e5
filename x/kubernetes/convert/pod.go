package convert

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/kubernetes/internal/batch"
)

// Pod returns the planner's value of a pod, with its Owner for the job (J6). A phase that
// Kubernetes does not have becomes Unknown: the pod has not ended, and does not wait to start. An
// annotation that is not a number means no index (J13) or no failures (J18).
func Pod(of *job.Job, o *corev1.Pod) job.Pod {
	p := podOfAny(o)
	p.Owner = owner(of, o)
	return p
}

// podOfAny is [Pod] without the Owner.
func podOfAny(o *corev1.Pod) job.Pod {
	detail := &job.PodDetail{
		CreationTimestamp: batch.Time(o.CreationTimestamp),
		Containers:        containers(o),
		ResourceVersion:   o.ResourceVersion,
	}
	p := job.Pod{
		Phase:     phase(o.Status.Phase),
		Untracked: !IsTracked(o),
		Assigned:  o.Spec.NodeName != "",
		UID:       job.UID(o.UID),
		Name:      o.Name,
		Detail:    detail,
	}

	if !o.DeletionTimestamp.IsZero() {
		p.Deletion = &job.PodDeletion{Timestamp: batch.TimeAt(o.DeletionTimestamp)}
		if grace := o.DeletionGracePeriodSeconds; grace != nil {
			p.Deletion.GracePeriodSeconds = max(*grace, 0)
		}
	}

	if n := len(o.Status.Conditions); n > 0 {
		detail.Conditions = make([]job.PodCondition, n)
	}
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		detail.Conditions[i] = job.PodCondition{Type: string(c.Type), Status: job.ConditionStatus(c.Status)}
		if c.Type != corev1.PodReady {
			continue
		}
		p.Ready = c.Status == corev1.ConditionTrue
		if c.Status == corev1.ConditionTrue || c.Status == corev1.ConditionFalse {
			detail.ReadyTransition = batch.Time(c.LastTransitionTime)
		}
	}

	p.ReadAnnotations(o.Annotations)
	return p
}

func owner(of *job.Job, o *corev1.Pod) jobpod.Ownership {
	if o.Namespace != of.Namespace {
		return jobpod.Foreign
	}
	return job.OwnerOf(of, controllerUID(o.OwnerReferences), o.Labels)
}

func phase(p corev1.PodPhase) job.PodPhase {
	switch p {
	case "", corev1.PodPending:
		return job.PodPending
	case corev1.PodRunning:
		return job.PodRunning
	case corev1.PodSucceeded:
		return job.PodSucceeded
	case corev1.PodFailed:
		return job.PodFailed
	}
	return job.PodUnknown
}

func containers(o *corev1.Pod) []jobpod.Container {
	app, init := o.Status.ContainerStatuses, o.Status.InitContainerStatuses
	if len(app)+len(init) == 0 {
		return nil
	}
	out := make([]jobpod.Container, 0, len(app)+len(init))
	for i := range app {
		out = append(out, container(&app[i], jobpod.App))
	}
	for i := range init {
		kind := jobpod.Init
		if isRestartable(o.Spec.InitContainers, init[i].Name) {
			kind = jobpod.RestartableInit
		}
		out = append(out, container(&init[i], kind))
	}
	return out
}

// isRestartable reports whether the init container of that name is a sidecar. An API server refuses
// duplicate names; here the last container of the name decides.
func isRestartable(in []corev1.Container, name string) bool {
	for i := range slices.Backward(in) {
		if in[i].Name == name {
			policy := in[i].RestartPolicy
			return policy != nil && *policy == corev1.ContainerRestartPolicyAlways
		}
	}
	return false
}

func container(s *corev1.ContainerStatus, kind jobpod.Kind) jobpod.Container {
	c := jobpod.Container{Name: s.Name, Kind: kind, Restarts: s.RestartCount}
	switch {
	case s.State.Terminated != nil:
		c.State = jobpod.Terminated
		c.ExitCode = s.State.Terminated.ExitCode
		c.FinishedAt = batch.Time(s.State.Terminated.FinishedAt)
	case s.State.Running != nil:
		c.State = jobpod.Running
	}
	return c
}

// IsTracked reports whether the pod has the finalizer, and so is not accounted for yet.
func IsTracked(o *corev1.Pod) bool { return slices.Contains(o.Finalizers, job.Finalizer) }
