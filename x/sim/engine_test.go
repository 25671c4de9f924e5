package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// play runs a world with a checker of statuses.
func play(t *testing.T, w World) *Result {
	t.Helper()
	c := &checker{t: t}
	w.Watch = c
	r, err := Run(t.Context(), w)
	must.OK(t, err)
	audit(t, &w, r)
	return r
}

// checker receives every round and checks what it wrote.
type checker struct {
	t *testing.T
}

func (c *checker) Job(r JobRound) {
	at, s, end := r.At, r.Snapshot, r.Conclusion
	if n := end.Status.Active; n > *s.Job.Spec.Parallelism && s.Job.Spec.Suspend == nil && s.Consistent {
		c.t.Errorf("%v: %s has %d active pods", at, s.Job.Name, n)
	}
	if end.Status.Failed < 0 || end.Status.Succeeded < 0 {
		c.t.Errorf("%v: %s: %v", at, s.Job.Name, end.Status)
	}
	if s.Job.Name == "" || s.Job.Namespace != "default" {
		c.t.Errorf("%v: a job is %s/%s", at, s.Job.Namespace, s.Job.Name)
	}
}

func (c *checker) CronJob(r CronJobRound) {
	at, s, end := r.At, r.Snapshot, r.Conclusion
	if s.CronJob.Name == "" || s.CronJob.Namespace != "default" {
		c.t.Errorf("%v: a CronJob is %s/%s", at, s.CronJob.Namespace, s.CronJob.Name)
	}
	for i, e := range end.Outcome.Created {
		if e.Result == cronjobreason.ResultDone && e.CreationTimestamp.IsZero() {
			c.t.Errorf("%v: %s: no time of creation %d: %+v", at, s.CronJob.Name, i, e)
		}
	}
}

// small is a world of thirty jobs with ten pods, some of which fail.
func small(seed uint64) World {
	return World{
		Seed: seed, Nodes: Nodes(3, Node{Pods: 8}),
		Jobs: Jobs(30, seed, Between(Exponential(20*time.Second)), Job{
			Name: "job", Spec: Spec(10, 4),
			Pod: Pod{Duration: LogNormal(time.Minute, 0.5), Failure: 0.1, Pull: Uniform(0, 5*time.Second)},
		}),
	}
}

// balance checks that every job has ended.
func balance(t *testing.T, r *Result) {
	t.Helper()
	if !r.Open.IsEmpty() || r.JobsComplete+r.JobsFailed != r.JobsSubmitted {
		t.Errorf("%d of %d jobs have ended: %s", r.JobsComplete+r.JobsFailed, r.JobsSubmitted, &r.Open)
	}
}

func TestRun(t *testing.T) {
	r := play(t, small(1))
	balance(t, r)
	if r.PodsCreated < 300 || r.PodsFailed == 0 || r.JobsComplete == 0 {
		t.Errorf("%d pods, %d failed, %d jobs complete", r.PodsCreated, r.PodsFailed, r.JobsComplete)
	}
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.End == job.ConditionComplete && j.Succeeded != 10 {
			t.Errorf("%s is complete with %d successes", j.Name, j.Succeeded)
		}
	}
}

// troubled adds everything that can go wrong with a control plane.
func troubled(w World) World {
	w.ControlPlane = ControlPlane{
		Latency: Exponential(20 * time.Millisecond), WatchLag: Exponential(300 * time.Millisecond), QPS: 50, Burst: 100,
		Fail: 0.05, LoseReply: 0.03, Restarts: []time.Duration{2 * time.Minute, 7 * time.Minute},
		Outages: []Outage{{Window{3 * time.Minute, time.Minute}, APIServer}, {Window{5 * time.Minute, time.Minute}, Controllers}},
		Skew:    1300 * time.Millisecond,
	}
	w.Disruptions = []Disruption{
		{Kind: NodeLost, At: 4 * time.Minute, Node: 0, Back: 20 * time.Minute},
		{Kind: NodeDrained, At: 6 * time.Minute, Node: 1, Back: 8 * time.Minute},
		{Kind: NodeLost, At: 9 * time.Minute, Node: 2, Removed: 30 * time.Minute},
	}
	return w
}

func TestRun_UnderEveryFault(t *testing.T) {
	for seed := range uint64(6) {
		r := play(t, troubled(small(seed)))
		balance(t, r)
		if r.Faults == 0 || r.Restarts != 3 || r.Evictions == 0 {
			t.Errorf("seed %d: %d faults, %d restarts, %d evictions", seed, r.Faults, r.Restarts, r.Evictions)
		}
	}
}

func TestRun_SameSeedSameBytes(t *testing.T) {
	for _, make := range []func(uint64) World{small, func(seed uint64) World { return troubled(small(seed)) }, crons} {
		a, b, c := play(t, make(7)), play(t, make(7)), play(t, make(8))
		if !reflect.DeepEqual(a, b) {
			t.Error("the same seed gives another result")
		}
		if reflect.DeepEqual(a, c) {
			t.Error("another seed gives the same result")
		}
	}
}

// TestCompare_OnAnyNumberOfCores: each figure of a comparison is that of a single run with the same
// variant and seed, on any number of cores.
func TestCompare_OnAnyNumberOfCores(t *testing.T) {
	variants := []Variant{{"calm", small}, {"troubled", func(seed uint64) World { return troubled(small(seed)) }}}
	var tables []string
	for _, cores := range []int{1, 2, 7} {
		c, err := Compare(t.Context(), variants, 1, 4, cores, nil)
		must.OK(t, err)
		tables = append(tables, c.String())

		for v, variant := range variants {
			for place, seed := range c.Seeds {
				r, err := Run(t.Context(), variant.World(seed))
				must.OK(t, err)
				if got, want := len(c.Values[v]), len(r.Metrics()); got != want {
					t.Fatalf("%d figures, want %d", got, want)
				}
				for m, metric := range r.Metrics() {
					if got := c.Values[v][m][place]; got != metric.Value &&
						!(math.IsNaN(got) && math.IsNaN(metric.Value)) {
						t.Fatalf("%d cores, %s, seed %d: %s is %g, want %g",
							cores, variant.Name, seed, metric.Name, got, metric.Value)
					}
				}
			}
		}
	}
	if tables[0] != tables[1] || tables[1] != tables[2] {
		t.Errorf("the tables differ:\n%s", strings.Join(tables, "\n"))
	}
}

// Progress is called once for each run, one call at a time, with the run's own result.
func TestCompare_Progress(t *testing.T) {
	variants := []Variant{{"one", small}, {"two", small}}
	var inside atomic.Bool
	calls := map[[2]int]int64{}
	_, err := Compare(t.Context(), variants, 1, 3, 4, func(variant, seed int, r *Result) {
		if inside.Swap(true) {
			t.Error("two calls at a time")
		}
		calls[[2]int{variant, seed}] += r.JobsSubmitted
		inside.Store(false)
	})
	must.OK(t, err)
	for variant := range variants {
		for seed := range 3 {
			if calls[[2]int{variant, seed}] != play(t, small(uint64(seed+1))).JobsSubmitted || len(calls) != 6 {
				t.Errorf("variant %d, seed %d: %d jobs in %d calls", variant, seed, calls[[2]int{variant, seed}], len(calls))
			}
		}
	}
}

func TestCompare_NamesTheSeedOfAnError(t *testing.T) {
	bad := func(uint64) World { return World{Until: -1} }
	_, err := Compare(t.Context(), []Variant{{"bad", bad}}, 5, 3, 1, nil)
	if fmt.Sprint(err) != "bad, seed 5: until: -1ns: must not be negative" {
		t.Errorf("got %v", err)
	}
}

// containers notes the names of the containers in the snapshots of jobs.
type containers map[string]bool

func (c containers) Job(r JobRound) {
	for _, p := range r.Snapshot.Pods {
		for _, k := range p.Detail.Containers {
			c[k.Name] = true
		}
	}
}

func (c containers) CronJob(CronJobRound) {}

// TestRun_Container: a pod's container has the first name of the template, or is called main.
func TestRun_Container(t *testing.T) {
	for want, names := range map[string][]string{"main": nil, "a": {"a", "b"}} {
		seen, spec := containers{}, Spec(1, 1)
		spec.Template.Containers = names
		_, err := Run(t.Context(), World{Watch: seen, Jobs: Of(Job{Name: "j", Spec: spec, Pod: Pod{Duration: Constant(time.Minute)}})})
		if err != nil || len(seen) != 1 || !seen[want] {
			t.Errorf("want %s, got %v, %v", want, seen, err)
		}
	}
}

// crons is a day of four CronJobs with different policies.
func crons(seed uint64) World {
	w := World{Seed: seed, Until: 24 * time.Hour, Nodes: Nodes(2, Node{Pods: 8})}
	for i, policy := range []cronjob.ConcurrencyPolicy{cronjob.Allow, cronjob.Forbid, cronjob.Replace} {
		w.CronJobs = append(w.CronJobs, CronJob{
			Name: fmt.Sprintf("cron-%d", i), Spec: cronjob.Spec{Schedule: "*/10 * * * *", ConcurrencyPolicy: policy},
			Job: Job{Spec: Spec(2, 2), Pod: Pod{Duration: Exponential(8 * time.Minute), Failure: 0.1}},
		})
	}
	w.CronJobs = append(w.CronJobs, CronJob{
		Name: "paused", Spec: cronjob.Spec{Schedule: "0 * * * *"}, Suspend: []Window{{6*time.Hour + time.Minute, 5 * time.Hour}},
		Job: Job{Spec: Spec(1, 1), Pod: Pod{Duration: Constant(time.Minute)}},
	})
	return w
}

func TestRun_CronJobs(t *testing.T) {
	r := play(t, crons(1))
	started := make([]int, len(r.CronJobs))
	for _, run := range r.Runs {
		started[run.Cron]++
	}
	missed := make([]int, len(r.CronJobs))
	for _, m := range r.Missed {
		missed[m.Cron] += m.Count
	}

	// Each CronJob has draws of its own.
	if a, b := r.Pods[0], r.Pods[4]; r.Jobs[a.Job].Cron == r.Jobs[b.Job].Cron ||
		a.Ended-a.Started == b.Ended-b.Started {
		t.Errorf("%+v, %+v", a, b)
	}

	// The CronJobs are created at 00:00, so their first run is at 00:10; the last is at 23:50.
	if started[0] != 143 || started[2] != 143 || missed[0]+missed[2] > 0 {
		t.Errorf("Allow and Replace start %d and %d runs", started[0], started[2])
	}
	if started[1] >= 143 || started[1]+missed[1] < 142 {
		t.Errorf("Forbid starts %d runs and misses %d", started[1], missed[1])
	}

	// The latest run that the suspension held back, at 11:00, starts when the suspension is over.
	if started[3]+missed[3] != 23 || missed[3] != 4 {
		t.Errorf("the paused one starts %d runs and misses %d", started[3], missed[3])
	}
}

// A controller that is down for an hour starts the latest run only.
func TestRun_ControllerOutage(t *testing.T) {
	w := crons(1)
	w.ControlPlane.Outages = []Outage{{Window: Window{6*time.Hour + 5*time.Minute, time.Hour}}}
	r := play(t, w)
	missed := map[int32]int{}
	for _, m := range r.Missed {
		missed[m.Cron] += m.Count
	}
	if missed[0] != 5 {
		t.Errorf("%d runs are missed, want 5 of the 6 in the hour", missed[0])
	}
	for _, run := range r.Runs {
		if run.Cron == 0 && run.Scheduled == 7*time.Hour && run.Created != 7*time.Hour+5*time.Minute {
			t.Errorf("the run of 07:00 starts at %v", run.Created)
		}
	}
}

func TestRun_SaysWhatIsOpen(t *testing.T) {
	limit := int32(1<<31 - 1)
	for name, test := range map[string]struct {
		spec func(*job.Spec)
		pod  Pod
		want string
	}{
		"a pod that fits nowhere": {func(*job.Spec) {}, Pod{Duration: Constant(time.Minute), Resources: Resources{CPU: 5000}},
			"still open: 1 job, 1 pod pending, 0 running: j; j has a pod that fits on no node: it needs cpu 5000m, memory 0"},
		"it never gives up": {func(s *job.Spec) { s.BackoffLimit = &limit }, Pod{Duration: Constant(time.Minute), Failure: 1},
			"still open: 1 job, 0 pods pending, 0 running: j; j waits: 1 pod wanted, held by backoff until"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := Spec(1, 1)
			test.spec(&spec)
			r := play(t, World{
				Until: 24 * time.Hour,
				Nodes: Nodes(1, Node{Resources: Resources{CPU: 4000}}),
				Jobs:  Of(Job{Name: "j", Spec: spec, Pod: test.pod}),
			})

			if got := r.Open.String(); !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if r.End > 24*time.Hour {
				t.Errorf("it ends at %v", r.End)
			}
		})
	}
}

// Open.Why is the reason why the first open job waits. Here the pod of the first open job has just
// ended, so it is the second job that waits, and Why is empty.
func TestRun_SaysWhyOfTheFirstJob(t *testing.T) {
	ends := Job{Name: "a", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(59500 * time.Millisecond)}}
	waits := Job{Name: "b", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(time.Second), Failure: 1}}
	r := play(t, World{Until: time.Minute, Jobs: Of(ends, waits)})
	if want := "still open: 2 jobs, 0 pods pending, 0 running: a, b"; r.Open.String() != want {
		t.Errorf("got %q, want %q", &r.Open, want)
	}
}

func TestRun_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := small(1)
	w.Jobs = Jobs(10_000, 1, Every(time.Second), Job{
		Name: "j",
		Spec: Spec(20, 20),
		Pod:  Pod{Duration: Constant(time.Minute)},
	})
	r, err := Run(ctx, w)
	if err != nil || r.Stopped != "interrupted" || r.Open.IsEmpty() {
		t.Errorf("got %v, %v", r, err)
	}
	w.MaxEvents = 1000
	if r, err = Run(t.Context(), w); err != nil || r.Stopped != "after 1000 events" {
		t.Errorf("got %v, %v", r.Stopped, err)
	}
}

// When a simulation ends, some rounds may still have calls to make. Those rounds end with the
// simulation.
func TestRun_EndsItsRounds(t *testing.T) {
	w := crons(1)
	w.Jobs, w.ControlPlane.Latency = small(1).Jobs, Constant(w.Until)
	e := newEngine(t.Context(), &w)
	must.OK(t, e.begin())
	e.loop()
	open := map[*controller][]*worker{}
	for _, c := range []*controller{&e.jobController, &e.cronController} {
		for _, w := range c.all {
			if w.stop != nil {
				open[c] = append(open[c], w)
			}
		}
	}
	if len(open) != 2 {
		t.Errorf("%d controllers have rounds at the end", len(open))
	}
	e.close()
	for _, all := range open {
		for _, w := range all {
			if !w.aborted {
				t.Errorf("the round of worker %d goes on", w.id)
			}
		}
	}
}

func TestRun_BadInput(t *testing.T) {
	cron := CronJob{Name: "c", Spec: cronjob.Spec{Schedule: "* * * *"}, Source: "c.yaml:3"}
	negative := Spec(1, 1)
	negative.Parallelism = new(int32)
	*negative.Parallelism = -1
	for want, w := range map[string]World{
		"until: is required with CronJobs, which never end":                                                                  {CronJobs: []CronJob{cron}},
		"trace:9: b: submitted at 1s, before the job in front of it, at 2s: jobs must be in the order of their submit times": {Jobs: Of(Job{Name: "a", Submit: 2 * time.Second, Spec: Spec(1, 1)}, Job{Name: "b", Submit: time.Second, Spec: Spec(1, 1), Source: "trace:9"})},
		"a: submit time -1s is negative":                                                                                     {Jobs: Of(Job{Name: "a", Submit: -time.Second})},
		"a: pod.quorum: -1: must not be negative":                                                                            {Jobs: Of(Job{Name: "a", Spec: Spec(1, 1), Pod: Pod{Quorum: -1}})},
		"a: pod.failure: 1.5: must be from 0 to 1":                                                                           {Jobs: Of(Job{Name: "a", Spec: Spec(1, 1), Pod: Pod{Failure: 1.5}})},
		"a: pod.failure: NaN: must be from 0 to 1":                                                                           {Jobs: Of(Job{Name: "a", Spec: Spec(1, 1), Pod: Pod{Failure: math.NaN()}})},
		"a: pod.disruption: -0.1: must be from 0 to 1":                                                                       {Jobs: Of(Job{Name: "a", Spec: Spec(1, 1), Pod: Pod{Disruption: -0.1}})},
		"a: pod.disruptionRate: -1: must not be negative or infinite":                                                        {Jobs: Of(Job{Name: "a", Spec: Spec(1, 1), Pod: Pod{DisruptionRate: -1}})},
		"a: pod.disruptionRate: +Inf: must not be negative or infinite":                                                      {Jobs: Of(Job{Name: "a", Spec: Spec(1, 1), Pod: Pod{DisruptionRate: math.Inf(1)}})},
		"c: job.pod.quorum: -1: must not be negative":                                                                        {CronJobs: []CronJob{{Name: "c", Spec: cronjob.Spec{Schedule: "@hourly"}, Job: Job{Spec: Spec(1, 1), Pod: Pod{Quorum: -1}}}}, Until: 1},
		"a: spec.parallelism: -1":                                                                                            {Jobs: Of(Job{Name: "a", Spec: negative})},
		"disruptions[0].node: 1: the world has 1 node":                                                                       {Nodes: Nodes(1, Node{}), Disruptions: []Disruption{{Node: 1}}},
		"j: after an edit: spec.parallelism: -1":                                                                             {Jobs: Of(Job{Name: "j", Spec: Spec(1, 1), Edits: []Edit{{time.Second, func(s *job.Spec) { s.Parallelism = negative.Parallelism }}}})},
		"c: create time -1s is negative":                                                                                     {CronJobs: []CronJob{{Name: "c", Create: -time.Second, Spec: cronjob.Spec{Schedule: "@hourly"}}}, Until: 1},
		"controlPlane.fail: 1: must be at least 0":                                                                           {ControlPlane: ControlPlane{Fail: 1}},
		"broken":                     {Jobs: func(yield func(Job, error) bool) { yield(Job{}, errors.New("broken")) }},
		"c.yaml:3: c: spec.schedule": {CronJobs: []CronJob{cron}, Until: 1},
		"c: jobTemplate.spec.template.spec.restartPolicy": {CronJobs: []CronJob{{Name: "c", Spec: cronjob.Spec{Schedule: "@hourly"}}}, Until: 1},
	} {
		reading := 0
		if jobs := w.Jobs; jobs != nil {
			w.Jobs = func(yield func(Job, error) bool) {
				reading++
				defer func() { reading-- }()
				jobs(yield)
			}
		}
		_, err := Run(t.Context(), w)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if reading != 0 {
			t.Errorf("%s: the stream of jobs is not ended", want)
		}
	}
}

// A pod is the same in every variant: its draws follow from the seed, its job and its number.
func TestRun_CommonRandomNumbers(t *testing.T) {
	durations := func(w World) map[[2]int32]time.Duration {
		out := map[[2]int32]time.Duration{}
		for _, p := range play(t, w).Pods {
			if p.Succeeded {
				out[[2]int32{p.Job, p.Number}] = p.Ended - p.Started
			}
		}
		return out
	}

	a := small(5)
	b := small(5)
	b.Nodes = Nodes(1, Node{Pods: 5})
	few, many := durations(b), durations(a)

	same := 0
	for key, d := range many {
		if few[key] == d {
			same++
		} else if _, both := few[key]; both {
			t.Errorf("pod %v runs for %v, and for %v with fewer nodes", key, d, few[key])
		}
	}
	if same < 200 {
		t.Errorf("only %d pods succeed in both", same)
	}
}

// A stored memory of the controller keeps the backoff over a restart.
func TestRun_StoredMemoryKeepsTheBackoff(t *testing.T) {
	second := func(keep bool) time.Duration {
		w := World{
			Jobs:         Of(Job{Name: "j", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(time.Second), Failure: 1, FailAfter: Constant(time.Second)}}),
			ControlPlane: ControlPlane{KeepMemory: keep, Restarts: []time.Duration{5 * time.Second}},
		}
		return play(t, w).Pods[1].Created
	}
	if kept, lost := second(true), second(false); kept <= lost {
		t.Errorf("the second pod comes at %v with the memory, and at %v without", kept, lost)
	}
}

// A lost notification holds a job back until the controller restarts and so forgets what it expects
// to see. Without a restart, the job is held back for five minutes.
func TestRun_RestartForgetsExpectations(t *testing.T) {
	w := World{Jobs: Of(Job{Name: "j", Spec: Spec(1, 1)}), ControlPlane: ControlPlane{WatchLag: Constant(time.Second)}}
	for want, restarts := range map[time.Duration][]time.Duration{5 * time.Minute: nil, 20 * time.Second: {20 * time.Second}} {
		w.ControlPlane.Restarts = restarts
		e := playing(t, w, func(e *engine) { e.view.tracker.Expect(1<<32, 1, 0, e.start) }) // the first life of place 0
		if at := e.result.Pods[0].Created; at != want {
			t.Errorf("restarts %v: the pod comes at %v, want %v", restarts, at, want)
		}
	}
}

func TestHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var h heap
	var want []int64
	for i := range 5000 {
		at := int64(r.IntN(1000))
		h.push(event{at: at, order: uint64(i) << 8})
		want = append(want, at)
		if r.IntN(3) == 0 {
			got := h.pop()
			least := 0
			for j := range want {
				if want[j] < want[least] {
					least = j
				}
			}
			if got.at != want[least] {
				t.Fatalf("got %d, want %d", got.at, want[least])
			}
			want = append(want[:least], want[least+1:]...)
		}
	}

	for before := (event{}); len(h.events) > 0; {
		e := h.pop()
		if e.before(&before) {
			t.Fatalf("%v comes after %v", e, before)
		}
		before = e
	}
}

// However many edits a job has, each is made once, in the order of their times.
func TestManyEdits(t *testing.T) {
	const edits = 700
	var made []int
	j := Job{Name: "j", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(time.Hour)}}
	for i := range edits {
		j.Edits = append(j.Edits, Edit{After: time.Duration(edits-i) * time.Second, Change: func(*job.Spec) { made = append(made, edits-i) }})
	}
	_, err := Run(context.Background(), World{Jobs: Of(j)})
	must.OK(t, err)
	for i, n := range made {
		if n != i+1 {
			t.Fatalf("edit %d is made as number %d", n, i+1)
		}
	}
	if len(made) != edits {
		t.Errorf("%d of %d edits are made", len(made), edits)
	}
}

// Open.Idle names the CronJobs that have no run after their creation and before the end. A run at
// exactly one of these two times does not count. Noon in Tokyo is at 3:00 UTC.
func TestIdleCronJob(t *testing.T) {
	world := func(until time.Duration) World {
		c := func(name, schedule string) CronJob {
			return CronJob{Name: name, Spec: cronjob.Spec{Schedule: schedule}, Job: Job{Spec: Spec(1, 1), Pod: Pod{Duration: Constant(time.Second)}}}
		}
		tokyo := c("tokyo", "0 12 * * *")
		tokyo.Schedule = []schedule.Option{schedule.WithTimeZone("Asia/Tokyo")}
		return World{Until: until, CronJobs: []CronJob{c("midnight", "0 0 * * *"), c("noon", "0 12 * * *"), tokyo}}
	}
	for until, want := range map[time.Duration]string{
		24 * time.Hour:             "nothing is open; no run after the creation and before the end: CronJob midnight",
		24*time.Hour + time.Minute: "nothing is open",
		4 * time.Hour:              "nothing is open; no run after the creation and before the end: CronJob midnight, noon",
		time.Hour:                  "nothing is open; no run after the creation and before the end: CronJob midnight, noon, tokyo",
	} {
		r, err := Run(context.Background(), world(until))
		must.OK(t, err)
		if have := r.Open.String(); have != want {
			t.Errorf("until %v: %s\nwant %s", until, have, want)
		}
	}
}

// A run that is given up again, by a controller that has lost its memory, is one missed run.
func TestMiss_Again(t *testing.T) {
	e, cs := playing(t, World{}), &cronState{of: &CronJob{}}
	for _, seconds := range []int64{60, 60, 120} {
		e.record.miss(0, cs, &cronjob.Plan{}, []cronjob.Unstarted{
			{Reason: cronjobreason.UnstartedSuspended, Latest: time.Unix(seconds, 0), Count: 1},
		})
	}
	if n := e.result.RunsMissed; n != 2 {
		t.Errorf("%d runs are missed, want 2", n)
	}
}

// A round of a CronJob is quiet if the rounds before the next run cannot plan anything else.
func TestIsQuiet(t *testing.T) {
	at := time.Unix(60, 0)
	for name, change := range map[string]func(*cronjob.Snapshot, *cronjob.Plan, *cronjob.Conclusion){
		"quiet":                        func(*cronjob.Snapshot, *cronjob.Plan, *cronjob.Conclusion) {},
		"the snapshot may lack writes": func(s *cronjob.Snapshot, _ *cronjob.Plan, _ *cronjob.Conclusion) { s.Consistent = false },
		"a quirk": func(s *cronjob.Snapshot, _ *cronjob.Plan, _ *cronjob.Conclusion) {
			s.Options.Quirks = cronjobquirk.SetOf(cronjobquirk.Estimate)
		},
		"a deletion": func(_ *cronjob.Snapshot, p *cronjob.Plan, _ *cronjob.Conclusion) {
			p.Delete = make([]cronjob.Deletion, 1)
		},
		"no next run": func(_ *cronjob.Snapshot, p *cronjob.Plan, _ *cronjob.Conclusion) { p.NextRun = time.Time{} },
		"another wait": func(_ *cronjob.Snapshot, p *cronjob.Plan, _ *cronjob.Conclusion) {
			p.Waits = append(p.Waits, p.Waits[0])
		},
		"an earlier round": func(_ *cronjob.Snapshot, _ *cronjob.Plan, c *cronjob.Conclusion) {
			c.Requeue.At = at.Add(-1)
		},
		"a new memory": func(_ *cronjob.Snapshot, _ *cronjob.Plan, c *cronjob.Conclusion) {
			must.OK(t, c.Memory.UnmarshalJSON([]byte(`{"cronJobUID": "u"}`)))
		},
	} {
		s, p := &cronjob.Snapshot{Consistent: true}, &cronjob.Plan{NextRun: at, Waits: []cronjob.Wait{{Until: at}}}
		c := &cronjob.Conclusion{Requeue: cronjob.Requeue{At: at}}
		change(s, p, c)
		if got := isQuiet(s, p, c); got != (name == "quiet") {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestGrace(t *testing.T) {
	for grace, want := range map[time.Duration]time.Duration{0: defaultGrace, time.Second: time.Second, -1: 0} {
		if have := (&jobState{of: &Job{Pod: Pod{Grace: grace}}}).grace(); have != want {
			t.Errorf("%d: %v, want %v", grace, have, want)
		}
	}
}
