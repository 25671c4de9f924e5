package replica

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// component is the name in events and in requests.
const component = "batchplan-controller"

// Run runs a replica until the context ends, and then returns nil. Before it returns, all
// rounds have ended and the lease is given back.
func Run(ctx context.Context, server *rest.Config, c Config) error {
	c, err := c.withDefaults()
	if err != nil {
		return err
	}

	defer c.Status.set(phaseStopping)
	said := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(said)
		klog.FromContext(ctx).Info("stopping: rounds under way end, and no others begin",
			"cause", context.Cause(ctx).Error())
	})
	defer func() {
		if !stop() {
			<-said // or the process could end first
		}
	}()

	if !c.runs(CronJobs) {
		klog.FromContext(ctx).Info("CronJobs are left to the built-in controller: to run them, name " +
			CronJobs + " among the controllers")
	}

	server = rest.CopyConfig(server)
	if server.UserAgent == "" {
		server = rest.AddUserAgent(server, component)
	}
	server.Wrap(measure(c.Registry).Requests)
	client, err := newClient(server)
	if err != nil {
		return err
	}
	if err := c.adapt(ctx, client); err != nil {
		return err
	}

	if c.Election {
		return c.runElected(ctx, client)
	}
	return c.runControllers(ctx, client)
}

// adapt asks the server what it is.
func (c *Config) adapt(ctx context.Context, client kubernetes.Interface) error {
	namespace := corev1.NamespaceDefault
	if len(c.Namespaces) > 0 {
		namespace = c.Namespaces[0]
	}
	s, err := AskServer(ctx, client, namespace)
	if err != nil {
		return err
	}
	if err := s.adapt(c.ManagedBy, &c.Planners.Job); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("server", "version", s.Version,
		"keepsManagedBy", s.ManagedBy, "keepsPodReplacementPolicy", s.ReplacementPolicy,
		"successCriteriaMet", !c.Planners.Job.NoSuccessCriteriaMet)
	return nil
}

// startFactory starts the informers of a factory. From client-go 0.36 on they log refusals with the
// logger of the context; before, with the logger of the process.
func startFactory(ctx context.Context, f informers.SharedInformerFactory) {
	if f, ok := f.(interface{ StartWithContext(context.Context) }); ok {
		f.StartWithContext(ctx)
		return
	}
	f.Start(ctx.Done())
}

// starter is a controller.
type starter interface{ Start(context.Context) error }

// runControllers runs the controllers until the context ends.
func (c *Config) runControllers(ctx context.Context, client kubernetes.Interface) error {
	c.Status.set(phaseFilling)
	common := controller.Common{
		Workers:      c.Workers,
		Events:       controller.NewRecorder(ctx, client, nil, component),
		QueueMetrics: measure(c.Registry),
	}
	namespaces := c.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{corev1.NamespaceAll}
	}

	var all []starter
	var factories []informers.SharedInformerFactory
	for _, namespace := range namespaces {
		factory := informers.NewSharedInformerFactoryWithOptions(client, c.resync,
			informers.WithNamespace(namespace), informers.WithTransform(convert.Trim("Job")))
		made, err := c.newControllers(client, factory, common)
		if err != nil {
			return err
		}
		all, factories = append(all, made...), append(factories, factory)
	}
	return c.start(ctx, factories, all)
}

// newControllers makes the controllers of a factory.
func (c *Config) newControllers(
	client kubernetes.Interface, factory informers.SharedInformerFactory, common controller.Common,
) (all []starter, err error) {
	add := func(name string, make func() (starter, error)) {
		if err != nil || !c.runs(name) {
			return
		}
		var s starter
		if s, err = make(); err == nil {
			all = append(all, s)
		}
	}

	add(Jobs, func() (starter, error) {
		return controller.NewJobs(client, factory, controller.JobOptions{
			Common:           common,
			ManagedBy:        c.ManagedBy,
			Planner:          c.Planners.Job,
			Metrics:          measure(c.Registry),
			MemoryAnnotation: c.MemoryAnnotation,
			MergeEvents:      c.MergeEvents,
		})
	})
	add(Orphans, func() (starter, error) {
		return controller.NewOrphans(client, factory, controller.OrphanOptions{
			Common:    common,
			ManagedBy: c.ManagedBy,
			Planner:   c.Planners.Job,
		})
	})
	add(CronJobs, func() (starter, error) {
		o := controller.CronJobOptions{
			Common:  common,
			Planner: c.Planners.CronJob,
			Metrics: measure(c.Registry),
			Advise:  c.advise,
		}
		if c.Planners.Preset != "" {
			o.Schedule = []schedule.Option{schedule.Kubernetes()}
		}
		return controller.NewCronJobs(client, factory, o)
	})
	add(TTL, func() (starter, error) {
		return controller.NewTTL(client, factory, controller.TTLOptions{
			Common:    common,
			ManagedBy: c.ManagedBy,
			Planner:   c.Planners.Job,
			Metrics:   measure(c.Registry),
		})
	})
	return all, err
}

// advise warns that the jobs of a CronJob are left to another controller.
func (c *Config) advise(o controller.Object) (reason, message string) {
	options := c.Planners.Job
	options.ControllerName = c.ManagedBy
	by, ours := job.ManagerOf(&job.Spec{ManagedBy: o.(*batchv1.CronJob).Spec.JobTemplate.Spec.ManagedBy}, &options)
	if ours {
		return "", ""
	}
	return "JobsManagedElsewhere", fmt.Sprintf("its jobs are left to %s, as spec.jobTemplate.spec.managedBy says: "+
		"to run them here, set it to %s", by, c.ManagedBy)
}

// start starts the caches and the controllers and waits for their end.
func (c *Config) start(ctx context.Context, factories []informers.SharedInformerFactory, all []starter) error {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		for _, f := range factories {
			f.Shutdown()
		}
	}()

	for _, f := range factories {
		startFactory(ctx, f)
	}
	var run []interface{ Start(context.Context) error }
	for _, s := range all {
		run = append(run, s)
	}
	run = append(run, whenSynced{factories, func() {
		c.Status.set(phaseRunning)
		klog.FromContext(ctx).Info("running", "controllers", c.Controllers,
			"managedBy", c.ManagedBy, "namespaces", c.Namespaces)
	}})

	err := controller.Run(ctx, run...)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil // the caches may not have been full yet
	}
	return err
}

// whenSynced calls a function once the caches are full, and then waits for the end.
type whenSynced struct {
	factories []informers.SharedInformerFactory
	do        func()
}

func (w whenSynced) Start(ctx context.Context) error {
	for _, f := range w.factories {
		for kind, synced := range f.WaitForCacheSync(ctx.Done()) {
			if !synced {
				klog.FromContext(ctx).Info("stopped before the cache was full", "kind", kind)
				return nil
			}
		}
	}
	w.do()
	<-ctx.Done()
	return nil
}
