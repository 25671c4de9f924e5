//go:build go1.25

package controller_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/internal/memory"
)

const mine = "example.com/mine"

// cluster is a clientset in memory with informers. It accepts requests that a real server refuses;
// the scripts of x/proof/conformance test those.
type cluster struct {
	*testing.T
	*fake.Clientset
	factory                          informers.SharedInformerFactory
	jobCache, cronJobCache, podCache cache.SharedIndexInformer
	events                           reports
	log                              []string
	stop                             func() // stops the informers and controllers
}

// newCluster puts objects on a server, which names and numbers new ones. Until start is called, the
// informers show only what the test puts into them.
func newCluster(t *testing.T, objects ...runtime.Object) *cluster {
	client := fake.NewClientset(objects...)
	memory.Number(client)
	f := informers.NewSharedInformerFactory(client, memory.Resync)
	c := &cluster{T: t, Clientset: client, factory: f, jobCache: f.Batch().V1().Jobs().Informer(),
		cronJobCache: f.Batch().V1().CronJobs().Informer(), podCache: f.Core().V1().Pods().Informer()}
	watch(t, c.jobCache, c.cronJobCache, c.podCache)
	return c
}

// cached is an object of a cache, with a copy from when it was stored.
type cached struct{ is, was any }

// check fails if a reader has changed the object, which all readers of the cache share.
func (c cached) check(t *testing.T) {
	t.Helper()
	if d := intact.Diff(c.is, c.was); d != "" {
		t.Errorf("a cached %T is written to%s", c.is, d)
	}
}

// watch checks at the end of the test that no reader has changed an object of the informers.
func watch(t *testing.T, caches ...cache.SharedIndexInformer) {
	var mu sync.Mutex
	var all []cached
	for _, c := range caches {
		must.OK(t, c.SetTransform(func(o any) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, cached{o, intact.Copy(o)})
			return o, nil
		}))
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range all {
			c.check(t)
		}
	})
}

// unwritten calls f, and checks that it does not change the objects of the caches.
func unwritten(t *testing.T, f func(), caches ...cache.SharedIndexInformer) {
	t.Helper()
	var all []cached
	for _, c := range caches {
		for _, o := range c.GetIndexer().List() {
			all = append(all, cached{o, intact.Copy(o)})
		}
	}
	f()
	for _, c := range all {
		c.check(t)
	}
}

// start starts the informers and controllers. They end with the test.
func (c *cluster) start(controllers ...interface{ Start(context.Context) error }) {
	c.Helper()
	ctx, cancel := context.WithCancel(logged(c.T, &c.log))
	c.factory.Start(ctx.Done())
	done := make(chan error, 1)
	go func() { done <- controller.Run(ctx, controllers...) }()
	c.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			c.Error(err)
		}
		c.factory.Shutdown()
	})
	c.Cleanup(c.stop)
}

func kindOf[T controller.Object](
	k controller.Kind[T], client kubernetes.Interface, objects, pods cache.SharedIndexInformer,
) controller.Kind[T] {
	k.PodClient, k.ObjectInformer, k.PodInformer = client, objects, pods
	return k
}

func cronOf[P, C controller.Object](
	k controller.Cron[P, C], parents, children cache.SharedIndexInformer,
) controller.Cron[P, C] {
	k.ParentInformer, k.ChildInformer = parents, children
	return k
}

type queued = controller.Controller[types.NamespacedName]

// startJobs starts a Job and an orphan controller.
func (c *cluster) startJobs(o controller.JobOptions) *queued {
	c.Helper()
	o.Events, o.ManagedBy = &c.events, cmp.Or(o.ManagedBy, mine)
	jobs, err := controller.NewJobs(controller.BatchJobs(c, c.factory), o)
	orphans, other := controller.NewOrphans(controller.BatchJobs(c, c.factory), controller.OrphanOptions{Common: o.Common, ManagedBy: o.ManagedBy})
	must.OK(c, errors.Join(err, other))
	c.start(jobs, orphans)
	return jobs
}

func (c *cluster) startCronJobs(o controller.CronJobOptions) *queued {
	c.Helper()
	o.Events = &c.events
	cronJobs, err := controller.NewCronJobs(controller.BatchCronJobs(c, c.factory), o)
	must.OK(c, err)
	c.start(cronJobs)
	return cronJobs
}

func (c *cluster) startTTL(o controller.TTLOptions) *queued {
	c.Helper()
	ttl, err := controller.NewTTL(controller.BatchJobs(c, c.factory), o)
	must.OK(c, err)
	c.start(ttl)
	return ttl
}

// rest lets a duration pass, with everything that happens in it.
func (c *cluster) rest(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (c *cluster) pods() []corev1.Pod {
	c.Helper()
	list, err := c.CoreV1().Pods("ns").List(c.Context(), metav1.ListOptions{})
	must.OK(c, err)
	return list.Items
}

func (c *cluster) pod(name string) *corev1.Pod {
	c.Helper()
	p, err := c.CoreV1().Pods("ns").Get(c.Context(), name, metav1.GetOptions{})
	must.OK(c, err)
	return p
}

// jobs lists the names of the jobs.
func (c *cluster) jobs() (names []string) {
	c.Helper()
	list, err := c.BatchV1().Jobs("ns").List(c.Context(), metav1.ListOptions{})
	must.OK(c, err)
	for _, j := range list.Items {
		names = append(names, j.Name)
	}
	slices.Sort(names)
	return names
}

func (c *cluster) job(name string) *batchv1.Job {
	c.Helper()
	j, err := c.BatchV1().Jobs("ns").Get(c.Context(), name, metav1.GetOptions{})
	must.OK(c, err)
	return j
}

func (c *cluster) cronJob(name string) *batchv1.CronJob {
	c.Helper()
	o, err := c.BatchV1().CronJobs("ns").Get(c.Context(), name, metav1.GetOptions{})
	must.OK(c, err)
	return o
}

// end sets the phase of a pod that ends.
func (c *cluster) end(p corev1.Pod, phase corev1.PodPhase) {
	c.Helper()
	p.Status.Phase = phase
	_, err := c.CoreV1().Pods("ns").UpdateStatus(c.Context(), &p, metav1.UpdateOptions{})
	must.OK(c, err)
}

func newJob(name string, managedBy *string) *batchv1.Job {
	one, six := int32(1), int32(6)
	labels := map[string]string{"job": name}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID("uid-of-" + name)},
		Spec: batchv1.JobSpec{
			Parallelism: &one, Completions: &one, BackoffLimit: &six, ManagedBy: managedBy,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever},
			},
		},
	}
}

// complete marks a job as completed, at a time after now.
func complete(j *batchv1.Job, after time.Duration) {
	at := metav1.NewTime(time.Now().Add(after))
	j.Status.CompletionTime = &at
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: at}}
}

func pointTo[T any](v T) *T { return &v }

// quiet returns a context without a log.
func quiet(t *testing.T) context.Context { return klog.NewContext(t.Context(), logr.Discard()) }

// checkWarnings fails unless each warning is logged. A round that fails logs its error instead.
func (c *cluster) checkWarnings(events string, err error) {
	c.Helper()
	want := strings.Count(events, "Warning ")
	if err != nil {
		want = 0
	}
	if got := strings.Count(strings.Join(c.log, ""), `"msg"="warning"`); got != want {
		c.Errorf("%d warnings in the log, want %d: %s", got, want, c.log)
	}
}

// logged returns a context whose log, up to level 4, is written to the lines.
func logged(t *testing.T, lines *[]string) context.Context {
	var mu sync.Mutex
	write := func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		*lines = append(*lines, line)
	}
	return klog.NewContext(t.Context(), funcr.New(write, funcr.Options{Verbosity: 4}))
}

// reports are the events since the last take, as "type reason message".
type reports struct {
	mu  sync.Mutex
	all []string
}

func (r *reports) Event(_ runtime.Object, kind, reason, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, kind+" "+reason+" "+message)
}

// take returns the events, and forgets them.
func (r *reports) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := strings.Join(r.all, ", ")
	r.all = nil
	return out
}

// calls returns the requests since its last call, as "verb resource name", with the version for an
// update, and forgets them.
func (c *cluster) calls() string {
	var out []string
	for _, a := range c.Actions() {
		resource, name := a.GetResource().Resource, ""
		if a.GetSubresource() != "" {
			resource += "/" + a.GetSubresource()
		}
		switch a := a.(type) {
		case interface{ GetObject() runtime.Object }:
			object, _ := meta.Accessor(a.GetObject())
			if name = object.GetName(); object.GetResourceVersion() != "" {
				name += " at " + object.GetResourceVersion()
			}
		case interface{ GetName() string }:
			name = a.GetName()
		}
		out = append(out, strings.TrimSpace(a.GetVerb()+" "+resource+" "+name))
	}
	c.ClearActions()
	return strings.Join(out, ", ")
}

// refuse makes the next call of a verb fail.
func (c *cluster) refuse(verb, resource string, err error) {
	c.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		defer func() { err = nil }()
		return err != nil, nil, err
	})
}

// version makes the server give each written object a new version, from 101 on.
func (c *cluster) version() {
	var written atomic.Int32
	write := clienttesting.ObjectReaction(c.Tracker())
	c.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if !strings.Contains("create update patch", a.GetVerb()) {
			return false, nil, nil
		}
		_, object, err := write(a)
		if err != nil {
			return true, nil, err
		}
		object = object.DeepCopyObject()
		named, _ := meta.Accessor(object)
		named.SetResourceVersion(fmt.Sprint(100 + written.Add(1)))
		return true, object, c.Tracker().Update(a.GetResource(), object, a.GetNamespace())
	})
	memory.Number(c.Clientset) // its reactor runs before this one
}
