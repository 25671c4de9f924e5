//go:build !before136 && before137

package theirs

import (
	"context"

	"k8s.io/client-go/informers"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/job"
)

func newJobs(
	ctx context.Context,
	client kubernetes.Interface,
	_ informers.SharedInformerFactory,
	pods coreinformers.PodInformer,
	jobs batchinformers.JobInformer,
) (*job.Controller, error) {
	return job.NewController(ctx, client, pods, jobs, nil, nil)
}
