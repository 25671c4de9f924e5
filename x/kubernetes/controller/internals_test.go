package controller

import (
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/x/kubernetes/internal/groups"
)

// TestIsTold: which changes of an object can come from a Report alone.
func TestIsTold(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(o *batchv1.Job)
		want   bool
	}{
		{"another version", func(o *batchv1.Job) { o.ResourceVersion = "2" }, true},
		{"the same version", func(o *batchv1.Job) {}, false},
		{"another generation", func(o *batchv1.Job) { o.ResourceVersion, o.Generation = "2", 2 }, false},
		{"no generation", func(o *batchv1.Job) { o.ResourceVersion, o.Generation = "2", 0 }, false},
		{"a deletion", func(o *batchv1.Job) { o.ResourceVersion, o.DeletionTimestamp = "2", &metav1.Time{} }, false},
		{"a label", func(o *batchv1.Job) { o.ResourceVersion, o.Labels = "2", map[string]string{"a": "1"} }, false},
		{"an annotation", func(o *batchv1.Job) { o.ResourceVersion, o.Annotations = "2", map[string]string{"a": "1"} }, false},
		{"a count", func(o *batchv1.Job) { o.ResourceVersion, o.Status.Active = "2", 1 }, false},
	} {
		was := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1", Generation: 1}}
		is := was.DeepCopy()
		test.change(is)
		if got := isTold(was, is, was.Status, is.Status); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestCronReport_HasFailed: a round has failed if one of its calls was unsuccessful. A call that
// finds its object gone is not a failure.
func TestCronReport_HasFailed(t *testing.T) {
	for result, want := range map[cronjobreason.Result]bool{
		cronjobreason.ResultDone: false, cronjobreason.ResultGone: false, cronjobreason.ResultUnsuccessful: true,
	} {
		reply, effect := cronjob.Reply{Result: result}, cronjob.Effect{Result: result}
		for _, w := range []cronjob.Writes{
			{Verified: []cronjob.Reply{reply}}, {Deleted: []cronjob.Effect{effect}}, {Created: []cronjob.Effect{effect}},
		} {
			if got := (&CronReport{Writes: w}).hasFailed(); got != want {
				t.Errorf("%+v: %v, want %v", w, got, want)
			}
		}
	}
}

// TestBatchCronJobs_New: a new job shares nothing with the CronJob, which belongs to the cache.
func TestBatchCronJobs_New(t *testing.T) {
	kind := BatchCronJobs(nil, nil)
	c := &batchv1.CronJob{}
	c.Spec.JobTemplate.Spec.Template.Labels = map[string]string{"a": "1"}
	made := kind.New(c)
	made.Spec.Template.Labels["a"] = "2"
	if got := c.Spec.JobTemplate.Spec.Template.Labels["a"]; got != "1" {
		t.Errorf("the label of the CronJob is %q", got)
	}
}

// TestLeave: a replica that has lost an object drops its memory. One in a store of the user stays.
func TestLeave(t *testing.T) {
	key, kept := types.NamespacedName{Namespace: "ns", Name: "j"}, job.Memory{JobUID: "u"}
	own := &memories[job.Memory]{}
	for name, all := range map[string]Memories[job.Memory]{"own": own, "of the user": struct{ Memories[job.Memory] }{&memories[job.Memory]{}}} {
		if err := errors.Join(all.Set(t.Context(), key, kept), leave(t.Context(), all, key)); err != nil {
			t.Error(err)
		}
		if m, err := all.Get(t.Context(), key); err != nil || (m.JobUID == "") != (name == "own") {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// TestAnnotate_Fails: a memory that cannot be written as JSON is an error of the memory.
func TestAnnotate_Fails(t *testing.T) {
	b := &roundBackend{jobs: &Jobs{options: JobOptions{MemoryAnnotation: "a"}}, object: &batchv1.Job{}}
	late := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	err := b.annotate(t.Context(), job.Memory{JobUID: "u", Backoff: backoff.Record{Failures: 1, LastFailure: late}})
	var ofStore storeError
	if !errors.As(err, &ofStore) {
		t.Error(err)
	}
}

// TestCreations_Timeout: a new pod that the cache does not show is remembered as long as an
// expectation lasts, also if an earlier job of the same name has created pods.
func TestCreations_Timeout(t *testing.T) {
	const uid = types.UID("uid-j")
	key, at := types.NamespacedName{Namespace: "ns", Name: "j"}, time.Unix(1_000_000_000, 0)
	for after, counts := range map[time.Duration]bool{expectations.Timeout - 1: true, expectations.Timeout: false} {
		pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		c := &Jobs{ownedPods: ownedPods{pods: pods}}
		c.created.add(key, "uid-of-an-earlier-j", job.PodRef{Name: "q", UID: "uid-q"}, at)
		c.created.add(key, uid, job.PodRef{Name: "p", UID: "uid-p"}, at)

		one := int32(1)
		s := &job.Snapshot{Job: job.Job{Namespace: "ns", UID: job.UID(uid), Spec: job.Spec{Parallelism: &one}}, Now: at.Add(after)}
		plan := &job.Plan{Create: make([]job.Creation, 1)}
		if err := c.checkCreations(key, s, plan); err != nil {
			t.Errorf("after %s: %v", after, err)
		}

		yes := true
		owner := metav1.OwnerReference{UID: uid, Controller: &yes}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "uid-p", OwnerReferences: []metav1.OwnerReference{owner}}}
		if err := errors.Join(pods.Add(pod), c.checkCreations(key, s, plan)); (err != nil) != counts {
			t.Errorf("after %s the pod arrives: %v", after, err)
		}
	}
}

// TestForgetPods: what is known of a job is stored under the key of the job, even if its pods are
// in another namespace.
func TestForgetPods(t *testing.T) {
	c, key := &Jobs{}, types.NamespacedName{Name: "j"}
	c.created.add(key, "uid", job.PodRef{Name: "p", UID: "p"}, time.Now())
	c.places.Store(key, "ns")
	c.forgetPods(key)
	if _, is := c.places.Load(key); is || len(c.created.byJob) > 0 {
		t.Errorf("%d are kept, place %v", len(c.created.byJob), is)
	}
}

// TestJ44_GroupsOfAJob: workloads are found by the job or its controller, and pod groups by the workload, in one
// namespace.
func TestJ44_GroupsOfAJob(t *testing.T) {
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		groups.Workloads: "WorkloadList", groups.PodGroups: "PodGroupList",
	})
	g := NewGroups(client, dynamicinformer.NewDynamicSharedInformerFactory(client, 0))
	if err := g.index(); err != nil {
		t.Fatal(err)
	}

	object := func(namespace, name string, spec map[string]any) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		o.SetNamespace(namespace)
		o.SetName(name)
		return o
	}
	workload := func(namespace, name, kind, of string) *unstructured.Unstructured {
		ref := map[string]any{"apiGroup": "batch", "kind": kind, "name": of}
		return object(namespace, name, map[string]any{"controllerRef": ref})
	}
	group := func(namespace, name, of string) *unstructured.Unstructured {
		return object(namespace, name, map[string]any{"workloadRef": map[string]any{"workloadName": of}})
	}
	for _, o := range []*unstructured.Unstructured{
		workload("ns", "w", "Job", "j"), workload("ns", "x", "Job", "k"), workload("other", "w", "Job", "j"), workload("ns", "v", "CronJob", "j"),
	} {
		if err := g.workloads.GetIndexer().Add(o); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range []*unstructured.Unstructured{group("ns", "g", "w"), group("ns", "h", "x"), group("other", "i", "w"), group("ns", "l", "v")} {
		if err := g.podGroups.GetIndexer().Add(o); err != nil {
			t.Fatal(err)
		}
	}

	yes := true
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "uid-j"}}
	kind := BatchJobs(nil, nil)
	for _, template := range []string{"", "t"} {
		if template != "" {
			j.Annotations = map[string]string{jobgroup.TemplateAnnotation: template}
		}
		got := g.of(j, kind.GroupVersionKind, "ns", &corev1.PodTemplateSpec{}).Template
		if (got != nil) != (template != "") || got != nil && *got != template {
			t.Errorf("the template is %v, want %q", got, template)
		}
	}

	for _, test := range []struct {
		owners          []metav1.OwnerReference
		workload, group string
	}{
		{nil, "w", "g"},
		{[]metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "j", Controller: &yes}}, "v", "l"},
	} {
		j.OwnerReferences = test.owners
		got := g.of(j, kind.GroupVersionKind, "ns", &corev1.PodTemplateSpec{})
		if len(got.Workloads) != 1 || len(got.PodGroups) != 1 || got.Controlled != (len(test.owners) > 0) {
			t.Errorf("%+v, want %s and %s", got, test.workload, test.group)
			continue
		}
		if got.Workloads[0].Name != test.workload || got.PodGroups[0].Name != test.group {
			t.Errorf("%+v, want %s and %s", got, test.workload, test.group)
		}
	}

	c := &Jobs{ownedPods: ownedPods{kind: &kind}, client: fake.NewClientset(), options: JobOptions{Groups: g}}
	if b := c.newBackend(keyOf(j), j, &job.Job{}); b.Groups == nil || b.Groups.Owner.UID != j.UID {
		t.Errorf("a round writes the groups with %+v", b.Groups)
	}
}
