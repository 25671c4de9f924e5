package jobset

// The findings of docs/blackbox.md without the kit: JobSet's reconciler on a fake client. Each test passes while its
// finding exists.

import (
	"context"
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers"
	"sigs.k8s.io/jobset/pkg/webhooks"

	"github.com/batchplan/batchplan/x/blackbox"
)

// fixture is JobSet's reconciler with one JobSet of one job, which has succeeded.
type fixture struct {
	client client.Client
	refuse bool             // refuses the next write of the JobSet's status
	shown  *jobsetv1.JobSet // the JobSet as the cache shows it; nil means as it is
}

// indexer registers the indexes of a reconciler with a builder.
type indexer struct{ *fake.ClientBuilder }

func (i indexer) IndexField(_ context.Context, o client.Object, field string, of client.IndexerFunc) error {
	i.WithIndex(o, field, of)
	return nil
}

func succeeded(t *testing.T) *fixture {
	js := subject.New(blackbox.BatchSettings{Wanted: 1, AtOnce: 1}).(*jobsetv1.JobSet)
	js.Namespace, js.Name, js.UID = "default", "subject", "subject"
	f := new(fixture)
	builder := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&jobsetv1.JobSet{}, &batchv1.Job{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if js, ok := o.(*jobsetv1.JobSet); ok && f.shown != nil {
					f.shown.DeepCopyInto(js)
					return nil
				}
				return c.Get(ctx, key, o, opts...)
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
				if _, ok := o.(*jobsetv1.JobSet); ok && f.refuse {
					f.refuse = false
					return errors.New("the test refuses this write")
				}
				return c.SubResource(sub).Update(ctx, o, opts...)
			},
		})

	webhook, err := webhooks.NewJobSetWebhook(nil)
	if err == nil {
		err = errors.Join(webhook.Default(t.Context(), js), controllers.SetupJobSetIndexes(t.Context(), indexer{builder}))
	}
	if err != nil {
		t.Fatal(err)
	}
	f.client = builder.WithObjects(js).Build()
	for range 2 { // it creates the job, and then counts it
		if _, err := f.look(t); err != nil {
			t.Fatal(err)
		}
	}
	job := f.jobs(t)[0]
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	if err := f.client.Status().Update(t.Context(), &job); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) look(t *testing.T) (ctrl.Result, error) {
	r := controllers.NewJobSetReconciler(f.client, scheme, record.NewFakeRecorder(100))
	return r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "subject"}})
}

func (f *fixture) jobs(t *testing.T) []batchv1.Job {
	var list batchv1.JobList
	if err := f.client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func (f *fixture) jobSet(t *testing.T) *jobsetv1.JobSet {
	var js jobsetv1.JobSet
	if err := f.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "subject"}, &js); err != nil {
		t.Fatal(err)
	}
	return &js
}

// The job has succeeded, and the status write that completes the JobSet fails. The reconciler returns neither an error
// nor a time for the next look, and no event is left. A right one returns the error.
func TestFindingEnds(t *testing.T) {
	f := succeeded(t)
	f.refuse = true
	if result, err := f.look(t); err != nil || result != (ctrl.Result{}) || f.refuse {
		t.Fatalf("the look returns %v and %v, neither with v0.10.1: strike the row Ends of JobSet in docs/blackbox.md", result, err)
	}
	if state := f.jobSet(t).Status.TerminalState; state != "" {
		t.Errorf("state %s", state)
	}
	if _, err := f.look(t); err != nil || f.jobSet(t).Status.TerminalState != string(jobsetv1.JobSetCompleted) {
		t.Errorf("state %s after a second look: %v", f.jobSet(t).Status.TerminalState, err)
	}
}

// The JobSet completes, and its job expires. The cache shows that before the end of the JobSet, so the job is created
// again. A right reconciler waits until its cache shows its own status.
func TestFindingEndsOnce(t *testing.T) {
	f := succeeded(t)
	before := f.jobSet(t)
	if _, err := f.look(t); err != nil {
		t.Fatal(err)
	}
	job := f.jobs(t)[0]
	if err := f.client.Delete(t.Context(), &job); err != nil {
		t.Fatal(err)
	}
	f.shown = before
	_, _ = f.look(t) // the write of the status conflicts
	if f.shown = nil; len(f.jobs(t)) != 1 || f.jobSet(t).Status.TerminalState != string(jobsetv1.JobSetCompleted) {
		t.Errorf("%d jobs, 1 with v0.10.1: strike the row EndsOnce of JobSet in docs/blackbox.md", len(f.jobs(t)))
	}
}
