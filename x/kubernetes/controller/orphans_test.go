//go:build go1.25

package controller_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
	"github.com/batchplan/batchplan/x/kubernetes/metrics"
)

// orphans is a queue that records the keys that are added.
type orphans struct{ got []controller.Orphan }

func (q *orphans) Add(o controller.Orphan)                       { q.got = append(q.got, o) }
func (q *orphans) AddAfter(o controller.Orphan, _ time.Duration) { q.Add(o) }

// tracked returns a pod with the finalizer and with that owner, if any.
func tracked(name string, owner *metav1.OwnerReference) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "ns", UID: types.UID("uid-of-" + name), Finalizers: []string{job.Finalizer},
	}}
	if owner != nil {
		p.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return p
}

// ownedBy returns the reference of a pod to its job.
func ownedBy(j *batchv1.Job) *metav1.OwnerReference {
	return metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job"))
}

// TestJ36_Orphans: pods whose job is gone or has ended lose the finalizer. A pod of a job that
// another controller manages keeps it.
func TestJ36_Orphans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, foreign := newJob("ended", pointTo(mine)), newJob("foreign", nil)
		c := newCluster(t, ended, foreign, tracked("nobodys", nil))
		for _, j := range []*batchv1.Job{ended, foreign, newJob("gone", nil)} {
			complete(j, 0)
			p := tracked("of-"+j.Name, ownedBy(j))
			p.Labels, p.DeletionTimestamp = j.Spec.Template.Labels, pointTo(metav1.Now())
			must.OK(t, c.Tracker().Add(p))
		}
		c.startJobs(controller.JobOptions{})
		c.rest(5 * time.Second)
		for _, p := range c.pods() {
			if got, want := convert.IsTracked(&p), p.Name == "of-foreign"; got != want {
				t.Errorf("pod %s: finalizer %v, want %v", p.Name, got, want)
			}
		}
	})
}

// TestJ36_OrphanEvents: when a job ends or is deleted, one key for all of its pods is queued. Other
// pods are queued one by one.
func TestJ36_OrphanEvents(t *testing.T) {
	cluster := newCluster(t)
	c, err := controller.NewOrphanReconciler(kindOf(controller.BatchJobs(cluster, nil), cluster, cluster.jobCache, cluster.podCache), controller.OrphanOptions{ManagedBy: mine})
	must.OK(t, err)

	runs, ended := newJob("j", pointTo(mine)), newJob("j", pointTo(mine))
	runs.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "job", Operator: metav1.LabelSelectorOpIn, Values: []string{"j"}}}}
	ended.Spec.Selector = runs.Spec.Selector
	complete(ended, 0)
	ofJob := controller.Orphan{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "j"}, Owner: runs.UID, Selector: "job in (j)"}

	nobodys, owned, free := tracked("nobodys", nil), tracked("owned", ownedBy(runs)), tracked("free", nil)
	free.Finalizers = nil
	leaving := owned.DeepCopy()
	leaving.DeletionTimestamp = pointTo(metav1.Now())
	ofLeaving := controller.Orphan{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "owned"}}

	owners := cluster.jobCache.GetIndexer()
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
		{"a pod of nobody changes", func() { pods.OnUpdate(owned, nobodys) }, []controller.Orphan{ofPod}},
		{"a pod of a job changes", func() { pods.OnUpdate(nobodys, owned) }, nil},
		{"a pod of nobody is gone", func() { pods.OnDelete(nobodys) }, []controller.Orphan{ofPod}},
		{"its deletion was missed", func() { pods.OnDelete(cache.DeletedFinalStateUnknown{Obj: nobodys}) }, []controller.Orphan{ofPod}},
		{"something else was missed", func() { pods.OnDelete(cache.DeletedFinalStateUnknown{}) }, nil},
		{"a pod of a job that is gone is leaving", func() { pods.OnUpdate(owned, leaving) }, []controller.Orphan{ofLeaving}},
		{"of a job that runs", func() { must.OK(t, owners.Add(runs)); pods.OnUpdate(owned, leaving) }, nil},
		{"of a job that has ended", func() { must.OK(t, owners.Update(ended)); pods.OnUpdate(owned, leaving) }, []controller.Orphan{ofLeaving}},
		{"a job without a selector", func() { bare := newJob("j", nil); bare.Spec.Selector = nil; jobs.OnDelete(bare) }, []controller.Orphan{{NamespacedName: ofJob.NamespacedName, Owner: runs.UID}}},
		{"a job whose selector no server takes", func() {
			bad := newJob("j", nil)
			bad.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "job", Operator: "Near"}}}
			jobs.OnDelete(bad)
		}, []controller.Orphan{{NamespacedName: ofJob.NamespacedName, Owner: runs.UID}}},
		{"a job with both kinds of selectors", func() {
			both := runs.DeepCopy()
			both.Spec.Selector.MatchLabels = map[string]string{"a": "b"}
			jobs.OnDelete(both)
		},
			[]controller.Orphan{{NamespacedName: ofJob.NamespacedName, Owner: runs.UID, Selector: "a=b,job in (j)"}}},
	} {
		queue.got = nil
		tc.do()
		if len(queue.got) != len(tc.want) || len(tc.want) == 1 && queue.got[0] != tc.want[0] {
			t.Errorf("%s: asked for %+v, want %+v", tc.what, queue.got, tc.want)
		}
	}
}

// TestJ36_OrphansOfANamespace: in a namespace that a replica takes over, only the pods with the
// finalizer are examined. The finalizer is removed on condition of the pod's UID, and stays on a
// pod with an owner of another kind.
func TestJ36_OrphansOfANamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mineNow atomic.Bool
		var patches []string
		others, free := tracked("others", &metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Worker", Name: "w", UID: "w", Controller: pointTo(true)}), tracked("free", nil)
		others.DeletionTimestamp, free.Finalizers = pointTo(metav1.Now()), nil
		c, measured := newCluster(t, tracked("nobodys", nil), others, free), added{Metrics: metrics.New()}
		c.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			patches = append(patches, string(a.(clienttesting.PatchAction).GetPatch()))
			return false, nil, nil
		})

		all, err := controller.NewOrphans(controller.BatchJobs(c, c.factory), controller.OrphanOptions{ManagedBy: mine,
			Common: controller.Common{Workers: 1, Namespace: func(string) bool { return mineNow.Load() }, QueueMetrics: &measured}})
		must.OK(t, err)
		t.Cleanup(func() { time.Sleep(time.Second) }) // the queue updates its metrics until then
		c.start(all)

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

		before := measured.n.Load()
		all.Enqueue(func(namespace string) bool { return namespace == "ns" })
		if n := measured.n.Load() - before; n != 2 {
			t.Errorf("the queue got %d keys, want those of the pods with the finalizer", n)
		}
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

// TestNew_Incomplete: an incomplete kind is refused.
func TestNew_Incomplete(t *testing.T) {
	c := newCluster(t)
	got, err := controller.NewOrphans(kindOf(controller.Kind[*batchv1.Job]{}, c, c.jobCache, c.podCache), controller.OrphanOptions{})
	if err == nil || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := controller.NewOrphanReconciler(controller.Kind[*batchv1.Job]{}, controller.OrphanOptions{}); err == nil || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if ttl, err := controller.NewTTL(kindOf(controller.Kind[*batchv1.Job]{}, nil, c.jobCache, nil), controller.TTLOptions{}); err == nil || ttl != nil {
		t.Errorf("got %v, %v", ttl, err)
	}
}

// TestJ36_Release: whether a pod loses the finalizer, and the calls and errors of the round, for
// the key of its job and for its own key.
func TestJ36_Release(t *testing.T) {
	const selector = "job=j"
	j, ended, others := newJob("j", pointTo(mine)), newJob("j", pointTo(mine)), newJob("j", pointTo("example.com/other"))
	complete(ended, 0)
	complete(others, 0)

	ofJob := func(kind string, change func(*corev1.Pod)) *corev1.Pod {
		ref := ownedBy(j)
		ref.Kind = kind
		p := tracked("p", ref)
		p.Labels = map[string]string{"job": "j"}
		change(p)
		return p
	}

	same := func(*corev1.Pod) {}
	gone := apierrors.NewNotFound(corev1.Resource("pods"), "p")
	down := errors.New("no reply")

	for _, test := range []struct {
		name  string
		owner *batchv1.Job // in the cache
		pod   *corev1.Pod
		fails error
		wants [2]string // the outcomes for the key of the job and for the key of the pod
	}{
		{"of a job that is gone", nil, ofJob("Job", same), nil, [2]string{"patch pods p", "patch pods p"}},
		{"of a job that runs", j, ofJob("Job", same), nil, [2]string{}},
		{"of a job that has ended", ended, ofJob("Job", same), nil, [2]string{"patch pods p", "patch pods p"}},
		{"of a job of another controller", others, ofJob("Job", same), nil, [2]string{}},
		{"of another kind", nil, ofJob("Film", same), nil, [2]string{}},
		{"of another group", nil, ofJob("Job", func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "example.com/v1" }), nil, [2]string{}},
		{"that does not match any more", ended, ofJob("Job", func(p *corev1.Pod) { p.Labels = nil }), nil, [2]string{"", "patch pods p"}},
		{"without the finalizer", nil, ofJob("Job", func(p *corev1.Pod) { p.Finalizers = nil }), nil, [2]string{}},
		{"that is gone", nil, ofJob("Job", same), gone, [2]string{"patch pods p", "patch pods p"}},
		{"that cannot be written", nil, ofJob("Job", same), down, [2]string{"patch pods p no reply", "patch pods p no reply"}},
	} {
		for i, key := range []controller.Orphan{
			{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "j"}, Owner: j.UID, Selector: selector},
			{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "p"}},
		} {
			c := newCluster(t, test.pod.DeepCopy())
			if test.fails != nil {
				c.refuse("patch", "pods", test.fails)
			}
			var released []string
			r, err := controller.NewOrphanReconciler(kindOf(controller.BatchJobs(c, nil), c, c.jobCache, c.podCache), controller.OrphanOptions{
				ManagedBy: mine, Hooks: controller.OrphanHooks{Released: func(p *corev1.Pod) { released = append(released, p.Name) }},
			})
			must.OK(t, errors.Join(err, c.podCache.GetIndexer().Add(test.pod)))
			if test.owner != nil {
				must.OK(t, c.jobCache.GetIndexer().Add(test.owner))
			}
			next, err := r.Reconcile(logged(t, &c.log), key)
			got := c.calls()
			if err != nil {
				got += " " + err.Error()
			}
			if got != test.wants[i] || !next.IsZero() {
				t.Errorf("%s, key %d: %q, again at %s, want %q", test.name, i, got, next, test.wants[i])
			}
			if _, err := r.Reconcile(t.Context(), controller.Orphan{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "unknown"}}); err != nil || len(c.Actions()) > 0 {
				t.Errorf("a pod that is not in the cache: %v", err)
			}
			if wrote := got != ""; (len(released) == 1) != wrote || (len(c.log) == 1) != wrote ||
				wrote && !strings.HasPrefix(c.log[0], `"level"=2 "msg"="finalizer of an orphan is removed" "pod"={"name"="p" "namespace"="ns"}`) {
				t.Errorf("%s, key %d: released %q, log %q", test.name, i, released, c.log)
			}
		}
	}
}
