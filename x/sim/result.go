package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// Result is what happened in a simulation. Times count from the start of the world.
type Result struct {
	// Start is the time at which the world began, and Nodes its number of nodes.
	Start time.Time
	Nodes int
	// Outages and Disruptions are those that began before the end, including random disruptions.
	Outages     []Outage
	Disruptions []Disruption
	// End is when the last event happened, and LastEnd when the last job ended.
	End, LastEnd time.Duration
	// Stopped is the reason why the simulation ended early, empty if it did not.
	Stopped string
	// Open is what was not over at the end.
	Open Open

	// The records, unless World.Summary is set. CronJobs has the names of the CronJobs.
	Jobs     []JobRecord
	Pods     []PodRecord
	Runs     []RunRecord
	Missed   []Miss
	CronJobs []string
	// Dropped counts the records that are missing because there were too many.
	Dropped int64

	// Events counts the events of the engine. PodEvents counts the changes of pods that a watch would
	// deliver: a pod is created, bound, started, ready, ended or deleted, loses its finalizer, or is
	// gone. Changes that one component makes at the same moment count as one.
	Events, PodEvents int64
	// Rounds and CronRounds count the rounds of jobs and of CronJobs. Retries counts the rounds
	// that had to be repeated.
	Rounds, CronRounds, Retries int64
	// Writes counts the calls, and Faults the calls that failed. Both are 0 if the control plane is
	// perfect. StatusWrites counts the writes of job statuses.
	Writes, Faults, StatusWrites int64
	Restarts                     int64

	JobsSubmitted, JobsComplete, JobsFailed int64
	PodsCreated, PodsSucceeded, PodsFailed  int64
	// Restarted counts restarts of containers. Evictions counts the pods that were disrupted: by
	// their node, a scheduler, Pod.Disruption or Life.Disrupted. Expired counts the jobs deleted
	// after their TTL. PodsCollected counts the pods deleted because too many had ended.
	Restarted, Evictions, Expired, PodsCollected int64
	RunsStarted, RunsMissed                      int64
	// NodesLost counts the random losses and preemptions of nodes, and NodesAdded how often an
	// autoscaler has added a node. Cost is the cost of the nodes until the last job ended. If jobs are
	// open or CronJobs exist, Cost is the cost so far: until World.Until, or until End if the simulation
	// was stopped or ended by itself. CostBusy is the cost of the time in which the nodes had pods.
	NodesLost, NodesAdded int64
	Cost, CostBusy        float64
	// Used is the working time of the pods that succeeded, and Wasted that of the pods that failed.
	// Idle is the time in which the pods of both kinds ran and waited for their Pod.Quorum. Pods that
	// have not ended count in none of the three. If a container was restarted in place, only the time
	// since its last start counts.
	Used, Wasted, Idle time.Duration

	// Waiting is the time from the creation of a pod to its start. Turnaround is the time from the
	// submission of a job to its end. RunDelay is the time from a scheduled run to its job.
	Waiting, Turnaround, RunDelay Sketch
}

// Open is what was not over at the end of a simulation.
type Open struct {
	// Jobs is the number of jobs that have not ended. Suspended is the number of these that are
	// suspended.
	Jobs, Suspended int
	// Pending and Running are numbers of pods.
	Pending, Running int
	// Names has the first few jobs that have not ended. Why is what the first of them waits for.
	Names []string
	Why   string
	// Events counts the events that were scheduled for a time after the end that World.Until sets.
	Events int64
	// Idle has the CronJobs without a run: none was due after its creation and before the end, or
	// the CronJob was suspended.
	Idle []string
}

// IsEmpty reports whether no job and no pod is open.
func (o *Open) IsEmpty() bool { return o.Jobs == 0 && o.Pending+o.Running == 0 }

// String returns a sentence about what is still open.
func (o *Open) String() string {
	if o.IsEmpty() {
		return "nothing is open" + o.idle()
	}

	var b strings.Builder
	b.WriteString("still open: " + value.Count(o.Jobs, "job"))
	if o.Suspended > 0 {
		fmt.Fprintf(&b, " (%d suspended)", o.Suspended)
	}
	fmt.Fprintf(&b, ", %s pending, %d running", value.Count(o.Pending, "pod"), o.Running)
	if len(o.Names) > 0 {
		fmt.Fprintf(&b, ": %s", strings.Join(o.Names, ", "))
		if o.Jobs > len(o.Names) {
			b.WriteString(", ...")
		}
	}
	if o.Why != "" {
		fmt.Fprintf(&b, "; %s %s", o.Names[0], o.Why)
	}
	return b.String() + o.idle()
}

// idle names the first CronJobs without a run.
func (o *Open) idle() string {
	const most = 3
	if len(o.Idle) == 0 {
		return ""
	}

	names := strings.Join(o.Idle[:min(most, len(o.Idle))], ", ")
	if len(o.Idle) > most {
		names += ", ..."
	}
	return "; no run after the creation and before the end: CronJob " + names
}
