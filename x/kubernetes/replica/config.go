package replica

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchplan/batchplan/job"
)

// The controllers.
const (
	Jobs    = "jobs"    // runs the pods of jobs
	Orphans = "orphans" // removes the finalizer of pods that have lost their job
	// CronJobs takes all CronJobs, which have no managedBy: the built-in controller must be off.
	CronJobs = "cronjobs"
	TTL      = "ttl" // deletes finished jobs of Config.ManagedBy when their time to live is over
)

// Controllers are all controllers. DefaultControllers are those that run by default: they are safe
// beside the built-in controllers.
var (
	Controllers        = []string{Jobs, Orphans, CronJobs, TTL}
	DefaultControllers = []string{Jobs, Orphans}
)

// Config configures a replica. Only ManagedBy is required.
type Config struct {
	// ManagedBy is the spec.managedBy of the jobs to take. With job.ControllerName, the replica
	// takes the jobs without the field, and the built-in controller must be off.
	ManagedBy string
	// Controllers are the controllers to run; none means DefaultControllers.
	Controllers []string
	// Namespaces are the namespaces to serve; none means all.
	Namespaces []string
	// Workers is the number of concurrent rounds of each controller; 0 is its default.
	Workers int
	// Planners are the options of the planners.
	Planners Planners
	// MemoryAnnotation, if set, is the annotation of a job that stores its backoff, which then
	// survives a restart and a change of leader. It needs the right to patch jobs, and costs a
	// request for each round in which the backoff changes.
	MemoryAnnotation string
	// MergeEvents reports all pods that a round creates, or deletes, in one event.
	MergeEvents bool

	// Identity is the name of this replica among the others; empty means the host name. A random
	// suffix is added, so that a restarted process is another replica.
	Identity string
	// Election makes one replica run while the others wait.
	Election bool
	// Lease is the lease that the replicas compete for.
	Lease Lease

	// Registry is where the metrics are registered; nil means a new registry.
	Registry *prometheus.Registry
	// Status receives the replica's state, for the endpoints; it may be nil.
	Status *Status

	resync time.Duration // of the informers; set only in tests
}

// Lease is the name of the lease of the leader, and how long it lasts.
type Lease struct {
	Namespace, Name string
	// Duration is how long the lease still holds after its leader was killed. The others check it
	// periodically, so that one takes over after up to 1.6 times as long. Zero means 15 seconds.
	Duration time.Duration
}

// The default lease.
const (
	DefaultLeaseName     = "batchplan-controller"
	DefaultLeaseDuration = 15 * time.Second
)

// Validate returns all mistakes in the configuration, as [Run] does first.
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults returns the configuration with its defaults, or all mistakes in it.
func (c Config) withDefaults() (Config, error) {
	if len(c.Controllers) == 0 {
		c.Controllers = DefaultControllers
	}
	if c.Lease.Name == "" {
		c.Lease.Name = DefaultLeaseName
	}
	if c.Lease.Duration == 0 {
		c.Lease.Duration = DefaultLeaseDuration
	}

	if c.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return c, fmt.Errorf("identity: %w", err)
		}
		c.Identity = strings.ToLower(host)
	}
	if problems := validation.IsDNS1123Subdomain(c.Identity); problems != nil {
		return c, fmt.Errorf("identity: %q: %s", c.Identity, strings.Join(problems, "; "))
	}
	c.Identity += "-" + rand.String(8)

	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	if c.Status == nil {
		c.Status = &Status{}
	}
	return c, c.validate()
}

func (c *Config) validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if c.ManagedBy == "" {
		problem("managed-by: required: the spec.managedBy of the jobs to take; %q takes those without one",
			job.ControllerName)
	}
	for _, name := range c.Controllers {
		if !slices.Contains(Controllers, name) {
			problem("controllers: %q is none of %s", name, strings.Join(Controllers, ", "))
		}
	}

	if slices.Contains(c.Namespaces, "") {
		problem("namespaces: a name is empty; leave the list empty to serve all")
	}
	if c.MemoryAnnotation != "" {
		for _, text := range validation.IsQualifiedName(c.MemoryAnnotation) {
			problem("memory-annotation: %q: %s", c.MemoryAnnotation, text)
		}
	}

	if _, err := c.Planners.schedules(); err != nil {
		problem("planners: %w", err)
	}

	if c.Workers < 0 {
		problem("workers: %d is negative", c.Workers)
	}
	if c.Election && c.Lease.Namespace == "" {
		problem("lease-namespace: required, as the lease needs a namespace")
	}
	if c.Lease.Duration < time.Second {
		problem("lease-duration: %v is less than a second", c.Lease.Duration)
	}
	return errors.Join(problems...)
}

func (c *Config) runs(controller string) bool { return slices.Contains(c.Controllers, controller) }

// hasGangs reports whether workloads and pod groups are read and written.
func (c *Config) hasGangs() bool { return c.runs(Jobs) && c.Planners.Job.Gangs }
