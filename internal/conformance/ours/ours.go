// Package ours runs the planners of batchplan as controllers of Kubernetes:
// informers and work queues around Reconcile, the executor and Conclude, with the
// delays of the real controllers (J43), so that both act at the same times.
package ours

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// Options say which controllers run, and how they decide.
type Options struct {
	Jobs, CronJobs, TTL bool
	// Stale lets rounds begin although the caches do not show their own writes yet.
	Stale bool
	// LiveReads lets rounds of CronJobs read what the real controller reads past its
	// caches: the jobs that Replace deletes, and those that Forbid still waits for (C5, C12).
	LiveReads bool
	Job       job.Options
	CronJob   cronjob.Options
	Schedule  []schedule.Option
	// Memories, if set, holds the memories of jobs and outlives the controller, as with
	// an adapter that stores [job.Memory].
	Memories map[string]job.Memory
	// Planning, if set, is told how long each round of the job planner took.
	Planning func(time.Duration)
	// Figures, if set, counts what the controllers would export as metrics.
	Figures *Figures
	// Watch, if not nil, is called after every round.
	Watch Watch
}

// Kubernetes136 returns the options of the preset.
func Kubernetes136() Options {
	return Options{Job: job.Kubernetes136(), CronJob: cronjob.Kubernetes136(), Schedule: []schedule.Option{schedule.Kubernetes136()}}
}

// New makes the controllers. The phases start their caches, owners before what
// they own, and then the controllers, one by one and with one worker each: each phase
// begins when the one before has nothing more to do. A notification about a pod whose job is not in
// the cache yet is lost, and the order of the caches would be left to chance. Stop
// returns when nothing of the controllers is left.
func New(client kubernetes.Interface, o Options) (phases []func(), stop func()) {
	if o.Watch == nil {
		o.Watch = unwatched{}
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	cronJobs, jobs, pods := informers.NewSharedInformerFactory(client, 0), informers.NewSharedInformerFactory(client, 0), informers.NewSharedInformerFactory(client, 0)
	factories := []informers.SharedInformerFactory{cronJobs, jobs, pods}
	var workers []func(context.Context)
	var queues []interface{ ShutDown() }
	js := jobs.Batch().V1().Jobs()
	if o.Jobs {
		c := newJobs(client, pods.Core().V1().Pods(), js, recorder(ctx, client, "job-controller"), o)
		workers, queues = append(workers, c.work, c.workOrphans), append(queues, c.queue, c.orphans)
	}
	if o.CronJobs {
		c := newCronJobs(client, js, cronJobs.Batch().V1().CronJobs(), recorder(ctx, client, "cronjob-controller"), o)
		workers, queues = append(workers, c.work), append(queues, c.queue)
	}
	if o.TTL {
		c := newTTL(client, js, o)
		workers, queues = append(workers, c.work), append(queues, c.queue)
	}
	for _, f := range factories {
		phases = append(phases, func() { f.StartWithContext(ctx) })
	}
	var running sync.WaitGroup
	for _, work := range workers {
		phases = append(phases, func() { running.Go(func() { work(ctx) }) })
	}
	return phases, func() {
		cancel()
		for _, q := range queues {
			q.ShutDown()
		}
		for _, f := range factories {
			f.Shutdown()
		}
		running.Wait()
	}
}

// recorder reports events to the server until the context ends.
func recorder(ctx context.Context, client kubernetes.Interface, component string) reporter {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return reporter{broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: component})}
}

// reporter reports the events of a conclusion.
type reporter struct{ record.EventRecorder }

func (r reporter) report(about runtime.Object, events []job.Event) {
	for _, e := range events {
		r.Event(about, string(e.Type), e.Reason, e.Message)
	}
}

// queue is a work queue with the delays of a controller.
type queue[K comparable] = workqueue.TypedRateLimitingInterface[K]

// process takes the next key and works on it; false means that the queue ended.
func process[K comparable](q queue[K], work func(K) error) bool {
	key, quit := q.Get()
	if quit {
		return false
	}
	defer q.Done(key)
	if err := work(key); err != nil {
		q.AddRateLimited(key)
		return true
	}
	q.Forget(key)
	return true
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
