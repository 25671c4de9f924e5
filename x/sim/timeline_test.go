package sim

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
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
		fmt.Fprintf(&b, "missed by %d: %d %v at %g %s\n", m.Cron, m.Count, m.Runs, m.At.Seconds(), m.Why)
	}

	for i := range r.Pods {
		p := &r.Pods[i]
		fmt.Fprintf(&b, "pod %d of job %d, node %d:", p.Number, p.Job, p.Node)
		if p.Index >= 0 {
			fmt.Fprintf(&b, " index %d", p.Index)
		}
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

	counts := reflect.ValueOf(r).Elem()
	for i := range counts.NumField() { // the counts that do not follow from the records
		if f := counts.Type().Field(i); counts.Field(i).Type() == reflect.TypeFor[int64]() &&
			!counts.Field(i).IsZero() {
			switch f.Name {
			case "JobsSubmitted", "JobsComplete", "JobsFailed", "PodsCreated",
				"PodsSucceeded", "PodsFailed", "RunsStarted":
			default:
				fmt.Fprintf(&b, "%s %d, ", f.Name, counts.Field(i).Int())
			}
		}
	}

	if r.Open.Events > 0 {
		fmt.Fprintf(&b, "later %d, ", r.Open.Events)
	}
	if r.Cost > 0 {
		fmt.Fprintf(&b, "cost %.4f, busy %.4f\n", r.Cost, r.CostBusy)
	}
	fmt.Fprintf(&b, "used %g, wasted %g; %s", r.Used.Seconds(), r.Wasted.Seconds(), &r.Open)
	return b.String()
}

// rounds writes down what the controllers see and how their rounds end: the objects that are new or
// changed since the round before, and the number of all objects.
type rounds struct {
	strings.Builder
	seen map[string]string
}

var noise = strings.NewReplacer("2026-01-01T00:", "", "terminating:0,", "", "uncountedTerminatedPods:{},", "", "index:-1,", "",
	"formatVersion:1", "", "kind:Job,namespace:default,", "", ",apiVersion:batch/v1", "")

func write[T any](w *rounds, head string, at time.Duration, end time.Time, status, memory any, objects []T, name func(*T) string) {
	fmt.Fprintf(w, "%s at %g, sees %d:", head, at.Seconds(), len(objects))
	if w.seen == nil {
		w.seen = map[string]string{}
	}

	one := func(key string, v any) {
		text, _ := json.Marshal(v)
		short := strings.ReplaceAll(string(text), `"`, "")
		if short = noise.Replace(short); w.seen[key] != short {
			w.seen[key] = short
			w.WriteString(" " + short)
		}
	}

	one(head+" status", status)
	one(head+" memory", memory)
	for i := range objects {
		one(name(&objects[i]), &objects[i])
	}
	if !end.IsZero() {
		w.WriteString(" again " + end.Format("04:05.999"))
	}
	w.WriteString("\n")
}

func (w *rounds) Job(r JobRound) {
	s := r.Snapshot
	write(w, s.Job.Name, r.At, r.Conclusion.Requeue.At, struct {
		Version int64
		job.Status
	}{s.Job.Version, s.Job.Status}, s.Memory.Expectations, s.Pods, func(p *job.Pod) string { return p.Name })
}

func (w *rounds) CronJob(r CronJobRound) {
	s := r.Snapshot
	write(w, s.CronJob.Name, r.At, r.Conclusion.Requeue.At, s.CronJob.Status, s.Memory,
		s.Children, func(c *cronjob.Child) string { return c.Name })
}

// TestRun_Timelines: in a world without random times, each step happens at an exact time.
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
	watched := func(w *World) { w.Watch = &rounds{} }
	pods := func(n int32, more ...Node) func(*World) { // on the first node, which is like the others
		return func(w *World) { w.Nodes[0].Pods = n; w.Nodes = append(w.Nodes, more...) }
	}

	for _, test := range []struct {
		name  string
		world func(*World)
		want  string
	}{
		{"a pod is pulled and runs", steady(Spec(1, 1), nil), `
j: submitted 10 started 15 finished 46 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 code 0 succeeded
Events 15, PodEvents 5, Rounds 5, Writes 4, StatusWrites 4, used 30, wasted 0; nothing is open`},
		{"the second waits for room", steady(Spec(2, 2), nil), `
j: submitted 10 started 15 finished 81 Complete CompletionsReached 2+0 of 2
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 code 0 succeeded
pod 1 of job 0, node 0: created 10 bound 45 started 50 ended 80 code 0 succeeded
Events 26, PodEvents 10, Rounds 9, Writes 7, StatusWrites 7, used 60, wasted 0; nothing is open`},
		{"what fails is replaced after ten seconds, then twenty", steady(Spec(1, 1), func(j *Job) {
			j.Pod.Failure, j.Pod.FailAfter, j.Pod.ExitCode, j.Spec.BackoffLimit = 1, Constant(sec(4)), 7, new(int32)
			*j.Spec.BackoffLimit = 2
		}), `
j: submitted 10 started 15 finished 68 Failed BackoffLimitExceeded 0+3 of 3
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 19 code 7
pod 1 of job 0, node 0: created 29 bound 29 started 34 ended 38 code 7
pod 2 of job 0, node 0: created 58 bound 58 started 63 ended 67 code 7
Events 45, PodEvents 15, Rounds 17, Writes 12, StatusWrites 12, used 0, wasted 12; nothing is open`},
		{"a container starts again, after ten and twenty seconds", steady(Spec(1, 1), func(j *Job) {
			j.Spec.Template.RestartPolicy = job.RestartOnFailure
			j.Pod.FailIn, j.Pod.FailAfter = []Window{{sec(15), sec(20)}}, Constant(sec(1))
		}), `
j: submitted 10 started 15 finished 78 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 77 code 0 succeeded restarts 2
Events 31, PodEvents 9, Rounds 11, Writes 8, StatusWrites 8, Restarted 2, used 30, wasted 0; nothing is open`},
		{"suspended while it runs, and resumed", steady(Spec(1, 1), func(j *Job) {
			j.Pod.Stop, j.Pod.Grace = Constant(sec(20)), sec(8)
			j.Edits = []Edit{{sec(50), func(s *job.Spec) { s.Suspend = &no }}, {sec(20), func(s *job.Spec) { s.Suspend = &yes }}}
		}), `
j: submitted 10 started 15 finished 96 Complete CompletionsReached 1+0 of 2
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 38 deleted 30 gone 38 code 137
pod 1 of job 0, node 0: created 60 bound 60 started 65 ended 95 code 0 succeeded
Events 35, PodEvents 12, Rounds 13, Writes 9, StatusWrites 8, used 30, wasted 23; nothing is open`},
		{"a deadline", steady(with(func(s *job.Spec) { n := int64(20); s.ActiveDeadlineSeconds = &n }), nil), `
j: submitted 10 started 15 finished 31 Failed DeadlineExceeded 0+1 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 30 deleted 30 gone 30 code 143
Events 19, PodEvents 7, Rounds 6, Writes 7, StatusWrites 6, used 0, wasted 15; nothing is open`},
		{"a time to live", steady(with(func(s *job.Spec) { n := int32(60); s.TTLSecondsAfterFinished = &n }), nil), `
j: submitted 10 started 15 finished 46 deleted 106 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 deleted 106 gone 106 code 0 succeeded
Events 16, PodEvents 7, Rounds 5, Writes 4, StatusWrites 4, Expired 1, used 30, wasted 0; nothing is open`},
		{"its node is drained", all(steady(Spec(1, 1), func(j *Job) { j.Pod.Stop = Constant(sec(3)) }),
			disrupted(Disruption{Kind: NodeDrained, At: sec(20), Back: sec(60)})), `
j: submitted 10 started 15 finished 96 Complete CompletionsReached 1+1 of 2
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 23 deleted 20 gone 23 code 143
pod 1 of job 0, node 0: created 30 bound 60 started 65 ended 95 code 0 succeeded
Events 40, PodEvents 12, Rounds 14, Writes 9, StatusWrites 9, Evictions 1, used 30, wasted 8; nothing is open`},
		{"its node is lost and comes back", all(steady(Spec(1, 1), func(j *Job) { j.Pod.Duration = Constant(time.Hour) }),
			disrupted(Disruption{Kind: NodeLost, At: sec(20), Back: sec(900)})), `
j: submitted 10 started 15 finished 4506 Complete CompletionsReached 1+1 of 2
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 900 deleted 360 gone 900 code 143
pod 1 of job 0, node 0: created 370 bound 900 started 905 ended 4505 code 0 succeeded
Events 43, PodEvents 13, Rounds 15, Writes 10, StatusWrites 10, Evictions 1, used 3600, wasted 885; nothing is open`},
		{"its node is lost and removed", all(steady(Spec(1, 1), func(j *Job) { j.Pod.Duration = Constant(time.Hour) }),
			disrupted(Disruption{Kind: NodeLost, At: sec(20), Back: sec(900), Removed: sec(100)})), `
j: submitted 10 started 15 finished 4506 Complete CompletionsReached 1+1 of 2
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 100 deleted 100 gone 101 code 137 disrupted
pod 1 of job 0, node 0: created 110 bound 900 started 905 ended 4505 code 0 succeeded
Events 41, PodEvents 13, Rounds 14, Writes 9, StatusWrites 9, Evictions 1, used 3600, wasted 85; nothing is open`},
		{"calls take a second, and changes two to be seen", all(steady(Spec(2, 2), nil),
			plane(ControlPlane{Latency: Constant(sec(1)), WatchLag: Constant(sec(2))})), `
j: submitted 10 started 18 finished 89 Complete CompletionsReached 2+0 of 2
pod 0 of job 0, node 0: created 13 bound 13 started 18 ended 48 code 0 succeeded
pod 1 of job 0, node 0: created 14 bound 48 started 53 ended 83 code 0 succeeded
Events 57, PodEvents 10, Rounds 10, Writes 11, StatusWrites 7, used 60, wasted 0; nothing is open`},
		{"the API server is down", all(steady(Spec(1, 1), nil),
			plane(ControlPlane{Latency: Constant(sec(1)), Outages: []Outage{{Window{sec(5), sec(20)}, APIServer}}})), `
j: submitted 10 started 32 finished 66 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 27 bound 27 started 32 ended 62 code 0 succeeded
Events 40, PodEvents 5, Rounds 10, Retries 4, Writes 14, Faults 7, StatusWrites 5, used 30, wasted 0; nothing is open`},
		{"the controllers are down", all(steady(Spec(1, 1), nil), plane(ControlPlane{Outages: []Outage{{Window{sec(5), sec(20)}, Controllers}}})), `
j: submitted 10 started 30 finished 61 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 25 bound 25 started 30 ended 60 code 0 succeeded
Events 18, PodEvents 5, Rounds 6, Writes 6, StatusWrites 4, Restarts 1, used 30, wasted 0; nothing is open`},
		{"the clocks differ", all(steady(with(func(s *job.Spec) { n := int32(60); s.TTLSecondsAfterFinished = &n }), nil),
			plane(ControlPlane{Skew: sec(7)}), func(w *World) { w.Nodes[0].Skew = sec(2.5) }), `
j: submitted 10 started 15 finished 46 deleted 106 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 deleted 106 gone 106 code 0 succeeded
Events 16, PodEvents 7, Rounds 5, Writes 4, StatusWrites 4, Expired 1, used 30, wasted 0; nothing is open`},
		{"a quota", all(func(w *World) {
			w.Admission = &Quota{Pods: 1}
			w.Jobs = Of(Job{Name: "a", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(sec(30))}},
				Job{Name: "b", Submit: sec(1), Spec: Spec(1, 1), Pod: Pod{Duration: Constant(sec(30))}})
		}), `
a: submitted 0 admitted 0 started 0 finished 31 Complete CompletionsReached 1+0 of 1
b: submitted 1 admitted 31 started 31 finished 62 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 0 bound 0 started 0 ended 30 code 0 succeeded
pod 0 of job 1, node 0: created 31 bound 31 started 31 ended 61 code 0 succeeded
Events 30, PodEvents 10, Rounds 10, Writes 9, StatusWrites 9, used 60, wasted 0; nothing is open`},
		{"a node with a price", all(steady(Spec(1, 1), nil), func(w *World) { w.Nodes[0].Price = 360 }), `
j: submitted 10 started 15 finished 46 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 code 0 succeeded
Events 15, PodEvents 5, Rounds 5, Writes 4, StatusWrites 4, cost 4.6000, busy 3.5000
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
Events 42, PodEvents 11, Rounds 10, CronRounds 15, Writes 15, StatusWrites 8, later 3, used 90, wasted 0; still open: 2 jobs, 0 pods pending, 2 running: c-29453762, c-29453763; c-29453762 waits: 1 active pod not finished`},
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
Events 39, PodEvents 17, Rounds 9, CronRounds 13, Writes 14, StatusWrites 6, later 3, used 0, wasted 120; still open: 1 job, 0 pods pending, 1 running: c-29453763; c-29453763 waits: 1 active pod not finished`},
		{"runs wait for each other", cron(func(c *CronJob) { c.Spec.ConcurrencyPolicy = cronjob.Forbid }), `
c-29453761: submitted 60.1 started 60.1 finished 151.1 Complete CompletionsReached 1+0 of 1
c-29453762: submitted 151.1 started 151.1   0+0 of 1
run of job 0: scheduled 60 created 60.1 finished 151.1 Complete
run of job 1: scheduled 120 created 151.1
pod 0 of job 0, node -1: created 60.1 bound 60.1 started 60.1 ended 150.1 code 0 succeeded
pod 0 of job 1, node -1: created 151.1 bound 151.1 started 151.1 code 0
Events 32, PodEvents 8, Rounds 7, CronRounds 11, Writes 10, StatusWrites 6, later 2, used 90, wasted 0; still open: 1 job, 0 pods pending, 1 running: c-29453762; c-29453762 waits: 1 active pod not finished`},
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
Events 46, PodEvents 11, Rounds 10, CronRounds 17, Writes 15, StatusWrites 8, later 3, used 90, wasted 0; still open: 2 jobs, 0 pods pending, 2 running: c-29453762, c-29453763; c-29453762 waits: 1 active pod not finished`},
		{"what the controllers see of restarts", all(steady(Spec(1, 1), func(j *Job) {
			j.Spec.Template = job.Template{RestartPolicy: job.RestartOnFailure, Containers: []string{"work", "other"}}
			j.Pod.FailIn, j.Pod.FailAfter, j.Pod.ExitCode = []Window{{sec(15), sec(20)}}, Constant(sec(1.5)), 7
			j.Pod.Schedule, j.Pod.Init, j.Pod.Ready, j.Pod.Duration =
				Constant(sec(0.25)), Constant(sec(0.75)), Constant(sec(1.5)), Constant(sec(2))
		}), watched, func(w *World) { w.Nodes[0].Skew = sec(2.5) }), `
j at 10, sees 0: {Version:1} {}
j at 11, sees 1: {Version:2,startTime:00:10Z,active:1,ready:0} {assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:10Z}}
j at 17, sees 1: {phase:Running,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:10Z}}
j at 18.5, sees 1: {phase:Running,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:10Z,containers:[{name:work,restarts:1}]}}
j at 28.5, sees 1:
j at 30, sees 1: {phase:Running,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:10Z,containers:[{name:work,restarts:2}]}}
j at 50, sees 1:
j at 51.5, sees 1: {phase:Succeeded,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:10Z,readyTransition:00:53Z,containers:[{name:work,restarts:2,state:Terminated,finishedAt:00:53Z}]}}
j: submitted 10 started 16 finished 51.5 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10.25 started 16 ended 51 code 0 succeeded restarts 2
Events 26, PodEvents 10, Rounds 8, Writes 3, StatusWrites 3, Restarted 2, used 2, wasted 0; nothing is open`},
		{"what they see late", all(steady(Spec(2, 2), func(j *Job) {
			j.Pod.Behave = func(s Start, l *Life, _ *rand.Rand) {
				if s.Number == 0 {
					*l = Life{For: sec(3), ExitCode: 5}
				}
			}
			j.Edits = []Edit{{sec(20), func(s *job.Spec) { s.Suspend = &yes }}, {sec(40), func(s *job.Spec) { s.Suspend = &no }}}
		}), watched, pods(2), plane(ControlPlane{WatchLag: Constant(sec(2)), Skew: sec(0.5)})), `
j at 12, sees 0: {Version:1} {}
j at 15, sees 2: {Version:2,startTime:00:12Z,active:2,ready:0} {assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:12Z}} {assigned:true,uid:1z141z5,name:j-1z141z5,detail:{creationTimestamp:00:12Z}}
j at 20, sees 2: {phase:Running,ready:true,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:12Z}} {phase:Running,ready:true,assigned:true,uid:1z141z5,name:j-1z141z5,detail:{creationTimestamp:00:12Z}}
j at 23, sees 2: {Version:3,startTime:00:12Z,active:2,ready:2} {phase:Failed,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:12Z,readyTransition:00:20Z,containers:[{name:main,state:Terminated,exitCode:5,finishedAt:00:20Z}]}} again 00:30
j at 26, sees 2: {Version:5,startTime:00:12Z,active:1,failed:1,ready:1} {phase:Failed,untracked:true,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:12Z,readyTransition:00:20Z,containers:[{name:main,state:Terminated,exitCode:5,finishedAt:00:20Z}]}} again 00:30
j at 29.5, sees 2:
j at 32, sees 3: {Version:7,startTime:00:12Z,active:2,failed:1,ready:1} {assigned:true,uid:1z141z6,name:j-1z141z6,detail:{creationTimestamp:00:29Z}} again 00:32.5
j at 32.5, sees 3: {deletions:2,at:00:32.5Z} again 00:34
j at 35, sees 1: {Version:8,conditions:[{type:Suspended,status:True,lastProbeTime:00:32Z,lastTransitionTime:00:32Z,reason:JobSuspended,message:Job suspended}],failed:1,terminating:2,ready:0} {}
j at 38, sees 1: {Version:9,conditions:[{type:Suspended,status:True,lastProbeTime:00:32Z,lastTransitionTime:00:32Z,reason:JobSuspended,message:Job suspended}],failed:1,ready:0}
j at 52, sees 1: {Version:10,conditions:[{type:Suspended,status:True,lastProbeTime:00:32Z,lastTransitionTime:00:32Z,reason:JobSuspended,message:Job suspended}],failed:1,ready:0}
j at 55, sees 3: {Version:11,conditions:[{type:Suspended,status:False,lastProbeTime:00:52Z,lastTransitionTime:00:52Z,reason:JobResumed,message:Job resumed}],startTime:00:52Z,active:2,failed:1,ready:0} {assigned:true,uid:3y283y9,name:j-3y283y9,detail:{creationTimestamp:00:52Z}} {assigned:true,uid:3y283ya,name:j-3y283ya,detail:{creationTimestamp:00:52Z}}
j at 60, sees 3: {phase:Running,ready:true,assigned:true,uid:3y283y9,name:j-3y283y9,detail:{creationTimestamp:00:52Z}} {phase:Running,ready:true,assigned:true,uid:3y283ya,name:j-3y283ya,detail:{creationTimestamp:00:52Z}}
j at 63, sees 3: {Version:12,conditions:[{type:Suspended,status:False,lastProbeTime:00:52Z,lastTransitionTime:00:52Z,reason:JobResumed,message:Job resumed}],startTime:00:52Z,active:2,failed:1,ready:2}
j at 90, sees 3: {phase:Succeeded,assigned:true,uid:3y283y9,name:j-3y283y9,detail:{creationTimestamp:00:52Z,readyTransition:01:27Z,containers:[{name:main,state:Terminated,finishedAt:01:27Z}]}} {phase:Succeeded,assigned:true,uid:3y283ya,name:j-3y283ya,detail:{creationTimestamp:00:52Z,readyTransition:01:27Z,containers:[{name:main,state:Terminated,finishedAt:01:27Z}]}}
j: submitted 10 started 17 finished 90 Complete CompletionsReached 2+1 of 5
pod 0 of job 0, node 0: created 12 bound 12 started 17 ended 20 code 5
pod 1 of job 0, node 0: created 12 bound 12 started 17 ended 32 deleted 32 gone 32 code 143
pod 2 of job 0, node 0: created 29.5 bound 29.5 ended 32 deleted 32 gone 32 code 137
pod 3 of job 0, node 0: created 52 bound 52 started 57 ended 87 code 0 succeeded
pod 4 of job 0, node 0: created 52 bound 52 started 57 ended 87 code 0 succeeded
Events 90, PodEvents 28, Rounds 15, Writes 13, StatusWrites 11, used 60, wasted 18; nothing is open`},
		{"what they see of a node that is lost and heard of again", all(steady(Spec(3, 3), func(j *Job) {
			j.Pod.Ready, j.Pod.Duration, j.Pod.Pull = Constant(sec(8)), Constant(sec(100)), Dist{}
			j.Pod.Behave = func(s Start, l *Life, _ *rand.Rand) { l.For += time.Duration(s.Number) * 100 * time.Second }
			j.Edits = []Edit{{sec(5), func(s *job.Spec) { n := int32(4); s.Parallelism, s.Completions = &n, &n }},
				{sec(250), func(s *job.Spec) { s.Suspend = &yes }}}
		}), watched, pods(6), disrupted(Disruption{Kind: NodeLost, At: sec(17), Back: sec(200)}), plane(ControlPlane{WatchLag: Constant(sec(1))})), `
j at 11, sees 0: {Version:1} {}
j at 13, sees 3: {Version:2,startTime:00:11Z,active:3,ready:0} {phase:Running,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:11Z}} {phase:Running,assigned:true,uid:1z141z5,name:j-1z141z5,detail:{creationTimestamp:00:11Z}} {phase:Running,assigned:true,uid:1z141z6,name:j-1z141z6,detail:{creationTimestamp:00:11Z}}
j at 16, sees 3: {Version:3,startTime:00:11Z,active:3,ready:0}
j at 18, sees 4: {Version:4,startTime:00:11Z,active:4,ready:0} {phase:Running,assigned:true,uid:1z141z7,name:j-1z141z7,detail:{creationTimestamp:00:16Z}}
j at 202, sees 4: {phase:Succeeded,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:11Z,readyTransition:03:20Z,containers:[{name:main,state:Terminated,finishedAt:03:20Z}]}} {phase:Running,ready:true,assigned:true,uid:1z141z5,name:j-1z141z5,detail:{creationTimestamp:00:11Z}} {phase:Running,ready:true,assigned:true,uid:1z141z6,name:j-1z141z6,detail:{creationTimestamp:00:11Z}} {phase:Running,ready:true,assigned:true,uid:1z141z7,name:j-1z141z7,detail:{creationTimestamp:00:16Z}}
j at 204, sees 4: {Version:6,startTime:00:11Z,active:3,succeeded:1,ready:3} {phase:Succeeded,untracked:true,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:11Z,readyTransition:03:20Z,containers:[{name:main,state:Terminated,finishedAt:03:20Z}]}}
j at 213, sees 4: {phase:Succeeded,assigned:true,uid:1z141z5,name:j-1z141z5,detail:{creationTimestamp:00:11Z,readyTransition:03:31Z,containers:[{name:main,state:Terminated,finishedAt:03:31Z}]}}
j at 215, sees 4: {Version:8,startTime:00:11Z,active:2,succeeded:2,ready:2} {phase:Succeeded,untracked:true,assigned:true,uid:1z141z5,name:j-1z141z5,detail:{creationTimestamp:00:11Z,readyTransition:03:31Z,containers:[{name:main,state:Terminated,finishedAt:03:31Z}]}}
j at 261, sees 4: {Version:9,startTime:00:11Z,active:2,succeeded:2,ready:2} again 04:21
j at 263, sees 2: {Version:10,conditions:[{type:Suspended,status:True,lastProbeTime:04:21Z,lastTransitionTime:04:21Z,reason:JobSuspended,message:Job suspended}],succeeded:2,terminating:2,ready:0}
j at 265, sees 2: {Version:11,conditions:[{type:Suspended,status:True,lastProbeTime:04:21Z,lastTransitionTime:04:21Z,reason:JobSuspended,message:Job suspended}],succeeded:2,ready:0}
j: submitted 10 started 11   2+0 of 4
pod 0 of job 0, node 0: created 11 bound 11 started 11 ended 200 code 0 succeeded
pod 1 of job 0, node 0: created 11 bound 11 started 11 ended 211 code 0 succeeded
pod 2 of job 0, node 0: created 11 bound 11 started 11 ended 261 deleted 261 gone 261 code 143
pod 3 of job 0, node 0: created 16 bound 16 started 16 ended 261 deleted 261 gone 261 code 143
Events 84, PodEvents 28, Rounds 11, Writes 10, StatusWrites 8, used 389, wasted 495; still open: 1 job (1 suspended), 0 pods pending, 0 running: j; j waits: the job is suspended`},
		{"pods that are deleted before they have a node", all(steady(Spec(3, 3), func(j *Job) {
			j.Pod.Schedule = Constant(sec(2))
			for i, after := range []float64{1, 3, 20, 50} {
				j.Edits = append(j.Edits, Edit{sec(after), func(s *job.Spec) { s.Suspend = []*bool{&yes, &no}[i%2] }})
			}
		}), watched), `
j at 10, sees 0: {Version:1} {}
j at 11, sees 3: {Version:3,startTime:00:10Z,active:3,ready:0} {uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:10Z}} {uid:1z141z5,name:j-1z141z5,detail:{creationTimestamp:00:10Z}} {uid:1z141z6,name:j-1z141z6,detail:{creationTimestamp:00:10Z}} again 00:11
j at 11, sees 0: {Version:4,conditions:[{type:Suspended,status:True,lastProbeTime:00:11Z,lastTransitionTime:00:11Z,reason:JobSuspended,message:Job suspended}],terminating:3,ready:0}
j at 12, sees 0: {Version:5,conditions:[{type:Suspended,status:True,lastProbeTime:00:11Z,lastTransitionTime:00:11Z,reason:JobSuspended,message:Job suspended}],ready:0}
j at 13, sees 0: {Version:6,conditions:[{type:Suspended,status:True,lastProbeTime:00:11Z,lastTransitionTime:00:11Z,reason:JobSuspended,message:Job suspended}],ready:0}
j at 14, sees 3: {Version:7,conditions:[{type:Suspended,status:False,lastProbeTime:00:13Z,lastTransitionTime:00:13Z,reason:JobResumed,message:Job resumed}],startTime:00:13Z,active:3,ready:0} {uid:3y283ya,name:j-3y283ya,detail:{creationTimestamp:00:13Z}} {uid:3y283y9,name:j-3y283y9,detail:{creationTimestamp:00:13Z}} {uid:3y283y8,name:j-3y283y8,detail:{creationTimestamp:00:13Z}}
j at 16, sees 3: {assigned:true,uid:3y283ya,name:j-3y283ya,detail:{creationTimestamp:00:13Z}}
j at 21, sees 3: {phase:Running,ready:true,assigned:true,uid:3y283ya,name:j-3y283ya,detail:{creationTimestamp:00:13Z}}
j at 22, sees 3: {Version:8,conditions:[{type:Suspended,status:False,lastProbeTime:00:13Z,lastTransitionTime:00:13Z,reason:JobResumed,message:Job resumed}],startTime:00:13Z,active:3,ready:1}
j at 30, sees 3: {Version:9,conditions:[{type:Suspended,status:False,lastProbeTime:00:13Z,lastTransitionTime:00:13Z,reason:JobResumed,message:Job resumed}],startTime:00:13Z,active:3,ready:1} again 00:30
j at 31, sees 0: {Version:10,conditions:[{type:Suspended,status:True,lastProbeTime:00:30Z,lastTransitionTime:00:30Z,reason:JobSuspended,message:Job suspended}],terminating:3,ready:0}
j at 32, sees 0: {Version:11,conditions:[{type:Suspended,status:True,lastProbeTime:00:30Z,lastTransitionTime:00:30Z,reason:JobSuspended,message:Job suspended}],ready:0}
j at 60, sees 0: {Version:12,conditions:[{type:Suspended,status:True,lastProbeTime:00:30Z,lastTransitionTime:00:30Z,reason:JobSuspended,message:Job suspended}],ready:0}
j at 61, sees 3: {Version:13,conditions:[{type:Suspended,status:False,lastProbeTime:01:00Z,lastTransitionTime:01:00Z,reason:JobResumed,message:Job resumed}],startTime:01:00Z,active:3,ready:0} {uid:5x3c5xe,name:j-5x3c5xe,detail:{creationTimestamp:01:00Z}} {uid:5x3c5xd,name:j-5x3c5xd,detail:{creationTimestamp:01:00Z}} {uid:5x3c5xc,name:j-5x3c5xc,detail:{creationTimestamp:01:00Z}}
j at 63, sees 3: {assigned:true,uid:5x3c5xe,name:j-5x3c5xe,detail:{creationTimestamp:01:00Z}}
j at 68, sees 3: {phase:Running,ready:true,assigned:true,uid:5x3c5xe,name:j-5x3c5xe,detail:{creationTimestamp:01:00Z}}
j at 69, sees 3: {Version:14,conditions:[{type:Suspended,status:False,lastProbeTime:01:00Z,lastTransitionTime:01:00Z,reason:JobResumed,message:Job resumed}],startTime:01:00Z,active:3,ready:1}
j at 98, sees 3: {phase:Succeeded,assigned:true,uid:5x3c5xe,name:j-5x3c5xe,detail:{creationTimestamp:01:00Z,readyTransition:01:37Z,containers:[{name:main,state:Terminated,finishedAt:01:37Z}]}} {assigned:true,uid:5x3c5xd,name:j-5x3c5xd,detail:{creationTimestamp:01:00Z}}
j at 99, sees 3: {Version:16,conditions:[{type:Suspended,status:False,lastProbeTime:01:00Z,lastTransitionTime:01:00Z,reason:JobResumed,message:Job resumed}],startTime:01:00Z,active:2,succeeded:1,ready:0} {phase:Succeeded,untracked:true,assigned:true,uid:5x3c5xe,name:j-5x3c5xe,detail:{creationTimestamp:01:00Z,readyTransition:01:37Z,containers:[{name:main,state:Terminated,finishedAt:01:37Z}]}}
j at 103, sees 3: {phase:Running,ready:true,assigned:true,uid:5x3c5xd,name:j-5x3c5xd,detail:{creationTimestamp:01:00Z}}
j at 104, sees 3: {Version:17,conditions:[{type:Suspended,status:False,lastProbeTime:01:00Z,lastTransitionTime:01:00Z,reason:JobResumed,message:Job resumed}],startTime:01:00Z,active:2,succeeded:1,ready:1}
j at 133, sees 3: {phase:Succeeded,assigned:true,uid:5x3c5xd,name:j-5x3c5xd,detail:{creationTimestamp:01:00Z,readyTransition:02:12Z,containers:[{name:main,state:Terminated,finishedAt:02:12Z}]}} {assigned:true,uid:5x3c5xc,name:j-5x3c5xc,detail:{creationTimestamp:01:00Z}}
j at 134, sees 3: {Version:19,conditions:[{type:Suspended,status:False,lastProbeTime:01:00Z,lastTransitionTime:01:00Z,reason:JobResumed,message:Job resumed}],startTime:01:00Z,active:1,succeeded:2,ready:0} {phase:Succeeded,untracked:true,assigned:true,uid:5x3c5xd,name:j-5x3c5xd,detail:{creationTimestamp:01:00Z,readyTransition:02:12Z,containers:[{name:main,state:Terminated,finishedAt:02:12Z}]}}
j at 138, sees 3: {phase:Running,ready:true,assigned:true,uid:5x3c5xc,name:j-5x3c5xc,detail:{creationTimestamp:01:00Z}}
j at 139, sees 3: {Version:20,conditions:[{type:Suspended,status:False,lastProbeTime:01:00Z,lastTransitionTime:01:00Z,reason:JobResumed,message:Job resumed}],startTime:01:00Z,active:1,succeeded:2,ready:1}
j at 168, sees 3: {phase:Succeeded,assigned:true,uid:5x3c5xc,name:j-5x3c5xc,detail:{creationTimestamp:01:00Z,readyTransition:02:47Z,containers:[{name:main,state:Terminated,finishedAt:02:47Z}]}}
j: submitted 10 started 20 finished 168 Complete CompletionsReached 3+0 of 9
pod 0 of job 0, node -1: created 10 deleted 11 gone 11 code 0
pod 1 of job 0, node -1: created 10 deleted 11 gone 11 code 0
pod 2 of job 0, node -1: created 10 deleted 11 gone 11 code 0
pod 3 of job 0, node 0: created 13 bound 15 started 20 ended 30 deleted 30 gone 30 code 143
pod 4 of job 0, node -1: created 13 deleted 30 gone 30 code 0
pod 5 of job 0, node -1: created 13 deleted 30 gone 30 code 0
pod 6 of job 0, node 0: created 60 bound 62 started 67 ended 97 code 0 succeeded
pod 7 of job 0, node 0: created 60 bound 97 started 102 ended 132 code 0 succeeded
pod 8 of job 0, node 0: created 60 bound 132 started 137 ended 167 code 0 succeeded
Events 72, PodEvents 42, Rounds 26, Writes 23, StatusWrites 17, used 90, wasted 10; nothing is open`},
		{"a scheduler of one's own meets them too", all(steady(Spec(3, 3), func(j *Job) {
			j.Pod.Schedule = Constant(sec(2))
			j.Edits = []Edit{{sec(20), func(s *job.Spec) { s.Suspend = &yes }}, {sec(50), func(s *job.Spec) { s.Suspend = &no }}}
		}), func(w *World) { w.Scheduler = last{} }), `
j: submitted 10 started 17 finished 168 Complete CompletionsReached 3+0 of 6
pod 0 of job 0, node 0: created 10 bound 12 started 17 ended 30 deleted 30 gone 30 code 143
pod 1 of job 0, node -1: created 10 deleted 30 gone 30 code 0
pod 2 of job 0, node -1: created 10 deleted 30 gone 30 code 0
pod 3 of job 0, node 0: created 60 bound 62 started 67 ended 97 code 0 succeeded
pod 4 of job 0, node 0: created 60 bound 97 started 102 ended 132 code 0 succeeded
pod 5 of job 0, node 0: created 60 bound 132 started 137 ended 167 code 0 succeeded
Events 61, PodEvents 30, Rounds 22, Writes 17, StatusWrites 14, used 90, wasted 13; nothing is open`},
		{"a node that is lost for good", all(steady(Spec(1, 1), nil), watched, func(w *World) { w.Until = sec(1000) },
			disrupted(Disruption{Kind: NodeLost, At: sec(20), Removed: sec(700)})), `
j at 10, sees 0: {Version:1} {}
j at 11, sees 1: {Version:2,startTime:00:10Z,active:1,ready:0} {assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:10Z}}
j at 16, sees 1: {phase:Running,ready:true,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:10Z}}
j at 17, sees 1: {Version:3,startTime:00:10Z,active:1,ready:1}
j at 61, sees 1: {phase:Running,assigned:true,uid:1z141z4,name:j-1z141z4,detail:{creationTimestamp:00:10Z}}
j at 62, sees 1: {Version:4,startTime:00:10Z,active:1,ready:0}
j at 361, sees 1: {phase:Running,assigned:true,uid:1z141z4,name:j-1z141z4,deletion:{timestamp:06:30Z,gracePeriodSeconds:30},detail:{creationTimestamp:00:10Z,conditions:[{type:DisruptionTarget,status:True}]}} again 06:01
j at 362, sees 1: {Version:6,startTime:00:10Z,failed:1,terminating:1,ready:0} {phase:Running,untracked:true,assigned:true,uid:1z141z4,name:j-1z141z4,deletion:{timestamp:06:30Z,gracePeriodSeconds:30},detail:{creationTimestamp:00:10Z,conditions:[{type:DisruptionTarget,status:True}]}} again 06:10
j at 370, sees 1:
j at 371, sees 2: {Version:7,startTime:00:10Z,active:1,failed:1,terminating:1,ready:0} {uid:1z141z5,name:j-1z141z5,detail:{creationTimestamp:06:10Z}}
j at 701, sees 1:
j at 702, sees 1: {Version:8,startTime:00:10Z,active:1,failed:1,ready:0}
j: submitted 10 started 15   0+1 of 2
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 700 deleted 360 gone 700 code 137 disrupted
pod 1 of job 0, node -1: created 370 code 0
Events 33, PodEvents 9, Rounds 12, Writes 7, StatusWrites 7, Evictions 1, used 0, wasted 685; still open: 1 job, 1 pod pending, 0 running: j; j waits: 1 active pod not finished`},
		{"restarts without an end", all(steady(with(func(s *job.Spec) {
			n := int32(1000)
			s.Template.RestartPolicy, s.BackoffLimit = job.RestartOnFailure, &n
		}), func(j *Job) { j.Pod.Failure, j.Pod.FailAfter = 1, Constant(sec(1)) }), func(w *World) { w.Until = 4 * time.Hour }), `
j: submitted 10 started 15   0+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 code 0 restarts 52
Events 422, PodEvents 106, Rounds 158, Writes 105, StatusWrites 105, Restarted 52, later 1, used 0, wasted 0; still open: 1 job, 1 pod pending, 0 running: j; j waits: 1 active pod not finished`},
		{"the API server is down twice", all(steady(Spec(1, 1), func(j *Job) { j.Pod.Duration = Constant(sec(50)) }), plane(ControlPlane{Outages: []Outage{
			{Window{sec(5), sec(20)}, APIServer}, {Window{sec(75), sec(9)}, APIServer},
		}})), `
j: submitted 10 started 30 finished 84 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 25 bound 25 started 30 ended 80 code 0 succeeded
Events 27, PodEvents 5, Rounds 11, Retries 6, Writes 16, Faults 10, StatusWrites 4, used 50, wasted 0; nothing is open`},
		{"ended pods of jobs that are gone", func(w *World) {
			a, one := Spec(2, 1), int32(1)
			a.TTLSecondsAfterFinished = &one
			w.Jobs = Of(Job{Name: "a", Spec: a, Pod: Pod{Duration: Constant(sec(2))}},
				Job{Name: "b", Submit: sec(12), Spec: Spec(5, 1), Pod: Pod{Duration: Constant(sec(6))}})
			w.ControlPlane.PodGC = 1
		}, `
a: submitted 0 started 0 finished 4 deleted 5 Complete CompletionsReached 2+0 of 2
b: submitted 12 started 12 finished 47 Complete CompletionsReached 5+0 of 5
pod 0 of job 0, node 0: created 0 bound 0 started 0 ended 2 deleted 5 gone 5 code 0 succeeded
pod 1 of job 0, node 0: created 2 bound 2 started 2 ended 4 deleted 5 gone 5 code 0 succeeded
pod 0 of job 1, node 0: created 12 bound 12 started 12 ended 18 deleted 40 gone 40 code 0 succeeded
pod 1 of job 1, node 0: created 19 bound 19 started 19 ended 25 deleted 40 gone 40 code 0 succeeded
pod 2 of job 1, node 0: created 26 bound 26 started 26 ended 32 deleted 40 gone 40 code 0 succeeded
pod 3 of job 1, node 0: created 33 bound 33 started 33 ended 39 deleted 60 gone 60 code 0 succeeded
pod 4 of job 1, node 0: created 40 bound 40 started 40 ended 46 code 0 succeeded
Events 63, PodEvents 47, Rounds 21, Writes 23, StatusWrites 23, Expired 1, PodsCollected 4, used 34, wasted 0; nothing is open`},
		{"runs that are missed for several reasons", all(cron(func(c *CronJob) {
			c.Suspend, c.Job.Pod.Duration = []Window{{sec(65), sec(245)}}, Constant(sec(5))
		}), func(w *World) { w.Until = sec(330) }, plane(ControlPlane{Outages: []Outage{
			{Window{sec(115), sec(10)}, Controllers}, {Window{sec(235), sec(10)}, Controllers},
		}})), `
c-29453761: submitted 60.1 started 60.1 finished 66.1 Complete CompletionsReached 1+0 of 1
c-29453765: submitted 310 started 310 finished 316 Complete CompletionsReached 1+0 of 1
run of job 0: scheduled 60 created 60.1 finished 66.1 Complete
run of job 1: scheduled 300 created 310 finished 316 Complete
missed by 0: 2 [4m0s 2m0s] at 310 the controllers were down
missed by 0: 1 [3m0s] at 310 the CronJob was suspended
pod 0 of job 0, node -1: created 60.1 bound 60.1 started 60.1 ended 65.1 code 0 succeeded
pod 0 of job 1, node -1: created 310 bound 310 started 310 ended 315 code 0 succeeded
Events 47, PodEvents 10, Rounds 8, CronRounds 17, Writes 18, StatusWrites 8, Restarts 2, RunsMissed 3, later 1, used 10, wasted 0; nothing is open`},
		{"a node that is lost while it pulls", all(steady(Spec(1, 1), nil), pods(2, Node{Name: "b", Pods: 1}),
			disrupted(Disruption{Kind: NodeLost, At: sec(12), Back: sec(100)})), `
j: submitted 10 started 100 finished 131 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 100 ended 130 code 0 succeeded
Events 20, PodEvents 5, Rounds 5, Writes 4, StatusWrites 4, used 30, wasted 0; nothing is open`},
		{"a node that comes back a second before its pod ends", all(steady(Spec(1, 1), nil),
			disrupted(Disruption{Kind: NodeLost, At: sec(20), Back: sec(44)})), `
j: submitted 10 started 15 finished 46 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 code 0 succeeded
Events 22, PodEvents 6, Rounds 6, Writes 4, StatusWrites 4, used 30, wasted 0; nothing is open`},
		{"a pod that runs for longer than a century", steady(Spec(1, 1), func(j *Job) {
			j.Pod.Behave = func(_ Start, l *Life, _ *rand.Rand) { l.For = math.MaxInt64 }
		}), `
j: submitted 10 started 15   0+0 of 1
pod 0 of job 0, node 0: created 10 bound 10 started 15 code 0
Events 11, PodEvents 3, Rounds 4, Writes 2, StatusWrites 2, later 1, used 0, wasted 0; still open: 1 job, 0 pods pending, 1 running: j; j waits: 1 active pod not finished`},
		{"a node with room is drained", all(steady(Spec(3, 2), func(j *Job) { j.Spec.BackoffLimit = nil }), pods(3, Node{Name: "b", Pods: 1}),
			disrupted(Disruption{Kind: NodeDrained, At: sec(30), Back: sec(400)})), `
j: submitted 10 started 15 finished 156 Complete CompletionsReached 3+2 of 5
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 30 deleted 30 gone 31 code 143
pod 1 of job 0, node 0: created 10 bound 10 started 15 ended 30 deleted 30 gone 31 code 143
pod 2 of job 0, node 1: created 50 bound 50 started 55 ended 85 code 0 succeeded
pod 3 of job 0, node 1: created 50 bound 85 started 90 ended 120 code 0 succeeded
pod 4 of job 0, node 1: created 86 bound 120 started 125 ended 155 code 0 succeeded
Events 59, PodEvents 29, Rounds 19, Writes 14, StatusWrites 14, Evictions 2, used 90, wasted 30; nothing is open`},
		{"a rate limit", all(steady(Spec(4, 4), nil), pods(4), plane(ControlPlane{QPS: 0.5, Burst: 2})), `
j: submitted 10 started 15 finished 58 Complete CompletionsReached 4+0 of 4
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 code 0 succeeded
pod 1 of job 0, node 0: created 10 bound 10 started 15 ended 45 code 0 succeeded
pod 2 of job 0, node 0: created 12 bound 12 started 17 ended 47 code 0 succeeded
pod 3 of job 0, node 0: created 14 bound 14 started 19 ended 49 code 0 succeeded
Events 48, PodEvents 20, Rounds 8, Writes 16, StatusWrites 8, used 120, wasted 0; nothing is open`},
		{"a rate limit without a burst, and slow calls", all(steady(Spec(2, 2), nil), pods(4), plane(ControlPlane{QPS: 1, Latency: Constant(sec(0.5))})), `
j: submitted 10 started 15.5 finished 50 Complete CompletionsReached 2+0 of 2
pod 0 of job 0, node 0: created 10.5 bound 10.5 started 15.5 ended 45.5 code 0 succeeded
pod 1 of job 0, node 0: created 11.5 bound 11.5 started 16.5 ended 46.5 code 0 succeeded
Events 31, PodEvents 10, Rounds 6, Writes 8, StatusWrites 4, used 60, wasted 0; nothing is open`},
		{"half of the writes fail, some replies are lost, and changes are late by chance", all(steady(Spec(3, 2), nil), pods(4),
			plane(ControlPlane{Fail: 0.4, LoseReply: 0.2, WatchLag: Uniform(0, sec(5)), Latency: Uniform(0, sec(1))})), `
j: submitted 10 started 16.596576696 finished 120.333252693 Complete CompletionsReached 3+0 of 3
pod 0 of job 0, node 0: created 11.596576696 bound 11.596576696 started 16.596576696 ended 46.596576696 code 0 succeeded
pod 1 of job 0, node 0: created 12.404832648 bound 12.404832648 started 17.404832648 ended 47.404832648 code 0 succeeded
pod 2 of job 0, node 0: created 48.019624858 bound 48.019624858 started 53.019624858 ended 83.019624858 code 0 succeeded
Events 88, PodEvents 15, Rounds 16, Retries 6, Writes 21, Faults 6, StatusWrites 9, used 90, wasted 0; nothing is open`},
		{"a large pod makes room for two", func(w *World) {
			pod := Pod{Duration: Constant(sec(30)), Resources: Resources{CPU: 2}}
			large := pod
			large.CPU = 4
			w.Nodes[0] = Node{Resources: Resources{CPU: 4}}
			w.Jobs = Of(Job{Name: "large", Spec: Spec(1, 1), Pod: large},
				Job{Name: "small", Spec: Spec(2, 2), Pod: pod}, Job{Name: "last", Spec: Spec(1, 1), Pod: pod})
		}, `
large: submitted 0 started 0 finished 31 Complete CompletionsReached 1+0 of 1
small: submitted 0 started 30 finished 61 Complete CompletionsReached 2+0 of 2
last: submitted 0 started 60 finished 91 Complete CompletionsReached 1+0 of 1
pod 0 of job 0, node 0: created 0 bound 0 started 0 ended 30 code 0 succeeded
pod 0 of job 1, node 0: created 0 bound 30 started 30 ended 60 code 0 succeeded
pod 1 of job 1, node 0: created 0 bound 30 started 30 ended 60 code 0 succeeded
pod 0 of job 2, node 0: created 0 bound 60 started 60 ended 90 code 0 succeeded
Events 40, PodEvents 20, Rounds 14, Writes 12, StatusWrites 12, used 120, wasted 0; nothing is open`},
		{"a success that is on its way as the job is suspended", all(steady(Spec(2, 1), func(j *Job) {
			j.Edits = []Edit{{sec(36), func(s *job.Spec) { s.Suspend = &yes }}, {sec(70), func(s *job.Spec) { s.Suspend = &no }}}
		}), plane(ControlPlane{WatchLag: Constant(sec(3))})), `
j: submitted 10 started 18 finished 122 Complete CompletionsReached 2+0 of 2
pod 0 of job 0, node 0: created 13 bound 13 started 18 ended 48 code 0 succeeded
pod 1 of job 0, node 0: created 83 bound 83 started 88 ended 118 code 0 succeeded
Events 55, PodEvents 10, Rounds 13, Retries 1, Writes 10, StatusWrites 9, used 60, wasted 0; nothing is open`},
		{"a restart between the calls of a round", all(steady(Spec(3, 3), nil), pods(3),
			plane(ControlPlane{Latency: Constant(sec(1)), Restarts: []time.Duration{sec(11.5)}})), `
j: submitted 10 started 16 finished 53 Complete CompletionsReached 3+0 of 3
pod 0 of job 0, node 0: created 11 bound 11 started 16 ended 46 code 0 succeeded
pod 1 of job 0, node 0: created 12.5 bound 12.5 started 17.5 ended 47.5 code 0 succeeded
pod 2 of job 0, node 0: created 13.5 bound 13.5 started 18.5 ended 48.5 code 0 succeeded
Events 48, PodEvents 15, Rounds 9, Writes 13, StatusWrites 7, Restarts 1, used 90, wasted 0; nothing is open`},
		{"a restart with changes on their way", all(steady(Spec(2, 2), func(j *Job) { j.Pod.FailIn = []Window{{sec(20), sec(5)}} }), pods(2),
			plane(ControlPlane{WatchLag: Constant(sec(4)), Restarts: []time.Duration{sec(12), sec(22)}, Outages: []Outage{{Window{sec(21), sec(10)}, Controllers}, {Window{sec(25), sec(15)}, Controllers}}})), `
j: submitted 10 started 17 finished 95 Complete CompletionsReached 2+2 of 4
pod 0 of job 0, node 0: created 12 bound 12 started 17 ended 24.37746508 code 1
pod 1 of job 0, node 0: created 12 bound 12 started 17 ended 35.633076188 code 1
pod 2 of job 0, node 0: created 55 bound 55 started 60 ended 90 code 0 succeeded
pod 3 of job 0, node 0: created 55 bound 55 started 60 ended 90 code 0 succeeded
Events 73, PodEvents 20, Rounds 11, Writes 15, StatusWrites 7, Restarts 2, used 60, wasted 26.010541268; nothing is open`},
		{"pods that have ended are too many", all(steady(with(func(s *job.Spec) {
			five, one, ttl := int32(5), int32(1), int32(50)
			s.Completions, s.Parallelism, s.TTLSecondsAfterFinished = &five, &one, &ttl
		}), func(j *Job) { j.Pod.Duration = Constant(sec(3)) }), plane(ControlPlane{PodGC: 2})), `
j: submitted 10 started 15 finished 55 deleted 105 Complete CompletionsReached 5+0 of 5
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 18 deleted 40 gone 40 code 0 succeeded
pod 1 of job 0, node 0: created 19 bound 19 started 24 ended 27 deleted 60 gone 60 code 0 succeeded
pod 2 of job 0, node 0: created 28 bound 28 started 33 ended 36 deleted 60 gone 60 code 0 succeeded
pod 3 of job 0, node 0: created 37 bound 37 started 42 ended 45 deleted 105 gone 105 code 0 succeeded
pod 4 of job 0, node 0: created 46 bound 46 started 51 ended 54 deleted 105 gone 105 code 0 succeeded
Events 64, PodEvents 35, Rounds 22, Writes 16, StatusWrites 16, Expired 1, PodsCollected 3, used 15, wasted 0; nothing is open`},
		{"too few to be too many", all(steady(Spec(4, 1), nil), plane(ControlPlane{PodGC: 4})), `
j: submitted 10 started 15 finished 154 Complete CompletionsReached 4+0 of 4
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 code 0 succeeded
pod 1 of job 0, node 0: created 46 bound 46 started 51 ended 81 code 0 succeeded
pod 2 of job 0, node 0: created 82 bound 82 started 87 ended 117 code 0 succeeded
pod 3 of job 0, node 0: created 118 bound 118 started 123 ended 153 code 0 succeeded
Events 48, PodEvents 20, Rounds 17, Writes 13, StatusWrites 13, used 120, wasted 0; nothing is open`},
		{"indexes, of which one fails", all(steady(with(func(s *job.Spec) {
			three, limit := int32(3), int32(1)
			s.Completions, s.Parallelism, s.CompletionMode, s.BackoffLimitPerIndex = &three, &three, job.Indexed, &limit
		}), func(j *Job) {
			j.Pod.Behave = func(s Start, l *Life, _ *rand.Rand) {
				if want := (Start{Job: "j", Number: s.Number, Index: s.Number, At: sec(15), Node: 0}); s.Number < 3 && s != want {
					l.ExitCode = 99
				} else if s.Index == 1 {
					*l = Life{For: -1, ExitCode: 9}
				}
			}
		}), pods(3)), `
j: submitted 10 started 15 finished 46 Failed FailedIndexes 2+2 of 4
pod 0 of job 0, node 0: index 0 created 10 bound 10 started 15 ended 45 code 0 succeeded
pod 1 of job 0, node 0: index 1 created 10 bound 10 started 15 ended 15 code 9
pod 2 of job 0, node 0: index 2 created 10 bound 10 started 15 ended 45 code 0 succeeded
pod 3 of job 0, node 0: index 1 created 25 bound 25 started 30 ended 30 code 9
Events 34, PodEvents 20, Rounds 10, Writes 9, StatusWrites 9, used 60, wasted 0; nothing is open`},
		{"a spec that follows the status", steady(Spec(3, 1), func(j *Job) {
			j.Adjust = func(_ time.Duration, spec *job.Spec, status *job.Status) bool {
				n := 1 + status.Succeeded
				changed := n != *spec.Parallelism
				spec.Parallelism = &n
				return changed
			}
		}), `
j: submitted 10 started 15 finished 117 Complete CompletionsReached 3+0 of 3
pod 0 of job 0, node 0: created 10 bound 10 started 15 ended 45 code 0 succeeded
pod 1 of job 0, node 0: created 46 bound 46 started 51 ended 81 code 0 succeeded
pod 2 of job 0, node 0: created 46 bound 81 started 86 ended 116 code 0 succeeded
Events 39, PodEvents 15, Rounds 15, Writes 11, StatusWrites 11, used 90, wasted 0; nothing is open`},
		{"a quota, a job that waits, and one that is larger", func(w *World) {
			w.Nodes[0].Pods, w.Admission = 8, &Quota{Pods: 3, Backfill: true}
			pod := Pod{Duration: Constant(sec(30))}
			ttl := Spec(1, 1)
			ttl.TTLSecondsAfterFinished = new(int32)
			held := Spec(2, 2)
			held.Suspend = &yes
			w.Jobs = Of(Job{Name: "a", Spec: Spec(2, 2), Pod: pod},
				Job{Name: "large", Spec: Spec(5, 5), Pod: pod}, Job{Name: "b", Spec: Spec(2, 4), Pod: pod},
				Job{Name: "c", Spec: ttl, Pod: pod}, Job{Name: "held", Submit: sec(5), Spec: held, Pod: pod})
		}, `
a: submitted 0 admitted 0 started 0 finished 31 Complete CompletionsReached 2+0 of 2
large: submitted 0 admitted 62 started 62 finished 93 Complete CompletionsReached 5+0 of 5
b: submitted 0 admitted 31 started 31 finished 62 Complete CompletionsReached 2+0 of 2
c: submitted 0 admitted 0 started 0 finished 31 deleted 31 Complete CompletionsReached 1+0 of 1
held: submitted 5 admitted 93 started 93 finished 124 Complete CompletionsReached 2+0 of 2
pod 0 of job 0, node 0: created 0 bound 0 started 0 ended 30 code 0 succeeded
pod 1 of job 0, node 0: created 0 bound 0 started 0 ended 30 code 0 succeeded
pod 0 of job 3, node 0: created 0 bound 0 started 0 ended 30 deleted 31 gone 31 code 0 succeeded
pod 0 of job 2, node 0: created 31 bound 31 started 31 ended 61 code 0 succeeded
pod 1 of job 2, node 0: created 31 bound 31 started 31 ended 61 code 0 succeeded
pod 0 of job 1, node 0: created 62 bound 62 started 62 ended 92 code 0 succeeded
pod 1 of job 1, node 0: created 62 bound 62 started 62 ended 92 code 0 succeeded
pod 2 of job 1, node 0: created 62 bound 62 started 62 ended 92 code 0 succeeded
pod 3 of job 1, node 0: created 62 bound 62 started 62 ended 92 code 0 succeeded
pod 4 of job 1, node 0: created 62 bound 62 started 62 ended 92 code 0 succeeded
pod 0 of job 4, node 0: created 93 bound 93 started 93 ended 123 code 0 succeeded
pod 1 of job 4, node 0: created 93 bound 93 started 93 ended 123 code 0 succeeded
Events 88, PodEvents 62, Rounds 26, Writes 23, StatusWrites 23, Expired 1, used 360, wasted 0; nothing is open`},
		{"jobs that cannot start", all(func(w *World) {
			pod := Pod{Duration: Constant(sec(30))}
			tooLarge := pod
			tooLarge.Memory = 11
			w.Nodes[0].Memory, w.Until, w.Nodes[0].Price = 10, sec(100), 36
			held := Spec(1, 1)
			held.Suspend = &yes
			w.Jobs = Of(Job{Name: "large", Spec: Spec(1, 1), Pod: tooLarge},
				Job{Name: "held", Spec: held, Pod: pod}, Job{Name: "a", Submit: sec(80), Spec: Spec(1, 1), Pod: pod},
				Job{Name: "b", Submit: sec(90), Spec: Spec(1, 1), Pod: pod}, Job{Name: "c", Submit: sec(120), Spec: Spec(1, 1), Pod: pod})
		}, plane(ControlPlane{Outages: []Outage{{Window{sec(100), sec(5)}, APIServer}, {Window{sec(101), sec(5)}, APIServer}}}),
			func(w *World) {
				w.Disruptions = []Disruption{{Kind: NodeDrained, At: sec(100)}, {Kind: NodeLost, At: sec(101)}}
			}), `
large: submitted 0   0+0 of 1
held: submitted 0   0+0 of 0
a: submitted 80 started 80   0+0 of 1
b: submitted 90   0+0 of 1
pod 0 of job 0, node -1: created 0 code 0
pod 0 of job 2, node 0: created 80 bound 80 started 80 ended 100 deleted 100 code 143
pod 0 of job 3, node -1: created 90 code 0
Events 24, PodEvents 7, Rounds 9, Writes 8, StatusWrites 5, Evictions 1, later 4, cost 1.0000, busy 0.2000
used 0, wasted 20; still open: 4 jobs (1 suspended), 2 pods pending, 0 running: large, held, a, ...; large has a pod that fits on no node: it needs cpu 0m, memory 11`},
		{"what the controller of CronJobs sees", all(cron(func(c *CronJob) {
			n, ttl := int32(1), int32(100)
			c.Spec.SuccessfulJobsHistoryLimit, c.Spec.ConcurrencyPolicy = &n, cronjob.Forbid
			c.Job.Spec.TTLSecondsAfterFinished = &ttl
			c.Job.Pod.Duration, c.Job.Pod.Schedule = Constant(sec(20)), Constant(sec(0.5))
		}), watched, func(w *World) { w.Until = sec(330) }), `
c at 30, sees 0: {} {} again 01:00.1
c at 60.1, sees 0: {,cronJobUID:c0,accounted:00:30Z} again 02:00.1
c at 60.1, sees 1: {active:[{name:c-29453761,uid:j1}],lastScheduleTime:01:00Z} {,cronJobUID:c0,accounted:01:00Z,recorded:01:00Z} {name:c-29453761,uid:j1,creationTimestamp:01:00Z,scheduledTime:01:00Z} again 02:00.1
c-29453761 at 60.1, sees 0: {Version:1} {}
c at 60.1, sees 1: {name:c-29453761,uid:j1,creationTimestamp:01:00Z,startTime:01:00Z,scheduledTime:01:00Z} again 02:00.1
c-29453761 at 61.1, sees 1: {Version:2,startTime:01:00Z,active:1,ready:0} {phase:Running,ready:true,assigned:true,uid:1z141z4,name:c-29453761-1z141z4,detail:{creationTimestamp:01:00Z}}
c at 61.1, sees 1: again 02:00.1
c-29453761 at 62.1, sees 1: {Version:3,startTime:01:00Z,active:1,ready:1}
c-29453761 at 81.6, sees 1: {phase:Succeeded,assigned:true,uid:1z141z4,name:c-29453761-1z141z4,detail:{creationTimestamp:01:00Z,readyTransition:01:20Z,containers:[{name:main,state:Terminated,finishedAt:01:20Z}]}}
c at 81.6, sees 1: {name:c-29453761,uid:j1,creationTimestamp:01:00Z,startTime:01:00Z,finished:Complete,finishTime:01:21Z,completionTime:01:21Z,scheduledTime:01:00Z} again 02:00.1
c at 81.6, sees 1: {lastScheduleTime:01:00Z,lastSuccessfulTime:01:21Z} again 02:00.1
c at 120.1, sees 1: again 03:00.1
c at 120.1, sees 2: {active:[{name:c-29453762,uid:j2}],lastScheduleTime:02:00Z,lastSuccessfulTime:01:21Z} {,cronJobUID:c0,accounted:02:00Z,recorded:02:00Z} {name:c-29453762,uid:j2,creationTimestamp:02:00Z,scheduledTime:02:00Z} again 03:00.1
c-29453762 at 120.1, sees 0: {Version:1} {}
c at 120.1, sees 2: {name:c-29453762,uid:j2,creationTimestamp:02:00Z,startTime:02:00Z,scheduledTime:02:00Z} again 03:00.1
c-29453762 at 121.1, sees 1: {Version:2,startTime:02:00Z,active:1,ready:0} {phase:Running,ready:true,assigned:true,uid:1z141z5,name:c-29453762-1z141z5,detail:{creationTimestamp:02:00Z}}
c at 121.1, sees 2: again 03:00.1
c-29453762 at 122.1, sees 1: {Version:3,startTime:02:00Z,active:1,ready:1}
c-29453762 at 141.6, sees 1: {phase:Succeeded,assigned:true,uid:1z141z5,name:c-29453762-1z141z5,detail:{creationTimestamp:02:00Z,readyTransition:02:20Z,containers:[{name:main,state:Terminated,finishedAt:02:20Z}]}}
c at 141.6, sees 2: {name:c-29453762,uid:j2,creationTimestamp:02:00Z,startTime:02:00Z,finished:Complete,finishTime:02:21Z,completionTime:02:21Z,scheduledTime:02:00Z} again 03:00.1
c at 141.6, sees 1: {lastScheduleTime:02:00Z,lastSuccessfulTime:02:21Z} again 03:00.1
c at 180.1, sees 1: again 04:00.1
c at 180.1, sees 2: {active:[{name:c-29453763,uid:j3}],lastScheduleTime:03:00Z,lastSuccessfulTime:02:21Z} {,cronJobUID:c0,accounted:03:00Z,recorded:03:00Z} {name:c-29453763,uid:j3,creationTimestamp:03:00Z,scheduledTime:03:00Z} again 04:00.1
c-29453763 at 180.1, sees 0: {Version:1} {}
c at 180.1, sees 2: {name:c-29453763,uid:j3,creationTimestamp:03:00Z,startTime:03:00Z,scheduledTime:03:00Z} again 04:00.1
c-29453763 at 181.1, sees 1: {Version:2,startTime:03:00Z,active:1,ready:0} {phase:Running,ready:true,assigned:true,uid:3y283y8,name:c-29453763-3y283y8,detail:{creationTimestamp:03:00Z}}
c at 181.1, sees 2: again 04:00.1
c-29453763 at 182.1, sees 1: {Version:3,startTime:03:00Z,active:1,ready:1}
c-29453763 at 201.6, sees 1: {phase:Succeeded,assigned:true,uid:3y283y8,name:c-29453763-3y283y8,detail:{creationTimestamp:03:00Z,readyTransition:03:20Z,containers:[{name:main,state:Terminated,finishedAt:03:20Z}]}}
c at 201.6, sees 2: {name:c-29453763,uid:j3,creationTimestamp:03:00Z,startTime:03:00Z,finished:Complete,finishTime:03:21Z,completionTime:03:21Z,scheduledTime:03:00Z} again 04:00.1
c at 201.6, sees 1: {lastScheduleTime:03:00Z,lastSuccessfulTime:03:21Z} again 04:00.1
c at 240.1, sees 1: again 05:00.1
c at 240.1, sees 2: {active:[{name:c-29453764,uid:j4}],lastScheduleTime:04:00Z,lastSuccessfulTime:03:21Z} {,cronJobUID:c0,accounted:04:00Z,recorded:04:00Z} {name:c-29453764,uid:j4,creationTimestamp:04:00Z,scheduledTime:04:00Z} again 05:00.1
c-29453764 at 240.1, sees 0: {Version:1} {}
c at 240.1, sees 2: {name:c-29453764,uid:j4,creationTimestamp:04:00Z,startTime:04:00Z,scheduledTime:04:00Z} again 05:00.1
c-29453764 at 241.1, sees 1: {Version:2,startTime:04:00Z,active:1,ready:0} {phase:Running,ready:true,assigned:true,uid:3y283y9,name:c-29453764-3y283y9,detail:{creationTimestamp:04:00Z}}
c at 241.1, sees 2: again 05:00.1
c-29453764 at 242.1, sees 1: {Version:3,startTime:04:00Z,active:1,ready:1}
c-29453764 at 261.6, sees 1: {phase:Succeeded,assigned:true,uid:3y283y9,name:c-29453764-3y283y9,detail:{creationTimestamp:04:00Z,readyTransition:04:20Z,containers:[{name:main,state:Terminated,finishedAt:04:20Z}]}}
c at 261.6, sees 2: {name:c-29453764,uid:j4,creationTimestamp:04:00Z,startTime:04:00Z,finished:Complete,finishTime:04:21Z,completionTime:04:21Z,scheduledTime:04:00Z} again 05:00.1
c at 261.6, sees 1: {lastScheduleTime:04:00Z,lastSuccessfulTime:04:21Z} again 05:00.1
c at 300.1, sees 1: again 06:00.1
c at 300.1, sees 2: {active:[{name:c-29453765,uid:j5}],lastScheduleTime:05:00Z,lastSuccessfulTime:04:21Z} {,cronJobUID:c0,accounted:05:00Z,recorded:05:00Z} {name:c-29453765,uid:j5,creationTimestamp:05:00Z,scheduledTime:05:00Z} again 06:00.1
c-29453765 at 300.1, sees 0: {Version:1} {}
c at 300.1, sees 2: {name:c-29453765,uid:j5,creationTimestamp:05:00Z,startTime:05:00Z,scheduledTime:05:00Z} again 06:00.1
c-29453765 at 301.1, sees 1: {Version:2,startTime:05:00Z,active:1,ready:0} {phase:Running,ready:true,assigned:true,uid:5x3c5xc,name:c-29453765-5x3c5xc,detail:{creationTimestamp:05:00Z}}
c at 301.1, sees 2: again 06:00.1
c-29453765 at 302.1, sees 1: {Version:3,startTime:05:00Z,active:1,ready:1}
c-29453765 at 321.6, sees 1: {phase:Succeeded,assigned:true,uid:5x3c5xc,name:c-29453765-5x3c5xc,detail:{creationTimestamp:05:00Z,readyTransition:05:20Z,containers:[{name:main,state:Terminated,finishedAt:05:20Z}]}}
c at 321.6, sees 2: {name:c-29453765,uid:j5,creationTimestamp:05:00Z,startTime:05:00Z,finished:Complete,finishTime:05:21Z,completionTime:05:21Z,scheduledTime:05:00Z} again 06:00.1
c at 321.6, sees 1: {lastScheduleTime:05:00Z,lastSuccessfulTime:05:21Z} again 06:00.1
c-29453761: submitted 60.1 started 60.6 finished 81.6 deleted 141.6 Complete CompletionsReached 1+0 of 1
c-29453762: submitted 120.1 started 120.6 finished 141.6 deleted 201.6 Complete CompletionsReached 1+0 of 1
c-29453763: submitted 180.1 started 180.6 finished 201.6 deleted 261.6 Complete CompletionsReached 1+0 of 1
c-29453764: submitted 240.1 started 240.6 finished 261.6 deleted 321.6 Complete CompletionsReached 1+0 of 1
c-29453765: submitted 300.1 started 300.6 finished 321.6 Complete CompletionsReached 1+0 of 1
run of job 0: scheduled 60 created 60.1 finished 81.6 Complete
run of job 1: scheduled 120 created 120.1 finished 141.6 Complete
run of job 2: scheduled 180 created 180.1 finished 201.6 Complete
run of job 3: scheduled 240 created 240.1 finished 261.6 Complete
run of job 4: scheduled 300 created 300.1 finished 321.6 Complete
pod 0 of job 0, node -1: created 60.1 bound 60.6 started 60.6 ended 80.6 deleted 141.6 gone 141.6 code 0 succeeded
pod 0 of job 1, node -1: created 120.1 bound 120.6 started 120.6 ended 140.6 deleted 201.6 gone 201.6 code 0 succeeded
pod 0 of job 2, node -1: created 180.1 bound 180.6 started 180.6 ended 200.6 deleted 261.6 gone 261.6 code 0 succeeded
pod 0 of job 3, node -1: created 240.1 bound 240.6 started 240.6 ended 260.6 deleted 321.6 gone 321.6 code 0 succeeded
pod 0 of job 4, node -1: created 300.1 bound 300.6 started 300.6 ended 320.6 code 0 succeeded
Events 91, PodEvents 33, Rounds 20, CronRounds 31, Writes 39, StatusWrites 20, later 3, used 100, wasted 0; nothing is open`},
		{"a job that no history keeps ends, which is seen late", all(cron(func(c *CronJob) {
			c.Spec.SuccessfulJobsHistoryLimit, c.Job.Pod.Duration = new(int32), Constant(sec(20))
		}), plane(ControlPlane{WatchLag: Constant(sec(1))}), func(w *World) { w.Until = sec(110) }), `
c-29453761: submitted 60.1 started 61.1 finished 83.1 deleted 85.1 Complete CompletionsReached 1+0 of 1
run of job 0: scheduled 60 created 60.1 finished 83.1 Complete
pod 0 of job 0, node -1: created 61.1 bound 61.1 started 61.1 ended 81.1 deleted 85.1 gone 85.1 code 0 succeeded
Events 63, PodEvents 7, Rounds 4, CronRounds 20, Retries 9, Writes 18, StatusWrites 4, later 3, used 20, wasted 0; nothing is open`},
		{"what it sees late, with slow calls", all(cron(func(c *CronJob) {
			c.Spec.ConcurrencyPolicy = cronjob.Replace
		}), watched, plane(ControlPlane{WatchLag: Constant(sec(2)), Latency: Constant(sec(0.5)), Restarts: []time.Duration{sec(121)}})), `
c at 32, sees 0: {} {} again 01:00.1
c at 61.1, sees 0: {,cronJobUID:c0,accounted:00:30Z} again 02:00.1
c at 63.1, sees 1: {,cronJobUID:c0,accounted:01:00Z,recorded:01:00Z,started:[{name:c-29453761,uid:j1,scheduledTime:01:00Z,recorded:true}]} {name:c-29453761,uid:j1,creationTimestamp:01:00Z,scheduledTime:01:00Z} again 02:00.1
c at 63.1, sees 1: {active:[{name:c-29453761,uid:j1}],lastScheduleTime:01:00Z} {,cronJobUID:c0,accounted:01:00Z,recorded:01:00Z,unrecorded:01:00Z,started:[{name:c-29453761,uid:j1,scheduledTime:01:00Z,recorded:true}],behind:01:02.6Z} again 02:00.1
c at 63.105, sees 1: {,cronJobUID:c0,accounted:01:00Z,recorded:01:00Z} again 02:00.1
c-29453761 at 63.6, sees 0: {Version:1} {}
c at 65.6, sees 1: {name:c-29453761,uid:j1,creationTimestamp:01:00Z,startTime:01:02Z,scheduledTime:01:00Z} again 02:00.1
c-29453761 at 66.6, sees 1: {Version:2,startTime:01:02Z,active:1,ready:0} {phase:Running,ready:true,assigned:true,uid:1z141z4,name:c-29453761-1z141z4,detail:{creationTimestamp:01:03Z}}
c at 68.6, sees 1: again 02:00.1
c-29453761 at 69.6, sees 1: {Version:3,startTime:01:02Z,active:1,ready:1}
c at 122.5, sees 0: {} again 03:00.1
c at 123, sees 0: again 03:00.1
c at 123, sees 1: {active:[{name:c-29453762,uid:j2}],lastScheduleTime:02:00Z} {,cronJobUID:c0,accounted:02:00Z,recorded:01:00Z,unrecorded:02:00Z,started:[{name:c-29453762,uid:j2,scheduledTime:02:00Z}],deleted:[{name:c-29453761,uid:j1,gone:true}]} {name:c-29453762,uid:j2,creationTimestamp:02:02Z,scheduledTime:02:00Z} again 03:00.1
c at 123.005, sees 1: {,cronJobUID:c0,accounted:02:00Z,recorded:02:00Z} again 03:00.1
c at 123.6, sees 1: {active:[{name:c-29453761,uid:j1}],lastScheduleTime:01:00Z} {,cronJobUID:c0,accounted:02:00Z,recorded:02:00Z,started:[{name:c-29453762,uid:j2,scheduledTime:02:00Z,recorded:true}]} again 03:00.1
c-29453762 at 123.6, sees 0: {Version:1} {}
c at 123.605, sees 1: {active:[{name:c-29453762,uid:j2}],lastScheduleTime:02:00Z} {,cronJobUID:c0,accounted:02:00Z,recorded:02:00Z,unrecorded:02:00Z,started:[{name:c-29453762,uid:j2,scheduledTime:02:00Z,recorded:true}],behind:02:02.6Z} again 03:00.1
c-29453762 at 125, sees 1: {phase:Running,ready:true,assigned:true,uid:3y283y8,name:c-29453762-3y283y8,detail:{creationTimestamp:02:03Z}} again 02:06
c at 125.1, sees 1: {,cronJobUID:c0,accounted:02:00Z,recorded:02:00Z} {name:c-29453762,uid:j2,creationTimestamp:02:02Z,startTime:02:02Z,scheduledTime:02:00Z} again 03:00.1
c-29453762 at 126.6, sees 1: {Version:2,startTime:02:02Z,active:1,ready:0}
c at 128.6, sees 1: again 03:00.1
c-29453762 at 129.6, sees 1: {Version:3,startTime:02:02Z,active:1,ready:1}
c at 181.6, sees 1: again 04:00.1
c at 183.6, sees 0: {,cronJobUID:c0,accounted:03:00Z,recorded:03:00Z,started:[{name:c-29453763,uid:j3,scheduledTime:03:00Z,recorded:true}],replaced:[{name:c-29453762,uid:j2,seen:true}]} again 04:00.1
c at 183.6, sees 1: {active:[{name:c-29453763,uid:j3}],lastScheduleTime:03:00Z} {,cronJobUID:c0,accounted:03:00Z,recorded:03:00Z,started:[{name:c-29453763,uid:j3,scheduledTime:03:00Z,recorded:true}],behind:03:02.6Z} {name:c-29453763,uid:j3,creationTimestamp:03:01Z,scheduledTime:03:00Z} again 04:00.1
c at 183.605, sees 1: {,cronJobUID:c0,accounted:03:00Z,recorded:03:00Z} again 04:00.1
c-29453763 at 184.1, sees 0: {Version:1} {}
c at 186.1, sees 1: {name:c-29453763,uid:j3,creationTimestamp:03:01Z,startTime:03:03Z,scheduledTime:03:00Z} again 04:00.1
c-29453763 at 187.1, sees 1: {Version:2,startTime:03:03Z,active:1,ready:0} {phase:Running,ready:true,assigned:true,uid:5x3c5xc,name:c-29453763-5x3c5xc,detail:{creationTimestamp:03:03Z}}
c at 189.1, sees 1: again 04:00.1
c-29453763 at 190.1, sees 1: {Version:3,startTime:03:03Z,active:1,ready:1}
c-29453761: submitted 60.6 started 63.1 deleted 120.6   0+0 of 1
c-29453762: submitted 122 started 123.1 deleted 180.6   0+0 of 1
c-29453763: submitted 181.1 started 183.6   0+0 of 1
run of job 0: scheduled 60 created 60.6
run of job 1: scheduled 120 created 122
run of job 2: scheduled 180 created 181.1
pod 0 of job 0, node -1: created 63.1 bound 63.1 started 63.1 ended 120.6 deleted 120.6 gone 120.6 code 143
pod 0 of job 1, node -1: created 123.1 bound 123.1 started 123.1 ended 180.6 deleted 180.6 gone 180.6 code 143
pod 0 of job 2, node -1: created 183.6 bound 183.6 started 183.6 code 0
Events 128, PodEvents 17, Rounds 10, CronRounds 22, Retries 4, Writes 27, StatusWrites 6, Restarts 1, later 4, used 0, wasted 115; still open: 1 job, 0 pods pending, 1 running: c-29453763; c-29453763 waits: 1 active pod not finished`},
		{"runs that replace each other within a quota", all(cron(func(c *CronJob) { c.Spec.ConcurrencyPolicy = cronjob.Replace }),
			func(w *World) { w.Admission = &Quota{Pods: 1} }), `
c-29453761: submitted 60.1 admitted 60.1 started 60.1 deleted 120.1   0+0 of 1
c-29453762: submitted 120.1 admitted 120.1 started 120.1 deleted 180.1   0+0 of 1
c-29453763: submitted 180.1 admitted 180.1 started 180.1   0+0 of 1
run of job 0: scheduled 60 created 60.1
run of job 1: scheduled 120 created 120.1
run of job 2: scheduled 180 created 180.1
pod 0 of job 0, node -1: created 60.1 bound 60.1 started 60.1 ended 120.1 deleted 120.1 gone 120.1 code 143
pod 0 of job 1, node -1: created 120.1 bound 120.1 started 120.1 ended 180.1 deleted 180.1 gone 180.1 code 143
pod 0 of job 2, node -1: created 180.1 bound 180.1 started 180.1 code 0
Events 42, PodEvents 17, Rounds 9, CronRounds 13, Writes 14, StatusWrites 6, later 3, used 0, wasted 120; still open: 1 job, 0 pods pending, 1 running: c-29453763; c-29453763 waits: 1 active pod not finished`},
		{"a CronJob that only misses runs", all(cron(func(c *CronJob) {
			late := int64(20)
			c.Spec.StartingDeadlineSeconds = &late
		}), func(w *World) {
			w.CronJobs = append([]CronJob{{Name: "never", Spec: cronjob.Spec{Schedule: "0 0 1 1 *"}, Job: w.CronJobs[0].Job}}, w.CronJobs...)
		}, plane(ControlPlane{Outages: []Outage{{Window{sec(50), sec(45)}, APIServer}, {Window{sec(105), sec(50)}, Controllers}}})), `
c-29453763: submitted 180.1 started 180.1   0+0 of 1
run of job 0: scheduled 180 created 180.1
missed by 1: 1 [1m0s] at 80.575 its starting deadline has passed
missed by 1: 1 [2m0s] at 155 the controllers were down
pod 0 of job 0, node -1: created 180.1 bound 180.1 started 180.1 code 0
Events 48, PodEvents 3, Rounds 3, CronRounds 22, Retries 12, Writes 17, Faults 12, StatusWrites 2, Restarts 1, RunsMissed 2, later 4, used 0, wasted 0; still open: 1 job, 0 pods pending, 1 running: c-29453763; c-29453763 waits: 1 active pod not finished; no run after the creation and before the end: CronJob never`},
		{"runs while the API server is down", all(cron(func(c *CronJob) {
			c.Spec.Schedule, c.Job.Pod.Duration = "@every 50s", Constant(sec(5))
		}), plane(ControlPlane{Outages: []Outage{{Window{sec(75), sec(30)}, APIServer}}}), func(w *World) {
			w.CronJobs = append(w.CronJobs, w.CronJobs[0])
			w.CronJobs[1].Name, w.CronJobs[1].Create = "d", sec(45)
		}), `
d-29453761: submitted 105.335 started 105.335 finished 111.335 Complete CompletionsReached 1+0 of 1
c-29453761: submitted 121.055 started 121.055 finished 127.055 Complete CompletionsReached 1+0 of 1
c-29453762: submitted 130.1 started 130.1 finished 136.1 Complete CompletionsReached 1+0 of 1
d-29453762: submitted 145.1 started 145.1 finished 151.1 Complete CompletionsReached 1+0 of 1
c-29453763: submitted 180.1 started 180.1 finished 186.1 Complete CompletionsReached 1+0 of 1
d-29453763: submitted 195.1 started 195.1   0+0 of 1
run of job 0: scheduled 95 created 105.335 finished 111.335 Complete
run of job 1: scheduled 80 created 121.055 finished 127.055 Complete
run of job 2: scheduled 130 created 130.1 finished 136.1 Complete
run of job 3: scheduled 145 created 145.1 finished 151.1 Complete
run of job 4: scheduled 180 created 180.1 finished 186.1 Complete
run of job 5: scheduled 195 created 195.1
pod 0 of job 0, node -1: created 105.335 bound 105.335 started 105.335 ended 110.335 code 0 succeeded
pod 0 of job 1, node -1: created 121.055 bound 121.055 started 121.055 ended 126.055 code 0 succeeded
pod 0 of job 2, node -1: created 130.1 bound 130.1 started 130.1 ended 135.1 code 0 succeeded
pod 0 of job 3, node -1: created 145.1 bound 145.1 started 145.1 ended 150.1 code 0 succeeded
pod 0 of job 4, node -1: created 180.1 bound 180.1 started 180.1 ended 185.1 code 0 succeeded
pod 0 of job 5, node -1: created 195.1 bound 195.1 started 195.1 code 0
Events 149, PodEvents 28, Rounds 23, CronRounds 60, Retries 24, Writes 74, Faults 24, StatusWrites 22, later 3, used 25, wasted 0; still open: 1 job, 0 pods pending, 1 running: d-29453763; d-29453763 waits: 1 active pod not finished`},
		{"a quota of CronJobs, and runs that are too late", all(cron(func(c *CronJob) {
			late := int64(20)
			c.Spec.StartingDeadlineSeconds, c.Spec.ConcurrencyPolicy = &late, cronjob.Forbid
		}), func(w *World) {
			w.Admission, w.Until = &Quota{Pods: 1}, sec(420)
			w.CronJobs = append(w.CronJobs, w.CronJobs[0])
			w.CronJobs[1].Name = "d"
		}, plane(ControlPlane{Outages: []Outage{{Window{sec(235), sec(50)}, Controllers}}})), `
c-29453761: submitted 60.1 admitted 60.1 started 60.1 finished 151.1 Complete CompletionsReached 1+0 of 1
d-29453761: submitted 60.1 admitted 151.1 started 151.1 finished 285 Complete CompletionsReached 1+0 of 1
c-29453763: submitted 180.1 admitted 285 started 285 finished 376 Complete CompletionsReached 1+0 of 1
d-29453765: submitted 300.1 admitted 376 started 376   0+0 of 1
c-29453766: submitted 376   0+0 of 0
run of job 0: scheduled 60 created 60.1 finished 151.1 Complete
run of job 1: scheduled 60 created 60.1 finished 285 Complete
run of job 2: scheduled 180 created 180.1 finished 376 Complete
run of job 3: scheduled 300 created 300.1
run of job 4: scheduled 360 created 376
missed by 0: 1 [2m0s] at 140 an earlier run was active
missed by 1: 1 [2m0s] at 140 an earlier run was active
missed by 1: 1 [3m0s] at 200 an earlier run was active
missed by 0: 1 [4m0s] at 285 the controllers were down
missed by 1: 1 [4m0s] at 285 the controllers were down
missed by 0: 1 [5m0s] at 320 an earlier run was active
missed by 1: 1 [6m0s] at 380 an earlier run was active
pod 0 of job 0, node -1: created 60.1 bound 60.1 started 60.1 ended 150.1 code 0 succeeded
pod 0 of job 1, node -1: created 151.1 bound 151.1 started 151.1 ended 241.1 code 0 succeeded
pod 0 of job 2, node -1: created 285 bound 285 started 285 ended 375 code 0 succeeded
pod 0 of job 3, node -1: created 376 bound 376 started 376 code 0
Events 127, PodEvents 18, Rounds 23, CronRounds 47, Writes 37, StatusWrites 18, Restarts 1, RunsMissed 7, later 3, used 270, wasted 0; still open: 2 jobs (1 suspended), 0 pods pending, 1 running: d-29453765, c-29453766; d-29453765 waits: 1 active pod not finished`},
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
			audit(t, &w, r)
			got := "\n"
			if log, ok := w.Watch.(*rounds); ok {
				got += log.String()
				w.Watch, was.Watch = nil, nil
			}
			if got += timeline(r); got != test.want {
				t.Errorf("got%s\nwant%s", got, test.want)
			}
			w.Admission, was.Admission = nil, nil // an Admission has counters that change
			if d := intact.Written(w, was); d != "" {
				t.Error("the world of the caller is written to", d)
			}
		})
	}
}
