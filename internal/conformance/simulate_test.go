package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/examples/simulate/sim"
	"github.com/batchplan/batchplan/internal/conformance/server"
	"github.com/batchplan/batchplan/internal/conformance/theirs"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// workload is what the unmodified controllers and the simulator of examples/simulate both play.
// The times of pods end in fractions of a second, so that the milliseconds that news take here
// never move one into another second.
type workload struct {
	name string
	// spec is a JobSpec, or with cron a CronJobSpec, as JSON. The template is added.
	spec string
	cron bool
	// life says what the pod of a number or index does, with the number of earlier pods of
	// that index.
	life func(number, index, earlier int32) sim.Life
	// stop is how long a running pod takes to end once it is deleted.
	stop  time.Duration
	edits []sim.Edit
	until time.Duration
}

// steady pods take half a minute.
func steady(_, _, _ int32) sim.Life { return sim.Life{For: 30*time.Second + 400*time.Millisecond} }

// failing pods fail if their number is in the list.
func failing(code int32, numbers ...int32) func(_, _, _ int32) sim.Life {
	return func(number, _, _ int32) sim.Life {
		if slices.Contains(numbers, number) {
			return sim.Life{For: 10*time.Second + 600*time.Millisecond, ExitCode: code}
		}
		return steady(0, 0, 0)
	}
}

// stubborn indexes fail as often as the list says.
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
	{name: "thirty pods at once", spec: `"completions":30,"parallelism":30`, life: failing(1, 3, 11, 17)},
	{name: "CronJob, Allow", cron: true, spec: `"schedule":"*/2 * * * *"`, life: failing(1, 0)},
	{name: "CronJob, Forbid", cron: true, spec: `"schedule":"* * * * *","concurrencyPolicy":"Forbid"`,
		life: func(_, _, _ int32) sim.Life { return sim.Life{For: 80*time.Second + 400*time.Millisecond} }},
	{name: "CronJob, Replace", cron: true, spec: `"schedule":"*/2 * * * *","concurrencyPolicy":"Replace"`, stop: 6*time.Second + 300*time.Millisecond,
		life: func(_, _, _ int32) sim.Life { return sim.Life{For: 150*time.Second + 400*time.Millisecond} }},
	{name: "CronJob, startingDeadlineSeconds", cron: true, spec: `"schedule":"* * * * *","concurrencyPolicy":"Forbid","startingDeadlineSeconds":20`,
		life: func(_, _, _ int32) sim.Life { return sim.Life{For: 95*time.Second + 400*time.Millisecond} }},
}

// outcome is what both must agree on, in whole seconds since the beginning.
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

// TestSimulate plays the workloads under the unmodified controllers and in the simulator: the
// times of all jobs and pods, the counters, indexes and conditions are the same.
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
		})
	}
}

const workTemplate = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}`

// object is the manifest of the workload.
func (w *workload) object(into any) {
	text := `{"metadata":{"name":"w","namespace":"default"},"spec":{` + w.spec + `,` + workTemplate + `}}`
	if w.cron {
		text = `{"metadata":{"name":"w","namespace":"default"},"spec":{` + w.spec + `,"jobTemplate":{"spec":{` + workTemplate + `}}}}`
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic(err)
	}
}

// node plays the scheduler and the kubelet for the real controllers.
type node struct {
	*server.Server
	w     *workload
	start time.Time
	wg    sync.WaitGroup

	mu     sync.Mutex
	jobs   map[string]*jobOutcome
	born   map[string]int32 // pods by job
	tries  map[string]int32 // pods by job and index
	begun  map[string]bool
	going  map[string]bool
	events []string
}

// playReal plays the workload under the unmodified controllers.
func (w *workload) playReal() outcome {
	n := &node{Server: server.New(), w: w, jobs: map[string]*jobOutcome{}, born: map[string]int32{}, tries: map[string]int32{}, begun: map[string]bool{}, going: map[string]bool{}}
	phases, stop := theirs.New(n.Client(), theirs.Which{Jobs: true, CronJobs: true, TTL: true})
	for _, start := range phases {
		start()
		synctest.Wait()
	}
	ctx, cancel := context.WithCancel(context.Background())
	pods, err := n.Client().CoreV1().Pods("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		panic(err)
	}
	jobs, err := n.Client().BatchV1().Jobs("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		panic(err)
	}
	time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	n.start = time.Now()
	n.wg.Go(func() { n.each(pods, n.podEvent) })
	n.wg.Go(func() { n.each(jobs, n.jobEvent) })
	n.create()
	for time.Since(n.start) < w.until {
		time.Sleep(100 * time.Millisecond)
		n.Collect()
		n.editDue()
	}
	pods.Stop()
	jobs.Stop()
	cancel()
	stop()
	n.wg.Wait()
	return n.outcome()
}

func (n *node) create() {
	var err error
	if n.w.cron {
		c := &batchv1.CronJob{}
		n.w.object(c)
		err = n.Create(c)
	} else {
		j := &batchv1.Job{}
		n.w.object(j)
		err = n.Create(j)
	}
	if err != nil {
		panic(err)
	}
}

// editDue makes the edits whose time has come, at a multiple of a tenth of a second.
func (n *node) editDue() {
	for _, e := range n.w.edits {
		if d := time.Since(n.start) - e.After; d < 0 || d >= 100*time.Millisecond {
			continue
		}
		err := server.Change(n.Server, "default", "w", func(j *batchv1.Job) {
			var spec job.Spec
			e.Change(&spec)
			if spec.Parallelism != nil {
				j.Spec.Parallelism = spec.Parallelism
			}
			if spec.Suspend != nil {
				j.Spec.Suspend = spec.Suspend
			}
		})
		if err != nil {
			panic(err)
		}
	}
}

func (n *node) each(w watch.Interface, handle func(watch.Event)) {
	for e := range w.ResultChan() {
		handle(e)
	}
}

func (n *node) at() int { return int(time.Since(n.start) / time.Second) }

func (n *node) jobEvent(e watch.Event) {
	j := e.Object.(*batchv1.Job)
	n.mu.Lock()
	defer n.mu.Unlock()
	o := n.jobs[j.Name]
	if o == nil {
		o = &jobOutcome{Name: j.Name, Created: int(j.CreationTimestamp.Sub(n.start) / time.Second), Deleted: -1}
		n.jobs[j.Name] = o
	}
	data, err := json.Marshal(j.Status)
	if err != nil {
		panic(err)
	}
	o.Status = n.describe(data)
	if e.Type == watch.Deleted {
		o.Deleted = n.at()
	}
}

// describe prints a status with times since the beginning.
func (n *node) describe(data []byte) string {
	var s job.Status
	if err := json.Unmarshal(data, &s); err != nil {
		panic(err)
	}
	return describeStatus(s, n.start)
}

func describeStatus(s job.Status, start time.Time) string {
	var b strings.Builder
	since := func(t time.Time) string {
		if t.IsZero() {
			return "never"
		}
		return t.Sub(start).String()
	}
	fmt.Fprintf(&b, "start %s, completion %s, active %d, succeeded %d, failed %d, completed %q",
		since(s.StartTime), since(s.CompletionTime), s.Active, s.Succeeded, s.Failed, s.CompletedIndexes)
	if s.FailedIndexes != nil {
		fmt.Fprintf(&b, ", failed %q", *s.FailedIndexes)
	}
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, "; %s %s %s at %s", c.Type, c.Status, c.Reason, since(c.LastTransitionTime))
	}
	return b.String()
}

func (n *node) podEvent(e watch.Event) {
	p := e.Object.(*corev1.Pod)
	owner := p.Labels["batch.kubernetes.io/job-name"]
	n.mu.Lock()
	defer n.mu.Unlock()
	key := string(p.UID)
	switch {
	case e.Type == watch.Added && !n.begun[key]:
		n.begun[key] = true
		index := int32(-1)
		if text, ok := p.Annotations[job.IndexLabel]; ok {
			fmt.Sscan(text, &index)
		}
		number, try := n.born[owner], fmt.Sprintf("%s/%d", owner, index)
		earlier := n.tries[try]
		n.born[owner]++
		n.tries[try]++
		n.events = append(n.events, fmt.Sprintf("%d %s created, index %d", int(p.CreationTimestamp.Sub(n.start)/time.Second), owner, index))
		n.wg.Go(func() { n.run(p, n.w.life(number, index, earlier)) })
	case e.Type == watch.Modified && p.DeletionTimestamp != nil && !n.going[key]:
		n.going[key] = true
		if p.Status.Phase == corev1.PodRunning {
			n.wg.Go(func() { n.terminate(p) })
		}
	}
}

// run binds and starts a pod, and ends it after its life.
func (n *node) run(p *corev1.Pod, life sim.Life) {
	if err := n.Bind(p.Namespace, p.Name, "node"); err != nil {
		panic(err)
	}
	n.status(p, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodRunning
		now := metav1.Now()
		p.Status.StartTime = &now
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "i", ImageID: "i", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}}
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now})
	})
	time.Sleep(life.For)
	n.end(p, life.ExitCode)
}

// terminate ends a pod that is being deleted, and removes it.
func (n *node) terminate(p *corev1.Pod) {
	time.Sleep(n.w.stop)
	n.end(p, 143)
	none := int64(0)
	_ = n.Delete(server.Pods, p.Namespace, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &none}) // it may be gone
}

// end ends the containers of a pod that runs.
func (n *node) end(p *corev1.Pod, code int32) {
	if time.Since(n.start) > n.w.until {
		return // both are over
	}
	ended := false
	n.status(p, func(p *corev1.Pod) {
		if ended = p.Status.Phase == corev1.PodRunning; !ended {
			return
		}
		p.Status.Phase = corev1.PodSucceeded
		if code != 0 {
			p.Status.Phase = corev1.PodFailed
		}
		now := metav1.Now()
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: now}}
		p.Status.Conditions[len(p.Status.Conditions)-1] = corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: now}
	})
	if ended {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.events = append(n.events, fmt.Sprintf("%d %s ended with %d", n.at(), p.Labels["batch.kubernetes.io/job-name"], code))
	}
}

// status changes the status of a pod that still exists.
func (n *node) status(p *corev1.Pod, how func(*corev1.Pod)) {
	if now := server.Get[*corev1.Pod](n.Server, p.Namespace, p.Name); now == nil || now.UID != p.UID {
		return
	}
	if err := server.ChangeStatus(n.Server, p.Namespace, p.Name, how); err != nil {
		panic(err)
	}
}

func (n *node) outcome() outcome {
	o := outcome{Pods: n.events}
	for _, name := range slices.Sorted(maps.Keys(n.jobs)) {
		o.Jobs = append(o.Jobs, *n.jobs[name])
	}
	return o.sorted()
}

// sorted puts what happens in the same second into one order.
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

func (l last) Job(_ time.Duration, name string, _ *job.Snapshot, _ *job.Plan, c *job.Conclusion) {
	l[name] = c.Status
}

func (last) CronJob(time.Duration, string, *cronjob.Snapshot, *cronjob.Plan, *cronjob.Conclusion) {}

// simulate plays the workload in the simulator, with the quirks of the real controllers.
func (w *workload) simulate(t *testing.T) outcome {
	statuses := last{}
	tries := map[string]int32{}
	one := sim.Job{Name: "w", Options: job.Kubernetes136(), Edits: w.edits, Pod: sim.Pod{
		Stop: sim.Constant(w.stop),
		Behave: func(s sim.Start, life *sim.Life, _ *rand.Rand) {
			key := fmt.Sprintf("%s/%d", s.Job, s.Index)
			*life = w.life(s.Number, s.Index, tries[key])
			tries[key]++
		},
	}}
	world := sim.World{Start: time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC), Until: w.until, Watch: statuses}
	if w.cron {
		var c batchv1.CronJob
		w.object(&c)
		data, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := cronjob.DecodeCronJob(data)
		if err != nil {
			t.Fatal(err)
		}
		one.Spec = sim.Spec(1, 1)
		one.Spec.Completions = nil
		one.Spec.Parallelism = nil
		world.CronJobs = []sim.CronJob{{Name: "w", Spec: decoded.Spec, Options: cronjob.Kubernetes136(), Schedule: []schedule.Option{schedule.Kubernetes136()}, Job: one}}
	} else {
		var object struct{ Spec job.Spec }
		w.object(&object)
		one.Spec = object.Spec
		world.Jobs = sim.Of(one)
	}
	r, err := sim.Run(t.Context(), world)
	if err != nil {
		t.Fatal(err)
	}
	return outcomeOf(r, statuses)
}

// outcomeOf says of a simulation what is compared.
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
