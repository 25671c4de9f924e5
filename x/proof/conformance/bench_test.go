package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

// BenchmarkRound measures a round of each world three times: with the job controller of Kubernetes,
// with ours, and with our planner alone.
//
// Both controllers wait a second between a notification and the round. So they run in a bubble of
// virtual time, which stands still until an iteration lets the second pass. The real clock measures
// from outside of it. An iteration begins when the notifications are in the caches, and ends when
// nothing changes any more and the status is the expected one. So the wait costs nothing; the rest
// is the work of the controller, and of the server and the informers with its writes. The
// allocations and the processor time (cpu-ns/op) count the whole process in the meantime. The
// processor time does not grow when others use the machine.
//
//   - steady: all pods run; a client has touched the job, and there is nothing to
//     do. One round, no writes.
//   - half: half of the pods have just succeeded. They are counted and lose their
//     finalizer, at most 500 per round; the job does not need others.
//   - failing: of the pods of an Indexed job with a limit per index and a
//     podFailurePolicy every tenth has just failed. They are replaced after the
//     backoff, and counted, in four or five rounds.
//
// Planning is the call of Reconcile in the first of these rounds, outside of the
// bubble.
func BenchmarkRound(b *testing.B) {
	for _, c := range cases {
		for _, n := range []int{100, 1_000, 10_000} {
			for side, controllers := range sides {
				b.Run(fmt.Sprintf("%s/pods=%d/%s", c.name, n, side), func(b *testing.B) {
					benchRounds(b, c, n, controllers)
				})
			}
			b.Run(fmt.Sprintf("%s/pods=%d/planning", c.name, n), func(b *testing.B) { benchPlanning(b, c, n) })
		}
	}
}

// sides yields the controllers of jobs, in the order of their benchmarks.
func sides(yield func(string, script.Controllers) bool) {
	_ = yield("theirs", func(s *server.Server) ([]func(), func()) { return theirs.New(s.Client(), theirs.Which{Jobs: true}) }) &&
		yield("ours", func(s *server.Server) ([]func(), func()) {
			o := ours.Kubernetes(played)
			o.Jobs = true
			o.Planning = func(time.Duration) { planned.Add(1) }
			return ours.New(s.Client(), o)
		})
}

// planned counts our rounds. If an iteration writes nothing, only this count shows that the
// measured time includes its round. The rounds of the real controllers need no count, since both
// controllers wait equally long before a round.
var planned atomic.Int64

// settled is the longest delay of the server's notifications.
const settled = 10 * time.Millisecond

// benchCase is a kind of world, and the round that is measured in it.
type benchCase struct {
	name string
	spec string
	// change makes the change, and finished reports whether it has been handled.
	change   func(w *script.World, n, round int) error
	finished func(s *batchv1.JobStatus, n int) bool
	// once is set if a world can have this round only once.
	once bool
}

var cases = []benchCase{
	{
		name: "steady",
		spec: `{"parallelism":%[1]d,"completions":%[1]d,TEMPLATE}`,
		change: func(w *script.World, _, round int) error {
			return server.Change(w.Server, script.Namespace, "j", func(j *batchv1.Job) {
				j.Annotations = map[string]string{"touched": fmt.Sprint(round)}
			})
		},
		finished: func(s *batchv1.JobStatus, n int) bool { return int(s.Active) == n },
	},
	{
		name:   "half",
		spec:   `{"parallelism":%[1]d,"completions":%[1]d,TEMPLATE}`,
		change: func(w *script.World, _, _ int) error { return endEvery(w, 2, 0) },
		finished: func(s *batchv1.JobStatus, n int) bool {
			return int(s.Succeeded) == n/2 && int(s.Active) == n-n/2 && nothingUncounted(s)
		},
		once: true,
	},
	{
		name: "failing",
		spec: `{"parallelism":%[1]d,"completions":%[1]d,"completionMode":"Indexed","backoffLimitPerIndex":3,"podFailurePolicy":{"rules":[
			{"action":"FailIndex","onExitCodes":{"operator":"In","values":[42]}},
			{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]},TEMPLATE}`,
		change: func(w *script.World, _, _ int) error { return endEvery(w, 10, 1) },
		finished: func(s *batchv1.JobStatus, n int) bool {
			return int(s.Failed) == n/10 && int(s.Active) == n && nothingUncounted(s)
		},
		once: true,
	},
}

func nothingUncounted(s *batchv1.JobStatus) bool {
	u := s.UncountedTerminatedPods
	return u == nil || len(u.Succeeded)+len(u.Failed) == 0
}

// runAll makes all pods run, and be ready.
func runAll(w *script.World) error {
	for _, p := range server.List[*corev1.Pod](w.Server) {
		err := server.ChangeStatus(w.Server, p.Namespace, p.Name, func(p *corev1.Pod) {
			now := metav1.NewTime(time.Now().UTC())
			p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &now
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now}}
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "main", Image: "i", ImageID: "i", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
			}}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// endEvery ends every n-th pod with a code.
func endEvery(w *script.World, n int, code int32) error {
	for i, p := range server.List[*corev1.Pod](w.Server) {
		if i%n != 0 {
			continue
		}
		err := server.ChangeStatus(w.Server, p.Namespace, p.Name, func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodSucceeded
			if code != 0 {
				p.Status.Phase = corev1.PodFailed
			}
			p.Status.Conditions[0].Status = corev1.ConditionFalse
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(time.Now().UTC())},
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// arena is a world in a bubble, at a moment when nothing changes.
type arena struct {
	benchCase
	*bubble
	n     int
	world *script.World
}

// newArena returns a world of n running pods.
func newArena(b *testing.B, c benchCase, n int, controllers script.Controllers) *arena {
	a := &arena{benchCase: c, bubble: newBubble(b), n: n}
	a.do(func() error {
		s, err := script.ParseLine("job " + strings.ReplaceAll(fmt.Sprintf(c.spec, n), "\n", ""))
		if err != nil {
			return err
		}

		if a.world, err = script.NewWorld(s, controllers); err != nil {
			return err
		}
		if err := a.wait(func(s *batchv1.JobStatus) bool { return int(s.Active) == n }); err != nil {
			return err
		}

		if err := runAll(a.world); err != nil {
			return err
		}
		if err := a.wait(func(s *batchv1.JobStatus) bool { return s.Ready != nil && int(*s.Ready) == n }); err != nil {
			return err
		}

		time.Sleep(time.Minute)
		a.world.Journal()
		return nil
	})
	return a
}

// wait lets time pass until the status is as wanted. At least a second passes, since the
// controllers wait that long before a round.
func (a *arena) wait(until func(*batchv1.JobStatus) bool) error {
	for range 600 {
		time.Sleep(time.Second)
		synctest.Wait()
		if until(&server.Get[*batchv1.Job](a.world.Server, script.Namespace, "j").Status) {
			return nil
		}
	}
	return errors.New("the status is not what it should be")
}

// prepare makes the change and delivers the notifications.
func (a *arena) prepare(round int) {
	a.do(func() error {
		err := a.change(a.world, a.n, round)
		time.Sleep(settled)
		synctest.Wait()
		return err
	})
}

func (a *arena) round() {
	a.do(func() error { return a.wait(func(s *batchv1.JobStatus) bool { return a.finished(s, a.n) }) })
}

// stop ends the world and returns the number of its writes.
func (a *arena) stop() (writes int) {
	a.do(func() error {
		writes = len(a.world.Journal())
		a.world.Stop()
		return nil
	})
	a.bubble.stop()
	return writes
}

func benchRounds(b *testing.B, c benchCase, n int, controllers script.Controllers) {
	m := meter{B: b}
	var a *arena
	round := 0

	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		if a == nil {
			a = newArena(b, c, n, controllers)
			runtime.GC() // the round must not pay for the creation of the world
		}

		a.prepare(round)
		round++

		before := planned.Load()
		m.start()
		a.round()
		m.stop()
		if rounds := planned.Load() - before; !c.once && rounds != 1 && strings.HasSuffix(b.Name(), "/ours") {
			b.Fatalf("%d rounds", rounds)
		}

		if c.once {
			m.writes += a.stop()
			a = nil
		}
		b.StartTimer()
	}

	if a != nil {
		m.writes += a.stop()
	}
	m.report()
}

// meter measures rounds. In addition to what every benchmark measures, it has the
// processor time of the process and the writes of the controller.
type meter struct {
	*testing.B
	spent, since time.Duration
	writes       int
}

func (m *meter) start() {
	m.StartTimer()
	m.since = processorTime()
}

func (m *meter) stop() {
	m.spent += processorTime() - m.since
	m.StopTimer()
}

func (m *meter) report() {
	m.ReportMetric(float64(m.spent.Nanoseconds())/float64(m.N), "cpu-ns/op")
	m.ReportMetric(float64(m.writes)/float64(m.N), "writes/op")
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchPlanning measures Reconcile with the snapshot that the controller sees after the change.
func benchPlanning(b *testing.B, c benchCase, n int) {
	var snapshot job.Snapshot
	for side, controllers := range sides {
		if side != "ours" {
			continue
		}
		a := newArena(b, c, n, controllers)
		a.prepare(0)
		a.do(func() (err error) {
			snapshot, err = look(a.world)
			return err
		})
		a.stop()
	}

	runtime.GC()
	var p job.Planner
	m := meter{B: b}

	b.ReportAllocs()
	m.start()
	for b.Loop() {
		if _, err := p.Reconcile(&snapshot); err != nil {
			b.Fatal(err)
		}
	}

	m.stop()
	m.report()
}

// look reads the job and its pods through JSON, a second after the change.
func look(w *script.World) (s job.Snapshot, err error) {
	s = job.Snapshot{Now: time.Now().Add(time.Second), Options: job.Kubernetes(played)}

	object := server.Get[*batchv1.Job](w.Server, script.Namespace, "j").DeepCopy()
	object.APIVersion, object.Kind = "batch/v1", "Job"
	data, err := json.Marshal(object)
	if err != nil {
		return s, err
	}
	if s.Job, err = job.DecodeJob(data); err != nil {
		return s, err
	}

	for _, object := range server.List[*corev1.Pod](w.Server) {
		if data, err = json.Marshal(object); err != nil {
			return s, err
		}

		pod, err := job.DecodePod(&s.Job, data)
		if err != nil {
			return s, err
		}
		s.Pods = append(s.Pods, pod)
	}

	return s, nil
}

// bubble runs functions in one bubble of virtual time. Between calls the bubble waits for a
// goroutine outside of the bubble, so its virtual time stands still.
type bubble struct {
	b       *testing.B
	calls   chan func() error
	results chan error
	ended   chan struct{}
}

// newBubble returns a bubble. Only a test can have a bubble, so the benchmark runs a test. The
// flags that repeat tests do not repeat this one.
func newBubble(b *testing.B) *bubble {
	u := &bubble{b: b, calls: make(chan func() error), results: make(chan error), ended: make(chan struct{})}
	var once sync.Once
	test := func(t *testing.T) {
		once.Do(func() {
			synctest.Test(t, func(*testing.T) {
				for f := range u.calls {
					u.results <- f()
				}
			})
		})
	}
	go func() {
		defer close(u.ended)
		testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "Bubble", F: test}})
	}()
	return u
}

func (u *bubble) do(f func() error) {
	u.calls <- f
	must.OK(u.b, <-u.results)
}

func (u *bubble) stop() {
	close(u.calls)
	<-u.ended
}
