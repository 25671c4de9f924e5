//go:build go1.25

package controller_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
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
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/kubernetes/controller"
)

const mine = "example.com/mine"

// resync is a period that no test reaches. Without one, old releases of client-go wait on a
// channel of the process, and the time of a test does not advance.
const resync = 10_000 * time.Hour

// cluster is a clientset in memory with controllers on it. What a real server refuses, it
// takes; the scripts of proof/conformance are the test of that.
type cluster struct {
	*testing.T
	*fake.Clientset
	stop func()
}

// starter is a controller.
type starter = interface{ Start(context.Context) error }

// makers make controllers.
type makers func(kubernetes.Interface, informers.SharedInformerFactory) ([]starter, error)

// jobsAndOrphans makes both controllers of jobs.
func jobsAndOrphans(o controller.JobOptions) makers {
	return func(client kubernetes.Interface, factory informers.SharedInformerFactory) ([]starter, error) {
		jobs, err := controller.NewJobs(client, factory, o)
		if err != nil {
			return nil, err
		}
		orphans, err := controller.NewOrphans(client, factory, controller.OrphanOptions{Common: o.Common, ManagedBy: o.ManagedBy})
		return []starter{jobs, orphans}, err
	}
}

// start puts objects on a server and starts controllers. The server names and numbers what
// is created.
func start(t *testing.T, m makers, objects ...runtime.Object) *cluster {
	t.Helper()
	return startIn(klog.NewContext(t.Context(), logr.Discard()), t, m, objects...)
}

// startIn is start with a context, which has the log.
func startIn(ctx context.Context, t *testing.T, m makers, objects ...runtime.Object) *cluster {
	t.Helper()
	client := fake.NewClientset(objects...)
	number(client)
	factory := informers.NewSharedInformerFactory(client, resync)
	controllers, err := m(client, factory)
	must.OK(t, err)
	ctx, cancel := context.WithCancel(ctx)
	factory.Start(ctx.Done())
	done := make(chan error, 1)
	go func() { done <- controller.Run(ctx, controllers...) }()
	return &cluster{t, client, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		factory.Shutdown()
	}}
}

// number lets a server name and number what is created.
func number(client *fake.Clientset) {
	var created atomic.Int32
	client.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		object, err := meta.Accessor(a.(clienttesting.CreateAction).GetObject())
		if err != nil {
			return false, nil, err
		}
		n := created.Add(1)
		if object.GetName() == "" {
			object.SetName(fmt.Sprint(object.GetGenerateName(), n))
		}
		object.SetUID(types.UID(fmt.Sprint("created-", n)))
		object.SetCreationTimestamp(metav1.Now())
		return false, nil, nil
	})
}

// rest lets everything happen that happens within a time.
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

func (c *cluster) job(name string) *batchv1.Job {
	c.Helper()
	j, err := c.BatchV1().Jobs("ns").Get(c.Context(), name, metav1.GetOptions{})
	must.OK(c, err)
	return j
}

func (c *cluster) end(p corev1.Pod, phase corev1.PodPhase) {
	c.Helper()
	p.Status.Phase = phase
	if _, err := c.CoreV1().Pods("ns").UpdateStatus(c.Context(), &p, metav1.UpdateOptions{}); err != nil {
		c.Fatal(err)
	}
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

func pointTo[T any](v T) *T { return &v }

// eventList keeps events as text.
type eventList struct {
	mu  sync.Mutex
	all []string
}

func (l *eventList) Event(object runtime.Object, _, reason, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	named, _ := meta.Accessor(object)
	l.all = append(l.all, named.GetName()+" "+reason+" "+message)
}

// count counts the events that begin with a text.
func (l *eventList) count(begin string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.all {
		if strings.HasPrefix(e, begin) {
			n++
		}
	}
	return n
}

// calls returns the calls of a client since the last time, as "verb resource name" with the version that an update is of, and forgets them.
func calls(client *fake.Clientset) string {
	var out []string
	for _, a := range client.Actions() {
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
	client.ClearActions()
	return strings.Join(out, ", ")
}

// refuse lets the next call of a verb fail.
func refuse(client *fake.Clientset, verb, resource string, err error) {
	client.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		defer func() { err = nil }()
		return err != nil, nil, err
	})
}

// toldBy returns the events since the last time.
func toldBy(events *record.FakeRecorder) string {
	var out []string
	for len(events.Events) > 0 {
		out = append(out, <-events.Events)
	}
	return strings.Join(out, ", ")
}

// version lets a server give each object that is written a new version, from 101.
func version(client *fake.Clientset) {
	var written atomic.Int32
	write := clienttesting.ObjectReaction(client.Tracker())
	client.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
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
		return true, object, client.Tracker().Update(a.GetResource(), object, a.GetNamespace())
	})
}
