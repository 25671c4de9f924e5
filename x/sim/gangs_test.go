package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// ganged returns a spec that asks for a gang; a size of 0 means parallelism.
func ganged(completions, parallelism, size int32) job.Spec {
	gang := new(jobgroup.Gang)
	if size > 0 {
		gang.MinCount = &size
	}
	s := Spec(completions, parallelism)
	s.Scheduling = &jobgroup.Scheduling{SchedulingPolicy: &jobgroup.SchedulingPolicy{Gang: gang}}
	return s
}

// gangJob is a job with gangs whose pods run for a minute.
func gangJob(name string, spec job.Spec) Job {
	return Job{Name: name, Spec: spec, Options: job.Options{Gangs: true}, Pod: Pod{Duration: Constant(time.Minute)}}
}

func parallel(after time.Duration, n int32) Edit {
	return Edit{after, func(s *job.Spec) { s.Parallelism = &n }}
}

// boundAt returns when the pods of a job have got their nodes, in seconds.
func boundAt(r *Result, of string) string {
	var at []string
	for _, p := range r.Pods {
		if r.Jobs[p.Job].Name != of {
			continue
		}
		text := "never"
		if p.Bound != None {
			text = fmt.Sprint(p.Bound.Seconds())
		}
		at = append(at, text)
	}
	return strings.Join(at, " ")
}

// TestRun_Gangs checks both sides of each condition for the start of a gang: with one node less,
// with one pod less, or one second earlier, the gang waits.
func TestRun_Gangs(t *testing.T) {
	const day = 24 * time.Hour
	within := func(s job.Spec, seconds int64) job.Spec {
		s.ActiveDeadlineSeconds = &seconds
		return s
	}
	of := func(j Job, change func(*Job)) Job {
		change(&j)
		return j
	}
	fails := func(first int32) func(Start, *Life, *rand.Rand) { // the pod with the highest number fails once
		return func(s Start, l *Life, _ *rand.Rand) {
			if s.Number == first {
				l.For, l.ExitCode = l.For+time.Second, 1
			}
		}
	}
	lost := func(at, back time.Duration, nodes ...int) (all []Disruption) {
		for _, n := range nodes {
			all = append(all, Disruption{Kind: NodeDrained, Node: n, At: at, Back: back})
			back += time.Minute
		}
		return all
	}

	for _, test := range []struct {
		name        string
		nodes       int
		disruptions []Disruption
		jobs        []Job
		// bound lists when the pods of the last job get nodes. why is what that job waits for at
		// the end.
		bound, why string
	}{
		{"J44 as many nodes as pods", 3, nil, []Job{gangJob("g", ganged(3, 3, 0))}, "0 0 0", ""},
		{"J44 one node less", 2, nil, []Job{gangJob("g", ganged(3, 3, 0))}, "never never never",
			"has a gang that does not fit: 3 pods must get a node together, and there is room for 2"},
		{"J44 one node less, without Options.Gangs", 2, nil, []Job{of(gangJob("g", ganged(3, 3, 0)), func(j *Job) {
			j.Options.Gangs = false
		})}, "0 0 60", ""},
		{"J44 one node less, and the policy basic", 2, nil, []Job{gangJob("g", Spec(3, 3))}, "0 0 60", ""},
		{"J44 no nodes: all pods run", 0, nil, []Job{gangJob("g", ganged(3, 3, 0))}, "0 0 0", ""},
		{"J46 the nodes of minCount, which is less than parallelism", 2, nil, []Job{gangJob("g", ganged(3, 3, 2))}, "0 0 60", ""},
		{"J46 one node less than minCount", 1, nil, []Job{gangJob("g", ganged(3, 3, 2))}, "never never never",
			"has a gang that does not fit: 2 pods must get a node together, and there is room for 1"},
		{"a gang takes all that fits beyond minCount", 4, nil, []Job{gangJob("g", ganged(5, 5, 2))}, "0 0 0 0 60", ""},
		{"the rest of a gang that has waited comes one by one", 2, nil, []Job{
			{Name: "other", Spec: Spec(2, 2), Pod: Pod{Duration: Constant(time.Minute)}}, gangJob("g", ganged(3, 3, 2)),
		}, "60 60 120", ""},
		{"a gang of one", 1, nil, []Job{gangJob("g", ganged(1, 1, 0))}, "0", ""},
		{"the gang waits until another job has ended", 3, nil, []Job{{Name: "other", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(time.Minute)}},
			gangJob("g", ganged(3, 3, 0))}, "60 60 60", ""},
		{"a single pod passes a gang that does not fit", 2, nil, []Job{gangJob("g", ganged(3, 3, 0)),
			{Name: "other", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(time.Minute)}}}, "0", ""},
		{"of two gangs the first gets the nodes", 3, nil, []Job{gangJob("g", ganged(2, 2, 0)), gangJob("h", ganged(2, 2, 0))}, "60 60", ""},
		{"the pods of a gang come one by one to the scheduler", 3, nil, []Job{of(gangJob("g", ganged(3, 3, 0)), func(j *Job) {
			j.Pod.Schedule = Uniform(0, 10*time.Second)
		})}, "together", ""},
		{"more completions than a gang: later pods come one by one", 2, nil, []Job{of(gangJob("g", ganged(4, 2, 0)), func(j *Job) {
			j.Pod.Behave = func(s Start, l *Life, _ *rand.Rand) { l.For += time.Duration(s.Number) * 10 * time.Second }
		})}, "0 0 61 71", ""},
		{"fewer completions than the gang", 3, nil, []Job{gangJob("g", ganged(2, 3, 0))}, "never never",
			"has a gang of 3 and only 2 pods: without 1 more, none gets a node"},

		{"J45 parallelism is lowered to the nodes", 2, nil, []Job{of(gangJob("g", ganged(3, 3, 0)), func(j *Job) {
			j.Edits = []Edit{parallel(10*time.Second, 2)}
		})}, "never 10 10 never", "has a gang of 2 and only 1 pod: without 1 more, none gets a node"},
		{"J45 parallelism is lowered to one more than the nodes", 2, nil, []Job{of(gangJob("g", ganged(4, 4, 0)), func(j *Job) {
			j.Edits = []Edit{parallel(10*time.Second, 3)}
		})}, "never never never never", "has a gang that does not fit: 3 pods must get a node together, and there is room for 2"},
		{"J45 parallelism is raised, and the nodes are enough", 4, nil, []Job{of(gangJob("g", ganged(4, 2, 0)), func(j *Job) {
			j.Edits = []Edit{parallel(10*time.Second, 4)}
		})}, "0 0 10 10", ""},
		{"J45 parallelism is raised by two, and there is one node", 3, nil, []Job{of(gangJob("g", ganged(4, 2, 0)), func(j *Job) {
			j.Edits = []Edit{parallel(10*time.Second, 4)}
			j.Pod.Duration = Constant(2 * day)
		})}, "0 0 never never", ""},
		{"J46 a gang of a fixed size takes one node", 3, nil, []Job{of(gangJob("g", ganged(4, 2, 2)), func(j *Job) {
			j.Edits = []Edit{parallel(10*time.Second, 4)}
			j.Pod.Duration = Constant(2 * day)
		})}, "0 0 10 never", ""},

		{"a node dies: the one pod that is missing needs one node", 3, lost(30*time.Second, 5*time.Minute, 0), []Job{of(gangJob("g", ganged(3, 3, 0)), func(j *Job) {
			j.Pod.Duration = Constant(time.Hour)
		})}, "0 0 0 300", ""},
		{"two nodes die: two pods need two nodes", 3, lost(30*time.Second, 5*time.Minute, 0, 1), []Job{of(gangJob("g", ganged(3, 3, 0)), func(j *Job) {
			j.Pod.Duration = Constant(time.Hour)
		})}, "0 0 0 360 360", ""},
		{"two nodes die, and minCount lacks one pod", 3, lost(30*time.Second, 5*time.Minute, 0, 1), []Job{of(gangJob("g", ganged(3, 3, 2)), func(j *Job) {
			j.Pod.Duration = Constant(time.Hour)
		})}, "0 0 0 300 360", ""},

		{"the last pod fails when the others have ended", 3, nil, []Job{of(gangJob("g", ganged(3, 3, 0)), func(j *Job) {
			j.Pod.Behave = fails(2)
		})}, "0 0 0 never", "has a gang of 3 and only 1 pod: without 2 more, none gets a node"},
		{"the last pod fails, and minCount is 1", 3, nil, []Job{of(gangJob("g", ganged(3, 3, 1)), func(j *Job) {
			j.Pod.Behave = fails(2)
		})}, "0 0 0 71", ""},
		{"a gang that gives up frees nothing, since it has nothing", 2, nil, []Job{gangJob("g", within(ganged(3, 3, 0), 30)),
			{Name: "other", Submit: time.Second, Spec: Spec(2, 2), Pod: Pod{Duration: Constant(time.Minute)}}}, "1 1", ""},
		{"suspended and resumed, a gang starts together again", 2, nil, []Job{of(gangJob("g", ganged(2, 2, 0)), func(j *Job) {
			j.Edits = []Edit{{10 * time.Second, func(s *job.Spec) { s.Suspend = &yes }}, {20 * time.Second, func(s *job.Spec) { s.Suspend = &no }}}
		})}, "0 0 20 20", ""},
	} {
		for _, own := range []Scheduler{nil, first{}, last{}} {
			holds := own == (last{}) && len(test.jobs) > 1 // nodes for pods of a gang that does not fit
			if own != nil && test.nodes == 0 || holds {
				continue
			}
			t.Run(fmt.Sprint(test.name, own), func(t *testing.T) {
				w := World{
					Until: day, Nodes: Nodes(test.nodes, Node{Pods: 1, Price: 1}), Disruptions: test.disruptions,
					Jobs: Of(test.jobs...), Scheduler: own,
				}
				r := play(t, w)
				checkGangs(t, &w, r)

				got := boundAt(r, test.jobs[len(test.jobs)-1].Name)
				switch at := strings.Fields(got); {
				case test.bound == "together":
					if len(at) != 3 || at[0] != at[1] || at[0] != at[2] || at[0] == "0" {
						t.Errorf("the pods get nodes at %s, want one moment", got)
					}
				case got != test.bound:
					t.Errorf("the pods get nodes at %s, want %s", got, test.bound)
				}
				if test.why != "" && r.Open.Why != test.why {
					t.Errorf("got %q, want %q", r.Open.Why, test.why)
				}
				if !strings.ContainsAny(got, "0123456789") && len(test.jobs) == 1 && (r.CostBusy != 0 || r.Used+r.Wasted != 0) {
					t.Errorf("a gang that waits costs %v, and its pods run for %v", r.CostBusy, r.Used+r.Wasted)
				}
			})
		}
	}
}

// first is a Scheduler that decides like the scheduler of this package, for pods of one size.
type first struct{}

func (first) Schedule(q *Pending) {
	bound := map[string]int{}
	for _, p := range q.Pods() {
		free := 0
		for n := range q.Nodes() {
			pods, _ := q.Room(n)
			free += max(pods, 0)
		}
		if bound[p.Job]+free < p.Together {
			continue
		}
		for n := range q.Nodes() {
			if q.Bind(p, n) {
				bound[p.Job]++
				break
			}
		}
	}
}

func (first) String() string { return ", own scheduler" }

// checkGangs checks that a gang is placed whole: whenever one of its pods gets a node, at least
// minCount of its pods have one. It leaves out gangs whose size changes.
func checkGangs(t *testing.T, w *World, r *Result) {
	t.Helper()
	sizes := map[string]int{}
	for j := range w.Jobs {
		s := j.Spec
		if !j.Options.Gangs || s.Scheduling == nil {
			continue
		}
		size, fixed := s.Parallelism, len(j.Edits) == 0
		if asked := s.Scheduling.SchedulingPolicy.Gang.MinCount; asked != nil {
			size, fixed = asked, true
		}
		if fixed {
			sizes[j.Name] = int(max(*size, 1))
		}
	}

	pods := make([][]PodRecord, len(r.Jobs))
	for _, p := range r.Pods {
		pods[p.Job] = append(pods[p.Job], p)
	}
	for i := range r.Jobs {
		size := sizes[r.Jobs[i].Name]
		for _, p := range pods[i] {
			if p.Bound == None || size == 0 {
				continue
			}
			have := 0
			for _, other := range pods[i] {
				if other.Bound != None && other.Bound <= p.Bound && (other.Ended == None || other.Ended >= p.Bound) {
					have++
				}
			}
			if have < size {
				t.Errorf("%s: at %v, %d pods have nodes, and the gang needs %d", r.Jobs[i].Name, p.Bound, have, size)
			}
		}
	}
}

// grouping is a Watcher that checks that no pod is in a group that does not exist.
type grouping struct {
	rounds
	t      *testing.T
	groups int
}

func (g *grouping) Job(r JobRound) {
	s, p, c := r.Snapshot, r.Plan, r.Conclusion
	created := 0
	for _, e := range c.Outcome.Created {
		if e.Pod.UID != "" {
			created++
		}
	}
	has := len(s.Groups.PodGroups) > 0 || s.Groups.Controlled || !s.Options.Gangs
	for i, e := range c.Outcome.Grouped {
		if e.UID != "" && p.Groups[i].Kind == jobgroup.KindPodGroup {
			g.groups++
			has = true
		}
	}
	if created > 0 && !has {
		g.t.Errorf("%s: %d pods are created before their group:\n%s", s.Job.Name, created, p)
	}
}

func (*grouping) CronJob(CronJobRound) {}

// drawGangs lets some jobs of a drawn world ask for gangs.
func drawGangs(w *World, seed uint64) {
	d := drawing{rand.New(rand.NewPCG(seed, 11))}
	asks := func(j *Job) {
		j.Options.Gangs = !d.one(6)
		if d.one(5) {
			return
		}
		size := int32(0)
		if most := *j.Spec.Parallelism; most > 0 && d.one(2) {
			size = 1 + int32(d.IntN(int(most)))
			j.Edits = slices.DeleteFunc(j.Edits, func(e Edit) bool {
				s := j.Spec
				e.Change(&s)
				return *s.Parallelism < size
			})
		}
		j.Spec.Scheduling = ganged(1, 1, size).Scheduling
		if d.one(3) {
			j.Pod.Quorum = int32(d.IntN(4))
		}
	}

	var jobs []Job
	for j := range w.Jobs {
		asks(&j)
		jobs = append(jobs, j)
	}
	w.Jobs = Of(jobs...)
	for i := range w.CronJobs {
		asks(&w.CronJobs[i].Job)
	}
	if w.Scheduler != nil && d.one(2) {
		w.Scheduler = first{}
	}
}

// TestRun_DrawnGangs: drawn worlds with gangs pass the checks of every world, and gangs are placed
// whole. The same world always gives the same run.
func TestRun_DrawnGangs(t *testing.T) {
	const worlds = 600
	groups, placed, never := 0, 0, 0
	for seed := range uint64(worlds) {
		made := func() World {
			w := drawWorld(seed)
			w.ControlPlane.Skew = 0 // with a clock that is ahead, a run has a job before it is due
			drawGangs(&w, seed)
			return w
		}

		w, watch := made(), &grouping{t: t}
		w.Watch = watch
		r, err := Run(t.Context(), w)
		must.OK(t, err)
		if w.Admission == nil { // an edit may resume a job before it is admitted
			audit(t, &w, r)
		}
		checkGangs(t, &w, r)
		again, err := Run(t.Context(), made())
		must.OK(t, err)
		if timeline(r) != timeline(again) {
			t.Errorf("world %d goes another way the second time", seed)
		}
		if t.Failed() {
			t.Fatalf("world %d", seed)
		}

		groups += watch.groups
		for _, p := range r.Pods {
			if p.Bound != None {
				placed++
			}
		}
		if strings.Contains(r.Open.Why, "gang") {
			never++
		}
	}
	if groups < worlds/2 || placed < worlds || never < worlds/50 {
		t.Errorf("%d groups, %d pods with nodes, %d worlds with a gang that waits: something is not drawn", groups, placed, never)
	}
}

// TestRun_GangsOnSpot: on nodes that are preempted again and again, a gang starts whole and loses
// pods later. All jobs end.
func TestRun_GangsOnSpot(t *testing.T) {
	lost := int64(0)
	for seed := range uint64(20) {
		like := gangJob("g", ganged(4, 4, 0))
		like.Spec.BackoffLimit = new(int32)
		*like.Spec.BackoffLimit = 1000
		like.Pod.Duration = Uniform(time.Minute, 5*time.Minute)
		w := World{
			Seed: seed, Nodes: Nodes(6, Node{Pods: 1, Preemptions: 4, Away: Exponential(5 * time.Minute)}),
			Jobs: Jobs(20, seed, Every(time.Minute), like), Until: 48 * time.Hour,
		}
		r := play(t, w)
		checkGangs(t, &w, r)
		if r.JobsFailed > 0 || r.JobsComplete+int64(r.Open.Jobs) != 20 {
			t.Errorf("seed %d: %d complete, %d failed: %s", seed, r.JobsComplete, r.JobsFailed, &r.Open)
		}
		if r.Open.Jobs > 0 && !strings.Contains(r.Open.Why, "more, none gets a node") {
			t.Errorf("seed %d: %s", seed, &r.Open) // the last pods of a gang were lost
		}
		lost += r.NodesLost
	}
	if lost < 100 {
		t.Errorf("%d nodes were lost", lost)
	}
}

// TestJ44_JobsOfCronJobs: a job of a CronJob has a controller, so it gets no gang.
func TestJ44_JobsOfCronJobs(t *testing.T) {
	r := play(t, World{Until: 90 * time.Second, Nodes: Nodes(2, Node{Pods: 1}), CronJobs: []CronJob{{
		Name: "c", Spec: cronjob.Spec{Schedule: "* * * * *"}, Job: gangJob("", ganged(3, 3, 0)),
	}}})
	if got := boundAt(r, r.Jobs[0].Name); got != "60.1 60.1 never" {
		t.Errorf("the pods get nodes at %s", got)
	}
}

// readiness is a checker that also checks that pods are ready while their containers run.
type readiness struct{ *checker }

func (c readiness) Job(r JobRound) {
	c.checker.Job(r)
	for _, p := range r.Snapshot.Pods {
		restarts := p.Detail != nil && len(p.Detail.Containers) > 0
		if p.Phase == job.PodRunning && !p.Ready && !restarts {
			c.t.Errorf("%s is not ready at %v", p.Name, r.At)
		}
	}
}

// TestRun_Quorum: the work of pods begins when enough of them run.
func TestRun_Quorum(t *testing.T) {
	job := func(change func(*Job)) Job {
		j := Job{Name: "j", Spec: Spec(3, 3), Pod: Pod{Duration: Constant(time.Minute), Quorum: 3}}
		j.Spec.BackoffLimit = new(int32)
		*j.Spec.BackoffLimit = 10
		if change != nil {
			change(&j)
		}
		return j
	}
	second := func(n int) time.Duration { return time.Duration(n) * time.Second }

	for _, test := range []struct {
		name        string
		nodes       int
		disruptions []Disruption
		job         Job
		// ended is when the pods end. idle is the sum of their waiting times.
		ended string
		idle  time.Duration
		why   string
	}{
		{"all run", 3, nil, job(nil), "60 60 60", 0, ""},
		{"one is missing", 2, nil, job(nil), "never never never", 0, "has 2 pods that cannot begin before 3 run"},
		{"one is missing, and two are enough", 2, nil, job(func(j *Job) { j.Pod.Quorum = 2 }), "60 60 120", 0, ""},
		{"the others wait for the last", 3, nil, job(func(j *Job) {
			j.Spec.Parallelism = new(int32)
			*j.Spec.Parallelism = 2
			j.Edits = []Edit{parallel(second(20), 3)}
		}), "80 80 80", second(40), ""},
		{"how it ends depends on when the work begins", 3, nil, job(func(j *Job) {
			j.Spec.Parallelism = new(int32)
			*j.Spec.Parallelism = 2
			j.Edits = []Edit{parallel(second(20), 3)}
			j.Pod.Behave = func(s Start, l *Life, _ *rand.Rand) {
				if s.At == second(20) {
					l.For = second(10)
				}
			}
		}), "30 30 30", second(40), ""},
		{"a container that restarts begins while others work", 3, nil, job(func(j *Job) {
			j.Spec.Template.RestartPolicy = "OnFailure"
			j.Pod.Behave = func(s Start, l *Life, _ *rand.Rand) {
				if s.Number == 0 && s.Restart == 0 {
					l.For, l.ExitCode = second(30), 1
				}
			}
		}), "100 60 60", 0, ""},
		{"a container that restarts begins while one other works", 3, nil, job(func(j *Job) {
			j.Spec.Template.RestartPolicy = "OnFailure"
			j.Pod.Behave = func(s Start, l *Life, _ *rand.Rand) {
				switch {
				case s.Number == 0 && s.Restart == 0:
					l.For, l.ExitCode = second(30), 1
				case s.Number == 1:
					l.For = second(35)
				}
			}
		}), "100 35 60", 0, ""},
		{"a container that restarts when no other works waits", 3, nil, job(func(j *Job) {
			j.Spec.Template.RestartPolicy = "OnFailure"
			j.Pod.Behave = func(s Start, l *Life, _ *rand.Rand) {
				if s.Number == 0 && s.Restart == 0 {
					l.For, l.ExitCode = second(55), 1
				}
			}
		}), "never 60 60", 0, "has 1 pod that cannot begin before 3 run"},
		{"a node is drained before the work begins", 3, []Disruption{{Kind: NodeDrained, Node: 0, At: second(10), Back: second(50)}}, job(func(j *Job) {
			j.Spec.Parallelism = new(int32)
			*j.Spec.Parallelism = 2
			j.Edits = []Edit{parallel(second(20), 3)}
		}), "10 110 110 110", second(10 + 50 + 30), ""},
		{"a node is lost before the work begins, and comes back", 3, []Disruption{{Kind: NodeLost, Node: 0, At: second(10), Back: second(30)}}, job(func(j *Job) {
			j.Spec.Parallelism = new(int32)
			*j.Spec.Parallelism = 2
			j.Edits = []Edit{parallel(second(20), 3)}
		}), "90 90 90", second(30 + 30 + 10), ""},
		{"containers that restart begin one by one while others work", 4, nil, job(func(j *Job) {
			j.Spec, j.Pod.Quorum = Spec(4, 4), 4
			j.Spec.Template.RestartPolicy = "OnFailure"
			j.Pod.Behave = func(s Start, l *Life, _ *rand.Rand) {
				fails := [][]int{{5}, {}, {6}, {4, 4}}[s.Number]
				if n := int(s.Restart); n < len(fails) {
					l.For, l.ExitCode = second(fails[n]), 1
				}
			}
		}), "75 60 76 98", 0, ""},
		{"the node of a pod at work is lost, and comes back", 3, []Disruption{{Kind: NodeLost, Node: 0, At: second(10), Back: second(40)}}, job(func(j *Job) {
			j.Spec.Template.RestartPolicy = "OnFailure"
			j.Pod.Behave = func(s Start, l *Life, _ *rand.Rand) {
				if s.Number > 0 && s.Restart == 0 {
					l.For, l.ExitCode = second(5), 1
				}
			}
		}), "60 100 100", second(50), ""},
		{"a deadline ends pods that wait", 2, nil, job(func(j *Job) {
			n := int64(30)
			j.Spec.ActiveDeadlineSeconds = &n
		}), "30 30 never", second(60), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := World{Until: time.Hour, Nodes: Nodes(test.nodes, Node{Pods: 1}), Disruptions: test.disruptions, Jobs: Of(test.job), Watch: readiness{&checker{t: t}}}
			r, err := Run(t.Context(), w)
			must.OK(t, err)
			audit(t, &w, r)
			var ended []string
			for _, p := range r.Pods {
				at := "never"
				if p.Ended != None {
					at = fmt.Sprint(p.Ended.Seconds())
				}
				ended = append(ended, at)
			}
			if got := strings.Join(ended, " "); got != test.ended || r.Idle != test.idle || test.why != "" && r.Open.Why != test.why {
				t.Errorf("got %s, idle %v, %q; want %s, %v, %q", got, r.Idle, r.Open.Why, test.ended, test.idle, test.why)
			}
		})
	}
}
