package blackbox

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/batchplan/batchplan/x/blackbox"
)

// BenchmarkReconcile measures how many times a second the kit calls a reconciler that does almost
// nothing. In each second of a life, the reconciler reads its CronJob from the cache of a manager
// and writes the status, and the change comes back through the watch. Each iteration is a life of
// hours, beginning with the start of the manager.
func BenchmarkReconcile(b *testing.B) {
	var reconciles atomic.Int64

	trivial := cron
	trivial.Start = func(ctx context.Context, restConfig *rest.Config) error {
		skip := true
		mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
			Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
			Controller: config.Controller{SkipNameValidation: &skip},
		})
		if err != nil {
			return err
		}

		round := func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
			reconciles.Add(1)
			var cronJob batchv1.CronJob
			if err := mgr.GetClient().Get(ctx, r.NamespacedName, &cronJob); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			cronJob.Status.LastScheduleTime = &metav1.Time{Time: time.Now()}
			return ctrl.Result{RequeueAfter: time.Second}, mgr.GetClient().Status().Update(ctx, &cronJob)
		}

		err = ctrl.NewControllerManagedBy(mgr).For(&batchv1.CronJob{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
			Complete(reconcile.Func(round))
		if err != nil {
			return err
		}
		return mgr.Start(ctx)
	}

	life := blackbox.CronLife{Settings: blackbox.CronSettings{Schedule: "0 * * * *", Policy: "Allow"}}
	b.ReportAllocs()
	for b.Loop() {
		// A synctest bubble needs a T. The checks fail, since nothing is started.
		play := func(t *testing.T) { trivial.Play(t, life) }
		if !testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "life", F: play}}) {
			b.Fatal("a life could not be played")
		}
	}

	b.ReportMetric(float64(reconciles.Load())/b.Elapsed().Seconds(), "reconciles/s")
}
