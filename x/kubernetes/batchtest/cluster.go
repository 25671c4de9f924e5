package batchtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// T is the part of a testing.TB, or of the result of ginkgo.GinkgoT, that a cluster needs.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Cluster runs the controllers and a kubelet on the API server of a test.
type Cluster struct {
	t         T
	options   *options
	client    kubernetes.Interface
	clock     clock.WithTicker
	kubelet   *kubelet
	jobs      cache.SharedIndexInformer
	cronJobs  cache.SharedIndexInformer
	pods      cache.SharedIndexInformer
	collector *collector
	memories  memories
	log       tail
	changes   changes
	started   runsStarted
	refused   chan error

	stop    func() error
	stopped chan struct{} // closed by Stop
}

// Start runs the controllers and a kubelet until the end of the test. The test fails if an option
// is wrong, or if the server cannot be reached or refuses what they need.
func Start(t T, config *rest.Config, given ...Option) *Cluster {
	t.Helper()
	c, err := start(t, config, given)
	if err != nil {
		t.Fatalf("batchtest: %v", err)
	}
	return c
}

func start(t T, config *rest.Config, given []Option) (*Cluster, error) {
	o, err := newOptions(given)
	if err != nil {
		return nil, err
	}
	conn, err := connect(config)
	if err != nil {
		return nil, err
	}
	return startOn(t, conn, o)
}

func startOn(t T, conn *connection, o *options) (*Cluster, error) {
	c := &Cluster{
		t:       t,
		options: o,
		client:  conn.client,
		clock:   newClock(o.speed),
		refused: make(chan error, 1),
		stopped: make(chan struct{}),
	}
	if err := c.run(conn); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("batchtest: %v", err)
		}
	})
	return c, nil
}

// run starts everything, and returns when the caches are filled.
func (c *Cluster) run(conn *connection) error {
	logger := funcr.New(c.log.add, funcr.Options{})
	logged := klog.NewContext(context.Background(), logger)
	ctx, cancel := context.WithCancel(logged)
	recording, stopRecording := context.WithCancel(logged) // the last rounds still record events
	factory := informers.NewSharedInformerFactoryWithOptions(c.client, c.options.resync,
		informers.WithNamespace(c.options.namespace))

	var running sync.WaitGroup
	var failed error
	var held *lease // nil without the right to write leases
	c.stop = sync.OnceValue(func() error {
		close(c.stopped)
		cancel()
		running.Wait()
		if held != nil {
			held.release()
		}
		stopRecording()
		factory.Shutdown()
		if c.collector != nil {
			c.collector.shutdown()
		}
		conn.close()
		return failed
	})

	if _, err := c.client.Discovery().ServerVersion(); err != nil {
		return fmt.Errorf("the API server does not answer: %w", err)
	}
	var err error
	if held, err = c.takeLease(ctx); err != nil {
		return err
	}
	parts, err := c.make(recording, conn, factory)
	if err != nil {
		cancel()
		_ = controller.Run(ctx, parts...) // after the end, they only release what they have
		return err
	}

	factory.Start(ctx.Done())
	running.Add(1)
	go func() {
		defer running.Done()
		if err := controller.Run(ctx, parts...); ctx.Err() == nil {
			failed = err
		}
	}()
	return c.sync(ctx)
}

// part is something that runs until a context ends.
type part = interface{ Start(context.Context) error }

// make makes the controllers, the kubelet and the garbage collector. Events are recorded until the
// context recording ends.
func (c *Cluster) make(
	recording context.Context, conn *connection, factory informers.SharedInformerFactory,
) ([]part, error) {
	c.jobs = factory.Batch().V1().Jobs().Informer()
	c.cronJobs = factory.Batch().V1().CronJobs().Informer()
	c.pods = factory.Core().V1().Pods().Informer()

	var parts []part
	var errs []error
	add := func(p part, err error) {
		if err != nil {
			errs = append(errs, err)
			return
		}
		parts = append(parts, p)
	}

	common := controller.Common{Clock: c.clock, Events: controller.NewRecorder(recording, c.client, nil, "batchtest")}
	kind := controller.BatchJobs(c.client, factory)
	add(controller.NewJobs(kind, controller.JobOptions{
		Common:     common,
		ManagedBy:  job.ControllerName,
		Planner:    c.options.job,
		Memories:   &c.memories,
		Stale:      c.options.stale,
		BatchDelay: time.Duration(float64(10*time.Millisecond) * c.options.speed),
	}))

	add(controller.NewOrphans(kind, controller.OrphanOptions{
		Common:    common,
		ManagedBy: job.ControllerName,
		Planner:   c.options.job,
	}))
	add(controller.NewTTL(kind, controller.TTLOptions{Common: common, Planner: c.options.job}))

	add(controller.NewCronJobs(controller.BatchCronJobs(c.client, factory), controller.CronJobOptions{
		Common:    common,
		Planner:   c.options.cronJob,
		Schedule:  c.options.schedule,
		LiveReads: true,
	}))

	var err error
	report := func(err error) { c.t.Errorf("batchtest: %v", err) }
	c.kubelet, err = newKubelet(c.client, c.pods, c.clock, report)
	add(c.kubelet, err)

	have := map[string]cache.SharedIndexInformer{"jobs": c.jobs, "cronjobs": c.cronJobs, "pods": c.pods}
	c.collector, err = newCollector(conn, c.options.namespace, c.options.collect, have)
	add(c.collector, err)

	for _, informer := range []cache.SharedIndexInformer{c.jobs, c.cronJobs, c.pods} {
		_, err := informer.AddEventHandler(c.changes.handler(c.started.saw))
		errs = append(errs, err, informer.SetWatchErrorHandler(c.watchErrors))
	}
	return parts, errors.Join(errs...)
}

// syncTimeout limits the wait for the caches, which is normally far shorter.
const syncTimeout = time.Minute

// sync waits for the caches. The wait ends if the server refuses a list.
func (c *Cluster) sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, syncTimeout, fmt.Errorf("not within %v", syncTimeout))
	defer cancel()
	synced := make(chan bool, 1)
	go func() {
		all := []cache.InformerSynced{
			c.jobs.HasSynced, c.cronJobs.HasSynced, c.pods.HasSynced, c.collector.hasSynced,
		}
		synced <- cache.WaitForCacheSync(ctx.Done(), all...)
	}()

	var err error
	select {
	case ok := <-synced:
		if ok {
			return nil
		}
		err = context.Cause(ctx)
	case err = <-c.refused:
		cancel()
		<-synced
	}
	return errors.Join(fmt.Errorf("jobs, CronJobs and pods cannot be listed and watched: %w", err), c.log.err())
}

// watchErrors ends the start of the cluster when the server refuses a list.
func (c *Cluster) watchErrors(_ *cache.Reflector, err error) {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) {
		select {
		case c.refused <- err:
		default:
		}
	}
	c.log.add("", err.Error())
}

// Stop stops the cluster before the end of the test. Objects stay as they are. It returns when
// nothing of the cluster runs any more. Further calls do nothing.
func (c *Cluster) Stop() error { return c.stop() }

// Pods sets the behaviour of the pods that all matches select, including existing pods. If several
// calls select a pod, the last one counts.
func (c *Cluster) Pods(b Behaviour, matches ...Match) { c.kubelet.add(rule{b, matches}) }

// Now returns the time of the controllers.
func (c *Cluster) Now() time.Time { return c.clock.Now() }

// unserved returns why the cluster does nothing in a namespace, or "".
func (c *Cluster) unserved(namespace string) string {
	if c.isStopped() {
		return "the cluster was stopped"
	}
	if served := c.options.namespace; served != "" && served != namespace {
		return fmt.Sprintf("the cluster serves only namespace %s", served)
	}
	return ""
}

func (c *Cluster) isStopped() bool {
	select {
	case <-c.stopped:
		return true
	default:
		return false
	}
}

// key parses "name" or "namespace/name".
func (c *Cluster) key(name string) types.NamespacedName {
	if namespace, name, found := strings.Cut(name, "/"); found {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	if c.options.namespace != "" {
		return types.NamespacedName{Namespace: c.options.namespace, Name: name}
	}
	return types.NamespacedName{Namespace: "default", Name: name}
}

// memories keeps the memories of the Job controller, which [Cluster.Explain] needs.
type memories struct{ all sync.Map }

// Get implements [controller.Memories].
func (m *memories) Get(_ context.Context, key types.NamespacedName) (job.Memory, error) {
	known, _ := m.all.Load(key)
	memory, _ := known.(job.Memory)
	return memory, nil
}

// Set implements [controller.Memories].
func (m *memories) Set(_ context.Context, key types.NamespacedName, memory job.Memory) error {
	m.all.Store(key, memory)
	return nil
}

// Delete implements [controller.Memories].
func (m *memories) Delete(_ context.Context, key types.NamespacedName) error {
	m.all.Delete(key)
	return nil
}

// changes notifies waiting goroutines that an object has changed.
type changes struct {
	mu   sync.Mutex
	next chan struct{}
}

func (c *changes) happened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
	}
	c.next = nil
}

func (c *changes) wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// handler returns an event handler that wakes the waiting goroutines at each change. For a new
// object, it first calls seen.
func (c *changes) handler(seen func(any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			seen(o)
			c.happened()
		},
		UpdateFunc: func(any, any) { c.happened() },
		DeleteFunc: func(any) { c.happened() },
	}
}

// tail keeps the last lines that the controllers have logged.
type tail struct {
	mu    sync.Mutex
	lines []string
}

// tailLines is the number of lines in a tail.
const tailLines = 20

func (l *tail) add(prefix, args string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == tailLines {
		l.lines = append(l.lines[:0], l.lines[1:]...)
	}
	l.lines = append(l.lines, strings.TrimSpace(prefix+" "+args))
}

// err returns the lines as an error, or nil if there are none.
func (l *tail) err() error {
	if lines := l.String(); lines != "" {
		return errors.New(lines)
	}
	return nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}
