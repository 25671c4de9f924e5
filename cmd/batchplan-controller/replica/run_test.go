package replica

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kubernetes/controller"
)

// TestRunControllers_MemoryAnnotation: the backoff of a job with a failed pod is in the annotation
// that the configuration names, and the caches show all that the planner reads of the pod.
func TestRunControllers_MemoryAnnotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name, isController := "a.b/c", true
		labels := map[string]string{"job": "j"}
		j := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "ns", UID: "u"},
			Spec: batchv1.JobSpec{
				Parallelism: pointTo(int32(1)), Completions: pointTo(int32(1)), BackoffLimit: pointTo(int32(6)), ManagedBy: &name,
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}},
			},
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: "j-1", Namespace: "ns", UID: "p", Labels: labels, Finalizers: []string{job.Finalizer}, CreationTimestamp: metav1.Now(),
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "u", Controller: &isController}},
			},
			Status: corev1.PodStatus{Phase: corev1.PodFailed},
		}
		c, err := Config{ManagedBy: name, MemoryAnnotation: "example.com/memory", Identity: "me"}.withDefaults()
		must.OK(t, err)
		client := fake.NewClientset(j, pod)
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		done := make(chan error, 1)
		go func() { done <- c.runControllers(ctx, client, nil) }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		got, err := client.BatchV1().Jobs("ns").Get(t.Context(), "j", metav1.GetOptions{})
		must.OK(t, err)
		if text := got.Annotations["example.com/memory"]; !strings.Contains(text, `"u"`) || got.Status.Failed != 1 {
			t.Errorf("annotation %q, status %+v", text, got.Status)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestRun_Errors: a server that cannot be reached, or not be asked, ends the replica with an error.
func TestRun_Errors(t *testing.T) {
	ctx := klog.NewContext(t.Context(), logr.Discard())
	for want, server := range map[string]*rest.Config{
		"/nowhere/ca":           {Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nowhere/ca"}},
		"version of the server": {Host: "http://127.0.0.1:1"},
	} {
		if err := Run(ctx, server, Config{ManagedBy: "a.b/c"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestNewControllers: those run that are named, and no others.
func TestNewControllers(t *testing.T) {
	client := fake.NewClientset()
	for _, names := range [][]string{{Jobs}, {Jobs, TTL}, {CronJobs, Jobs, Orphans, TTL}} {
		c, err := Config{ManagedBy: "a.b/c", Controllers: names}.withDefaults()
		must.OK(t, err)
		made, err := c.newControllers(client, informers.NewSharedInformerFactory(client, 0), controller.Common{Events: controller.NewRecorder(t.Context(), client, nil, component)})
		if err != nil || len(made) != len(names) {
			t.Errorf("%v: %d controllers, %v", names, len(made), err)
		}
	}
}

// TestRunControllers_Shares: a replica leaves the CronJobs of namespaces alone that it does not serve, and says
// what it runs.
func TestRunControllers_Shares(t *testing.T) {
	for _, serves := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const n = 1000
			cron := &batchv1.CronJob{
				ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "u", CreationTimestamp: metav1.NewTime(time.Now().Add(-time.Hour))},
				Spec: batchv1.CronJobSpec{Schedule: "*/10 * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
					Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}}}}},
			}
			c, err := Config{ManagedBy: "a.b/c", Controllers: []string{CronJobs}, Identity: "me"}.withDefaults()
			must.OK(t, err)
			s := &shares{n: n, held: map[int]bool{shardOf("ns", n): serves}, validUntil: time.Now().Add(time.Hour)}
			client := fake.NewClientset(cron)
			var mu sync.Mutex
			var said []string
			ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), funcr.New(func(_, text string) {
				mu.Lock()
				said = append(said, text)
				mu.Unlock()
			}, funcr.Options{})))
			done := make(chan error, 1)
			go func() { done <- c.runControllers(ctx, client, s) }()
			time.Sleep(5 * time.Second)
			synctest.Wait()
			jobs, err := client.BatchV1().Jobs("ns").List(t.Context(), metav1.ListOptions{})
			must.OK(t, err)
			if (len(jobs.Items) == 1) != serves {
				t.Errorf("serves %v: %d jobs", serves, len(jobs.Items))
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if text := strings.Join(said, "\n"); !strings.Contains(text, `"msg"="running" "controllers"=["cronjobs"] "managedBy"="a.b/c"`) {
				t.Errorf("log:\n%s", text)
			}
		})
	}
}

func pointTo[T any](v T) *T { return &v }
