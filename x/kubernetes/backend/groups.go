package backend

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/x/kubernetes/internal/groups"
)

// Groups writes the workload and pod group of one owner in one round. Together with [Pods] it
// implements [jobapply.Grouper].
type Groups struct {
	Client    dynamic.Interface
	Namespace string
	// Owner becomes the controller of each object.
	Owner metav1.OwnerReference
	// Scheduling is the spec.scheduling of the owner. PriorityClass is the priority class of its
	// pods. A workload gets both.
	Scheduling    *jobgroup.Scheduling
	PriorityClass string

	workload *unstructured.Unstructured // as this round has created it
}

// WriteGroup implements jobapply.Grouper. The size of a gang is changed on condition of the object's UID.
func (b *Groups) WriteGroup(ctx context.Context, g jobgroup.Write) (job.UID, error) {
	resource, size := groups.PodGroups, "/spec/schedulingPolicy/gang/minCount"
	if g.Kind == jobgroup.KindWorkload {
		resource, size = groups.Workloads, "/spec/podGroupTemplates/0/schedulingPolicy/gang/minCount"
	}
	client := b.Client.Resource(resource).Namespace(b.Namespace)
	if g.UID != "" {
		patch, err := json.Marshal([]map[string]any{
			{"op": "test", "path": "/metadata/uid", "value": g.UID},
			{"op": "replace", "path": size, "value": g.MinCount},
		})
		if err == nil {
			_, err = client.Patch(ctx, g.Name, types.JSONPatchType, patch, metav1.PatchOptions{})
		}
		return g.UID, err
	}

	object, err := b.object(ctx, &g)
	if err != nil {
		return "", err
	}
	made, err := client.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	if g.Kind == jobgroup.KindWorkload {
		b.workload = made
	}
	return job.UID(made.GetUID()), nil
}

// object returns the object to create.
func (b *Groups) object(ctx context.Context, g *jobgroup.Write) (*unstructured.Unstructured, error) {
	if g.Kind == jobgroup.KindWorkload {
		return groups.NewWorkload(b.Namespace, b.Owner, g, b.Scheduling, b.PriorityClass)
	}
	workload := b.workload
	if workload == nil {
		var err error
		workloads := b.Client.Resource(groups.Workloads).Namespace(b.Namespace)
		workload, err = workloads.Get(ctx, g.Workload.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
	}
	return groups.NewPodGroup(b.Namespace, b.Owner, g, workload)
}
