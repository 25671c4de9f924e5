//go:build go1.25

package controller_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kubernetes/controller"
	"github.com/batchplan/batchplan/kubernetes/convert"
)

// orphans is a queue that notes what it is asked for.
type orphans struct{ got []controller.Orphan }

func (q *orphans) Add(o controller.Orphan)                       { q.got = append(q.got, o) }
func (q *orphans) AddAfter(o controller.Orphan, _ time.Duration) { q.Add(o) }

// tracked returns a pod with the finalizer, and with this owner.
func tracked(name string, owner *metav1.OwnerReference) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "ns", UID: types.UID("uid-of-" + name), Finalizers: []string{job.Finalizer},
	}}
	if owner != nil {
		p.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return p
}

// TestJ36_OrphanEvents: a job that has ended or is gone asks for a look at its pods, and so does a pod
// that no job asks for.
func TestJ36_OrphanEvents(t *testing.T) {
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, resync)
	c, err := controller.NewOrphanReconciler(controller.BatchJobs(client), client, factory.Batch().V1().Jobs().Informer(),
		factory.Core().V1().Pods().Informer(), controller.OrphanOptions{ManagedBy: mine})
	if err != nil {
		t.Fatal(err)
	}
	runs, ended := newJob("j", pointTo(mine)), newJob("j", pointTo(mine))
	runs.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "job", Operator: metav1.LabelSelectorOpIn, Values: []string{"j"}}}}
	ended.Spec.Selector = runs.Spec.Selector
	ended.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	ofJob := controller.Orphan{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "j"}, Owner: runs.UID, Selector: "job in (j)"}
	nobodys, owned, free := tracked("nobodys", nil), tracked("owned", metav1.NewControllerRef(runs, batchv1.SchemeGroupVersion.WithKind("Job"))), tracked("free", nil)
	free.Finalizers = nil
	ofPod := controller.Orphan{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "nobodys"}}
	var queue orphans
	jobs, pods := c.OwnerEvents(&queue), c.PodEvents(&queue)
	for _, tc := range []struct {
		what string
		do   func()
		want []controller.Orphan
	}{
		{"a job is there", func() { jobs.OnAdd(runs, false) }, nil},
		{"it changes", func() { jobs.OnUpdate(runs, runs) }, nil},
		{"it ends", func() { jobs.OnUpdate(runs, ended) }, []controller.Orphan{ofJob}},
		{"it goes before its end", func() { jobs.OnDelete(runs) }, []controller.Orphan{ofJob}},
		{"its deletion was missed", func() { jobs.OnDelete(cache.DeletedFinalStateUnknown{Obj: runs}) }, []controller.Orphan{ofJob}},
		{"something else was missed", func() { jobs.OnDelete(cache.DeletedFinalStateUnknown{}) }, nil},
		{"a pod of nobody", func() { pods.OnAdd(nobodys, false) }, []controller.Orphan{ofPod}},
		{"a pod of a job", func() { pods.OnAdd(owned, false) }, nil},
		{"a pod without the finalizer", func() { pods.OnAdd(free, false) }, nil},
	} {
		queue.got = nil
		tc.do()
		if len(queue.got) != len(tc.want) || len(tc.want) == 1 && queue.got[0] != tc.want[0] {
			t.Errorf("%s: asked for %+v, want %+v", tc.what, queue.got, tc.want)
		}
	}
}

// TestJ36_OrphansOfANamespace: a namespace that a replica takes over is looked through. The finalizer goes
// on condition of the pod's UID, and stays on the pod of an owner of another kind.
func TestJ36_OrphansOfANamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mineNow atomic.Bool
		var patches []string
		others := tracked("others", &metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Worker", Name: "w", UID: "w", Controller: pointTo(true)})
		others.DeletionTimestamp = pointTo(metav1.Now())
		var all *controller.Controller[controller.Orphan]
		c := start(t, func(client kubernetes.Interface, factory informers.SharedInformerFactory) (_ []starter, err error) {
			client.(*fake.Clientset).PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
				patches = append(patches, string(a.(clienttesting.PatchAction).GetPatch()))
				return false, nil, nil
			})
			all, err = controller.NewOrphans(client, factory, controller.OrphanOptions{
				Common: controller.Common{Workers: 1, Namespace: func(string) bool { return mineNow.Load() }}, ManagedBy: mine,
			})
			return []starter{all}, err
		}, tracked("nobodys", nil), others)
		defer c.stop()
		c.rest(time.Minute)
		if len(patches) > 0 {
			t.Fatalf("a pod of another replica was written: %v", patches)
		}
		mineNow.Store(true)
		all.Enqueue(func(namespace string) bool { return namespace != "ns" })
		c.rest(time.Second)
		if len(patches) > 0 {
			t.Fatalf("a namespace that was not asked for: %v", patches)
		}
		all.Enqueue(func(namespace string) bool { return namespace == "ns" })
		c.rest(time.Second)
		for _, p := range c.pods() {
			if got, want := convert.IsTracked(&p), p.Name == "others"; got != want {
				t.Errorf("pod %s: finalizer %t, want %t", p.Name, got, want)
			}
		}
		if len(patches) != 1 || !strings.Contains(patches[0], "uid-of-nobodys") {
			t.Errorf("patches %v", patches)
		}
	})
}

// A kind that says too little is refused.
func TestNewOrphansOf_Incomplete(t *testing.T) {
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, resync)
	c, err := controller.NewOrphansOf(controller.Kind[*batchv1.Job]{}, client, factory.Batch().V1().Jobs().Informer(), factory.Core().V1().Pods().Informer(),
		controller.OrphanOptions{})
	if err == nil || c != nil {
		t.Errorf("got %v, %v", c, err)
	}
}
