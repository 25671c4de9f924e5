package job

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

func (c *Controller) keep(pods cache.Indexer) {
	c.podStore = corelisters.NewPodLister(pods)
	c.patchJobHandler = c.patchJob
}

// OwnerKey returns no key: the cache of pods has no index by owner.
func OwnerKey(*corev1.Pod) string { return "" }

// SetFinished does nothing: the controller does not remember that a final status was written.
func (r *Round) SetFinished(types.UID) {}

// Finished returns false.
func (r *Round) Finished(types.UID) bool { return false }
