package ours

import (
	"cmp"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// newJobs makes the Job controller, and the controller of the pods that it has lost.
func newJobs(client kubernetes.Interface, f *factories, events controller.Recorder, o Options) []worker {
	common := controller.Common{Events: events, CrashOnPanic: true}
	options := controller.JobOptions{
		Common:    common,
		ManagedBy: cmp.Or(o.Job.ControllerName, job.ControllerName),
		Planner:   o.Job,
		Stale:     o.Stale, MergeEvents: o.MergeEvents,
		Metrics: jobMetrics{o.Figures.metrics(), o.Watch},
		Hooks:   controller.JobHooks{Round: o.Watch.Job, Planned: o.Planning},
	}
	if o.Memories != nil {
		options.Memories = &memories{jobs: o.Memories}
	}
	kind := controller.BatchJobs(client)
	jobs, err := controller.NewJobsOf(kind, client, f.jobInformer(), f.podInformer(), options)
	must(err)
	orphans, err := controller.NewOrphansOf(kind, client, f.jobInformer(), f.podInformer(), controller.OrphanOptions{
		Common: common, ManagedBy: options.ManagedBy, Planner: o.Job, Released: func(*corev1.Pod) { o.Watch.Orphan() },
	})
	must(err)
	return []worker{jobs, orphans}
}

// newCronJobs makes the CronJob controller.
func newCronJobs(client kubernetes.Interface, f *factories, events controller.Recorder, o Options) worker {
	c, err := controller.NewCronJobsOn(client, f.cronJobInformer(), f.jobInformer(), controller.CronJobOptions{
		Common:    controller.Common{Events: events, CrashOnPanic: true},
		Planner:   o.CronJob,
		Schedule:  o.Schedule,
		LiveReads: o.LiveReads,
		Metrics:   o.Figures.metrics(),
		Hooks:     controller.CronJobHooks{Round: o.Watch.CronJob},
	})
	must(err)
	return c
}

// newTTL makes the controller of expired jobs.
func newTTL(client kubernetes.Interface, f *factories, o Options) worker {
	c, err := controller.NewTTLOf(controller.BatchJobs(client), f.jobInformer(), controller.TTLOptions{
		Common: controller.Common{CrashOnPanic: true}, Planner: o.Job, Look: o.Watch.TTL,
	})
	must(err)
	return c
}

// memories outlive the controller.
type memories struct {
	mu   sync.Mutex
	jobs map[string]job.Memory
}

func (m *memories) Get(key types.NamespacedName) job.Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.jobs[key.String()]
}

func (m *memories) Set(key types.NamespacedName, memory job.Memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jobs[key.String()] = memory
}

func (m *memories) Delete(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, key.String())
}
