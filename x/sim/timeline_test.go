package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// timeline writes down the steps of each job, run and pod, in seconds.
func timeline(r *Result) string {
	var b strings.Builder
	steps := func(names string, times ...time.Duration) {
		for i, name := range strings.Fields(names) {
			if times[i] != None {
				fmt.Fprintf(&b, " %s %g", name, times[i].Seconds())
			}
		}
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		fmt.Fprintf(&b, "%s:", j.Name)
		steps("submitted admitted started finished deleted", j.Submitted, j.Admitted, j.Started, j.Finished, j.Deleted)
		fmt.Fprintf(&b, " %s %s %d+%d of %d\n", j.End, j.Reason, j.Succeeded, j.Failed, j.Pods)
	}
	for _, run := range r.Runs {
		fmt.Fprintf(&b, "run of job %d:", run.Job)
		steps("scheduled created finished", run.Scheduled, run.Created, run.Finished)
		b.WriteString(strings.TrimRight(" "+string(run.End), " ") + "\n")
	}
	for _, m := range r.Missed {
		fmt.Fprintf(&b, "missed: %d %v at %g %s\n", m.Count, m.Runs, m.At.Seconds(), m.Why)
	}
	for i := range r.Pods {
		p := &r.Pods[i]
		fmt.Fprintf(&b, "pod %d of job %d, node %d:", p.Number, p.Job, p.Node)
		steps("created bound started ended deleted gone", p.Created, p.Bound, p.Started, p.Ended, p.Deleted, p.Gone)
		fmt.Fprintf(&b, " code %d", p.ExitCode)
		if p.Succeeded {
			b.WriteString(" succeeded")
		}
		if p.Disrupted {
			b.WriteString(" disrupted")
		}
		if p.Restarts > 0 {
			fmt.Fprintf(&b, " restarts %d", p.Restarts)
		}
		b.WriteString("\n")
	}
	if r.Evictions+r.Expired+r.Retries+r.Faults > 0 {
		fmt.Fprintf(&b, "evictions %d, expired %d, retries %d, faults %d\n", r.Evictions, r.Expired, r.Retries, r.Faults)
	}
	if r.Cost > 0 {
		fmt.Fprintf(&b, "cost %.4f, busy %.4f\n", r.Cost, r.CostBusy)
	}
	fmt.Fprintf(&b, "used %g, wasted %g; %s", r.Used.Seconds(), r.Wasted.Seconds(), &r.Open)
	return b.String()
}

// TestRun_Timelines: in a world without chance each step has its second.
func TestRun_Timelines(t *testing.T) {
	sec := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	steady := func(spec job.Spec, change func(*Job)) func(*World) {
		return func(w *World) {
			j := Job{Name: "j", Submit: sec(10), Spec: spec, Pod: Pod{Duration: Constant(sec(30)), Pull: Constant(sec(5))}}
			if change != nil {
				change(&j)
			}
			w.Jobs = Of(j)
		}
	}
	with := func(change func(*job.Spec)) job.Spec {
		s := Spec(1, 1)
		change(&s)
		return s
	}
	cron := func(change func(*CronJob)) func(*World) {
		return func(w *World) {
			c := CronJob{
				Name: "c", Create: sec(30), Spec: cronjob.Spec{Schedule: "* * * * *"},
				Job: Job{Spec: Spec(1, 1), Pod: Pod{Duration: Constant(sec(90))}},
			}
			change(&c)
			w.CronJobs, w.Until = []CronJob{c}, sec(200)
		}
	}
	all := func(changes ...func(*World)) func(*World) {
		return func(w *World) {
			for _, change := range changes {
				change(w)
			}
		}
	}
	disrupted := func(d Disruption) func(*World) { return func(w *World) { w.Disruptions = []Disruption{d} } }
	plane := func(p ControlPlane) func(*World) { return func(w *World) { w.ControlPlane = p } }

	for _, test := range []struct {
		name  string
		world func(*World)
		want  string
	}{
		{"a pod is pulled and runs", steady(Spec(1, 1), nil), `
j: submitted 10 started 15 finished 46 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 code 0 succeeded
used 30, wasted 0; nothing is open`},
		{"the second waits for room", steady(Spec(2, 2), nil), `
j: submitted 10 started 15 finished 81 Complete CompletionsReached 2+0 of 2
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 code 0 succeeded
pod 1 of job 0, node 0: created 10 bound 45 started 50 ended 80 code 0 succeeded
used 60, wasted 0; nothing is open`},
		{"what fails is replaced after ten seconds, then twenty", steady(Spec(1, 1), func(j *Job) {
			j.Pod.Failure, j.Pod.FailAfter, j.Pod.ExitCode, j.Spec.BackoffLimit = 1, Constant(sec(4)), 7, new(int32)
			*j.Spec.BackoffLimit = 2
		}), `
j: submitted 10 started 15 finished 68 Failed BackoffLimitExceeded 0+3 of 3
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 19 code 7
pod 1 of job 0, node 0: created 29 bound 29 started 34 ended 38 code 7
pod 2 of job 0, node 0: created 58 bound 58 started 63 ended 67 code 7
used 0, wasted 12; nothing is open`},
		{"a container starts again, after ten and twenty seconds", steady(Spec(1, 1), func(j *Job) {
			j.Spec.Template.RestartPolicy = job.RestartOnFailure
			j.Pod.FailIn, j.Pod.FailAfter = []Window{{sec(15), sec(20)}}, Constant(sec(1))
		}), `
j: submitted 10 started 15 finished 78 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 77 code 0 succeeded restarts 2
used 30, wasted 0; nothing is open`},
		{"suspended while it runs, and resumed", steady(Spec(1, 1), func(j *Job) {
			j.Pod.Stop, j.Pod.Grace = Constant(sec(20)), sec(8)
			j.Edits = []Edit{{sec(50), func(s *job.Spec) { s.Suspend = &no }}, {sec(20), func(s *job.Spec) { s.Suspend = &yes }}}
		}), `
j: submitted 10 started 15 finished 96 Complete CompletionsReached 1+0 of 2
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 38 deleted 30 gone 38 code 137
pod 1 of job 0, node 0: created 60 bound 60 started 65 ended 95 code 0 succeeded
used 30, wasted 23; nothing is open`},
		{"a deadline", steady(with(func(s *job.Spec) { n := int64(20); s.ActiveDeadlineSeconds = &n }), nil), `
j: submitted 10 started 15 finished 31 Failed DeadlineExceeded 0+1 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 30 deleted 30 gone 30 code 143
used 0, wasted 15; nothing is open`},
		{"a time to live", steady(with(func(s *job.Spec) { n := int32(60); s.TTLSecondsAfterFinished = &n }), nil), `
j: submitted 10 started 15 finished 46 deleted 106 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 deleted 106 gone 106 code 0 succeeded
evictions 0, expired 1, retries 0, faults 0
used 30, wasted 0; nothing is open`},
		{"its node is drained", all(steady(Spec(1, 1), func(j *Job) { j.Pod.Stop = Constant(sec(3)) }),
			disrupted(Disruption{Kind: NodeDrained, At: sec(20), Back: sec(60)})), `
j: submitted 10 started 15 finished 96 Complete CompletionsReached 1+1 of 2
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 23 deleted 20 gone 23 code 143
pod 1 of job 0, node 0: created 30 bound 60 started 65 ended 95 code 0 succeeded
evictions 1, expired 0, retries 0, faults 0
used 30, wasted 8; nothing is open`},
		{"its node is lost and comes back", all(steady(Spec(1, 1), func(j *Job) { j.Pod.Duration = Constant(time.Hour) }),
			disrupted(Disruption{Kind: NodeLost, At: sec(20), Back: sec(900)})), `
j: submitted 10 started 15 finished 4506 Complete CompletionsReached 1+1 of 2
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 900 deleted 360 gone 900 code 143
pod 1 of job 0, node 0: created 370 bound 900 started 905 ended 4505 code 0 succeeded
evictions 1, expired 0, retries 0, faults 0
used 3600, wasted 885; nothing is open`},
		{"its node is lost and removed", all(steady(Spec(1, 1), func(j *Job) { j.Pod.Duration = Constant(time.Hour) }),
			disrupted(Disruption{Kind: NodeLost, At: sec(20), Back: sec(900), Removed: sec(100)})), `
j: submitted 10 started 15 finished 4506 Complete CompletionsReached 1+1 of 2
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 100 deleted 100 gone 101 code 137 disrupted
pod 1 of job 0, node 0: created 110 bound 900 started 905 ended 4505 code 0 succeeded
evictions 1, expired 0, retries 0, faults 0
used 3600, wasted 85; nothing is open`},
		{"calls take a second, and changes two to be seen", all(steady(Spec(2, 2), nil),
			plane(ControlPlane{Latency: Constant(sec(1)), WatchLag: Constant(sec(2))})), `
j: submitted 10 started 18 finished 89 Complete CompletionsReached 2+0 of 2
pod 0 of job 0, node 0: created 13 bound 13 started 18 ended 48 code 0 succeeded
pod 1 of job 0, node 0: created 14 bound 48 started 53 ended 83 code 0 succeeded
used 60, wasted 0; nothing is open`},
		{"the API server is down", all(steady(Spec(1, 1), nil),
			plane(ControlPlane{Latency: Constant(sec(1)), Outages: []Outage{{Window{sec(5), sec(20)}, APIServer}}})), `
j: submitted 10 started 32 finished 66 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 27 bound 27 started 32 ended 62 code 0 succeeded
evictions 0, expired 0, retries 4, faults 7
used 30, wasted 0; nothing is open`},
		{"the controllers are down", all(steady(Spec(1, 1), nil), plane(ControlPlane{Outages: []Outage{{Window{sec(5), sec(20)}, Controllers}}})), `
j: submitted 10 started 30 finished 61 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 25 bound 25 started 30 ended 60 code 0 succeeded
used 30, wasted 0; nothing is open`},
		{"the clocks differ", all(steady(with(func(s *job.Spec) { n := int32(60); s.TTLSecondsAfterFinished = &n }), nil),
			plane(ControlPlane{Skew: sec(7)}), func(w *World) { w.Nodes[0].Skew = sec(2.5) }), `
j: submitted 10 started 15 finished 46 deleted 106 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 deleted 106 gone 106 code 0 succeeded
evictions 0, expired 1, retries 0, faults 0
used 30, wasted 0; nothing is open`},
		{"a quota", all(func(w *World) {
			w.Admission = &Quota{Pods: 1}
			w.Jobs = Of(Job{Name: "a", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(sec(30))}}, Job{Name: "b", Submit: sec(1), Spec: Spec(1, 1), Pod: Pod{Duration: Constant(sec(30))}})
		}), `
a: submitted 0 admitted 0 started 0 finished 31 Complete CompletionsReached 1+0 of 1
b: submitted 1 admitted 31 started 31 finished 62 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 0 bound 0 started 0 ended 30 code 0 succeeded
pod 0 of job 1, node 0: created 31 bound 31 started 31 ended 61 code 0 succeeded
used 60, wasted 0; nothing is open`},
		{"a node with a price", all(steady(Spec(1, 1), nil), func(w *World) { w.Nodes[0].Price = 360 }), `
j: submitted 10 started 15 finished 46 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 code 0 succeeded
cost 4.6000, busy 3.5000
used 30, wasted 0; nothing is open`},
		{"runs overlap", cron(func(c *CronJob) {}), `
c-29453761: submitted 60.1 started 60.1 finished 151.1 Complete CompletionsReached 1+0 of 1
c-29453762: submitted 120.1 started 120.1   0+0 of 1
c-29453763: submitted 180.1 started 180.1   0+0 of 1
run of job 0: scheduled 60 created 60.1 finished 151.1 Complete
run of job 1: scheduled 120 created 120.1
run of job 2: scheduled 180 created 180.1
pod 0 of job 0, node -1: created 60.1 bound 60.1 started 60.1 ended 150.1 code 0 succeeded
pod 0 of job 1, node -1: created 120.1 bound 120.1 started 120.1 code 0
pod 0 of job 2, node -1: created 180.1 bound 180.1 started 180.1 code 0
used 90, wasted 0; still open: 2 jobs, 0 pods pending, 2 running: c-29453762, c-29453763; c-29453762 waits: 1 active pod not finished`},
		{"runs replace each other", cron(func(c *CronJob) { c.Spec.ConcurrencyPolicy = cronjob.Replace }), `
c-29453761: submitted 60.1 started 60.1 deleted 120.1   0+0 of 1
c-29453762: submitted 120.1 started 120.1 deleted 180.1   0+0 of 1
c-29453763: submitted 180.1 started 180.1   0+0 of 1
run of job 0: scheduled 60 created 60.1
run of job 1: scheduled 120 created 120.1
run of job 2: scheduled 180 created 180.1
pod 0 of job 0, node -1: created 60.1 bound 60.1 started 60.1 ended 120.1 deleted 120.1 gone 120.1 code 143
pod 0 of job 1, node -1: created 120.1 bound 120.1 started 120.1 ended 180.1 deleted 180.1 gone 180.1 code 143
pod 0 of job 2, node -1: created 180.1 bound 180.1 started 180.1 code 0
used 0, wasted 120; still open: 1 job, 0 pods pending, 1 running: c-29453763; c-29453763 waits: 1 active pod not finished`},
		{"runs wait for each other", cron(func(c *CronJob) { c.Spec.ConcurrencyPolicy = cronjob.Forbid }), `
c-29453761: submitted 60.1 started 60.1 finished 151.1 Complete CompletionsReached 1+0 of 1
c-29453762: submitted 151.1 started 151.1   0+0 of 1
run of job 0: scheduled 60 created 60.1 finished 151.1 Complete
run of job 1: scheduled 120 created 151.1
pod 0 of job 0, node -1: created 60.1 bound 60.1 started 60.1 ended 150.1 code 0 succeeded
pod 0 of job 1, node -1: created 151.1 bound 151.1 started 151.1 code 0
used 90, wasted 0; still open: 1 job, 0 pods pending, 1 running: c-29453762; c-29453762 waits: 1 active pod not finished`},
		{"a CronJob is suspended for a run", cron(func(c *CronJob) { c.Suspend = []Window{{sec(70), sec(60)}} }), `
c-29453761: submitted 60.1 started 60.1 finished 151.1 Complete CompletionsReached 1+0 of 1
c-29453762: submitted 130 started 130   0+0 of 1
c-29453763: submitted 180.1 started 180.1   0+0 of 1
run of job 0: scheduled 60 created 60.1 finished 151.1 Complete
run of job 1: scheduled 120 created 130
run of job 2: scheduled 180 created 180.1
pod 0 of job 0, node -1: created 60.1 bound 60.1 started 60.1 ended 150.1 code 0 succeeded
pod 0 of job 1, node -1: created 130 bound 130 started 130 code 0
pod 0 of job 2, node -1: created 180.1 bound 180.1 started 180.1 code 0
used 90, wasted 0; still open: 2 jobs, 0 pods pending, 2 running: c-29453762, c-29453763; c-29453762 waits: 1 active pod not finished`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := World{Nodes: Nodes(1, Node{Pods: 1})}
			if test.world(&w); w.CronJobs != nil {
				w.Nodes = nil
			}
			w = intact.Copy(w)
			was := intact.Copy(w)
			r, err := Run(t.Context(), w)
			must.OK(t, err)
			if got := "\n" + timeline(r); got != test.want {
				t.Errorf("got%s\nwant%s", got, test.want)
			}
			w.Admission, was.Admission = nil, nil // it counts
			if d := intact.Written(w, was); d != "" {
				t.Error("the world of the caller is written to", d)
			}
		})
	}
}
