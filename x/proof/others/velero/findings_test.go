package velero

// The findings of docs/blackbox.md without the kit: the reconcilers of Velero on a fake client.
// Each test passes while its finding exists.

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/controller"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func init() {
	time.Local = time.UTC // each test begins at midnight
}

// hourly returns a client with a schedule that is due each hour, and the reconciler of schedules on
// that client.
func hourly(t *testing.T, funcs interceptor.Funcs) (client.Client, func() error) {
	schedule := &velerov1.Schedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hourly", CreationTimestamp: metav1.Now()},
		Spec:       velerov1.ScheduleSpec{Schedule: "0 * * * *"},
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(schedule).WithInterceptorFuncs(funcs).Build()
	schedules := controller.NewScheduleReconciler(namespace, logger, c, measures, false)
	return c, func() error { return look(t, schedules, schedule.Name) }
}

func look(t *testing.T, r reconcile.Reconciler, name string) error {
	_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}})
	return err
}

func backups(t *testing.T, c client.Client) []velerov1.Backup {
	var list velerov1.BackupList
	if err := c.List(t.Context(), &list, client.MatchingLabels{velerov1.ScheduleNameLabel: "hourly"}); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func setPhase(t *testing.T, c client.Client, backup velerov1.Backup, phase velerov1.BackupPhase) {
	backup.Status.Phase = phase
	if err := c.Update(t.Context(), &backup); err != nil {
		t.Fatal(err)
	}
}

// A backup is made, and the write that notes it fails once. When this backup has ended, the same
// run is backed up again. A right controller names the backup after its run, or finds the backup by
// its label, and makes no second one.
func TestFindingRunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := false
		c, schedules := hourly(t, interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
				if s, ok := o.(*velerov1.Schedule); ok && s.Status.LastBackup != nil && !refused {
					refused = true
					return apierrors.NewServiceUnavailable("the API server restarts")
				}
				return c.Patch(ctx, o, patch, opts...)
			},
		})

		time.Sleep(time.Hour + 20*time.Second)
		if err := schedules(); err == nil || !refused {
			t.Fatalf("the run is due, and noting it was not refused: %v", err)
		}
		made := backups(t, c)
		if len(made) != 1 {
			t.Fatalf("the run has %d backups after the first look, want 1", len(made))
		}
		if err := schedules(); err != nil || len(backups(t, c)) != 1 {
			t.Fatalf("a backup that has not ended keeps the next one from being made: %v", err)
		}
		setPhase(t, c, made[0], velerov1.BackupPhaseCompleted)

		time.Sleep(time.Minute) // the controller looks each minute
		if err := schedules(); err != nil {
			t.Fatal(err)
		}
		if n := len(backups(t, c)); n != 2 {
			t.Errorf("the run has %d backups, 2 with v1.18.3: strike Velero's row NoRunTwice in docs/blackbox.md", n)
		}
	})
}

// Another backup runs for hours. Meanwhile the queue holds one more backup of the schedule each
// hour, and later runs them all. A right controller makes no backup while one of the same schedule
// waits. Velero's looks only for the phase New, which waiting backups had before there was a queue.
func TestFindingQueuedBackups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, schedules := hourly(t, interceptor.Funcs{})
		running := controller.NewBackupTracker()
		running.Add(namespace, "another")
		queue := controller.NewBackupQueueReconciler(c, scheme, logger, 1, running)

		hour := func() {
			time.Sleep(time.Hour + time.Second)
			if err := schedules(); err != nil {
				t.Fatal(err)
			}
		}

		for range 3 {
			hour()
			for _, b := range backups(t, c) {
				if err := look(t, queue, b.Name); err != nil {
					t.Fatal(err)
				}
			}
		}

		waiting := backups(t, c)
		for _, b := range waiting {
			if b.Status.Phase != velerov1.BackupPhaseQueued {
				t.Fatalf("%s is %s, want Queued", b.Name, b.Status.Phase)
			}
		}
		if len(waiting) != 3 {
			t.Errorf("%d backups of the schedule wait after three hours, 3 with v1.18.3: strike Velero's row Forbids in docs/blackbox.md", len(waiting))
		}

		// Once the waiting backup is New, a phase that the controller knows, the controller makes
		// no other.
		setPhase(t, c, waiting[0], velerov1.BackupPhaseNew)
		hour()
		if n := len(backups(t, c)); n != len(waiting) {
			t.Errorf("a backup is made while one is New: %d", n)
		}
	})
}
