package job

import (
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1beta1"
	"k8s.io/client-go/tools/cache"
)

// ShowGroups fills the caches of workloads and pod groups.
func (r *Round) ShowGroups(workloads []*schedulingv1beta1.Workload, groups []*schedulingv1beta1.PodGroup) {
	byJob := cache.Indexers{workloadByJobNameIndexKey: workloadByJobNameIndexFunc}
	byWorkload := cache.Indexers{podGroupByWorkloadNameIndexKey: podGroupByWorkloadNameIndexFunc}
	c := r.c
	c.workloadIndexer = cache.NewIndexer(cache.MetaNamespaceKeyFunc, byJob)
	c.podGroupIndexer = cache.NewIndexer(cache.MetaNamespaceKeyFunc, byWorkload)
	c.workloadLister = schedulinglisters.NewWorkloadLister(c.workloadIndexer)
	c.podGroupLister = schedulinglisters.NewPodGroupLister(c.podGroupIndexer)

	for _, w := range workloads {
		_ = c.workloadIndexer.Add(w)
	}
	for _, g := range groups {
		_ = c.podGroupIndexer.Add(g)
	}
}
