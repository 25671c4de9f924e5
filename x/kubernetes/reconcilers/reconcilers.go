// Package reconcilers runs the controllers of package controller on a manager of
// controller-runtime. Each works on its own:
//
//	jobs := reconcilers.Job{JobOptions: controller.JobOptions{ManagedBy: "example.com/jobs"}}
//	if err := jobs.SetupWithManager(mgr); err != nil {
//		return err
//	}
//
// [JobOf] and [Cron] are for resources of your own.
//
// The controllers use the manager's informers, so pods and jobs are watched and cached once. Work
// queues, metrics, logs, recovery from panics and leader election are those of controller-runtime.
//
// A cache restricted to several namespaces (cache.Options.DefaultNamespaces) has no single informer
// and is refused. Restrict the controllers with Common.Namespace instead, or add controllers of
// package controller to the manager, one for each namespace.
package reconcilers

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// Job is the Job controller.
type Job struct {
	controller.JobOptions
	// Name is the name of the controller, in logs and metrics; empty means "job".
	Name string
	// Client writes the objects; nil means a new client with the manager's configuration.
	Client kubernetes.Interface
}

// SetupWithManager adds the controller to a manager.
func (r Job) SetupWithManager(mgr ctrl.Manager) error {
	client, err := prepare(mgr, r.Client, &r.Common, "job-controller")
	if err != nil {
		return err
	}
	kind, err := batchJobs(mgr, client)
	if err != nil {
		return err
	}
	return addJobs(mgr, cmp.Or(r.Name, "job"), kind, r.JobOptions)
}

// batchJobs returns the jobs of batch/v1 with the informers of a manager.
func batchJobs(mgr ctrl.Manager, client kubernetes.Interface) (kind controller.Kind[*batchv1.Job], err error) {
	kind = controller.BatchJobs(client, nil)
	err = errors.Join(
		fill(mgr, &kind.ObjectInformer, &batchv1.Job{}),
		fill(mgr, &kind.PodInformer, &corev1.Pod{}),
	)
	return kind, err
}

func addJobs[T controller.Object](
	mgr ctrl.Manager, name string, kind controller.Kind[T], o controller.JobOptions,
) error {
	j, err := controller.NewJobReconciler(kind, o)
	if err != nil {
		return err
	}
	s := setup[types.NamespacedName]{name, o.Workers, controller.JobRateLimiter[types.NamespacedName](), j.Reconcile}
	return s.on(mgr, source(kind.ObjectInformer, j.OwnerEvents), source(kind.PodInformer, j.PodEvents))
}

// Orphan removes the finalizer of pods that no job will count.
type Orphan struct {
	controller.OrphanOptions
	// Name is the name of the controller, in logs and metrics; empty means "orphan".
	Name string
	// Client writes the objects; nil means a new client with the manager's configuration.
	Client kubernetes.Interface
}

// SetupWithManager adds the controller to a manager.
func (r Orphan) SetupWithManager(mgr ctrl.Manager) error {
	client, err := prepare(mgr, r.Client, &r.Common, "job-controller")
	if err != nil {
		return err
	}
	kind, err := batchJobs(mgr, client)
	if err != nil {
		return err
	}
	return addOrphans(mgr, cmp.Or(r.Name, "orphan"), kind, r.OrphanOptions)
}

func addOrphans[T controller.Object](
	mgr ctrl.Manager, name string, kind controller.Kind[T], o controller.OrphanOptions,
) error {
	c, err := controller.NewOrphanReconciler(kind, o)
	if err != nil {
		return err
	}
	s := setup[controller.Orphan]{name, o.Workers, controller.JobRateLimiter[controller.Orphan](), c.Reconcile}
	return s.on(mgr, source(kind.ObjectInformer, c.OwnerEvents), source(kind.PodInformer, c.PodEvents))
}

// CronJob is the CronJob controller.
type CronJob struct {
	controller.CronJobOptions
	// Name is the name of the controller, in logs and metrics; empty means "cronjob".
	Name string
	// Client writes the objects; nil means a new client with the manager's configuration.
	Client kubernetes.Interface
}

// SetupWithManager adds the controller to a manager.
func (r CronJob) SetupWithManager(mgr ctrl.Manager) error {
	client, err := prepare(mgr, r.Client, &r.Common, "cronjob-controller")
	if err != nil {
		return err
	}
	kind := controller.BatchCronJobs(client, nil)
	err = errors.Join(
		fill(mgr, &kind.ParentInformer, &batchv1.CronJob{}),
		fill(mgr, &kind.ChildInformer, &batchv1.Job{}),
	)
	if err != nil {
		return err
	}
	return addCronJobs(mgr, cmp.Or(r.Name, "cronjob"), kind, r.CronJobOptions)
}

func addCronJobs[P, C controller.Object](
	mgr ctrl.Manager, name string, kind controller.Cron[P, C], o controller.CronJobOptions,
) error {
	c, err := controller.NewCronJobReconciler(kind, o)
	if err != nil {
		return err
	}
	s := setup[types.NamespacedName]{
		name:      name,
		workers:   o.Workers,
		limiter:   workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName](),
		reconcile: c.Reconcile,
	}
	return s.on(mgr, source(kind.ChildInformer, c.JobEvents), source(kind.ParentInformer, c.CronJobEvents))
}

// TTL deletes finished jobs when their time to live is over.
type TTL struct {
	controller.TTLOptions
	// Name is the name of the controller, in logs and metrics; empty means "ttl".
	Name string
	// Client writes the objects; nil means a new client with the manager's configuration.
	Client kubernetes.Interface
}

// SetupWithManager adds the controller to a manager.
func (r TTL) SetupWithManager(mgr ctrl.Manager) error {
	client, err := prepare(mgr, r.Client, &r.Common, "ttl-controller")
	if err != nil {
		return err
	}
	kind := controller.BatchJobs(client, nil)
	if err := fill(mgr, &kind.ObjectInformer, &batchv1.Job{}); err != nil {
		return err
	}
	return addTTL(mgr, cmp.Or(r.Name, "ttl"), kind, r.TTLOptions)
}

func addTTL[T controller.Object](
	mgr ctrl.Manager, name string, kind controller.Kind[T], o controller.TTLOptions,
) error {
	t, err := controller.NewTTLReconciler(kind, o)
	if err != nil {
		return err
	}
	s := setup[types.NamespacedName]{
		name:      name,
		workers:   o.Workers,
		limiter:   workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName](),
		reconcile: t.Reconcile,
	}
	return s.on(mgr, source(kind.ObjectInformer, t.OwnerEvents))
}

// prepare fills in a client and a recorder of events from the manager.
func prepare(
	mgr ctrl.Manager, client kubernetes.Interface, o *controller.Common, component string,
) (kubernetes.Interface, error) {
	if client == nil {
		c, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
		if err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		client = c
	}

	if o.Events != nil {
		return client, nil
	}
	r, err := newRecorder(mgr, client, component)
	o.Events = r
	return client, err
}

// recorder reports events to the group events.k8s.io. The recorders of a manager are not used,
// because they differ between releases of controller-runtime.
type recorder struct{ events.EventRecorder }

// newRecorder returns a recorder that writes events while the manager runs.
func newRecorder(mgr ctrl.Manager, client kubernetes.Interface, component string) (recorder, error) {
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		defer broadcaster.Shutdown()
		if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
			return fmt.Errorf("events of %s: %w", component, err)
		}
		<-ctx.Done()
		return nil
	}))
	return recorder{broadcaster.NewRecorder(mgr.GetScheme(), component)}, err
}

// Event implements [controller.Recorder]. The action of an event is its reason. So the events of
// one reason are a series, which keeps only the first message. An action that differed for each run
// or pod would make an event object for each.
func (r recorder) Event(about runtime.Object, eventtype, reason, message string) {
	r.Eventf(about, nil, eventtype, reason, reason, "%s", message)
}
