//go:build !before136

package theirs

import (
	"context"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/features"
)

func newJobs(ctx context.Context, client kubernetes.Interface, pods coreinformers.PodInformer, jobs batchinformers.JobInformer) (*job.Controller, error) {
	return job.NewController(ctx, client, pods, jobs, nil, nil)
}

// setStale switches the gate that keeps the controller from acting on caches older than its
// own writes. A gate that was set cannot be emulated as an older release has it afterwards.
func setStale(stale bool) {
	if gate := features.StaleControllerConsistencyJob; utilfeature.DefaultFeatureGate.Enabled(gate) == stale {
		must(utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{string(gate): !stale}))
	}
}
