package broadcastjob

// The findings of docs/blackbox.md without the kit: the controller of BroadcastJobs on a fake
// client. Each test passes while its finding exists.

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/openkruise/kruise/apis/apps/v1alpha1"
	"github.com/openkruise/kruise/pkg/controller/broadcastjob"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/batchplan/batchplan/x/proof/others/kruise/plain"
)

// fixture is OpenKruise's controller with one BroadcastJob, which has a pod on each of its nodes.
type fixture struct {
	controller.Controller
	client client.Client
	refuse func(verb string) error // refuses the next write; nil refuses none
	shown  *v1alpha1.BroadcastJob  // the job as its cache shows it; nil means as it is
}

// running returns a fixture with a job whose pods have these phases.
func running(t *testing.T, phases ...corev1.PodPhase) *fixture {
	job := &v1alpha1.BroadcastJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "BroadcastJob"}, // their caches set it
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "subject", UID: "subject"},
		Spec: v1alpha1.BroadcastJobSpec{
			CompletionPolicy: v1alpha1.CompletionPolicy{Type: v1alpha1.Always}, FailurePolicy: v1alpha1.FailurePolicy{Type: v1alpha1.FailurePolicyTypeFailFast},
		},
		Status: v1alpha1.BroadcastJobStatus{Phase: v1alpha1.PhaseRunning, StartTime: new(metav1.Now())},
	}

	objects := []client.Object{job}
	for i, phase := range phases {
		name := fmt.Sprintf("node-%d", i)
		objects = append(objects, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}},
		}, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: fmt.Sprintf("pod-%d", i),
				Labels:          map[string]string{broadcastjob.JobNameLabelKey: job.Name, broadcastjob.ControllerUIDLabelKey: string(job.UID)},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, v1alpha1.SchemeGroupVersion.WithKind("BroadcastJob"))},
			},
			Spec:   corev1.PodSpec{NodeName: name, RestartPolicy: corev1.RestartPolicyNever},
			Status: corev1.PodStatus{Phase: phase},
		})
	}

	f := new(fixture)
	write := func(verb string, do func() error) error {
		if refuse := f.refuse; refuse != nil {
			if err := refuse(verb); err != nil {
				f.refuse = nil
				return err
			}
		}
		return do()
	}

	f.client = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.BroadcastJob{}, &corev1.Pod{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if job, ok := o.(*v1alpha1.BroadcastJob); ok && f.shown != nil {
					f.shown.DeepCopyInto(job)
					return nil
				}
				return c.Get(ctx, key, o, opts...)
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				return write("delete", func() error { return c.Delete(ctx, o, opts...) })
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
				return write(sub, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
			},
		}).Build()

	if err := forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.Controller, err = plain.Controller(broadcastjob.Add, f.client, &informertest.FakeInformers{Scheme: scheme.Scheme}); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) look(t *testing.T) (ctrl.Result, error) {
	return f.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "subject"}})
}

func (f *fixture) job(t *testing.T) *v1alpha1.BroadcastJob {
	var job v1alpha1.BroadcastJob
	if err := f.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "subject"}, &job); err != nil {
		t.Fatal(err)
	}
	return &job
}

func (f *fixture) phase(t *testing.T) v1alpha1.BroadcastJobPhase { return f.job(t).Status.Phase }

func (f *fixture) pod(t *testing.T, i int) *corev1.Pod {
	var pod corev1.Pod
	if err := f.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: fmt.Sprintf("pod-%d", i)}, &pod); err != nil {
		t.Fatal(err)
	}
	return &pod
}

// refusing returns a function that refuses the writes with one verb.
func refusing(which string) func(string) error {
	return func(verb string) error {
		if verb == which {
			return errors.New("the test refuses this write")
		}
		return nil
	}
}

// Both pods have succeeded, and the status write that completes the job fails. The controller
// returns neither an error nor a time for the next look, and no event is left: the job runs until
// the caches are listed again, ten hours later. A right controller returns the error.
func TestFindingEnds(t *testing.T) {
	f := running(t, corev1.PodSucceeded, corev1.PodSucceeded)
	f.refuse = refusing("status")
	if result, err := f.look(t); err != nil || result != (ctrl.Result{}) || f.refuse != nil {
		t.Fatalf("the look returns %v and %v, neither with v1.8.0: strike the row Ends of BroadcastJob in docs/blackbox.md", result, err)
	}
	if phase := f.phase(t); phase != v1alpha1.PhaseRunning {
		t.Errorf("phase %s", phase)
	}
	if _, err := f.look(t); err != nil || f.phase(t) != v1alpha1.PhaseCompleted {
		t.Errorf("phase %s after a second look, want %s: %v", f.phase(t), v1alpha1.PhaseCompleted, err)
	}
}

// One pod has failed, which fails the job, and the deletion of the other one fails. The status is
// written nevertheless, and the controller never looks at a failed job again: the pod runs on. A
// right controller fails the job only once its pods are deleted, or also deletes the pods of a
// failed job.
func TestFindingNothingLeft(t *testing.T) {
	f := running(t, corev1.PodFailed, corev1.PodRunning)
	f.refuse = refusing("delete")
	if _, err := f.look(t); err == nil || f.refuse != nil {
		t.Fatalf("no write failed")
	}
	for range 3 {
		if _, err := f.look(t); err != nil {
			t.Fatal(err)
		}
	}
	if pod := f.pod(t, 1); pod.DeletionTimestamp != nil || f.phase(t) != v1alpha1.PhaseFailed {
		t.Errorf("phase %s; with v1.8.0 a pod of the failed job runs: strike the row NothingLeft of BroadcastJob in docs/blackbox.md", f.phase(t))
	}
}

// One pod has succeeded, and a user deletes the other one. While that pod ends, the job completes,
// and the node never has a pod again. If the pod had been gone by then, the node would get another
// one. A right controller does not count a pod as done while it is being deleted.
func TestFindingEndsRightly(t *testing.T) {
	f := running(t, corev1.PodSucceeded, corev1.PodRunning)
	pod := f.pod(t, 1)
	pod.Finalizers = []string{"example.com/kubelet"} // the fake client immediately deletes a pod without finalizers
	if err := errors.Join(f.client.Update(t.Context(), pod), f.client.Delete(t.Context(), pod)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.look(t); err != nil || f.phase(t) != v1alpha1.PhaseCompleted {
		t.Errorf("phase %s, %v; with v1.8.0 the job completes: strike the row EndsRightly of BroadcastJob in docs/blackbox.md", f.phase(t), err)
	}
}

// The job completes. Then a user deletes its pod. The cache shows the deletion before the end of
// the job, so the controller starts another pod. A right controller starts nothing until its cache
// shows its own writes, or writes the status first.
func TestFindingEndsOnce(t *testing.T) {
	f := running(t, corev1.PodSucceeded)
	before := f.job(t)
	if _, err := f.look(t); err != nil || f.phase(t) != v1alpha1.PhaseCompleted {
		t.Fatalf("phase %s: %v", f.phase(t), err)
	}
	if err := f.client.Delete(t.Context(), f.pod(t, 0)); err != nil {
		t.Fatal(err)
	}
	f.shown = before
	_, err := f.look(t)
	f.shown = nil
	var pods corev1.PodList
	if err := errors.Join(err, f.client.List(t.Context(), &pods)); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 1 || f.phase(t) != v1alpha1.PhaseCompleted {
		t.Errorf("phase %s, %d pods; with v1.8.0 the completed job has another: strike the row EndsOnce of BroadcastJob in docs/blackbox.md", f.phase(t), len(pods.Items))
	}
}
