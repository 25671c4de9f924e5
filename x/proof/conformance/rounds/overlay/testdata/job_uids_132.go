package job

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// CleanUp does what the controller does with a pod that no job may need any more.
func (r *Round) CleanUp(ctx context.Context, pod *corev1.Pod) error {
	return r.c.handleSingleOrphanPod(ctx, pod)
}

// Untracking records removals of finalizers as not yet seen.
func (r *Round) Untracking(key string, uids []types.UID) error {
	return r.c.finalizerExpectations.expectFinalizersRemoved(klog.Background(), key, uids)
}

// Untracked returns the removals of finalizers not yet seen.
func (r *Round) Untracked(key string) []types.UID {
	return r.c.finalizerExpectations.getExpectedUIDs(key).UnsortedList()
}
