//go:build !before137

package theirs

import (
	"context"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/features"
)

func newJobs(
	ctx context.Context,
	client kubernetes.Interface,
	groups informers.SharedInformerFactory,
	pods coreinformers.PodInformer,
	jobs batchinformers.JobInformer,
) (*job.Controller, error) {
	if !utilfeature.DefaultFeatureGate.Enabled(features.WorkloadWithJob) {
		return job.NewController(ctx, client, pods, jobs, nil, nil)
	}
	scheduling := groups.Scheduling().V1beta1()
	return job.NewController(ctx, client, pods, jobs, scheduling.Workloads(), scheduling.PodGroups())
}
