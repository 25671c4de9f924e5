package convert

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/internal/batch"
)

// Trim returns a transform for the caches of controllers (informers.WithTransform). Of a pod, it
// keeps only what [Pod] and the controllers read, which is about a third. Of a pod whose controller
// is of a kind other than ownerKinds, it keeps hardly anything. Of other objects, it drops the
// managed fields. Do not trim a cache that others use.
func Trim(ownerKinds ...string) func(any) (any, error) {
	return func(object any) (any, error) {
		switch o := object.(type) {
		case *corev1.Pod:
			ref := metav1.GetControllerOfNoCopy(o)
			return trimPod(o, ref == nil || slices.Contains(ownerKinds, ref.Kind)), nil
		case metav1.Object:
			o.SetManagedFields(nil)
		}
		return object, nil
	}
}

// trimPod returns the pod without the fields that nothing reads. Of a pod of another controller,
// only changes of the finalizers, the phase and the owner matter.
func trimPod(o *corev1.Pod, ours bool) *corev1.Pod {
	out := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              o.Name,
			Namespace:         o.Namespace,
			UID:               o.UID,
			ResourceVersion:   o.ResourceVersion,
			DeletionTimestamp: o.DeletionTimestamp,
			OwnerReferences:   batch.Each(o.OwnerReferences, trimOwner),
			Finalizers:        batch.Each(o.Finalizers, share),
		},
		Status: corev1.PodStatus{Phase: o.Status.Phase},
	}
	if !ours {
		return out
	}

	out.Labels, out.Annotations = trimLabels(o), trimAnnotations(o.Annotations)
	out.CreationTimestamp, out.DeletionGracePeriodSeconds = o.CreationTimestamp, o.DeletionGracePeriodSeconds
	out.Spec.NodeName = o.Spec.NodeName
	out.Spec.InitContainers = batch.Each(o.Spec.InitContainers, func(c *corev1.Container) corev1.Container {
		return corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy}
	})
	out.Status.Conditions = batch.Each(o.Status.Conditions, func(c *corev1.PodCondition) corev1.PodCondition {
		return corev1.PodCondition{
			Type:               shared(c.Type),
			Status:             shared(c.Status),
			LastTransitionTime: c.LastTransitionTime,
		}
	})
	out.Status.ContainerStatuses = batch.Each(o.Status.ContainerStatuses, trimStatus)
	out.Status.InitContainerStatuses = batch.Each(o.Status.InitContainerStatuses, trimStatus)
	return out
}

// trimOwner saves memory: all references share one copy of the values that most of them have.
func trimOwner(r *metav1.OwnerReference) metav1.OwnerReference {
	out := *r
	out.APIVersion, out.Kind = shared(r.APIVersion), shared(r.Kind)
	out.Controller, out.BlockOwnerDeletion = sharedBool(r.Controller), sharedBool(r.BlockOwnerDeletion)
	return out
}

// trimLabels saves memory: all pods share one copy of the names of the labels that jobs give to
// their pods, and a pod's labels share values with its owner's reference.
func trimLabels(o *corev1.Pod) map[string]string {
	if len(o.Labels) == 0 {
		return nil
	}
	ref := metav1.GetControllerOfNoCopy(o)
	out := make(map[string]string, len(o.Labels))
	for name, value := range o.Labels {
		switch {
		case ref != nil && value == ref.Name:
			value = ref.Name
		case ref != nil && value == string(ref.UID):
			value = string(ref.UID)
		}
		out[shared(name)] = value
	}
	return out
}

// trimAnnotations keeps the annotations that job.Pod.ReadAnnotations reads.
func trimAnnotations(in map[string]string) (out map[string]string) {
	for _, name := range [...]string{
		batchv1.JobCompletionIndexAnnotation,
		batchv1.JobIndexFailureCountAnnotation,
		batchv1.JobIndexIgnoredFailureCountAnnotation,
	} {
		if value, found := in[name]; found {
			if out == nil {
				out = make(map[string]string)
			}
			out[name] = value
		}
	}
	return out
}

func trimStatus(s *corev1.ContainerStatus) corev1.ContainerStatus {
	out := corev1.ContainerStatus{Name: s.Name, RestartCount: s.RestartCount}
	switch {
	case s.State.Terminated != nil:
		end := s.State.Terminated
		out.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: end.ExitCode, FinishedAt: end.FinishedAt}
	case s.State.Running != nil:
		out.State.Running = running
	}
	return out
}

// words holds the strings that nearly every pod has, so that pods need no copies of their own.
var words = func() map[string]string {
	out := map[string]string{}
	for _, word := range []string{
		batchv1.ControllerUidLabel, batchv1.JobNameLabel, batchv1.JobCompletionIndexAnnotation,
		"controller-uid", "job-name",
		job.Finalizer, "Job", "batch/v1",
		string(corev1.ConditionTrue), string(corev1.ConditionFalse), string(corev1.ConditionUnknown),
		string(corev1.PodReady), string(corev1.ContainersReady),
		string(corev1.PodInitialized), string(corev1.PodScheduled),
		string(corev1.PodReadyToStartContainers), string(corev1.DisruptionTarget),
	} {
		out[word] = word
	}
	return out
}()

// shared returns the common copy of a string, if there is one.
func shared[T ~string](text T) T {
	if word, found := words[string(text)]; found {
		return T(word)
	}
	return text
}

func share(text *string) string { return shared(*text) }

var yes, no = true, false

// sharedBool returns a common pointer to the same value.
func sharedBool(p *bool) *bool {
	switch {
	case p == nil:
		return nil
	case *p:
		return &yes
	}
	return &no
}

// running is the state of all running containers. It lacks the time of their start, which nothing
// reads.
var running = &corev1.ContainerStateRunning{}
