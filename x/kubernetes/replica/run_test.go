//go:build go1.25

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
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
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
			client.PrependReactor("create", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
				a.(clienttesting.CreateAction).GetObject().(*batchv1.Job).UID = "uid-j"
				return false, nil, nil
			})
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
			text := strings.Join(said, "\n")
			if !strings.Contains(text, `"msg"="running" "controllers"=["cronjobs"] "managedBy"="a.b/c"`) {
				t.Errorf("log:\n%s", text)
			}
			const advice = `"reason"="JobsManagedElsewhere" "message"="its jobs are left to kubernetes.io/job-controller`
			if strings.Contains(text, advice) != serves {
				t.Errorf("serves %v: log:\n%s", serves, text)
			}
		})
	}
}

// TestAdvise: the jobs of a CronJob are left to another controller if its template says so, and the gate is on.
func TestAdvise(t *testing.T) {
	for _, test := range []struct {
		me       string
		template *string
		off      release.Gates
		want     string
	}{
		{me: "a.b/c", want: "its jobs are left to kubernetes.io/job-controller"},
		{me: "a.b/c", template: pointTo("a.b/d"), want: "its jobs are left to a.b/d"},
		{me: "a.b/c", template: pointTo("a.b/c")},
		{me: job.ControllerName},
		{me: job.ControllerName, template: pointTo("a.b/d"), want: "its jobs are left to a.b/d"},
		{me: job.ControllerName, template: pointTo("a.b/d"), off: release.JobManagedBy},
	} {
		c := Config{ManagedBy: test.me, Planners: Planners{Job: job.Options{Without: test.off}}}
		o := &batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{ManagedBy: test.template}}}}
		if _, got := c.advise(o); !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// TestRunElected_Standby: a replica that waits says who leads.
func TestRunElected_Standby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := Config{ManagedBy: "a.b/c", Election: true, Lease: Lease{Namespace: "ns"}, Identity: "me"}.withDefaults()
		must.OK(t, err)
		now := metav1.NewMicroTime(time.Now())
		client := fake.NewClientset(&coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: DefaultLeaseName},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: pointTo("other"), LeaseDurationSeconds: pointTo(int32(15)), AcquireTime: &now, RenewTime: &now},
		})
		var mu sync.Mutex
		var said []string
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), funcr.New(func(_, text string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, text)
		}, funcr.Options{})))
		done := make(chan error, 1)
		go func() { done <- c.runElected(ctx, client) }()
		time.Sleep(5 * time.Second)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if text := strings.Join(said, "\n"); !strings.Contains(text, `"msg"="another replica leads" "leader"="other" "identity"="me-`) {
			t.Errorf("log:\n%s", text)
		}
	})
}

func pointTo[T any](v T) *T { return &v }
