package sim

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Result is what happened in a simulation. Times count from the start of the world.
type Result struct {
	// Start is the time at which the world began, and Nodes its number of nodes.
	Start time.Time
	Nodes int
	// Outages and Disruptions are those that have begun: the ones of the world, and the ones of chance.
	Outages     []Outage
	Disruptions []Disruption
	// End is when the last event happened, and LastEnd when the last job ended.
	End, LastEnd time.Duration
	// Stopped says why the simulation ended before its time, if it did.
	Stopped string
	// Open is what was not over when it ended.
	Open Open

	// The records, unless World.Summary is set. CronJobs are their names.
	Jobs     []JobRecord
	Pods     []PodRecord
	Runs     []RunRecord
	Missed   []Miss
	CronJobs []string
	// Dropped counts the records that are missing because there were too many.
	Dropped int64

	// Events counts the events of the engine, PodEvents the changes of pods that a watch
	// would deliver: created, bound, started, ready, ended, deleted, without its finalizer, gone.
	// Changes in the same moment by the same party count as one.
	Events, PodEvents int64
	// Rounds and CronRounds count the rounds of jobs and of CronJobs, Retries the ones that had
	// to be repeated.
	Rounds, CronRounds, Retries int64
	// Writes counts the calls where the control plane is not a perfect one, and Faults those
	// of them that failed; StatusWrites the writes of statuses of jobs.
	Writes, Faults, StatusWrites int64
	Restarts                     int64

	JobsSubmitted, JobsComplete, JobsFailed int64
	PodsCreated, PodsSucceeded, PodsFailed  int64
	// Restarted counts restarts of containers, Evictions the pods that were disrupted: by their node, a
	// scheduler, or as Pod.Disruption and Life.Disrupted say; Expired the jobs
	// deleted after their TTL, PodsCollected the pods deleted because too many had ended.
	Restarted, Evictions, Expired, PodsCollected int64
	RunsStarted, RunsMissed                      int64
	// NodesLost counts the losses and preemptions of nodes by chance. Cost is what the nodes cost until the last job
	// ended, or the simulation if jobs are open or CronJobs exist; CostBusy only while they had pods.
	NodesLost      int64
	Cost, CostBusy float64
	// Used is the running time of pods that succeeded, Wasted of the others.
	Used, Wasted time.Duration

	// Waiting is the time from the creation of a pod to its start, Turnaround that from the
	// submission of a job to its end, RunDelay that from the time of a run to its job.
	Waiting, Turnaround, RunDelay Sketch
}

// Open is what was not over at the end of a simulation.
type Open struct {
	// Jobs is how many have not ended, and Suspended how many of these are suspended.
	Jobs, Suspended int
	// Pending and Running are pods.
	Pending, Running int
	// Names are the first few jobs, and Why what the first of them waits for.
	Names []string
	Why   string
	// Events counts what would have happened later.
	Events int64
}

// IsEmpty reports whether all is over.
func (o *Open) IsEmpty() bool { return o.Jobs == 0 && o.Pending+o.Running == 0 }

// String is a sentence about what is still open.
func (o *Open) String() string {
	if o.IsEmpty() {
		return "nothing is open"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "still open: %d jobs", o.Jobs)
	if o.Suspended > 0 {
		fmt.Fprintf(&b, " (%d suspended)", o.Suspended)
	}
	fmt.Fprintf(&b, ", %d pods pending, %d running", o.Pending, o.Running)
	if len(o.Names) > 0 {
		fmt.Fprintf(&b, ": %s", strings.Join(o.Names, ", "))
		if o.Jobs > len(o.Names) {
			b.WriteString(", ...")
		}
	}
	if o.Why != "" {
		fmt.Fprintf(&b, "; %s %s", o.Names[0], o.Why)
	}
	return b.String()
}

// Sketch is the distribution of durations: exact sums, and quantiles that are off by at
// most one percent.
type Sketch struct {
	N        int64
	Sum      time.Duration
	Min, Max time.Duration
	buckets  []int64
	zero     int64
}

// growth is the ratio of the bounds of a bucket.
const growth = 1.02

// Add adds a duration.
func (s *Sketch) Add(d time.Duration) {
	d = max(d, 0)
	if s.N == 0 || d < s.Min {
		s.Min = d
	}
	s.Max = max(s.Max, d)
	s.N++
	s.Sum += d
	if d < time.Millisecond {
		s.zero++
		return
	}
	bucket := int(math.Log(float64(d)/float64(time.Millisecond)) / math.Log(growth))
	for len(s.buckets) <= bucket {
		s.buckets = append(s.buckets, make([]int64, bucket+1-len(s.buckets))...)
	}
	s.buckets[bucket]++
}

// Mean returns the mean, 0 of nothing.
func (s *Sketch) Mean() time.Duration {
	if s.N == 0 {
		return 0
	}
	return s.Sum / time.Duration(s.N)
}

// Quantile returns the value that the share q of all durations does not exceed.
func (s *Sketch) Quantile(q float64) time.Duration {
	left := int64(math.Ceil(q*float64(s.N))) - s.zero
	if left <= 0 {
		return s.Min
	}
	for i, n := range s.buckets {
		if left -= n; left <= 0 {
			middle := math.Pow(growth, float64(i)+0.5) * float64(time.Millisecond)
			return min(max(time.Duration(middle), s.Min), s.Max)
		}
	}
	return s.Max
}

// conclude says what is still open.
func (e *engine) conclude() {
	r := e.result
	r.Start, r.End = e.start, time.Duration(e.now)
	e.record.joinPods()
	for _, o := range e.world.ControlPlane.Outages {
		if o.From <= r.End {
			r.Outages = append(r.Outages, o)
		}
	}
	for _, d := range e.world.Disruptions {
		if d.At <= r.End {
			r.Disruptions = append(r.Disruptions, d)
		}
	}
	for _, js := range e.jobs {
		if js.of == nil || js.gone || js.finished {
			continue
		}
		r.Open.Jobs++
		if s := js.spec().Suspend; s != nil && *s {
			r.Open.Suspended++
		}
		if len(r.Open.Names) < 3 {
			r.Open.Names = append(r.Open.Names, js.truth.Name)
		}
		if r.Open.Why == "" {
			r.Open.Why = e.why(js)
		}
	}
	for i := range e.pods.all {
		switch p := &e.pods.all[i]; {
		case p.of == nil:
		case p.state == podRunning:
			r.Open.Running++
		case p.state != podEnded:
			r.Open.Pending++
		}
	}
	end := r.End
	if r.Open.Jobs == 0 && r.LastEnd > 0 && len(e.crons) == 0 {
		end = r.LastEnd
	}
	r.Cost, r.CostBusy = e.nodes.costs(int64(end))
}

// why says what a job waits for.
func (e *engine) why(js *jobState) string {
	s := js.snap
	s.Now = e.clock()
	for id := js.pods; id >= 0; id = e.pods.all[id].next {
		if p := &e.pods.all[id]; p.state == podPending {
			need := needOf(p)
			if !e.nodes.couldFit(need) {
				return fmt.Sprintf("has a pod that fits on no node: it needs cpu %dm, memory %d", need.cpu, need.memory)
			}
		}
	}
	w := worker{}
	plan, err := w.planner.Reconcile(&s)
	if err != nil || len(plan.Waits) == 0 {
		return ""
	}
	return "waits: " + plan.Waits[0].String()
}

// Merge adds all durations of another distribution.
func (s *Sketch) Merge(o *Sketch) {
	if o.N == 0 {
		return
	}
	if s.N == 0 || o.Min < s.Min {
		s.Min = o.Min
	}
	s.Max = max(s.Max, o.Max)
	s.N += o.N
	s.Sum += o.Sum
	s.zero += o.zero
	if len(s.buckets) < len(o.buckets) {
		s.buckets = append(s.buckets, make([]int64, len(o.buckets)-len(s.buckets))...)
	}
	for i, n := range o.buckets {
		s.buckets[i] += n
	}
}
