package batchtest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// status returns the status to report to the server for a pod that has a node.
func (l *life) status(pod *corev1.Pod, now time.Time) *corev1.PodStatus {
	s := &corev1.PodStatus{
		Phase:     l.phase(),
		Reason:    l.exit.reason,
		StartTime: &metav1.Time{Time: l.bound},
		PodIP:     l.ip,
		PodIPs:    []corev1.PodIP{{IP: l.ip}},
	}

	for i := range pod.Spec.InitContainers {
		s.InitContainerStatuses = append(s.InitContainerStatuses, l.initStatus(pod, i))
	}
	for i := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, l.containerStatus(pod, i, now))
	}

	ready := l.isReady(pod, now)
	containers := l.isUp(now) && !l.isLost()
	s.Conditions = []corev1.PodCondition{
		l.condition(corev1.PodInitialized, !l.ran.IsZero(), "ContainersNotInitialized", now),
		l.condition(corev1.ContainersReady, containers, l.unreadyReason(), now),
		l.condition(corev1.PodReady, ready, l.unreadyReason(), now),
	}

	if l.disrupted != "" {
		target := l.condition(corev1.DisruptionTarget, true, "", now)
		target.Reason = l.disrupted
		s.Conditions = append(s.Conditions, target)
	}
	return s
}

// isLost reports whether the node does not answer.
func (l *life) isLost() bool { return l.Lost && l.disrupted != "" }

func (l *life) phase() corev1.PodPhase {
	switch {
	case l.stage == ended && l.exit.failed:
		return corev1.PodFailed
	case l.stage == ended:
		return corev1.PodSucceeded
	case l.ran.IsZero():
		return corev1.PodPending
	}
	return corev1.PodRunning
}

// isUp reports whether the containers run and are ready.
func (l *life) isUp(now time.Time) bool {
	return l.stage == running && l.Unready != Never && !now.Before(l.since.Add(l.Unready))
}

// isReady reports whether the pod is ready: its containers are ready, and the conditions of its
// readiness gates are true.
func (l *life) isReady(pod *corev1.Pod, now time.Time) bool {
	if !l.isUp(now) || l.isLost() {
		return false
	}
	for _, gate := range pod.Spec.ReadinessGates {
		if !isTrue(pod, gate.ConditionType) {
			return false
		}
	}
	return true
}

func isTrue(pod *corev1.Pod, of corev1.PodConditionType) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == of {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (l *life) unreadyReason() string {
	switch {
	case l.stage == ended && l.exit.failed:
		return "PodFailed"
	case l.stage == ended:
		return "PodCompleted"
	case l.isLost():
		return "NodeNotReady"
	}
	return "ContainersNotReady"
}

// condition returns a condition. Its transition time changes only with its status.
func (l *life) condition(of corev1.PodConditionType, is bool, reason string, now time.Time) corev1.PodCondition {
	c := corev1.PodCondition{
		Type:               of,
		Status:             corev1.ConditionFalse,
		Reason:             reason,
		LastTransitionTime: metav1.NewTime(now),
	}
	if is {
		c.Status, c.Reason = corev1.ConditionTrue, ""
	}
	if known, found := l.conditions[of]; found && known.Status == c.Status {
		c.LastTransitionTime = known.LastTransitionTime
	}
	if l.conditions == nil {
		l.conditions = map[corev1.PodConditionType]corev1.PodCondition{}
	}
	l.conditions[of] = c
	return c
}

func (l *life) initStatus(pod *corev1.Pod, i int) corev1.ContainerStatus {
	c := &pod.Spec.InitContainers[i]
	s := baseStatus(pod, c)
	began := l.bound
	if i > 0 && i <= len(l.inits) {
		began = l.inits[i-1]
	}
	isTarget := c.Name == l.Container
	if isTarget {
		l.addRestarts(&s)
	}

	switch {
	case i < len(l.inits) && isSidecar(c) && l.stage != ended:
		running := true
		s.Started, s.Ready = &running, true
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(began)}
	case i < len(l.inits) && isSidecar(c):
		s.State.Terminated = l.terminated(l.sidecarCode(), began, l.exit.at, "")
	case i < len(l.inits):
		s.Ready = true
		s.State.Terminated = l.terminated(0, began, l.inits[i], "")
	case i > len(l.inits) || l.stage == unscheduled:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
	case l.stage == ended:
		s.State.Terminated = l.terminated(l.exit.code, l.since, l.exit.at, l.messageOf(isTarget))
	case l.stage == restarting:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
	default:
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(l.since)}
	}
	return s
}

// sidecarCode returns the exit code of a sidecar, which stops when the other containers have ended.
func (l *life) sidecarCode() int32 {
	if l.exit.all {
		return l.exit.code
	}
	return 0
}

func (l *life) messageOf(isTarget bool) string {
	if isTarget {
		return l.Message
	}
	return ""
}

func (l *life) containerStatus(pod *corev1.Pod, i int, now time.Time) corev1.ContainerStatus {
	c := &pod.Spec.Containers[i]
	s := baseStatus(pod, c)
	isTarget := c.Name == l.target(pod)
	began := l.ran
	if isTarget {
		l.addRestarts(&s)
		if l.restarts > 0 && l.stage == running {
			began = l.since
		}
	}

	up := true
	switch {
	case l.ran.IsZero() && l.stage == ended:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
		if len(pod.Spec.InitContainers) == 0 {
			s.State = corev1.ContainerState{Terminated: l.terminated(l.exit.code, l.bound, l.exit.at, "")}
		}
	case l.ran.IsZero():
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
	case l.stage == ended:
		code := l.exit.code
		if !isTarget && !l.exit.all {
			code = 0
		}
		s.State.Terminated = l.terminated(code, began, l.exit.at, l.messageOf(isTarget))
	case l.stage == restarting && isTarget:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
	default:
		s.Started = &up
		s.Ready = !isTarget || l.isUp(now)
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(began)}
	}
	return s
}

// addRestarts sets the number of restarts and how the last run ended.
func (l *life) addRestarts(s *corev1.ContainerStatus) {
	s.RestartCount = l.restarts
	if l.last != nil {
		s.LastTerminationState.Terminated = l.last
	}
}

func baseStatus(pod *corev1.Pod, c *corev1.Container) corev1.ContainerStatus {
	down := false
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: "batchtest://" + c.Image, Started: &down,
		ContainerID: "batchtest://" + string(pod.UID) + "/" + c.Name,
	}
}
