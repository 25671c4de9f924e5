package batchtest

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// Option changes a cluster.
type Option func(*options) error

type options struct {
	namespace string
	speed     float64
	patience  time.Duration
	job       job.Options
	cronJob   cronjob.Options
	schedule  []schedule.Option
	stale     bool
	collect   []schema.GroupVersionResource
	resync    time.Duration // of the informers
}

func newOptions(given []Option) (*options, error) {
	o := &options{
		speed:    1,
		patience: 30 * time.Second,
		job:      job.Kubernetes(release.Newest()),
		cronJob:  cronjob.Kubernetes(release.Newest()),
		schedule: []schedule.Option{schedule.Kubernetes(release.Newest())},
	}
	for _, option := range given {
		if err := option(o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Namespace restricts the cluster to one namespace, which is also the one of names without one.
// Without it the cluster serves all, and names without a namespace are in "default".
func Namespace(name string) Option {
	return func(o *options) error {
		if name == "" {
			return fmt.Errorf("Namespace(%q): a name is required", name)
		}
		o.namespace = name
		return nil
	}
}

// Speed lets n seconds of the controllers pass in a real one. See the package comment for what stays
// real.
func Speed(n float64) Option {
	return func(o *options) error {
		if !(n >= 1 && n <= 100_000) {
			return fmt.Errorf("Speed(%v): must be 1 to 100000", n)
		}
		o.speed = n
		return nil
	}
}

// Patience is how long [Cluster.Wait] and the methods of [Pod] wait, in real time: 30 seconds by
// default.
func Patience(d time.Duration) Option {
	return func(o *options) error {
		if d <= 0 {
			return fmt.Errorf("Patience(%v): must be positive", d)
		}
		o.patience = d
		return nil
	}
}

// Release lets the controllers decide as a release of Kubernetes does. The server should be of
// that release: older ones refuse some statuses that newer ones require. The default is [release.Newest].
func Release(r release.Release) Option {
	return func(o *options) error {
		o.job, o.cronJob, o.stale = job.Kubernetes(r), cronjob.Kubernetes(r), r.IsBefore(release.V136())
		o.schedule = []schedule.Option{schedule.Kubernetes(r)}
		return nil
	}
}

// JobPlanner sets the options of the Job and TTL controllers. The default is what the controllers of
// [release.Newest] do.
func JobPlanner(of job.Options) Option {
	return func(o *options) error {
		o.job = of
		return nil
	}
}

// CronJobPlanner sets the options of the CronJob controller, and how it reads schedules. The default is
// what the controller of [release.Newest] does.
func CronJobPlanner(of cronjob.Options, schedules ...schedule.Option) Option {
	return func(o *options) error {
		o.cronJob, o.schedule = of, schedules
		return nil
	}
}

// Collect lets the garbage collector see further kinds, such as the services that a controller gives
// its jobs.
func Collect(kinds ...schema.GroupVersionResource) Option {
	return func(o *options) error {
		for _, kind := range kinds {
			if kind.Version == "" || kind.Resource == "" {
				return fmt.Errorf("Collect(%v): version and resource are required", kind)
			}
		}
		o.collect = append(o.collect, kinds...)
		return nil
	}
}
