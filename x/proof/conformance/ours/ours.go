// Package ours runs our controllers, those of x/kubernetes, in virtual time.
package ours

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// Options choose which controllers run, and how they decide.
type Options struct {
	Jobs, CronJobs, TTL bool
	// Stale lets rounds begin although the caches do not show their own writes yet.
	Stale bool
	// MergeEvents merges the events about the pods of a round.
	MergeEvents bool
	// LiveReads lets rounds of CronJobs read from the server, instead of their caches, what the
	// real controller also reads there: the jobs that Replace deletes, and those for which Forbid
	// still waits (C5, C12).
	LiveReads bool
	// Release is the release of the server. Job and CronJob imitate the same release.
	Release  release.Release
	Job      job.Options
	CronJob  cronjob.Options
	Schedule []schedule.Option
	// Groups is a client of workloads and pod groups. It is needed if Job.Gangs is set.
	Groups dynamic.Interface
	// Memories, if set, holds the memories of jobs and outlives the controller, as with
	// an adapter that stores [job.Memory].
	Memories map[string]job.Memory
	// Planning, if set, receives how long each round of the job planner took.
	Planning func(time.Duration)
	// Figures, if set, counts what the controllers would export as metrics.
	Figures *Figures
	// Watch, if not nil, is called after every round.
	Watch Watch
}

// Kubernetes returns the options of a release.
func Kubernetes(r release.Release) Options {
	return Options{
		Release: r, Stale: !r.Has(release.StaleControllerConsistencyJob),
		Job: job.Kubernetes(r), CronJob: cronjob.Kubernetes(r), Schedule: []schedule.Option{schedule.Kubernetes(r)},
	}
}

// New makes the controllers. The first phases start the caches, owners before what they own. The
// later phases start the controllers one by one, with one worker each. Begin a phase only when the
// previous one has nothing more to do. Otherwise chance would decide the order of the caches, and a
// notification about a pod would be lost if its job is not yet in the cache. Stop returns when all
// goroutines of the controllers have ended.
func New(client kubernetes.Interface, o Options) (phases []func(), stop func()) {
	if o.Watch == nil {
		o.Watch = unwatched{}
	}

	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	f := newFactories(client)
	if o.Job.Gangs {
		f.groups = dynamicinformer.NewDynamicSharedInformerFactory(o.Groups, 0)
	}

	var workers []worker
	if o.Jobs {
		workers = append(workers, newJobs(client, f, controller.NewRecorder(ctx, client, nil, "job-controller"), o)...)
	}
	if o.CronJobs {
		workers = append(workers,
			newCronJobs(client, f, controller.NewRecorder(ctx, client, nil, "cronjob-controller"), o))
	}
	if o.TTL {
		workers = append(workers, newTTL(client, f, o))
	}

	for _, factory := range f.all() {
		phases = append(phases, func() { factory.Start(ctx.Done()) })
	}

	var running sync.WaitGroup
	for _, w := range workers {
		// Stopping does not cut a round short: that would be a fault of its own.
		phases = append(phases, func() { running.Go(func() { w.Work(context.WithoutCancel(ctx)) }) })
	}
	return phases, func() {
		cancel()
		for _, w := range workers {
			w.ShutDown()
		}
		for _, factory := range f.all() {
			factory.Shutdown()
		}
		running.Wait()
	}
}

// worker is a controller, which works until it is shut down.
type worker interface {
	Work(context.Context)
	ShutDown()
}

// factories make the caches. Each kind of object has a factory that is started separately.
type factories struct {
	cronJobs, jobs, pods informers.SharedInformerFactory
	groups               dynamicinformer.DynamicSharedInformerFactory // nil without gangs
}

// caches is the part of a factory that starts and stops its caches.
type caches interface {
	Start(stop <-chan struct{})
	Shutdown()
}

func newFactories(client kubernetes.Interface) *factories {
	return &factories{
		cronJobs: informers.NewSharedInformerFactory(client, 0),
		jobs:     informers.NewSharedInformerFactory(client, 0),
		pods:     informers.NewSharedInformerFactory(client, 0),
	}
}

func (f *factories) cronJobInformer() cache.SharedIndexInformer {
	return f.cronJobs.Batch().V1().CronJobs().Informer()
}

func (f *factories) jobInformer() cache.SharedIndexInformer {
	return f.jobs.Batch().V1().Jobs().Informer()
}
func (f *factories) podInformer() cache.SharedIndexInformer {
	return f.pods.Core().V1().Pods().Informer()
}

// all returns the factories, owners before what they own.
func (f *factories) all() []caches {
	if f.groups == nil {
		return []caches{f.cronJobs, f.jobs, f.pods}
	}
	return []caches{f.cronJobs, f.jobs, f.groups, f.pods}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
