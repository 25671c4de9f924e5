package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	crcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/metrics"
)

// cluster has two fake clients, and the controllers on them.
type cluster struct {
	*testing.T
	renders  client.WithWatch
	pods     *fake.Clientset
	measured *metrics.Metrics
	created  int

	mu     sync.Mutex
	events []string
}

// Event records an event.
func (c *cluster) Event(about runtime.Object, eventtype, reason, message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, fmt.Sprint(about.(*Render).Name, " ", eventtype, " ", reason, ": ", message))
}

// informersOf is the cache of a manager, filled from the two clients.
type informersOf struct {
	crcache.Cache
	pods informers.SharedInformerFactory
	own  cache.SharedIndexInformer
}

func (i informersOf) GetInformer(_ context.Context, o client.Object, _ ...crcache.InformerGetOption) (crcache.Informer, error) {
	if _, ok := o.(*Render); ok {
		return i.own, nil
	}
	return i.pods.Core().V1().Pods().Informer(), nil
}

func (i informersOf) Start(ctx context.Context) error {
	i.pods.Start(ctx.Done())
	i.own.RunWithContext(ctx)
	i.pods.Shutdown()
	return nil
}

func (i informersOf) WaitForCacheSync(ctx context.Context) bool {
	return cache.WaitForCacheSync(ctx.Done(), i.own.HasSynced)
}

// resync is a resync period that no test reaches. Without one, old releases of client-go wait on a
// channel of the process, and the time of a synctest bubble does not advance.
const resync = 10_000 * time.Hour

// inCluster runs a test in virtual time.
func inCluster(t *testing.T, test func(c *cluster)) {
	synctest.Test(t, func(t *testing.T) {
		scheme := runtime.NewScheme()
		if err := addToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		c := &cluster{
			T: t, pods: fake.NewClientset(), measured: metrics.Of("Render"),
			renders: crfake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&Render{}).Build(),
		}
		c.pods.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.created++
			pod := a.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
			pod.Name, pod.UID, pod.CreationTimestamp = fmt.Sprint(pod.GenerateName, c.created), types.UID(fmt.Sprint("pod-", c.created)), metav1.Now()
			return false, nil, nil
		})

		own := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				list := &RenderList{}
				err := c.renders.List(ctx, list, &client.ListOptions{Raw: &o})
				return list, err
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return c.renders.Watch(ctx, &RenderList{}, &client.ListOptions{Raw: &o})
			},
		}, c.pods), &Render{}, resync, cache.Indexers{}) // neither fake client can stream a list

		mgr := newManager(t, scheme, func(*rest.Config, crcache.Options) (crcache.Cache, error) {
			return informersOf{pods: informers.NewSharedInformerFactory(c.pods, resync), own: own}, nil
		})
		r := renders(c.measured)
		r.Client, r.Reader, r.Kind.PodClient, r.Events = c.renders, c.renders, c.pods, c
		if err := r.SetupWithManager(mgr); err != nil {
			t.Fatal(err)
		}

		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		done := make(chan error, 1)
		go func() { done <- mgr.Start(ctx) }()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			c.rest(time.Second) // the queues of old releases end a tick later
		}()
		c.rest(time.Second) // a fake client misses changes between a list and its watch
		test(c)
	})
}

// newManager returns a manager that connects to no server.
func newManager(t *testing.T, scheme *runtime.Scheme, newCache crcache.NewCacheFunc) ctrl.Manager {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(group.WithKind("Render"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	yes := true
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{
		Scheme: scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"}, NewCache: newCache,
		Controller:     config.Controller{SkipNameValidation: &yes},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) rest(d time.Duration) { time.Sleep(d); synctest.Wait() }

// add creates a Render.
func (c *cluster) add(name, uid string, frames int32, changes ...func(*Render)) {
	c.Helper()
	r := &Render{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(uid)},
		Spec: RenderSpec{Frames: frames, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "renderer"}},
		}}},
	}
	for _, change := range changes {
		change(r)
	}
	c.must(c.renders.Create(c.Context(), r))
}

// series returns the metrics that are not zero, one per line.
func (c *cluster) series() string {
	c.Helper()
	registry := prometheus.NewPedanticRegistry()
	c.must(registry.Register(c.measured.Controllers()))
	families, err := registry.Gather()
	c.must(err)
	var lines []string
	for _, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			lines = append(lines, fmt.Sprintf("%s{%s} %v", f.GetName(), strings.Join(labels, ","), m.GetCounter().GetValue()+float64(m.GetHistogram().GetSampleCount())))
		}
	}
	return strings.Join(lines, "\n")
}

func (c *cluster) get(name string) *Render {
	c.Helper()
	r := &Render{}
	c.must(c.renders.Get(c.Context(), client.ObjectKey{Namespace: "ns", Name: name}, r))
	return r
}

// podsOf returns the pods with the label of a Render.
func (c *cluster) podsOf(uid string) []corev1.Pod {
	c.Helper()
	list, err := c.pods.CoreV1().Pods("ns").List(c.Context(), metav1.ListOptions{LabelSelector: batchv1.ControllerUidLabel + "=" + uid})
	c.must(err)
	return list.Items
}

// end ends the pod that renders a frame.
func (c *cluster) end(uid, frame string, phase corev1.PodPhase) {
	c.Helper()
	pods := c.podsOf(uid)
	i := slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Labels[job.IndexLabel] == frame && p.Status.Phase == "" })
	if i < 0 {
		c.Fatalf("no pod renders frame %s", frame)
	}
	pods[i].Status.Phase = phase
	_, err := c.pods.CoreV1().Pods("ns").UpdateStatus(c.Context(), &pods[i], metav1.UpdateOptions{})
	c.must(err)
}

// TestRender: three frames are rendered, one of them twice, beside a Render that the planner
// refuses.
func TestRender(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.add("r", "uid-r", 3)
		c.add("bad", "uid-bad", -1)
		c.rest(2 * time.Second)
		c.end("uid-r", "0", corev1.PodSucceeded)
		c.end("uid-r", "1", corev1.PodFailed)
		c.end("uid-r", "2", corev1.PodSucceeded)

		c.rest(15 * time.Second)
		if s := c.get("r").Status; s.CompletedIndexes != "0,2" || s.Failed != 1 {
			t.Errorf("completed %q, failed %d", s.CompletedIndexes, s.Failed)
		}

		c.end("uid-r", "1", corev1.PodSucceeded)
		c.rest(5 * time.Second)
		if s := c.get("r").Status; s.CompletedIndexes != "0-2" || s.CompletionTime == nil || c.created != 4 {
			t.Errorf("%d pods, status %v", c.created, s)
		}

		for _, p := range c.podsOf("uid-r") {
			if owner := metav1.GetControllerOf(&p); owner == nil || owner.Kind != "Render" || len(p.Finalizers) > 0 {
				t.Errorf("pod %s: owner %v, finalizers %v", p.Name, owner, p.Finalizers)
			}
		}

		events := strings.Join(c.events, "\n")
		for _, want := range []string{"r Normal SuccessfulCreate: Created pod: r-0-", "r Normal Completed: Render completed", "bad Warning InvalidRender: "} {
			if !strings.Contains(events, want) {
				t.Errorf("no event %q in\n%s", want, events)
			}
		}
		if got, want := c.series(), "batchplan_job_controller_jobs_finished_total{completion_mode=Indexed,kind=Render,reason=CompletionsReached,result=succeeded} 1"; !strings.Contains(got, want) {
			t.Errorf("no series %s in\n%s", want, got)
		}
	})
}

// TestSameName: after a deletion that keeps the pods, another Render of the name has its own pods,
// and does not count the old ones.
func TestSameName(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.add("r", "uid-old", 2)
		c.rest(2 * time.Second)

		c.must(c.renders.Delete(t.Context(), c.get("r")))
		for _, p := range c.podsOf("uid-old") { // as the garbage collector does
			p.OwnerReferences = nil
			_, err := c.pods.CoreV1().Pods("ns").Update(t.Context(), &p, metav1.UpdateOptions{})
			c.must(err)
		}

		c.add("r", "uid-new", 2)
		c.rest(2 * time.Second)
		c.end("uid-old", "0", corev1.PodSucceeded)
		c.rest(30 * time.Second)

		if s := c.get("r").Status; s.CompletedIndexes != "" || s.Active != 2 || c.created != 4 {
			t.Errorf("the new Render has %d active pods, completed %q; %d pods were created", s.Active, s.CompletedIndexes, c.created)
		}

		for _, p := range c.podsOf("uid-old") {
			if owner := metav1.GetControllerOf(&p); owner != nil || len(p.Finalizers) > 0 {
				t.Errorf("the old pod %s has the controller %v and the finalizers %v", p.Name, owner, p.Finalizers)
			}
		}
		for _, p := range c.podsOf("uid-new") {
			if owner := metav1.GetControllerOf(&p); owner == nil || owner.UID != "uid-new" {
				t.Errorf("the new pod %s has the controller %v", p.Name, owner)
			}
		}
	})
}

// TestTTL: a Render that has ended is deleted after its ttlSecondsAfterFinished, and without one it
// is kept.
func TestTTL(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.add("kept", "uid-kept", 1)
		c.add("r", "uid-r", 1, func(r *Render) { seconds := int32(60); r.Spec.TTLSecondsAfterFinished = &seconds })
		c.rest(2 * time.Second)
		c.end("uid-kept", "0", corev1.PodSucceeded)
		c.end("uid-r", "0", corev1.PodSucceeded)
		c.rest(50 * time.Second)
		c.get("r")
		c.rest(15 * time.Second)
		if err := c.renders.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "r"}, &Render{}); !apierrors.IsNotFound(err) {
			t.Errorf("it has not expired: %v", err)
		}
		c.get("kept")
		if got := c.series(); !strings.Contains(got, `batchplan_ttl_after_finished_controller_job_deletion_duration_seconds{kind=Render} 1`) {
			t.Errorf("the deletion is not measured:\n%s", got)
		}
	})
}

// TestSetup sets up the controllers like main, on a manager that connects to no server.
func TestSetup(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, addToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	if err := renders(metrics.Of("Render")).SetupWithManager(newManager(t, scheme, nil)); err != nil {
		t.Error(err)
	}
}
