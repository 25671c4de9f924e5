package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
	"github.com/batchplan/batchplan/x/kubernetes/internal/groups"
)

// component is the name in events and in requests.
const component = "batchplan-controller"

// Run runs a replica until the context ends, and then returns nil. When it returns, all rounds have
// ended and the lease is released.
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
			<-said // otherwise the process could end first
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
	client, err := newClients(server)
	if err != nil {
		return err
	}
	if err := c.adapt(ctx, client.all); err != nil {
		return err
	}

	if c.Election {
		return c.runElected(ctx, client)
	}
	return c.runControllers(ctx, client)
}

// adapt asks the server what it supports, and adapts the options of the planner.
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
	if c.hasGangs() {
		if err := s.askGroups(client); err != nil {
			return err
		}
	}
	klog.FromContext(ctx).Info("server", "version", s.Version,
		"keepsManagedBy", s.ManagedBy, "keepsPodReplacementPolicy", s.ReplacementPolicy,
		"successCriteriaMet", !c.Planners.Job.NoSuccessCriteriaMet)
	return nil
}

// caches holds the informers of a namespace. Those of groups are set only for gangs.
type caches struct {
	informers.SharedInformerFactory
	groups     dynamicinformer.DynamicSharedInformerFactory
	workloads  cache.SharedIndexInformer
	podGroups  cache.SharedIndexInformer
	groupsDone sync.WaitGroup
}

func (c *Config) newCaches(client clients, namespace string) *caches {
	made := &caches{SharedInformerFactory: informers.NewSharedInformerFactoryWithOptions(client.all, c.resync,
		informers.WithNamespace(namespace), informers.WithTransform(convert.Trim("Job")))}
	if c.hasGangs() {
		made.groups = dynamicinformer.NewFilteredDynamicSharedInformerFactory(client.groups, c.resync, namespace, nil)
		made.workloads = made.groups.ForResource(groups.Workloads).Informer()
		made.podGroups = made.groups.ForResource(groups.PodGroups).Informer()
	}
	return made
}

// start starts the informers. From client-go 0.36 on, they log with the logger of the context;
// older ones log with the logger of the process. The factory of the groups has no method for that,
// so their informers are started one by one.
func (c *caches) start(ctx context.Context) {
	if f, ok := c.SharedInformerFactory.(interface{ StartWithContext(context.Context) }); ok {
		f.StartWithContext(ctx)
	} else {
		c.Start(ctx.Done())
	}

	if c.groups == nil {
		return
	}
	for _, informer := range [...]cache.SharedIndexInformer{c.workloads, c.podGroups} {
		c.groupsDone.Add(1)
		go func() {
			defer c.groupsDone.Done()
			if i, ok := informer.(interface{ RunWithContext(context.Context) }); ok {
				i.RunWithContext(ctx)
			} else {
				informer.Run(ctx.Done())
			}
		}()
	}
}

// stop waits for the end of the informers, whose context has ended.
func (c *caches) stop() {
	c.Shutdown()
	c.groupsDone.Wait()
}

// unsynced waits until the caches are full or done is closed, and returns the kinds that are missing.
func (c *caches) unsynced(done <-chan struct{}) (kinds []string) {
	for kind, synced := range c.WaitForCacheSync(done) {
		if !synced {
			kinds = append(kinds, kind.String())
		}
	}
	if c.groups != nil && !cache.WaitForCacheSync(done, c.workloads.HasSynced, c.podGroups.HasSynced) {
		kinds = append(kinds, "groups")
	}
	slices.Sort(kinds)
	return kinds
}

// starter is a controller.
type starter interface{ Start(context.Context) error }

// runControllers runs the controllers until the context ends.
func (c *Config) runControllers(ctx context.Context, client clients) error {
	c.Status.set(phaseFilling)
	common := controller.Common{
		Workers:      c.Workers,
		Events:       controller.NewRecorder(ctx, client.all, nil, component),
		QueueMetrics: measure(c.Registry),
	}
	namespaces := c.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{corev1.NamespaceAll}
	}

	var all []starter
	var filled []*caches
	for _, namespace := range namespaces {
		from := c.newCaches(client, namespace)
		made, err := c.newControllers(client, from, common)
		if err != nil {
			return err
		}
		all, filled = append(all, made...), append(filled, from)
	}
	return c.start(ctx, filled, all)
}

// newControllers makes the controllers of a namespace.
func (c *Config) newControllers(client clients, from *caches, common controller.Common) (all []starter, err error) {
	add := func(name string, make func() (starter, error)) {
		if err != nil || !c.runs(name) {
			return
		}
		var s starter
		if s, err = make(); err == nil {
			all = append(all, s)
		}
	}

	// Each informer needs the right to list, and memory for all objects. So there are informers
	// only for the objects that the chosen controllers read.
	jobs := controller.BatchJobs(client.all, nil)
	hasPods := c.runs(Jobs) || c.runs(Orphans)
	if hasPods || c.runs(TTL) {
		jobs.ObjectInformer = from.Batch().V1().Jobs().Informer()
	}
	if hasPods {
		jobs.PodInformer = from.Core().V1().Pods().Informer()
	}

	add(Jobs, func() (starter, error) {
		o := controller.JobOptions{
			Common:           common,
			ManagedBy:        c.ManagedBy,
			Planner:          c.Planners.Job,
			Metrics:          measure(c.Registry).Jobs(),
			MemoryAnnotation: c.MemoryAnnotation,
			MergeEvents:      c.MergeEvents,
		}
		if from.groups != nil {
			o.Groups = controller.NewGroups(client.groups, from.groups)
		}
		return controller.NewJobs(jobs, o)
	})

	add(Orphans, func() (starter, error) {
		return controller.NewOrphans(jobs, controller.OrphanOptions{
			Common:    common,
			ManagedBy: c.ManagedBy,
			Planner:   c.Planners.Job,
		})
	})

	add(CronJobs, func() (starter, error) {
		schedules, err := c.Planners.schedules()
		if err != nil {
			return nil, err
		}
		return controller.NewCronJobs(controller.BatchCronJobs(client.all, from), controller.CronJobOptions{
			Common:     common,
			Planner:    c.Planners.CronJob,
			Schedule:   schedules,
			Metrics:    measure(c.Registry).CronJobs(),
			EditEvents: c.advise,
		})
	})
	add(TTL, func() (starter, error) {
		return controller.NewTTL(jobs, controller.TTLOptions{
			Common:    common,
			ManagedBy: c.ManagedBy,
			Planner:   c.Planners.Job,
			Metrics:   measure(c.Registry).TTL(),
		})
	})
	return all, err
}

// advise adds a warning if the round has started a job that is left to another controller.
func (c *Config) advise(o controller.Object, round controller.CronJobRound, events []job.Event) []job.Event {
	isStart := func(e cronjob.Effect) bool { return e.Result == cronjobreason.ResultDone }
	if !slices.ContainsFunc(round.Outcome.Created, isStart) {
		return events
	}

	options := c.Planners.Job
	options.ControllerName = c.ManagedBy
	by, ours := job.ManagerOf(job.Spec{ManagedBy: o.(*batchv1.CronJob).Spec.JobTemplate.Spec.ManagedBy}, options)
	if ours {
		return events
	}
	return append(events, job.Event{
		Type:   job.EventWarning,
		Reason: "JobsManagedElsewhere",
		Message: fmt.Sprintf("its jobs are left to %s, as spec.jobTemplate.spec.managedBy says: "+
			"to run them here, set it to %s", by, c.ManagedBy),
	})
}

// start starts the caches and the controllers and waits for their end.
func (c *Config) start(ctx context.Context, from []*caches, all []starter) error {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		for _, f := range from {
			f.stop()
		}
	}()

	for _, f := range from {
		f.start(ctx)
	}
	var run []interface{ Start(context.Context) error }
	for _, s := range all {
		run = append(run, s)
	}
	run = append(run, whenSynced{from, func() {
		c.Status.set(phaseRunning)
		klog.FromContext(ctx).Info("running", "controllers", c.Controllers,
			"managedBy", c.ManagedBy, "namespaces", c.Namespaces)
	}})

	err := controller.Run(ctx, run...)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil // also if the caches were not full yet
	}
	return err
}

// whenSynced calls a function once the caches are full, and then waits for the end of the context.
type whenSynced struct {
	from []*caches
	do   func()
}

func (w whenSynced) Start(ctx context.Context) error {
	for _, f := range w.from {
		if kinds := f.unsynced(ctx.Done()); len(kinds) > 0 {
			klog.FromContext(ctx).Info("stopped before the caches were full", "kinds", kinds)
			return nil
		}
	}
	w.do()
	<-ctx.Done()
	return nil
}
