package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/replica"
	"github.com/batchplan/batchplan/x/proof/conformance/apiserver"
)

// name is the spec.managedBy of the jobs under test.
const name = "example.com/under-test"

// patience is the longest time that a test waits for something that must happen. Only failures
// reach it, and it is less than the fifteen minutes after which CI ends the tests of a package.
const patience = 8 * time.Minute

// cluster is an API server with a kubelet.
type cluster struct {
	*apiserver.Server
	kubernetes.Interface
	kubelet *kubelet
	made    atomic.Int32
}

func newCluster(t *testing.T, flags ...string) *cluster {
	t.Helper()
	c := &cluster{Server: apiserver.StartServer(t, flags...)}
	c.Interface = clientOf(t, c.Config)
	c.kubelet = startKubelet(t, c.Interface)
	return c
}

func clientOf(t testing.TB, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	must.OK(t, err)
	return client
}

// place is the namespace of one test.
type place struct {
	*testing.T
	*cluster
	namespace string
}

func (c *cluster) newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t, c, fmt.Sprintf("test-%d", c.made.Add(1))}
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}
	if _, err := c.CoreV1().Namespaces().Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return p
}

// quick returns options with a backoff so short that no test waits for it.
func quick(o job.Options) replica.Planners {
	o.Backoff = backoff.Policy{Base: 100 * time.Millisecond, Max: 200 * time.Millisecond}
	return replica.Planners{Job: o}
}

// config returns the configuration of a replica that serves the namespace.
func (p *place) config() replica.Config {
	return replica.Config{ManagedBy: name, Namespaces: []string{p.namespace}, Planners: quick(job.Options{})}
}

// process is a running replica.
type process struct {
	*testing.T
	replica.Config
	cancel context.CancelFunc
	ended  chan error
	dead   atomic.Bool
	log    logbook
}

// middleware answers the requests of a replica. It may pass them on to the server.
type middleware func(r *http.Request, server http.RoundTripper) (*http.Response, error)

// counts counts the requests of a kind.
func counts(n *atomic.Int32, is func(*http.Request) bool) middleware {
	return func(r *http.Request, server http.RoundTripper) (*http.Response, error) {
		if is(r) {
			n.Add(1)
		}
		return server.RoundTrip(r)
	}
}

// start runs a replica until the end of the test.
func (p *place) start(c replica.Config, between ...middleware) *process {
	p.Helper()
	r := &process{T: p.T, Config: c, ended: make(chan error, 1)}
	r.Status, r.Registry = &replica.Status{}, prometheus.NewRegistry()
	config := rest.CopyConfig(p.Server.Config)
	wrap(config, append(between, r.unlessDead)...)
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(r.log.on(context.Background()))
	p.Cleanup(func() { r.log.showIfFailed(p.T) })
	go func() { r.ended <- replica.Run(ctx, config, r.Config) }()
	p.Cleanup(r.stop)
	return r
}

// wrap lets the requests of a client go through each middleware.
func wrap(config *rest.Config, between ...middleware) {
	for _, m := range between {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return transport(func(q *http.Request) (*http.Response, error) { return m(q, next) })
		})
	}
}

func (r *process) unlessDead(q *http.Request, server http.RoundTripper) (*http.Response, error) {
	if r.dead.Load() {
		return nil, errCut
	}
	return server.RoundTrip(q)
}

// stop ends the replica regularly. It may be called again.
func (r *process) stop() {
	r.cancel()
	err, first := <-r.ended
	if !first {
		return
	}
	close(r.ended)
	if err != nil && !r.dead.Load() {
		r.Errorf("replica: %v", err)
	}
}

// kill ends the replica without another request to the server.
func (r *process) kill() {
	r.dead.Store(true)
	r.stop()
}

// jobOf returns a job of one container. exits defines how its pods end: see exitsAnnotation.
func jobOf(name string, exits string, change func(*batchv1.JobSpec)) *batchv1.Job {
	managedBy := "example.com/under-test"
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			ManagedBy: &managedBy,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{exitsAnnotation: exits}},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "example.com/main"}},
				},
			},
		},
	}
	if change != nil {
		change(&j.Spec)
	}
	return j
}

func (p *place) create(j *batchv1.Job) *batchv1.Job {
	p.Helper()
	out, err := p.BatchV1().Jobs(p.namespace).Create(p.Context(), j, metav1.CreateOptions{})
	must.OK(p, err)
	return out
}

// change patches a job.
func (p *place) change(name, patch string) {
	p.Helper()
	_, err := p.BatchV1().Jobs(p.namespace).Patch(p.Context(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
	must.OK(p, err)
}

// await waits until the function accepts a job.
func (p *place) await(name, what string, is func(*batchv1.Job) bool) *batchv1.Job {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()

	jobs := p.BatchV1().Jobs(p.namespace)
	selector := fields.OneTermEqualSelector("metadata.name", name).String()
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			return jobs.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			return jobs.Watch(ctx, o)
		},
	}

	var last *batchv1.Job
	_, err := watchtools.UntilWithSync(ctx, source, &batchv1.Job{}, nil, func(e watch.Event) (bool, error) {
		if j, ok := e.Object.(*batchv1.Job); ok && e.Type != watch.Deleted {
			last = j.DeepCopy()
			return is(j), nil
		}
		return false, nil
	})
	if err != nil {
		p.Fatalf("%s/%s: waiting for %s: %v; the last status: %+v", p.namespace, name, what, err, statusOf(last))
	}

	return last
}

func statusOf(j *batchv1.Job) any {
	if j == nil {
		return "none"
	}
	return j.Status
}

// ended returns the condition with which a job has ended, or nil.
func ended(j *batchv1.Job) *batchv1.JobCondition {
	for i, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return &j.Status.Conditions[i]
		}
	}
	return nil
}

// awaitEnd waits for the end of a job, and checks that no finalizer is left.
func (p *place) awaitEnd(name string) *batchv1.Job {
	p.Helper()
	j := p.await(name, "its end", func(j *batchv1.Job) bool { return ended(j) != nil })
	for _, pod := range p.pods("job-name=" + name) {
		for _, f := range pod.Finalizers {
			if f == job.Finalizer {
				p.Errorf("%s/%s has ended, and pod %s is still tracked", p.namespace, name, pod.Name)
			}
		}
	}
	return j
}

// awaitSuccess waits for a job to complete with these counters.
func (p *place) awaitSuccess(name string, succeeded, failed int32) *batchv1.Job {
	p.Helper()
	j := p.awaitEnd(name)
	if s := j.Status; ended(j).Type != batchv1.JobComplete || s.Succeeded != succeeded || s.Failed != failed {
		p.Errorf("%s/%s: %d succeeded, %d failed, want %d and %d; conditions %+v", p.namespace, name, s.Succeeded, s.Failed, succeeded, failed, s.Conditions)
	}
	return j
}

func (p *place) pods(selector string) []corev1.Pod {
	p.Helper()
	list, err := p.CoreV1().Pods(p.namespace).List(p.Context(), metav1.ListOptions{LabelSelector: selector})
	must.OK(p, err)
	return list.Items
}

// until calls look until it returns true. Each look is a request, so until cannot miss a state that
// lasts.
func (p *place) until(what string, look func() bool) {
	p.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ; !look(); <-tick.C {
		if time.Now().After(deadline) {
			p.Fatalf("%s: still not: %s", p.namespace, what)
		}
	}
}

func pointTo[T any](v T) *T { return &v }

func (p *place) deletePods(selector string) {
	p.Helper()
	for _, pod := range p.pods(selector) {
		must.OK(p, p.CoreV1().Pods(p.namespace).Delete(p.Context(), pod.Name, metav1.DeleteOptions{}))
	}
}

func (p *place) pod(name string) *corev1.Pod {
	p.Helper()
	pod, err := p.CoreV1().Pods(p.namespace).Get(p.Context(), name, metav1.GetOptions{})
	must.OK(p, err)
	return pod
}

func (p *place) patchPod(name, patch string) {
	p.Helper()
	_, err := p.CoreV1().Pods(p.namespace).Patch(p.Context(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
	must.OK(p, err)
}

func (p *place) createPod(pod *corev1.Pod, name string) {
	p.Helper()
	pod.Name = name
	if _, err := p.CoreV1().Pods(p.namespace).Create(p.Context(), pod, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
}
