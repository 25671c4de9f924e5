package job

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// CleanUp does what the controller does with a pod that no job may need any more.
func (r *Round) CleanUp(ctx context.Context, pod *corev1.Pod) error {
	return r.c.syncOrphanPod(ctx, pod.Namespace+"/"+pod.Name)
}

// Untracking records removals of finalizers as not yet seen.
func (r *Round) Untracking(key string, uids []types.UID) error {
	texts := make([]string, len(uids))
	for i, uid := range uids {
		texts[i] = string(uid)
	}
	return r.c.finalizerExpectations.expectFinalizersRemoved(klog.Background(), key, texts)
}

// Untracked returns the removals of finalizers not yet seen.
func (r *Round) Untracked(key string) (uids []types.UID) {
	for uid := range r.c.finalizerExpectations.getExpectedUIDs(key) {
		uids = append(uids, types.UID(uid))
	}
	return uids
}
