package sim

import (
	"iter"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// World describes a simulation. Its times count from Start.
type World struct {
	// Seed decides every draw.
	Seed uint64
	// Start is the time at which the world begins; zero means 2026-01-01 00:00 UTC, a
	// Thursday. It is cut to whole seconds.
	Start time.Time
	// Until is when the simulation ends, if it has not ended by itself. Zero means a year,
	// and is an error with CronJobs, which never end.
	Until time.Duration
	// MaxEvents ends a simulation after so many events; zero means no limit.
	MaxEvents int64

	// Jobs must be in the order of their Submit times. An error ends the simulation.
	Jobs     iter.Seq2[Job, error]
	CronJobs []CronJob

	// Nodes run the pods. Without nodes, all pods run immediately.
	Nodes []Node
	// Disruptions happen to nodes.
	Disruptions []Disruption
	// Scheduler chooses the nodes of pods; nil means the first node in the list that has room.
	Scheduler Scheduler
	// Admission decides when jobs start: it receives each submitted job, which begins suspended.
	// Nil means that jobs start immediately.
	Admission Admission

	ControlPlane ControlPlane

	// Summary keeps no records of single pods, jobs and runs, only sums.
	Summary bool
	// MaxRecords limits the records of pods, and those of jobs; zero means ten million.
	MaxRecords int
	// Watch, if not nil, receives every round.
	Watch Watcher
}

// Job is a job that is submitted to the world, or that a CronJob starts.
type Job struct {
	Name string
	// Submit is when the job is created.
	Submit time.Duration
	// Spec is completed by job.Default.
	Spec job.Spec
	// Options are the options of the planner.
	Options job.Options
	// Pod describes how the job's pods behave.
	Pod Pod
	// Edits change the spec later.
	Edits []Edit
	// Adjust, if set, is called after each write of the status. It may change the spec, and reports
	// whether it has. It must replace pointers in the spec, not write through them.
	Adjust func(at time.Duration, spec *job.Spec, status *job.Status) bool
	// Source is the place where the job was read, as file and line; it is part of errors.
	Source string
}

// Edit changes a job's spec at a time after its creation.
type Edit struct {
	After  time.Duration
	Change func(*job.Spec)
}

// CronJob is a CronJob that exists from the time Create on.
type CronJob struct {
	Name   string
	Create time.Duration
	// Spec is completed by cronjob.Default.
	Spec    cronjob.Spec
	Options cronjob.Options
	// Schedule are options of the schedule, such as the rule for runs in a gap.
	Schedule []schedule.Option
	// Job is the template of its jobs.
	Job Job
	// Suspend are times in which spec.suspend is true.
	Suspend []Window
	Source  string
}

// Window is a span of time.
type Window struct{ From, For time.Duration }

// contains reports whether at is in the window.
func (w Window) contains(at time.Duration) bool { return at >= w.From && at < w.From+w.For }

// Resources are what a pod needs or a node has.
type Resources struct {
	// CPU is in thousandths of a core, Memory in bytes.
	CPU, Memory int64
}

// Node is a machine that runs pods.
type Node struct {
	Name string
	// Pods is the maximum number of pods at one time; zero means 110.
	Pods int32
	// Resources are available for pods; zero means no limit.
	Resources
	// Skew is how far the clock of the node is ahead; that clock stamps the ends of its pods.
	Skew time.Duration
	// Losses and Preemptions are how many times per hour, on average, the node is lost, as in
	// NodeLost, or preempted, as spot nodes are. Its pods are then evicted, and the node goes away.
	// It comes back after Away; zero means never.
	Losses, Preemptions float64
	Away                Dist
	// Price is the price of the node for an hour.
	Price float64
	// Scale, if not nil, makes the node one that an autoscaler adds and removes. Such a node is not
	// lost or preempted by chance.
	Scale *Scale
}

// Nodes returns n nodes like the given one, named node-0, node-1, and so on.
func Nodes(n int, like Node) []Node {
	out := make([]Node, n)
	for i := range out {
		out[i] = like
		out[i].Name = "node-" + itoa(i)
	}
	return out
}

// DisruptionKind is what happens to a node.
type DisruptionKind uint8

const (
	// NodeLost: the node stops answering. Its pods are unready after 40 seconds and deleted
	// 5 minutes later; they stay terminating until the node is back, or removed.
	NodeLost DisruptionKind = iota
	// NodeDrained: the pods of the node are evicted, with their grace period, and it gets no new ones.
	NodeDrained
)

// Disruption is something that happens to a node.
type Disruption struct {
	Kind DisruptionKind
	At   time.Duration
	// Node is the place of the node in World.Nodes.
	Node int
	// Back is when the node accepts pods again; zero means never.
	Back time.Duration
	// Removed is when the object of a lost node and its pods are deleted; zero means never.
	Removed time.Duration
}

// ControlPlane describes the API server and the controllers. The zero value is perfect: writes take
// no time, and the controllers see each change immediately.
type ControlPlane struct {
	// Latency is how long a call to the API server takes.
	Latency Dist
	// QPS and Burst limit the calls that each controller makes; zero means no limit. The
	// defaults of kube-controller-manager are 20 and 30.
	QPS   float64
	Burst int
	// WatchLag is how long a change takes to reach the caches. The caches see the changes in order.
	WatchLag Dist
	// Workers is the number of concurrent rounds of each controller; zero means 5. It matters
	// only if calls take time.
	Workers int
	// Fail is the share of writes that fail. LoseReply is the share of writes that take effect but
	// seem to fail.
	Fail, LoseReply float64
	// Outages are times in which something is down.
	Outages []Outage
	// Restarts are times at which the controllers restart, or another leader takes over: running
	// rounds end, and memories are lost.
	Restarts []time.Duration
	// KeepMemory keeps the memories of the controllers over restarts, like an adapter that stores them.
	KeepMemory bool
	// Skew is how far the controllers' clock is ahead.
	Skew time.Duration
	// PodGC is how many ended pods may exist before the oldest are deleted, every 20 seconds; zero
	// means 12 500, as in kube-controller-manager, and -1 no limit.
	PodGC int
}

// Outage is a time in which the controllers do nothing, or the API server refuses calls.
type Outage struct {
	Window
	Of Component
}

// Component is a part of the control plane.
type Component uint8

const (
	// Controllers are the controllers of jobs and CronJobs. They restart after the outage.
	Controllers Component = iota
	// APIServer refuses all writes; the controllers retry.
	APIServer
)

// Watcher receives every round, for traces. The values are valid only during the call.
type Watcher interface {
	Job(JobRound)
	CronJob(CronJobRound)
}

// JobRound is a round of a job.
type JobRound struct {
	At         time.Duration // since the start
	Snapshot   *job.Snapshot
	Plan       *job.Plan
	Conclusion *job.Conclusion
}

// CronJobRound is a round of a CronJob.
type CronJobRound struct {
	At         time.Duration // since the start
	Snapshot   *cronjob.Snapshot
	Plan       *cronjob.Plan
	Conclusion *cronjob.Conclusion
}

// defaultStart is a Thursday.
var defaultStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
