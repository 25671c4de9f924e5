package batchtest

import (
	"math"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Never is a duration that does not end.
const Never = time.Duration(math.MaxInt64)

// Behaviour describes how a pod runs and ends. The zero value does its work in no time: the pod gets a
// node, and all its containers exit with 0. All durations are in the time of the controllers (see
// [Speed]) and begin where the stage before ends; [Never] does not end.
type Behaviour struct {
	// Pending is how long the pod waits for a node.
	Pending time.Duration
	// Init is how long each init container runs. Sidecars start and are ready immediately.
	Init time.Duration
	// Unready is how long the pod runs before it is ready.
	Unready time.Duration
	// Run is how long the containers run before they exit.
	Run time.Duration
	// ExitCode is what one container exits with, the others exit with 0.
	ExitCode int32
	// Container is the container, or the init container, that exits with ExitCode; empty means the
	// first one.
	Container string
	// Message is the termination message of that container.
	Message string
	// Restarts is how often that container fails, with ExitCode or 1, and is started again in place
	// before the run in which it does what the other fields say. A kubelet starts it again only if the
	// restartPolicy is not Never: otherwise the pod fails the first time. A pod with restartPolicy
	// OnFailure never fails by an exit code: its container is started again and again.
	Restarts int32
	// Stop is how long the containers run on when the pod is deleted, at most the grace period. They
	// exit with 143, and with 137 if the grace period ends first.
	Stop time.Duration
	// Disruption, if set, ends the pod when it has run, in place of an exit: it fails with the condition
	// DisruptionTarget of that reason. corev1.PodReasonTerminationByKubelet leaves the failed pod
	// there; with any other reason, such as a preemption, the pod is deleted.
	Disruption string
	// Lost says that the node is lost when the pod has run: the pod is not ready, then it is deleted
	// with the disruption DeletionByTaintManager. No kubelet answers, so it stays terminating for the
	// duration Absent; then the garbage collector of pods marks it as failed, and it is gone.
	Lost   bool
	Absent time.Duration
}

// The behaviours that most tests need. Each is a [Behaviour], of which further fields can be set.

// Succeed is a pod that succeeds immediately.
func Succeed() Behaviour { return Behaviour{} }

// SucceedAfter is a pod that runs so long, and succeeds.
func SucceedAfter(d time.Duration) Behaviour { return Behaviour{Run: d} }

// FailWith is a pod whose first container fails immediately with an exit code.
func FailWith(code int32) Behaviour { return Behaviour{ExitCode: code} }

// Hang is a pod that is ready and runs until a test ends it or it is deleted. It is the default.
func Hang() Behaviour { return Behaviour{Run: Never} }

// Unready is a pod that runs, and is not ready until a test makes it ready.
func Unready() Behaviour { return Behaviour{Unready: Never, Run: Never} }

// Pending is a pod that no node takes.
func Pending() Behaviour { return Behaviour{Pending: Never, Run: Never} }

// Evict is a pod that a node under pressure evicts immediately. It stays there, as failed.
func Evict() Behaviour { return Behaviour{Disruption: corev1.PodReasonTerminationByKubelet} }

// Preempt is a pod that the scheduler deletes for the sake of another.
func Preempt() Behaviour { return Behaviour{Disruption: corev1.PodReasonPreemptionByScheduler} }

// LoseNode is a pod whose node is lost after a time. The pod stays terminating for the time absent.
func LoseNode(after, absent time.Duration) Behaviour {
	return Behaviour{Run: after, Lost: true, Absent: absent}
}

// A Match selects pods. The attempt of a pod is how many pods of its job, or of its index of the job,
// the kubelet has seen before it.
type Match func(pod *corev1.Pod, attempt int) bool

// OfJob selects the pods of jobs of these names.
func OfJob(names ...string) Match {
	return func(pod *corev1.Pod, _ int) bool {
		ref := metav1.GetControllerOf(pod)
		return ref != nil && ref.Kind == "Job" && slices.Contains(names, ref.Name)
	}
}

// OwnedBy selects the pods that the owner controls. It compares UIDs, so it does not select the
// pods of a later object with the same name.
func OwnedBy(owner metav1.Object) Match {
	uid := owner.GetUID()
	return func(pod *corev1.Pod, _ int) bool {
		ref := metav1.GetControllerOf(pod)
		return ref != nil && ref.UID == uid
	}
}

// InNamespace selects the pods of a namespace.
func InNamespace(name string) Match {
	return func(pod *corev1.Pod, _ int) bool { return pod.Namespace == name }
}

// Index selects the pods of these completion indexes.
func Index(of ...int) Match {
	return func(pod *corev1.Pod, _ int) bool {
		n, err := strconv.Atoi(indexOf(pod))
		return err == nil && slices.Contains(of, n)
	}
}

// Attempt selects the first pod of a job or of an index with 0, the one that replaces it with 1, and so
// on.
func Attempt(of ...int) Match {
	return func(_ *corev1.Pod, attempt int) bool { return slices.Contains(of, attempt) }
}

// Labelled selects the pods with these labels.
func Labelled(labels map[string]string) Match {
	return func(pod *corev1.Pod, _ int) bool {
		for key, value := range labels {
			if got, found := pod.Labels[key]; !found || got != value {
				return false
			}
		}
		return true
	}
}

// indexOf returns the completion index of a pod as text, or nothing.
func indexOf(pod *corev1.Pod) string { return pod.Annotations[batchv1.JobCompletionIndexAnnotation] }

// rule is a behaviour, and the pods that have it.
type rule struct {
	Behaviour
	matches []Match
}

func (r *rule) holds(pod *corev1.Pod, attempt int) bool {
	return !slices.ContainsFunc(r.matches, func(m Match) bool { return !m(pod, attempt) })
}
