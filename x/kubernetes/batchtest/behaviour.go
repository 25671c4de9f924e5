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

// Behaviour describes how a pod runs and ends. With the zero value, a pod gets a node immediately,
// and all its containers exit immediately with 0. Durations are in the time of the controllers (see
// [Speed]). Each duration begins when the stage before has ended. A stage of [Never] does not end.
type Behaviour struct {
	// Pending is how long the pod waits for a node.
	Pending time.Duration
	// Init is how long each init container runs. Sidecars start and are ready immediately.
	Init time.Duration
	// Unready is how long the pod runs before it is ready.
	Unready time.Duration
	// Run is how long the containers run before they exit.
	Run time.Duration
	// ExitCode is the exit code of one container; the others exit with 0.
	ExitCode int32
	// Container is the container, or init container, that exits with ExitCode; empty means the first one.
	Container string
	// Message is the termination message of that container.
	Message string
	// Restarts is how often that container fails and is started again in place before its last run.
	// It fails with ExitCode, or with 1 if ExitCode is 0. The other fields describe the last run.
	// With restartPolicy Never, the pod fails the first time instead. With OnFailure, a container
	// that fails is always started again.
	Restarts int32
	// Stop is how long the containers keep running after the pod is deleted, but at most the grace
	// period. They exit with 143, or with 137 if the grace period ends first.
	Stop time.Duration
	// Disruption, if set, ends the pod after Run; its containers do not exit by themselves. It is
	// the reason of the condition DisruptionTarget that the pod then has. With
	// corev1.PodReasonTerminationByKubelet, the pod fails and stays; with any other reason, such as
	// a preemption, it is deleted.
	Disruption string
	// Lost means that the node is lost after Run. The pod becomes unready and is deleted with the
	// disruption DeletionByTaintManager. No kubelet answers, so it stays terminating for the
	// duration Absent. Then the garbage collector of pods marks it as failed and removes it.
	Lost   bool
	Absent time.Duration
}

// The behaviours that most tests need. A test can set further fields of the result.

// Succeed describes a pod that succeeds immediately.
func Succeed() Behaviour { return Behaviour{} }

// SucceedAfter describes a pod that runs for a duration and succeeds.
func SucceedAfter(d time.Duration) Behaviour { return Behaviour{Run: d} }

// FailWith describes a pod whose first container fails immediately with an exit code.
func FailWith(code int32) Behaviour { return Behaviour{ExitCode: code} }

// Hang describes a pod that is ready and runs until it is ended or deleted. It is the default.
func Hang() Behaviour { return Behaviour{Run: Never} }

// Unready describes a pod that runs and is not ready until a test makes it ready.
func Unready() Behaviour { return Behaviour{Unready: Never, Run: Never} }

// Pending describes a pod that gets no node.
func Pending() Behaviour { return Behaviour{Pending: Never, Run: Never} }

// Evict describes a pod that a node under pressure evicts immediately. The failed pod stays.
func Evict() Behaviour { return Behaviour{Disruption: corev1.PodReasonTerminationByKubelet} }

// Preempt describes a pod that the scheduler deletes in favour of another.
func Preempt() Behaviour { return Behaviour{Disruption: corev1.PodReasonPreemptionByScheduler} }

// LoseNode describes a pod whose node is lost after a duration. From then on, the pod stays
// terminating for the duration absent.
func LoseNode(after, absent time.Duration) Behaviour {
	return Behaviour{Run: after, Lost: true, Absent: absent}
}

// A Match selects pods. The attempt of a pod is the number of earlier pods of its job that the
// kubelet has seen. If the pod has an index, only pods of the same index count.
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

// Attempt selects pods by their attempt: 0 is the first pod of a job or index, 1 its replacement.
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

// indexOf returns the completion index of a pod as text, or "".
func indexOf(pod *corev1.Pod) string { return pod.Annotations[batchv1.JobCompletionIndexAnnotation] }

// rule gives a behaviour to the pods that all of its matches select.
type rule struct {
	Behaviour
	matches []Match
}

func (r *rule) holds(pod *corev1.Pod, attempt int) bool {
	return !slices.ContainsFunc(r.matches, func(m Match) bool { return !m(pod, attempt) })
}
