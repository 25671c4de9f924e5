//go:build go1.25

package convert_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

func owned(of *job.Job, i, version int) *corev1.Pod {
	yes := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprint("p", i), Namespace: of.Namespace, UID: types.UID(fmt.Sprint("pod-", i)),
			ResourceVersion: strconv.Itoa(version), Finalizers: []string{job.Finalizer},
			Labels:          map[string]string{"job": "j"},
			OwnerReferences: []metav1.OwnerReference{{UID: types.UID(of.UID), Controller: &yes}},
		},
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "main", Image: "image"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: at(version % 60)}},
			},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "main", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			}},
		},
	}
}

func someJob(uid job.UID) *job.Job {
	return &job.Job{
		Namespace: "ns", Name: "j", UID: uid,
		Spec: job.Spec{Selector: &job.Selector{MatchLabels: map[string]string{"job": "j"}}},
	}
}

// TestPodCache_AsWithout: in random histories, the cache returns what a conversion returns, and
// holds no pod that is gone.
func TestPodCache_AsWithout(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	of, cache := someJob("a"), &convert.PodCache{}
	world, version := map[int]*corev1.Pod{}, 1

	for range 2000 {
		if random.IntN(10) == 0 {
			of.Version = random.Int64N(3) // 0 means unknown
		}
		switch i := random.IntN(20); random.IntN(4) {
		case 0:
			delete(world, i)
		case 1: // it now belongs to another job
			if p := world[i]; p != nil {
				version++
				p = owned(of, i, version)
				p.OwnerReferences[0].UID = "b"
				world[i] = p
			}
		default:
			version++
			world[i] = owned(of, i, version)
		}

		var list []*corev1.Pod
		var want []job.Pod
		for _, i := range slices.Sorted(maps.Keys(world)) {
			p := world[i]
			list = append(list, p)
			if value := convert.Pod(of, p); value.Owner != jobpod.Foreign {
				want = append(want, value)
			}
		}

		if diff := cmp.Diff(want, cache.Append(nil, of, list)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if cache.Len() != len(want) {
			t.Fatalf("%d pods in the cache, want %d", cache.Len(), len(want))
		}
	}

	cache.Forget(nameOf(of))
	if cache.Len() != 0 {
		t.Errorf("%d pods left", cache.Len())
	}
}

// TestPodCache_Recreated: a new job of the same name removes the pods of the old job from the
// cache, although no round has seen that the old job was gone.
func TestPodCache_Recreated(t *testing.T) {
	cache := &convert.PodCache{}
	for i := range 200 {
		of := someJob(job.UID(fmt.Sprint("uid-", i)))
		var list []*corev1.Pod
		for n := range 5 {
			list = append(list, owned(of, 5*i+n, 1))
		}
		if got := len(cache.Append(nil, of, list)); got != 5 || cache.Len() != 5 {
			t.Fatalf("%d pods, %d in the cache, want 5", got, cache.Len())
		}
	}
	cache.Forget(nameOf(someJob("")))
	if cache.Len() != 0 {
		t.Errorf("%d pods left", cache.Len())
	}
}

func nameOf(j *job.Job) types.NamespacedName {
	return types.NamespacedName{Namespace: j.Namespace, Name: j.Name}
}

// TestPodCache_Once: each version is converted once, and a pod without a version each time.
func TestPodCache_Once(t *testing.T) {
	of, cache := someJob("a"), &convert.PodCache{}
	phaseAfter := func(change func(*corev1.Pod)) job.PodPhase {
		p := owned(of, 1, 7)
		change(p)
		return cache.Append(nil, of, []*corev1.Pod{p})[0].Phase
	}
	phaseAfter(func(*corev1.Pod) {})
	if got := phaseAfter(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }); got != job.PodRunning {
		t.Errorf("the same version was converted twice: %s", got)
	}
	if got := phaseAfter(func(p *corev1.Pod) { p.Status.Phase, p.ResourceVersion = corev1.PodFailed, "8" }); got != job.PodFailed {
		t.Errorf("a new version was not converted: %s", got)
	}
	for _, want := range []job.PodPhase{job.PodSucceeded, job.PodFailed} {
		got := phaseAfter(func(p *corev1.Pod) { p.Status.Phase, p.ResourceVersion = corev1.PodPhase(want.String()), "" })
		if got != want {
			t.Errorf("without a version: %s, want %s", got, want)
		}
	}
}

// TestPodCache_Owner: the Owner of a pod is computed again if the job has a new version, or none.
func TestPodCache_Owner(t *testing.T) {
	tests := []struct {
		name          string
		before, after int64 // versions of the job
		want          jobpod.Ownership
	}{
		{"a new version", 5, 6, jobpod.OwnedUnmatched},
		{"the same version, which has the same selector", 5, 5, jobpod.Owned},
		{"no versions", 0, 0, jobpod.OwnedUnmatched},
	}
	for _, test := range tests {
		of, cache := someJob("a"), &convert.PodCache{}
		of.Version = test.before
		list := []*corev1.Pod{owned(of, 1, 7)}
		cache.Append(nil, of, list)
		of.Version = test.after
		of.Spec.Selector = &job.Selector{MatchLabels: map[string]string{"job": "other"}}
		if got := cache.Append(nil, of, list)[0].Owner; got != test.want {
			t.Errorf("%s: owner %s, want %s", test.name, got, test.want)
		}
	}
}

// TestPodCache_Workers: several jobs use the cache concurrently, under the race detector.
func TestPodCache_Workers(t *testing.T) {
	cache := &convert.PodCache{}
	var running sync.WaitGroup
	for _, uid := range []job.UID{"a", "b", "c"} {
		running.Go(func() {
			of := someJob(uid)
			of.Name = string(uid)
			for version := range 200 {
				if got := len(cache.Append(nil, of, []*corev1.Pod{owned(of, 1, version+1)})); got != 1 {
					t.Errorf("%d pods", got)
				}
			}
			cache.Forget(nameOf(of))
		})
	}
	running.Wait()
	if cache.Len() != 0 {
		t.Errorf("%d pods left", cache.Len())
	}
}

// TestPodCache_NoAllocations: a round that finds nothing new allocates nothing.
func TestPodCache_NoAllocations(t *testing.T) {
	of, cache := someJob("a"), &convert.PodCache{}
	var list []*corev1.Pod
	for i := range 100 {
		list = append(list, owned(of, i, 1))
	}
	buffer := cache.Append(nil, of, list)
	if n := testing.AllocsPerRun(10, func() { buffer = cache.Append(buffer[:0], of, list) }); n > 0 {
		t.Errorf("%v allocations a round", n)
	}
}

// TestPodCache_NotOfTheNext: a decision about a pod of one job is not reused for the next job of
// the same name, even if the two jobs have the same version.
func TestPodCache_NotOfTheNext(t *testing.T) {
	first, next, cache := someJob("a"), someJob("b"), &convert.PodCache{}
	first.Version, next.Version = 7, 7
	list := []*corev1.Pod{owned(first, 1, 1)}
	for range 2 {
		if got := len(cache.Append(nil, first, list)); got != 1 {
			t.Fatalf("%d pods of the first job", got)
		}
	}
	if got := cache.Append(nil, next, list); len(got) != 0 {
		t.Errorf("pods %v of another job", got)
	}
}
