//go:build rounds && !before137

package rounds

import (
	"context"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedscheduling "k8s.io/client-go/kubernetes/typed/scheduling/v1beta1"
	"k8s.io/kubernetes/pkg/controller/job"

	"github.com/batchplan/batchplan/internal/specgen"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// showGroups puts the groups of the snapshot into the caches of the real controller.
func showGroups(round *job.Round, s *Snapshot) {
	var workloads []*schedulingv1beta1.Workload
	for i := range s.Groups.Workloads {
		w := specgen.Decode[schedulingv1beta1.Workload](s.workloadObject(&s.Groups.Workloads[i]))
		workloads = append(workloads, &w)
	}
	var groups []*schedulingv1beta1.PodGroup
	for i := range s.Groups.PodGroups {
		g := specgen.Decode[schedulingv1beta1.PodGroup](s.podGroupObject(&s.Groups.PodGroups[i]))
		groups = append(groups, &g)
	}
	round.ShowGroups(workloads, groups)
}

func (c *client) SchedulingV1beta1() typedscheduling.SchedulingV1beta1Interface {
	return schedulingClient{server: c.server}
}

type schedulingClient struct {
	typedscheduling.SchedulingV1beta1Interface
	server *server
}

func (c schedulingClient) Workloads(string) typedscheduling.WorkloadInterface {
	return workloadClient{server: c.server}
}

func (c schedulingClient) PodGroups(string) typedscheduling.PodGroupInterface {
	return podGroupClient{server: c.server}
}

type workloadClient struct {
	typedscheduling.WorkloadInterface
	server *server
}

func (c workloadClient) Create(
	_ context.Context, w *schedulingv1beta1.Workload, _ metav1.CreateOptions,
) (*schedulingv1beta1.Workload, error) {
	uid, err := c.server.createGroup("Workload", w)
	made := w.DeepCopy()
	made.UID = uid
	return made, err
}

func (c workloadClient) Patch(
	_ context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string,
) (*schedulingv1beta1.Workload, error) {
	return nil, c.server.resizeGroup("Workload", name, data)
}

type podGroupClient struct {
	typedscheduling.PodGroupInterface
	server *server
}

func (c podGroupClient) Create(
	_ context.Context, g *schedulingv1beta1.PodGroup, _ metav1.CreateOptions,
) (*schedulingv1beta1.PodGroup, error) {
	uid, err := c.server.createGroup("PodGroup", g)
	made := g.DeepCopy()
	made.UID = uid
	return made, err
}

func (c podGroupClient) Patch(
	_ context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string,
) (*schedulingv1beta1.PodGroup, error) {
	return nil, c.server.resizeGroup("PodGroup", name, data)
}

// podGroupObject returns a pod group of the snapshot as the API has it.
func (s *Snapshot) podGroupObject(g *jobgroup.PodGroup) object {
	out := s.groupObject("PodGroup", g.Ref, g.Foreign)
	out["spec"] = object{
		"workloadRef":      object{"workloadName": g.Workload, "templateName": "t"},
		"schedulingPolicy": policyOf(g.MinCount),
	}
	return out
}
