package conformance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/sim"
)

// workload is a workload for both the unmodified controllers and the simulator of x/cmd/batchsim.
// The times of pods end in fractions of a second, so that the milliseconds of notifications never
// move them into another second.
type workload struct {
	name string
	// spec is a JobSpec, or with cron a CronJobSpec, as JSON. The template is added.
	spec string
	cron bool
	// life returns the life of a pod, by its number, its index, and the number of earlier pods of
	// that index.
	life func(number, index, earlier int32) sim.Life
	// stop is how long a running pod takes to end once it is deleted.
	stop  time.Duration
	edits []sim.Edit
	// outages are the times in which the controllers are down, or writes are refused.
	outages []sim.Outage
	until   time.Duration
}

// steady returns the life of a pod that succeeds after half a minute.
func steady(_, _, _ int32) sim.Life { return sim.Life{For: 30*time.Second + 400*time.Millisecond} }

// failing returns lives in which a pod fails if its number is in the list.
func failing(code int32, numbers ...int32) func(_, _, _ int32) sim.Life {
	return func(number, _, _ int32) sim.Life {
		if slices.Contains(numbers, number) {
			return sim.Life{For: 10*time.Second + 600*time.Millisecond, ExitCode: code}
		}
		return steady(0, 0, 0)
	}
}

// stubborn returns lives in which each index of the map fails that many times.
func stubborn(failures map[int32]int32) func(_, _, _ int32) sim.Life {
	return func(_, index, earlier int32) sim.Life {
		if earlier < failures[index] {
			return sim.Life{For: 7*time.Second + 300*time.Millisecond, ExitCode: 1}
		}
		return steady(0, 0, 0)
	}
}

func edit(after time.Duration, change string) sim.Edit {
	return sim.Edit{After: after, Change: func(s *job.Spec) {
		if err := json.Unmarshal([]byte(change), s); err != nil {
			panic(err)
		}
	}}
}

// down returns an outage that lasts for the duration how. It begins and ends in the middle of a
// tenth of a second, so that no controller writes at the same moment.
func down(of sim.Component, from, how time.Duration) []sim.Outage {
	return []sim.Outage{{Window: sim.Window{From: from + 250*time.Millisecond, For: how}, Of: of}}
}

var workloads = []workload{
	{name: "six pods, two at a time", spec: `"completions":6,"parallelism":2`, life: steady},
	{name: "work queue", spec: `"parallelism":3`, life: failing(1, 4)},
	{name: "backoff after failures", spec: `"completions":4,"parallelism":2`, life: failing(1, 0, 2, 3, 4)},
	{name: "backoffLimit", spec: `"completions":3,"parallelism":1,"backoffLimit":2`, life: failing(1, 0, 1, 2)},
	{name: "backoffLimit, others run", spec: `"completions":8,"parallelism":4,"backoffLimit":0`, life: failing(1, 1), stop: 5*time.Second + 200*time.Millisecond},
	{name: "Indexed", spec: `"completions":5,"parallelism":2,"completionMode":"Indexed"`, life: stubborn(map[int32]int32{1: 2})},
	{name: "backoffLimitPerIndex", spec: `"completions":5,"parallelism":3,"completionMode":"Indexed","backoffLimitPerIndex":1`, life: stubborn(map[int32]int32{1: 9, 3: 1})},
	{name: "maxFailedIndexes", spec: `"completions":6,"parallelism":2,"completionMode":"Indexed","backoffLimitPerIndex":0,"maxFailedIndexes":1`, life: stubborn(map[int32]int32{0: 9, 2: 9})},
	{name: "activeDeadlineSeconds", spec: `"completions":9,"parallelism":1,"activeDeadlineSeconds":100`, life: steady, stop: 3*time.Second + 500*time.Millisecond},
	{name: "podFailurePolicy FailJob", spec: `"completions":4,"parallelism":2,"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[42]}}]}`, life: failing(42, 3)},
	{name: "podFailurePolicy Ignore", spec: `"completions":3,"parallelism":1,"backoffLimit":0,"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[7]}}]}`, life: failing(7, 1, 2)},
	{name: "successPolicy", spec: `"completions":6,"parallelism":2,"completionMode":"Indexed","successPolicy":{"rules":[{"succeededCount":3}]}`, life: stubborn(map[int32]int32{0: 1}), stop: 2*time.Second + 100*time.Millisecond},
	{name: "suspended and resumed", spec: `"completions":4,"parallelism":2`, life: steady, stop: 4*time.Second + 300*time.Millisecond,
		edits: []sim.Edit{edit(20*time.Second+100*time.Millisecond, `{"suspend":true}`), edit(70*time.Second+100*time.Millisecond, `{"suspend":false}`)}},
	{name: "begins suspended", spec: `"completions":2,"parallelism":2,"suspend":true`, life: steady, edits: []sim.Edit{edit(33*time.Second+100*time.Millisecond, `{"suspend":false}`)}},
	{name: "parallelism is raised", spec: `"completions":9,"parallelism":1`, life: steady, edits: []sim.Edit{edit(45*time.Second+700*time.Millisecond, `{"parallelism":5}`)}},
	{name: "parallelism is lowered and raised", spec: `"completions":9,"parallelism":4`, life: steady, stop: 12*time.Second + 300*time.Millisecond,
		edits: []sim.Edit{edit(10*time.Second+700*time.Millisecond, `{"parallelism":1}`), edit(15*time.Second+700*time.Millisecond, `{"parallelism":4}`)}},
	{name: "podReplacementPolicy Failed", spec: `"completions":9,"parallelism":4,"podReplacementPolicy":"Failed"`, life: steady, stop: 12*time.Second + 300*time.Millisecond,
		edits: []sim.Edit{edit(10*time.Second+700*time.Millisecond, `{"parallelism":1}`), edit(15*time.Second+700*time.Millisecond, `{"parallelism":4}`)}},
	{name: "ttlSecondsAfterFinished", spec: `"completions":2,"parallelism":1,"ttlSecondsAfterFinished":25`, life: steady},
	{name: "thirty pods together", spec: `"completions":30,"parallelism":30`, life: failing(1, 3, 11, 17)},
	{name: "CronJob, Allow", cron: true, spec: `"schedule":"*/2 * * * *"`, life: failing(1, 0)},
	{name: "CronJob, Forbid", cron: true, spec: `"schedule":"* * * * *","concurrencyPolicy":"Forbid"`,
		life: func(_, _, _ int32) sim.Life { return sim.Life{For: 80*time.Second + 400*time.Millisecond} }},
	{name: "CronJob, Replace", cron: true, spec: `"schedule":"*/2 * * * *","concurrencyPolicy":"Replace"`, stop: 6*time.Second + 300*time.Millisecond,
		life: func(_, _, _ int32) sim.Life { return sim.Life{For: 150*time.Second + 400*time.Millisecond} }},
	{name: "CronJob, startingDeadlineSeconds", cron: true, spec: `"schedule":"* * * * *","concurrencyPolicy":"Forbid","startingDeadlineSeconds":20`,
		life: func(_, _, _ int32) sim.Life { return sim.Life{For: 95*time.Second + 400*time.Millisecond} }},
	{name: "controllers down", spec: `"completions":6,"parallelism":2`, life: steady, outages: down(sim.Controllers, 40*time.Second, 90*time.Second)},
	{name: "controllers down, the backoff is forgotten", spec: `"completions":4,"parallelism":2`, life: failing(1, 0, 2, 3, 4), outages: down(sim.Controllers, 12*time.Second, time.Minute)},
	{name: "controllers down, past the deadline", spec: `"completions":9,"parallelism":2,"activeDeadlineSeconds":100`, life: steady, stop: 3*time.Second + 500*time.Millisecond, outages: down(sim.Controllers, 50*time.Second, 2*time.Minute)},
	{name: "writes refused from the beginning", spec: `"completions":3,"parallelism":2`, life: steady, outages: down(sim.APIServer, -time.Second, 20*time.Second)},
	{name: "writes refused while pods end", spec: `"completions":6,"parallelism":2`, life: steady, outages: down(sim.APIServer, 20*time.Second, 50*time.Second)},
	{name: "writes refused, Indexed", spec: `"completions":5,"parallelism":2,"completionMode":"Indexed"`, life: stubborn(map[int32]int32{1: 1}), outages: down(sim.APIServer, 5*time.Second, 40*time.Second)},
	{name: "CronJob, controllers down", cron: true, spec: `"schedule":"* * * * *"`, life: steady, outages: down(sim.Controllers, 130*time.Second, 200*time.Second)},
	{name: "CronJob, writes refused", cron: true, spec: `"schedule":"*/2 * * * *"`, life: steady, outages: down(sim.APIServer, 50*time.Second, time.Minute)},
}

// outcome is the result on which the controllers and the simulator must agree, with times in whole
// seconds since the beginning.
type outcome struct {
	Jobs []jobOutcome
	// Pods are the creations of pods and their ends, in their order.
	Pods []string
}

type jobOutcome struct {
	Name             string
	Created, Deleted int
	Status           string
}

// TestSimulate plays the workloads under the unmodified controllers and in the simulator. The times
// of all jobs and pods, the counters, indexes and conditions must be the same.
func TestSimulate(t *testing.T) {
	for _, w := range workloads {
		if w.until == 0 {
			w.until = 11*time.Minute + 500*time.Millisecond
		}

		t.Run(w.name, func(t *testing.T) {
			var real outcome
			synctest.Test(t, func(*testing.T) { real = w.playReal() })
			simulated := w.simulate(t)

			if len(real.Jobs) == 0 || len(real.Pods) == 0 {
				t.Fatal("nothing happens")
			}
			if diff := cmp.Diff(real, simulated); diff != "" {
				t.Errorf("(-real +simulated):\n%s", diff)
			}

			calm := w
			calm.outages = nil
			if len(w.outages) > 0 && cmp.Equal(simulated, calm.simulate(t)) {
				t.Error("the outage changes nothing")
			}
		})
	}
}

// object decodes the manifest of the workload.
func (w *workload) object(into any) {
	text := `{"metadata":{"name":"w","namespace":"default"},"spec":{` + w.spec + `,` + script.Template + `}}`
	if w.cron {
		text = `{"metadata":{"name":"w","namespace":"default"},"spec":{` + w.spec + `,"jobTemplate":{"spec":{` + script.Template + `}}}}`
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic(err)
	}
}

// sorted sorts the events of each second.
func (o outcome) sorted() outcome {
	slices.SortFunc(o.Pods, func(a, b string) int {
		var x, y int
		fmt.Sscan(a, &x)
		fmt.Sscan(b, &y)
		if x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	return o
}

// last keeps the last status of each job.
type last map[string]job.Status

func (l last) Job(r sim.JobRound)     { l[r.Snapshot.Job.Name] = r.Conclusion.Status }
func (last) CronJob(sim.CronJobRound) {}

// simulate plays the workload in the simulator, with the quirks of the real controllers.
func (w *workload) simulate(t *testing.T) outcome {
	statuses := last{}
	tries := map[string]int32{}

	one := sim.Job{Name: "w", Options: job.Kubernetes(played), Edits: w.edits, Pod: sim.Pod{
		Stop: sim.Constant(w.stop),
		Behave: func(s sim.Start, life *sim.Life, _ *rand.Rand) {
			key := fmt.Sprintf("%s/%d", s.Job, s.Index)
			*life = w.life(s.Number, s.Index, tries[key])
			tries[key]++
		},
	}}

	world := sim.World{ControlPlane: sim.ControlPlane{Outages: w.outages}, Start: time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC), Until: w.until, Watch: statuses}

	if w.cron {
		var c batchv1.CronJob
		w.object(&c)
		data, err := json.Marshal(&c)
		must.OK(t, err)
		decoded, err := cronjob.DecodeCronJob(data)
		must.OK(t, err)
		one.Spec = sim.Spec(1, 1)
		one.Spec.Completions = nil
		one.Spec.Parallelism = nil
		world.CronJobs = []sim.CronJob{{Name: "w", Spec: decoded.Spec, Options: cronjob.Kubernetes(played), Schedule: []schedule.Option{schedule.Kubernetes(played)}, Job: one}}
	} else {
		var object struct{ Spec job.Spec }
		w.object(&object)
		one.Spec = object.Spec
		world.Jobs = sim.Of(one)
	}

	r, err := sim.Run(t.Context(), world)
	must.OK(t, err)
	return outcomeOf(r, statuses)
}

// outcomeOf returns the outcome of a simulation.
func outcomeOf(r *sim.Result, statuses last) outcome {
	var o outcome
	in := func(d time.Duration) int {
		if d == sim.None {
			return -1
		}
		return int(d / time.Second)
	}

	for _, j := range r.Jobs {
		s := statuses[j.Name]
		for i := range s.Conditions {
			s.Conditions[i].LastTransitionTime = s.Conditions[i].LastTransitionTime.Truncate(time.Second)
		}
		s.StartTime, s.CompletionTime = s.StartTime.Truncate(time.Second), s.CompletionTime.Truncate(time.Second)
		o.Jobs = append(o.Jobs, jobOutcome{Name: j.Name, Created: in(j.Submitted), Deleted: in(j.Deleted), Status: describeStatus(s, r.Start)})
	}
	slices.SortFunc(o.Jobs, func(a, b jobOutcome) int { return strings.Compare(a.Name, b.Name) })

	for _, p := range r.Pods {
		name := r.Jobs[p.Job].Name
		o.Pods = append(o.Pods, fmt.Sprintf("%d %s created, index %d", in(p.Created), name, p.Index))
		if p.Ended != sim.None {
			o.Pods = append(o.Pods, fmt.Sprintf("%d %s ended with %d", in(p.Ended), name, p.ExitCode))
		}
	}

	return o.sorted()
}
