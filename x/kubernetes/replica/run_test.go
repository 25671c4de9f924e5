//go:build go1.25

package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/internal/groups"
	"github.com/batchplan/batchplan/x/kubernetes/internal/memory"
)

// TestRunControllers_MemoryAnnotation: the configured annotation gets the backoff of a job with a
// failed pod, and the caches hold everything that the planner reads of the pod.
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

		c, err := Config{ManagedBy: name, MemoryAnnotation: "example.com/memory", Identity: "me", resync: memory.Resync}.withDefaults()
		must.OK(t, err)
		client := fake.NewClientset(j, pod)
		must.OK(t, new(log).run(t, 5*time.Second, func(ctx context.Context) error { return c.runControllers(ctx, clients{all: client}) }))

		got, err := client.BatchV1().Jobs("ns").Get(t.Context(), "j", metav1.GetOptions{})
		must.OK(t, err)
		if text := got.Annotations["example.com/memory"]; !strings.Contains(text, `"u"`) || got.Status.Failed != 1 {
			t.Errorf("annotation %q, status %+v", text, got.Status)
		}
	})
}

// TestRunControllers_Gangs: with Planner.Gangs, the workload and the pod group of a job are created
// before its pods, and the caches of both are filled. If the libraries lack the fields of gangs,
// the replica fails and says so.
func TestRunControllers_Gangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := Config{ManagedBy: "a.b/c", Planners: Planners{Job: job.Options{Gangs: true}}, Identity: "me", resync: memory.Resync}.withDefaults()
		must.OK(t, err)
		labels := map[string]string{"job": "j"}
		client := clients{
			all: fake.NewClientset(&batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "ns", UID: "u"},
				Spec: batchv1.JobSpec{
					Parallelism: pointTo(int32(1)), Completions: pointTo(int32(1)), BackoffLimit: pointTo(int32(6)), ManagedBy: &c.ManagedBy,
					Selector: &metav1.LabelSelector{MatchLabels: labels},
					Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}},
				},
			}),
		}
		made := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
			groups.Workloads: "WorkloadList", groups.PodGroups: "PodGroupList",
		})
		made.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
			o := a.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured)
			o.SetUID(types.UID("uid-" + o.GetKind()))
			return false, nil, nil
		})
		client.groups = made

		said := &log{}
		err = said.run(t, 5*time.Second, func(ctx context.Context) error { return c.runControllers(ctx, client) })
		if !groups.Known() {
			if err == nil || !strings.Contains(err.Error(), "k8s.io/api v0.37") {
				t.Errorf("with old libraries: %v", err)
			}
			return
		}
		must.OK(t, err)
		var created []string
		for _, a := range made.Actions() {
			if a.GetVerb() == "create" {
				created = append(created, a.GetResource().Resource)
			}
		}
		pods, err := client.all.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(pods.Items) != 1 || !slices.Equal(created, []string{"workloads", "podgroups"}) {
			t.Fatalf("%d pods, created %v, %v", len(pods.Items), created, err)
		}
		if !groups.NamesGroup(&corev1.PodTemplateSpec{Spec: pods.Items[0].Spec}) {
			t.Errorf("the pod names no group: %+v", pods.Items[0].Spec)
		}
		said.want(t, `"msg"="running"`)
	})
}

// TestRun_Errors: if the server cannot be reached, the replica ends with an error.
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

// TestNewControllers: only the named controllers run.
func TestNewControllers(t *testing.T) {
	client := fake.NewClientset()
	for _, names := range [][]string{{Jobs}, {Jobs, TTL}, {CronJobs, Jobs, Orphans, TTL}} {
		c, err := Config{ManagedBy: "a.b/c", Controllers: names}.withDefaults()
		must.OK(t, err)
		made, err := c.newControllers(clients{all: client}, c.newCaches(clients{all: client}, ""), controller.Common{Events: controller.NewRecorder(t.Context(), client, nil, component)})
		if err != nil || len(made) != len(names) {
			t.Errorf("%v: %d controllers, %v", names, len(made), err)
		}
	}
}

// TestRunControllers_Caches: a replica lists only what its controllers read.
func TestRunControllers_Caches(t *testing.T) {
	for _, test := range []struct{ names, want []string }{
		{[]string{Jobs}, []string{"jobs", "pods"}},
		{[]string{Orphans}, []string{"jobs", "pods"}},
		{[]string{CronJobs}, []string{"cronjobs", "jobs"}},
		{[]string{TTL}, []string{"jobs"}},
		{[]string{CronJobs, TTL}, []string{"cronjobs", "jobs"}},
		{[]string{Orphans, TTL}, []string{"jobs", "pods"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, err := Config{
				ManagedBy: "a.b/c", Controllers: test.names, Identity: "me", resync: memory.Resync,
			}.withDefaults()
			must.OK(t, err)

			client, said := fake.NewClientset(), &log{}
			must.OK(t, said.run(t, time.Second, func(ctx context.Context) error {
				return c.runControllers(ctx, clients{all: client})
			}))
			said.want(t, `"msg"="running"`)

			var read []string
			for _, a := range client.Actions() {
				if a.GetVerb() == "list" || a.GetVerb() == "watch" {
					read = append(read, a.GetResource().Resource)
				}
			}
			slices.Sort(read)
			if got := slices.Compact(read); !slices.Equal(got, test.want) {
				t.Errorf("%v: reads %v, want %v", test.names, got, test.want)
			}
		})
	}
}

// TestRunControllers_CronJobs: the replica logs what it runs, and warns that the jobs of a CronJob
// are left to another controller.
func TestRunControllers_CronJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cron := &batchv1.CronJob{
			ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "u", CreationTimestamp: metav1.NewTime(time.Now().Add(-time.Hour))},
			Spec: batchv1.CronJobSpec{Schedule: "*/10 * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}}}}},
		}

		c, err := Config{ManagedBy: "a.b/c", Controllers: []string{CronJobs}, Identity: "me", resync: memory.Resync}.withDefaults()
		must.OK(t, err)

		client := fake.NewClientset(cron)
		client.PrependReactor("create", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
			a.(clienttesting.CreateAction).GetObject().(*batchv1.Job).UID = "uid-j"
			return false, nil, nil
		})

		said := &log{}
		must.OK(t, said.run(t, 5*time.Second, func(ctx context.Context) error { return c.runControllers(ctx, clients{all: client}) }))

		jobs, err := client.BatchV1().Jobs("ns").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(jobs.Items) != 1 {
			t.Errorf("jobs %v, %v", jobs, err)
		}
		said.want(t, `"msg"="running" "controllers"=["cronjobs"] "managedBy"="a.b/c"`)
		said.want(t, `"reason"="JobsManagedElsewhere" "message"="its jobs are left to kubernetes.io/job-controller`)
	})
}

// TestAdvise: an event reports that the jobs of a CronJob are left to another controller. That
// happens if the gate JobManagedBy is on, and the jobs' managedBy differs from the replica's.
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
		{me: job.ControllerName, template: pointTo("a.b/d"), off: release.GatesOf(release.JobManagedBy)},
	} {
		c := Config{ManagedBy: test.me, Planners: Planners{Job: job.Options{Without: test.off}}}
		o := &batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{ManagedBy: test.template}}}}

		kept := []job.Event{{Reason: "SuccessfulCreate"}}
		started := controller.CronJobRound{}
		started.Outcome.Created = []cronjob.Effect{{Result: cronjobreason.ResultDone}}

		got := c.advise(o, started, kept)
		if len(got) == 1 != (test.want == "") || len(got) > 1 && !strings.HasPrefix(got[1].Message, test.want) {
			t.Errorf("%+v: %+v", test, got)
		}
		if got := c.advise(o, controller.CronJobRound{}, kept); len(got) != 1 {
			t.Errorf("%+v: without a start, %+v", test, got)
		}
	}
}

// TestRunElected: a replica runs while no other leads, and releases the lease. A replica that waits
// logs who leads. A replica that loses the lease ends with an error.
func TestRunElected(t *testing.T) {
	for _, test := range []struct {
		name   string
		holder string // of the lease, at the start
		frozen bool   // the lease cannot be renewed
		says   string
		fails  string
		after  string // the holder at the end
	}{
		{name: "leads", says: `"msg"="this replica leads" "identity"="me-`},
		{name: "waits", holder: "other", says: `"msg"="another replica leads" "leader"="other" "identity"="me-`, after: "other"},
		{name: "loses", frozen: true, says: `"msg"="running"`, fails: "lease ns/batchplan-controller: lost", after: "me"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := Config{ManagedBy: "a.b/c", Election: true, Lease: Lease{Namespace: "ns"}, Identity: "me", resync: memory.Resync}.withDefaults()
				must.OK(t, err)

				client := fake.NewClientset()
				if test.holder != "" {
					now := metav1.NewMicroTime(time.Now())
					must.OK(t, client.Tracker().Add(&coordinationv1.Lease{
						ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: DefaultLeaseName},
						Spec: coordinationv1.LeaseSpec{
							HolderIdentity: &test.holder, LeaseDurationSeconds: pointTo(int32(15)), AcquireTime: &now, RenewTime: &now,
						},
					}))
				}
				if test.frozen {
					client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
						return true, nil, errors.New("frozen")
					})
				}

				said := &log{}
				err = said.run(t, 14*time.Second, func(ctx context.Context) error { return c.runElected(ctx, clients{all: client}) })
				if (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
					t.Errorf("error %v, want %q", err, test.fails)
				}
				said.want(t, test.says)
				lease, err := client.CoordinationV1().Leases("ns").Get(t.Context(), DefaultLeaseName, metav1.GetOptions{})
				if err != nil || strings.Replace(*lease.Spec.HolderIdentity, c.Identity, "me", 1) != test.after {
					t.Errorf("lease %v, %v; want one of %q", lease, err, test.after)
				}
			})
		})
	}
}

// log collects what a replica logs.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

// run runs a replica for a duration, and returns its error.
func (l *log) run(t *testing.T, d time.Duration, replica func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), funcr.New(func(_, line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		fmt.Fprintln(&l.text, line)
	}, funcr.Options{})), d)
	defer cancel()
	defer time.Sleep(time.Second) // until then, old queues notice that they are shut down
	return replica(ctx)
}

func (l *log) want(t *testing.T, part string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !strings.Contains(l.text.String(), part) {
		t.Errorf("the log has no %s:\n%s", part, l.text.String())
	}
}

func pointTo[T any](v T) *T { return &v }
