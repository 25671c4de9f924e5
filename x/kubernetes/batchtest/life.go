package batchtest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stage is a part of a pod's life.
type stage int

const (
	unscheduled  stage = iota
	initializing       // on a node, and an init container runs
	running
	restarting // a container waits to be started again
	ended
)

// life is the state of a pod in the kubelet. It has no lock and makes no requests: advance moves
// it, and status returns the status to write.
type life struct {
	Behaviour
	attempt int

	stage stage
	since time.Time // when the stage began, or the current init container
	ip    string

	bound, ran time.Time // when it got its node, when its containers started
	inits      []time.Time
	restarts   int32
	last       *corev1.ContainerStateTerminated // the run before a restart
	exit       exit
	disrupted  string    // the reason of DisruptionTarget
	stopAt     time.Time // when the deleted pod ends
	killed     bool      // stopAt is the end of the grace period
	conditions map[corev1.PodConditionType]corev1.PodCondition
}

// exit describes the end of a pod.
type exit struct {
	at     time.Time
	code   int32 // of the target container
	all    bool  // all containers have exited with the code
	failed bool
	reason string
}

// restartDelay returns the delay of a restart: a hundredth of a kubelet's, and 0 the first time.
func restartDelay(restarts int32) time.Duration {
	if restarts <= 1 {
		return 0
	}
	return min(100*time.Millisecond<<min(restarts-2, 6), 3*time.Second)
}

// after adds a duration to a time. It returns the zero time, which means never, for [Never].
func after(t time.Time, d time.Duration) time.Time {
	if d == Never {
		return time.Time{}
	}
	return t.Add(d)
}

// sooner returns the earlier of two times. The zero time means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// target returns the container that exits with the exit code.
func (l *life) target(pod *corev1.Pod) string {
	return cmp.Or(l.Container, pod.Spec.Containers[0].Name)
}

// check returns an error if the pod cannot have this behaviour.
func (b *Behaviour) check(pod *corev1.Pod) error {
	if b.Container == "" {
		return nil
	}
	named := func(c corev1.Container) bool { return c.Name == b.Container && !isSidecar(&c) }
	if !slices.ContainsFunc(pod.Spec.Containers, named) && !slices.ContainsFunc(pod.Spec.InitContainers, named) {
		return fmt.Errorf("behaviour of pod %s/%s: container %q: "+
			"the pod has no container or init container of that name that exits",
			pod.Namespace, pod.Name, b.Container)
	}
	return nil
}

// schedulable returns when the pod gets its node, or the zero time for never.
func (l *life) schedulable(pod *corev1.Pod) time.Time {
	if len(pod.Spec.SchedulingGates) > 0 {
		return time.Time{}
	}
	return after(l.since, l.Pending)
}

// bind records that the pod has its node.
func (l *life) bind(now time.Time) {
	l.stage, l.since, l.bound = initializing, now, now
}

// deleted records that the pod is being deleted, and when it ends at the latest.
func (l *life) deleted(pod *corev1.Pod, now time.Time) {
	if !l.stopAt.IsZero() || l.stage == ended {
		return
	}
	wait := l.Stop
	if seconds := pod.DeletionGracePeriodSeconds; seconds != nil && wait > time.Duration(*seconds)*time.Second {
		wait, l.killed = time.Duration(*seconds)*time.Second, true
	}
	if l.Lost && l.disrupted != "" {
		wait = l.Absent
	}
	l.stopAt = after(now, wait)
}

// advance moves the life to now. It returns when to look again, or the zero time.
func (l *life) advance(pod *corev1.Pod, now time.Time) (next time.Time) {
	for l.stage != ended {
		due := sooner(l.due(pod), l.stopAt)
		if due.IsZero() || due.After(now) {
			if ready := after(l.since, l.Unready); l.stage == running && ready.After(now) {
				return sooner(due, ready)
			}
			return due
		}
		if !l.stopAt.IsZero() && !l.stopAt.After(now) {
			l.stop(now)
		} else {
			l.leave(pod, now)
		}
	}
	return time.Time{}
}

// due returns when the stage ends by itself.
func (l *life) due(pod *corev1.Pod) time.Time {
	switch l.stage {
	case initializing:
		if n := len(l.inits); n == len(pod.Spec.InitContainers) || isSidecar(&pod.Spec.InitContainers[n]) {
			return l.since
		}
		return after(l.since, l.Init)
	case running:
		if l.disrupted != "" {
			return time.Time{} // it waits for its deletion
		}
		return after(l.since, l.Run)
	case restarting:
		return l.since.Add(restartDelay(l.restarts))
	}
	return time.Time{}
}

// stop ends a pod that was deleted.
func (l *life) stop(now time.Time) {
	code := int32(143)
	if l.killed || l.disrupted != "" && l.Lost {
		code = 137
	}
	if l.Lost && l.disrupted != "" {
		l.disrupted = "DeletionByPodGC"
	}
	l.end(exit{at: now, code: code, all: true, failed: true})
}

func (l *life) end(e exit) { l.stage, l.since, l.exit = ended, e.at, e }

// leave moves to the next stage.
func (l *life) leave(pod *corev1.Pod, now time.Time) {
	switch l.stage {
	case initializing:
		l.initialized(pod, now)
	case running:
		l.exited(pod, now)
	case restarting:
		l.stage, l.since = running, now
		if l.ran.IsZero() {
			l.stage = initializing
		}
	}
}

// initialized is called at the end of each init container, and after all of them.
func (l *life) initialized(pod *corev1.Pod, now time.Time) {
	n := len(l.inits)
	if n == len(pod.Spec.InitContainers) {
		l.stage, l.since, l.ran = running, now, now
		return
	}
	if pod.Spec.InitContainers[n].Name == l.target(pod) && l.fails(pod, now) {
		return
	}
	l.inits, l.since = append(l.inits, now), now
}

// exited is called when the time Run is over: the containers exit, or a disruption comes instead.
func (l *life) exited(pod *corev1.Pod, now time.Time) {
	isTarget := func(c corev1.Container) bool { return c.Name == l.target(pod) }
	inits := slices.ContainsFunc(pod.Spec.InitContainers, isTarget)
	switch {
	case l.Lost:
		l.disrupted = "DeletionByTaintManager"
	case l.Disruption == corev1.PodReasonTerminationByKubelet:
		l.disrupted = l.Disruption
		l.end(exit{at: now, code: 137, all: true, failed: true, reason: "Evicted"})
	case l.Disruption != "":
		l.disrupted = l.Disruption
	case !inits && l.fails(pod, now):
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways:
		l.restart(0, now)
	default:
		l.end(exit{at: now})
	}
}

// fails lets the target container fail if the behaviour asks for that, and reports whether the
// container has failed. With restartPolicy Never, the pod ends then.
func (l *life) fails(pod *corev1.Pod, now time.Time) bool {
	code := l.ExitCode
	if l.restarts < l.Restarts {
		code = cmp.Or(code, 1)
	}
	switch {
	case code == 0:
		return false
	case pod.Spec.RestartPolicy == corev1.RestartPolicyNever:
		l.end(exit{at: now, code: code, failed: true})
	default:
		l.restart(code, now)
	}
	return true
}

func (l *life) restart(code int32, now time.Time) {
	l.last = l.terminated(code, l.since, now, l.Message)
	l.restarts++
	l.stage, l.since = restarting, now
}

func (l *life) terminated(code int32, from, to time.Time, message string) *corev1.ContainerStateTerminated {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return &corev1.ContainerStateTerminated{
		ExitCode:   code,
		Reason:     reason,
		Message:    message,
		StartedAt:  metav1.NewTime(from),
		FinishedAt: metav1.NewTime(to),
	}
}

// leaving reports whether the pod must be deleted now because of its disruption.
func (l *life) leaving() bool { return l.disrupted != "" && l.stage != ended }

// isOver reports whether a pod has ended.
func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// doing describes what the pod does and until when, for people.
func (l *life) doing() string {
	until := func(d time.Duration) string {
		if d == Never {
			return "until told otherwise"
		}
		return fmt.Sprintf("for %v", d)
	}
	switch l.stage {
	case unscheduled:
		return "waits for a node " + until(l.Pending)
	case initializing:
		return "runs its init containers " + until(l.Init)
	case running:
		return "runs " + until(l.Run)
	case restarting:
		return fmt.Sprintf("waits to be started again, restarts: %d", l.restarts)
	}
	return "has ended"
}
