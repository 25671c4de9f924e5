//go:build go1.25

package reconcilers_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/reconcilers"
)

// idleCache has informers that show nothing.
type idleCache struct {
	cache.Cache
	asked map[string]bool
}

func (c idleCache) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	c.asked[reflect.TypeOf(o).String()] = true
	return toolscache.NewSharedIndexInformer(&toolscache.ListWatch{}, o, 0, toolscache.Indexers{}), nil
}

func nightlies() controller.Cron[*Nightly, *Backup] {
	return controller.Cron[*Nightly, *Backup]{
		Spec:      func(n *Nightly) cronjob.Spec { return cronjob.Spec{Schedule: n.Spec.Schedule} },
		Status:    func(n *Nightly) cronjob.Status { return cronjob.Status{LastScheduleTime: n.Status.LastBackup.Time} },
		SetStatus: func(n *Nightly, s cronjob.Status) { n.Status.LastBackup = metav1.NewTime(s.LastScheduleTime) },
		New:       func(n *Nightly) *Backup { return &Backup{Bucket: n.Spec.Bucket} },
		Ended:     func(*Backup, *cronjob.Child) {},
	}
}

func backupScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(schema.GroupVersion{Group: "example.com", Version: "v1"}, &Nightly{}, &Backup{}, &Reel{})
	return scheme
}

// TestSetup: kinds come from the scheme, informers and clients from the manager. A missing one is
// an error.
func TestSetup(t *testing.T) {
	asked := map[string]bool{}
	mgr := newManager(t, func(*rest.Config, cache.Options) (cache.Cache, error) { return idleCache{asked: asked}, nil })
	clientscheme.Scheme.AddKnownTypes(schema.GroupVersion{Group: "example.com", Version: "v1"}, &Nightly{}, &Backup{}, &Reel{}) // the manager's
	type stored struct{ Nightly }                                                                                               // no scheme knows it

	var status batchv1.JobStatus
	reels := controller.Kind[*Reel]{
		Spec:   func(*Reel) *batchv1.JobSpec { return &batchv1.JobSpec{} },
		Status: func(*Reel) *batchv1.JobStatus { return &status },
	}

	named := controller.Kind[*stored]{GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}}
	lossy, forgets := reels, nightlies()
	lossy.Status = func(*Reel) *batchv1.JobStatus { return &batchv1.JobStatus{} }
	forgets.SetStatus = func(*Nightly, cronjob.Status) {}

	for _, test := range []struct {
		reconciler interface{ SetupWithManager(ctrl.Manager) error }
		want       string
	}{
		{reconcilers.Cron[*stored, *Backup]{}, "kind of *reconcilers_test.stored"},
		{reconcilers.Cron[*Nightly, *stored]{}, "kind of *reconcilers_test.stored"},
		{reconcilers.Cron[*Nightly, *Backup]{Kind: forgets}, "LastScheduleTime"},
		{reconcilers.Cron[*Nightly, *Backup]{Kind: nightlies()}, "<nil>"},
		{reconcilers.JobOf[*stored]{}, "kind of *reconcilers_test.stored"},
		{reconcilers.JobOf[*stored]{Kind: named}, "Kind.Spec is required"},
		{reconcilers.JobOf[*Reel]{Kind: lossy}, "Status does not return what SetStatus has set"},
		{reconcilers.JobOf[*Reel]{Kind: reels}, "<nil>"},
	} {
		if got := fmt.Sprint(test.reconciler.SetupWithManager(mgr)); !strings.Contains(got, test.want) {
			t.Errorf("%T: %s, want %s", test.reconciler, got, test.want)
		}
	}

	for _, kind := range []string{"*reconcilers_test.Nightly", "*reconcilers_test.Backup", "*reconcilers_test.Reel", "*v1.Pod"} {
		if !asked[kind] {
			t.Errorf("no informer of %s in %v", kind, asked)
		}
	}
}

// Reel is a resource.
type Reel struct{ Nightly }

func (r *Reel) DeepCopyObject() runtime.Object { c := *r; return &c }

// TestCron_Clients: the reads and writes of a round with controller-runtime's client.
func TestCron_Clients(t *testing.T) {
	nightly := &Nightly{ObjectMeta: metav1.ObjectMeta{Name: "n", Namespace: "ns", UID: "uid-n"}}
	c := crfake.NewClientBuilder().WithScheme(backupScheme()).WithObjects(nightly).WithStatusSubresource(&Nightly{}).Build()
	parents, children := reconcilers.ClientsOf[*Nightly, *Backup](c, c, "ns")

	stored, err := parents.Get(t.Context(), "n", metav1.GetOptions{})
	if err != nil || stored.UID != "uid-n" {
		t.Fatalf("%+v, %v", stored, err)
	}

	stale := *stored
	stored.Status.LastBackup = metav1.Unix(1_000_000_000, 0)
	written, err := parents.UpdateStatus(t.Context(), stored, metav1.UpdateOptions{})
	if err != nil || written.ResourceVersion == stale.ResourceVersion || !written.Status.LastBackup.Equal(&stored.Status.LastBackup) {
		t.Errorf("%+v, %v", written, err)
	}
	if _, err := parents.UpdateStatus(t.Context(), &stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a write on condition of an old version: %v", err)
	}

	made, err := children.Create(t.Context(), &Backup{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "ns", UID: types.UID("uid-b")}, Bucket: "x"}, metav1.CreateOptions{})
	if err != nil || made.Bucket != "x" {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := children.Create(t.Context(), &Backup{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "ns"}}, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a name that exists: %v", err)
	}

	backups := reconcilers.OwnerClientOf[*Backup](c, schema.GroupVersionKind{Kind: "Backup"}, "ns")
	patched, err := backups.Patch(t.Context(), "b", types.MergePatchType, []byte(`{"metadata": {"annotations": {"a": "1"}}}`), metav1.PatchOptions{})
	if err != nil || patched.Annotations["a"] != "1" || patched.Bucket != "x" {
		t.Errorf("%+v, %v", patched, err)
	}
	if _, err := backups.Patch(t.Context(), "b", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{}, "status"); err == nil || err.Error() != `patch of Backup b: subresources ["status"] are not supported` {
		t.Errorf("a patch of a subresource: %v", err)
	}

	if err := children.Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := children.Get(t.Context(), "b", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a child that was deleted: %v", err)
	}
}
