//go:build !before137

package e2e

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/replica"
)

// TestGangs tests the rights for gangs. It has a server of its own, since feature gates are set for
// the whole process.
func TestGangs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a real API server")
	}
	logErrors()
	c := newCluster(t, append(serverFlags,
		"--feature-gates=GenericWorkload=true,WorkloadWithJob=true", "--runtime-config=scheduling.k8s.io/v1beta1=true")...)
	w := world{role: "ClusterRole/batchplan-controller-gangs", more: "ClusterRole/batchplan-controller", live: liveOfGangs,
		set: func(c *replica.Config) { c.Planners.Job.Gangs = true }, fails: failsOnce}
	t.Run("rights", func(t *testing.T) { w.testEach(t, c) })
}

// failsOnce fails the first creation of a pod group, so that a later round creates the group for
// the existing workload.
func failsOnce() middleware {
	var failed atomic.Bool
	return func(r *http.Request, server http.RoundTripper) (*http.Response, error) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/podgroups") && failed.CompareAndSwap(false, true) {
			return nil, errCut
		}
		return server.RoundTrip(r)
	}
}

// liveOfGangs: each pod names the gang of its job, which grows with the job (J44, J46).
func liveOfGangs(p *place, _ *process) {
	p.create(jobOf("gang", "r", func(s *batchv1.JobSpec) {
		s.Parallelism, s.Completions = pointTo(int32(2)), pointTo(int32(4))
		s.Scheduling = &batchv1.JobSchedulingConfiguration{
			SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{}},
		}
	}))
	p.await("gang", "two running pods", running(2))
	gang := p.onlyGroup()
	p.change("gang", `{"spec":{"parallelism":3}}`)
	p.await("gang", "three running pods", running(3))
	if again := p.onlyGroup(); again.UID != gang.UID || gang.Spec.SchedulingPolicy.Gang.MinCount != 2 || again.Spec.SchedulingPolicy.Gang.MinCount != 3 {
		p.Errorf("the gang was %+v, and is %+v", gang.Spec, again.Spec)
	}
	for _, pod := range p.pods("") {
		if g := pod.Spec.SchedulingGroup; g == nil || g.PodGroupName == nil || *g.PodGroupName != gang.Name {
			p.Errorf("pod %s names the group %+v, want %s", pod.Name, g, gang.Name)
		}
	}
}

func (p *place) onlyGroup() schedulingv1beta1.PodGroup {
	p.Helper()
	list, err := p.SchedulingV1beta1().PodGroups(p.namespace).List(p.Context(), metav1.ListOptions{})
	must.OK(p, err)
	if len(list.Items) != 1 {
		p.Fatalf("%d pod groups, want one", len(list.Items))
	}
	return list.Items[0]
}
