package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/batchplan/batchplan/job"
)

// audit recomputes the figures of a result from its records, if they are complete. It also checks
// what holds in every world: the order of the steps of a life, and that no node is overfull.
func audit(t *testing.T, w *World, r *Result) {
	t.Helper()
	if w.Summary || r.Dropped > 0 {
		return
	}
	specs := map[string]*Job{}
	if w.Jobs != nil {
		for j := range w.Jobs {
			specs[j.Name] = &j
		}
	}
	pods := make([][]PodRecord, len(r.Jobs))
	for _, p := range r.Pods {
		pods[p.Job] = append(pods[p.Job], p)
	}
	got, want := *r, Result{
		Start: r.Start, Nodes: len(w.Nodes), End: r.End, Stopped: r.Stopped,
		Jobs: r.Jobs, Pods: r.Pods, Runs: r.Runs, Missed: r.Missed, CronJobs: r.CronJobs,
		JobsSubmitted: int64(len(r.Jobs)), PodsCreated: int64(len(r.Pods)), RunsStarted: int64(len(r.Runs)),
		Cost: r.Cost, CostBusy: r.CostBusy,
	}

	// The jobs, each with its pods.
	var unfinished []string
	jobs := slices.Clone(r.Jobs)
	for i := range jobs {
		j, has := &jobs[i], pods[i]
		last := has
		if len(has) > 0 && j.Started != None {
			last = slices.Clone(has)
			slices.SortStableFunc(last, func(a, b PodRecord) int { return cmp.Compare(uint64(a.Started), uint64(b.Started)) })
			if last[0].Started != j.Started {
				t.Errorf("%s starts at %v, its first pod at %v", j.Name, j.Started, last[0].Started)
			}
		}
		ordered(t, *j, j.Submitted, j.Admitted, j.Started)
		ordered(t, *j, j.Submitted, j.Finished)
		if int(j.Pods) != len(has) || j.Cron < -1 || j.Cron >= int32(len(r.CronJobs)) || (j.End == "") != (j.Finished == None) {
			t.Errorf("%d pods of %+v", len(has), *j)
		}
		switch {
		case j.End == job.ConditionComplete:
			want.JobsComplete++
		case j.End != "":
			want.JobsFailed++
		case j.Deleted == None:
			want.Open.Jobs++
			unfinished = append(unfinished, j.Name)
		}
		if j.End != "" {
			want.LastEnd = max(want.LastEnd, j.Finished)
			want.Turnaround.Add(j.Finished - j.Submitted)
		}
	}
	for _, name := range r.Open.Names {
		if !slices.Contains(unfinished, name) {
			t.Errorf("%s is not open", name)
		}
	}
	if len(r.Open.Names) != min(3, len(unfinished)) || r.Open.Suspended > r.Open.Jobs {
		t.Errorf("open are %v: %+v", unfinished, r.Open)
	}

	// The pods. How long they were idle is known if no container starts again.
	numbers := map[int32]int32{}
	changes := make([][]change, len(w.Nodes))
	var busy float64
	for i := range r.Pods {
		p := &r.Pods[i]
		ordered(t, *p, p.Created, p.Bound, p.Started, p.Began, p.Ended, p.Gone)
		ordered(t, *p, p.Created, p.Deleted, p.Gone)
		if p.Number != numbers[p.Job] ||
			(p.Node >= 0) != (p.Bound != None && len(w.Nodes) > 0) ||
			p.Succeeded && (p.ExitCode != 0 || p.Disrupted) {
			t.Errorf("%+v", *p)
		}
		numbers[p.Job]++
		want.Restarted += int64(p.Restarts)
		used, idle := spent(p)
		if quorum := quorumOf(w, specs, &r.Jobs[p.Job]); !hasBegun(p, pods[p.Job], quorum) {
			t.Errorf("with the quorum %d, this work begins too early: %+v", quorum, *p)
		}
		switch {
		case p.Ended == None && p.Gone == None:
			want.Open.Pending++
			got.Open.Pending += got.Open.Running
			got.Open.Running = 0
		case p.Ended == None:
		case p.Succeeded:
			want.PodsSucceeded++
			want.Used += used
			want.Idle += idle
		default:
			want.PodsFailed++
			want.Wasted += used
			want.Idle += idle
		}
		if p.Started != None {
			want.Waiting.Add(p.Started - p.Created)
		}
		if p.Node >= 0 {
			need := room{pods: 1}
			if j := specs[r.Jobs[p.Job].Name]; j != nil {
				need.cpu, need.memory = j.Pod.CPU, j.Pod.Memory
			}
			changes[p.Node] = append(changes[p.Node], change{p.Bound, need})
			if p.Ended != None {
				changes[p.Node] = append(changes[p.Node], change{p.Ended, room{-need.pods, -need.cpu, -need.memory}})
			}
		}
	}
	if want.Restarted > 0 {
		got.Idle, want.Idle = 0, 0
	}

	// The runs of CronJobs. If calls are slow or replies are lost, the counts of the rounds may
	// differ from those of the jobs.
	for _, run := range r.Runs {
		j := &r.Jobs[run.Job]
		if run.Finished != j.Finished || run.Created != j.Submitted || run.End != j.End ||
			run.Cron != j.Cron || run.Created < run.Scheduled {
			t.Errorf("%+v of %+v", run, *j)
		}
		want.RunDelay.Add(run.Created - run.Scheduled)
	}
	if p := &w.ControlPlane; p.Fail+p.LoseReply > 0 || !p.Latency.IsZero() || p.QPS > 0 {
		got.RunsStarted, got.RunDelay, want.RunsStarted, want.RunDelay = 0, Sketch{}, 0, Sketch{}
	}
	for _, m := range r.Missed {
		want.RunsMissed += int64(m.Count)
	}

	// The disruptions of the nodes, and their costs.
	for _, o := range w.ControlPlane.Outages {
		if o.From <= r.End {
			want.Outages = append(want.Outages, o)
		}
	}
	for _, d := range w.Disruptions {
		if d.At <= r.End {
			want.Disruptions = append(want.Disruptions, d)
		}
	}
	paid := r.End
	if r.Open.Jobs == 0 && len(r.Jobs) > 0 && len(w.CronJobs) == 0 {
		paid = r.LastEnd
	} else if r.Stopped == "" && (w.Until > 0 || r.Open.Events > 0) {
		paid = cmp.Or(w.Until, year)
	}
	there := make([]time.Duration, len(w.Nodes))
	for i := range there {
		there[i] = paid
	}
	for _, d := range r.Disruptions[len(want.Disruptions):] { // the random ones
		want.NodesLost++
		want.Disruptions = append(want.Disruptions, d)
		back := paid
		if d.Back > 0 {
			back = min(back, d.Back)
		}
		there[d.Node] -= max(back-d.At, 0)
		if d.At > paid || (d.Back > 0) == w.Nodes[d.Node].Away.IsZero() {
			t.Errorf("by chance: %+v, until %v", d, paid)
		}
	}
	cost, isScaled := 0.0, false
	for i, n := range w.Nodes {
		isScaled = isScaled || n.Scale != nil
		cost += n.Price * there[i].Hours()
		busy += n.Price * load(t, i, &n, changes[i], paid).Hours()
	}
	if isScaled { // the records do not show when a node is there
		if r.Cost > cost+1e-6 || r.Cost < busy-1e-6 {
			t.Errorf("cost %v; at least %v of busy nodes, at most %v of all", r.Cost, busy, cost)
		}
		cost = r.Cost
	}
	if math.Abs(cost-r.Cost) > 1e-6*(1+cost) || math.Abs(busy-r.CostBusy) > 1e-6*(1+busy) {
		t.Errorf("cost %v, busy %v; from the records %v and %v", r.Cost, r.CostBusy, cost, busy)
	}

	// Other tests check the figures that the records do not show.
	want.Open.Names, want.Open.Why, want.Open.Suspended = r.Open.Names, r.Open.Why, r.Open.Suspended
	want.Open.Events, want.Open.Idle = r.Open.Events, r.Open.Idle
	hidden := cmpopts.IgnoreFields(Result{}, "Events", "PodEvents", "Rounds", "CronRounds", "Retries", "Writes", "Faults",
		"StatusWrites", "Restarts", "NodesAdded", "Evictions", "Expired", "PodsCollected")
	if d := gocmp.Diff(want, got, hidden, gocmp.AllowUnexported(Sketch{}), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("the result and its records (-records +result):\n%s", d)
	}
}

// spent returns how long a pod that has ended worked, and how long it was idle before, unless a
// container started again.
func spent(p *PodRecord) (used, idle time.Duration) {
	began := p.Began
	if began == None {
		began = p.Ended
	}
	if p.Ended == None || p.Started == None {
		return 0, 0
	}
	return p.Ended - began, began - p.Started
}

// quorumOf returns the quorum of a job.
func quorumOf(w *World, specs map[string]*Job, j *JobRecord) int {
	if j.Cron >= 0 {
		return int(w.CronJobs[j.Cron].Job.Pod.Quorum)
	}
	return int(specs[j.Name].Pod.Quorum)
}

// hasBegun reports whether the work of a pod began at the right time. Without a quorum, the work
// begins when the pod starts. With a quorum, at least that many pods must run, or another pod must
// be at work already.
func hasBegun(p *PodRecord, all []PodRecord, quorum int) bool {
	switch {
	case p.Restarts > 0, p.Began == None && (quorum > 0 || p.Started == None):
		return true
	case quorum == 0:
		return p.Began == p.Started
	}

	there, others := 0, false
	for i := range all {
		o := &all[i]
		if o.Started == None || o.Started > p.Began || o.Ended != None && o.Ended < p.Began {
			continue
		}
		there++
		others = others || o.Restarts > 0 || o.Began != None && o.Began < p.Began
	}
	return there >= quorum || others
}

// change is the arrival or the end of a pod on a node.
type change struct {
	at time.Duration
	by room
}

// load returns how long a node has pods, and checks that it always has room for them.
func load(t *testing.T, i int, n *Node, changes []change, end time.Duration) (busy time.Duration) {
	t.Helper()
	limit := room{int64(n.Pods), n.CPU, n.Memory}
	if limit.pods == 0 {
		limit.pods = 110
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by.pods, b.by.pods))
	})

	var sum room
	var since time.Duration
	for _, c := range changes {
		if sum.pods > 0 {
			busy += min(c.at, end) - min(since, end)
		}
		since = c.at
		sum = room{sum.pods + c.by.pods, sum.cpu + c.by.cpu, sum.memory + c.by.memory}
		if sum.pods > limit.pods || limit.cpu > 0 && sum.cpu > limit.cpu ||
			limit.memory > 0 && sum.memory > limit.memory {
			t.Errorf("node %d has %+v at %v", i, sum, c.at)
		}
	}
	if sum.pods > 0 {
		busy += end - min(since, end)
	}
	return busy
}

// ordered checks that the steps of a life are in order, as far as they were reached.
func ordered(t *testing.T, of any, steps ...time.Duration) {
	t.Helper()
	steps = slices.DeleteFunc(steps, func(d time.Duration) bool { return d == None })
	if !slices.IsSorted(steps) {
		t.Errorf("out of order: %s", fmt.Sprintf("%+v", of))
	}
}
