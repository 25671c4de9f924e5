//go:build go1.25

package reconcilers_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
	"github.com/batchplan/batchplan/x/kubernetes/internal/memory"
	"github.com/batchplan/batchplan/x/kubernetes/metrics"
	"github.com/batchplan/batchplan/x/kubernetes/reconcilers"
)

const mine = "example.com/mine"

// memoryCache is the cache of a manager, filled from a clientset in memory.
type memoryCache struct {
	cache.Cache
	factory informers.SharedInformerFactory
}

func (c memoryCache) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	switch o.(type) {
	case *batchv1.Job:
		return c.factory.Batch().V1().Jobs().Informer(), nil
	case *batchv1.CronJob:
		return c.factory.Batch().V1().CronJobs().Informer(), nil
	case *corev1.Pod:
		return c.factory.Core().V1().Pods().Informer(), nil
	}
	return nil, fmt.Errorf("no informer of %T", o)
}

func (c memoryCache) Start(ctx context.Context) error {
	c.factory.Start(ctx.Done())
	<-ctx.Done()
	c.factory.Shutdown()
	return nil
}

func (c memoryCache) WaitForCacheSync(ctx context.Context) bool {
	for _, synced := range c.factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return false
		}
	}
	return true
}

// newManager returns a manager that connects to no server.
func newManager(t *testing.T, newCache cache.NewCacheFunc) ctrl.Manager {
	t.Helper()
	yes := true
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{
		Logger:         logr.Discard(),
		Metrics:        metricsserver.Options{BindAddress: "0"},
		Controller:     config.Controller{SkipNameValidation: &yes},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return meta.NewDefaultRESTMapper(nil), nil },
		NewCache:       newCache,
	})
	must.OK(t, err)
	return mgr
}

// discard drops events.
type discard struct{}

func (discard) Event(runtime.Object, string, string, string) {}

// TestReconcilers: the four reconcilers run on one manager: a CronJob starts a job, which ends and
// expires.
func TestReconcilers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clientset := fake.NewClientset(cronJob())
		memory.Number(clientset)
		mgr := newManager(t, func(*rest.Config, cache.Options) (cache.Cache, error) {
			return memoryCache{factory: informers.NewSharedInformerFactory(clientset, memory.Resync)}, nil
		})
		for _, r := range []interface{ SetupWithManager(ctrl.Manager) error }{
			reconcilers.Job{JobOptions: controller.JobOptions{ManagedBy: mine}, Client: clientset},
			reconcilers.Orphan{OrphanOptions: controller.OrphanOptions{ManagedBy: mine}, Client: clientset},
			reconcilers.CronJob{Client: clientset},
			reconcilers.TTL{Client: clientset},
		} {
			must.OK(t, r.SetupWithManager(mgr))
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- mgr.Start(ctx) }()
		rest := func(d time.Duration) { time.Sleep(d); synctest.Wait() }

		rest(62 * time.Second)
		pods, err := clientset.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(pods.Items) != 1 || !convert.IsTracked(&pods.Items[0]) {
			t.Fatalf("pods %v, %v", pods.Items, err)
		}
		pod := pods.Items[0]
		pod.Status.Phase = corev1.PodSucceeded
		if _, err := clientset.CoreV1().Pods("ns").UpdateStatus(t.Context(), &pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		rest(5 * time.Second)
		jobs, err := clientset.BatchV1().Jobs("ns").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(jobs.Items) != 1 || jobs.Items[0].Status.Succeeded != 1 || !convert.IsFinished(&jobs.Items[0]) {
			t.Fatalf("jobs %+v, %v", jobs.Items, err)
		}
		job := jobs.Items[0]
		rest(20 * time.Second)
		jobs, err = clientset.BatchV1().Jobs("ns").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(jobs.Items) != 0 {
			t.Errorf("jobs %+v, %v: the job has not expired", jobs.Items, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		rest(time.Second) // the queues of old releases end a tick later
		events, err := clientset.EventsV1().Events("ns").List(t.Context(), metav1.ListOptions{})
		must.OK(t, err)
		var reported []string
		for _, e := range events.Items {
			reported = append(reported, fmt.Sprint(e.ReportingController, " ", e.Regarding.Kind, " ", e.Reason, " ", e.Action, ": ", e.Note))
		}
		for _, want := range []string{
			"cronjob-controller CronJob SuccessfulCreate SuccessfulCreate: Created job " + job.Name,
			"job-controller Job SuccessfulCreate SuccessfulCreate: Created pod: " + pod.Name,
			"job-controller Job Completed Completed: Job completed",
		} {
			if !slices.Contains(reported, want) {
				t.Errorf("no event %q in %q", want, reported)
			}
		}
	})
}

// cronJob returns a CronJob that runs once, a minute after the start of the virtual time.
func cronJob() *batchv1.CronJob {
	one, six, ten, by, no := int32(1), int32(6), int32(10), mine, false
	labels := map[string]string{"app": "c"}
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "uid-of-c", CreationTimestamp: metav1.Now()},
		Spec: batchv1.CronJobSpec{
			Schedule: "1 0 1 1 *", Suspend: &no, ConcurrencyPolicy: batchv1.AllowConcurrent,
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Parallelism: &one, Completions: &one, BackoffLimit: &six, ManagedBy: &by, TTLSecondsAfterFinished: &ten,
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever},
				},
			}},
		},
	}
}

// TestSeveralNamespaces: a cache without a single informer is refused, and the error explains what
// to do instead.
func TestSeveralNamespaces(t *testing.T) {
	mgr := newManager(t, func(c *rest.Config, o cache.Options) (cache.Cache, error) {
		o.DefaultNamespaces = map[string]cache.Config{"a": {}, "b": {}}
		o.Mapper = anyMapper{}
		return cache.New(c, o)
	})
	err := reconcilers.TTL{TTLOptions: controller.TTLOptions{Common: controller.Common{Events: discard{}}}}.SetupWithManager(mgr)
	if err == nil || !strings.Contains(err.Error(), "Common.Namespace") {
		t.Errorf("got %v", err)
	}
}

// anyMapper maps every kind to jobs.
type anyMapper struct{ meta.RESTMapper }

func (anyMapper) RESTMapping(_ schema.GroupKind, _ ...string) (*meta.RESTMapping, error) {
	gvk := batchv1.SchemeGroupVersion.WithKind("Job")
	return &meta.RESTMapping{Resource: batchv1.SchemeGroupVersion.WithResource("jobs"), GroupVersionKind: gvk, Scope: meta.RESTScopeNamespace}, nil
}

// TestMetrics: the metrics of the controllers can be registered beside controller-runtime's own.
func TestMetrics(t *testing.T) {
	m := metrics.New()
	m.Jobs().Tracking("add")
	must.OK(t, crmetrics.Registry.Register(m.Controllers()))
	defer crmetrics.Registry.Unregister(m.Controllers())
	families, err := crmetrics.Registry.(prometheus.Gatherer).Gather()
	must.OK(t, err)
	var names []string
	for _, f := range families {
		names = append(names, f.GetName())
	}
	if !slices.Contains(names, "job_controller_terminated_pods_tracking_finalizer_total") {
		t.Errorf("series %q", names)
	}
}
