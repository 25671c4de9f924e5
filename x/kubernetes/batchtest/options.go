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

// Option is an option of [Start].
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

// Namespace restricts the cluster to one namespace. A name without a namespace then means an object
// in it. Without this option, the cluster serves all namespaces, and a name without a namespace
// means an object in "default".
func Namespace(name string) Option {
	return func(o *options) error {
		if name == "" {
			return fmt.Errorf("Namespace(%q): a name is required", name)
		}
		o.namespace = name
		return nil
	}
}

// Speed makes n seconds pass for the controllers in each real second. See the package comment for
// the clocks that stay real.
func Speed(n float64) Option {
	return func(o *options) error {
		if !(n >= 1 && n <= 100_000) {
			return fmt.Errorf("Speed(%v): must be 1 to 100000", n)
		}
		o.speed = n
		return nil
	}
}

// Patience sets how long [Cluster.Wait] and [Pod] wait, in real time. The default is 30 seconds.
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

// JobPlanner sets the options of the Job and TTL controllers; the default is that of [release.Newest].
func JobPlanner(of job.Options) Option {
	return func(o *options) error {
		o.job = of
		return nil
	}
}

// CronJobPlanner sets the options of the CronJob controller, and how it reads schedules. The
// default is that of [release.Newest].
func CronJobPlanner(of cronjob.Options, schedules ...schedule.Option) Option {
	return func(o *options) error {
		o.cronJob, o.schedule = of, schedules
		return nil
	}
}

// Collect adds kinds for the garbage collector, such as the services of jobs.
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
