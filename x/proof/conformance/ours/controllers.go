package ours

import (
	"cmp"
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// newJobs makes the Job controller, and the controller of orphaned pods.
func newJobs(client kubernetes.Interface, f *factories, events controller.Recorder, o Options) []worker {
	common := controller.Common{Events: events, CrashOnPanic: true}
	options := controller.JobOptions{
		Common:    common,
		ManagedBy: cmp.Or(o.Job.ControllerName, job.ControllerName),
		Planner:   o.Job,
		Stale:     o.Stale, MergeEvents: o.MergeEvents,
		Metrics: o.Figures.metrics().Jobs(),
		Hooks: controller.JobHooks{
			Round:   func(r controller.JobRound) { o.Watch.Job(r.Snapshot, r.Plan, r.Outcome) },
			Planned: o.Planning,
		},
	}
	// The real controller also counts postponed rounds.
	options.Metrics.Stale = func(schema.GroupResource) { o.Watch.Stale() }
	if f.groups != nil {
		options.Groups = controller.NewGroups(o.Groups, f.groups)
	}
	if o.Memories != nil {
		options.Memories = &memories{jobs: o.Memories}
	}
	kind := controller.BatchJobs(client, nil)
	kind.ObjectInformer, kind.PodInformer = f.jobInformer(), f.podInformer()
	jobs, err := controller.NewJobs(kind, options)
	must(err)
	orphans, err := controller.NewOrphans(kind, controller.OrphanOptions{
		Common: common, ManagedBy: options.ManagedBy, Planner: o.Job,
		Hooks: controller.OrphanHooks{Released: func(*corev1.Pod) { o.Watch.Orphan() }},
	})
	must(err)
	return []worker{jobs, orphans}
}

func newCronJobs(client kubernetes.Interface, f *factories, events controller.Recorder, o Options) worker {
	kind := controller.BatchCronJobs(client, nil)
	kind.ParentInformer, kind.ChildInformer = f.cronJobInformer(), f.jobInformer()
	c, err := controller.NewCronJobs(kind, controller.CronJobOptions{
		Common:    controller.Common{Events: events, CrashOnPanic: true},
		Planner:   o.CronJob,
		Schedule:  o.Schedule,
		LiveReads: o.LiveReads,
		Metrics:   o.Figures.metrics().CronJobs(),
		Hooks: controller.CronJobHooks{Round: func(r controller.CronJobRound) {
			o.Watch.CronJob(r.Snapshot, r.Plan, r.Outcome)
		}},
	})
	must(err)
	return c
}

func newTTL(client kubernetes.Interface, f *factories, o Options) worker {
	kind := controller.BatchJobs(client, nil)
	kind.ObjectInformer = f.jobInformer()
	planner := o.Job
	planner.ControllerName = "" // the jobs of all controllers expire
	c, err := controller.NewTTL(kind, controller.TTLOptions{
		Common: controller.Common{CrashOnPanic: true}, Planner: planner,
		Hooks: controller.TTLHooks{Look: func(l controller.TTLLook) {
			o.Watch.TTL(l.Job, l.Now, l.Fresh, l.Expired, l.At)
		}},
	})
	must(err)
	return c
}

// memories stores the memories of jobs outside of the controller, so that they survive its end.
type memories struct {
	mu   sync.Mutex
	jobs map[string]job.Memory
}

func (m *memories) Get(_ context.Context, key types.NamespacedName) (job.Memory, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.jobs[key.String()], nil
}

func (m *memories) Set(_ context.Context, key types.NamespacedName, memory job.Memory) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jobs[key.String()] = memory
	return nil
}

func (m *memories) Delete(_ context.Context, key types.NamespacedName) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, key.String())
	return nil
}
