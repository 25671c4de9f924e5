package job

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/controller"
)

// OwnerKey returns the key of a pod in the cache of pods, which has an index by owner.
func OwnerKey(pod *corev1.Pod) string {
	return controller.PodControllerIndexKey(pod.Namespace, metav1.GetControllerOf(pod))
}

// SetFinished makes the controller remember that a final status of the job was written.
func (r *Round) SetFinished(uid types.UID) { r.c.finishedJobExpectations.Store(uid, struct{}{}) }

// Finished reports whether a final status was written that is not seen yet.
func (r *Round) Finished(uid types.UID) bool {
	_, ok := r.c.finishedJobExpectations.Load(uid)
	return ok
}
