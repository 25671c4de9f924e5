package costs

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
)

// TestLoad measures both sides with many pods, and prints lines for benchstat.
//
//   - Start: the process starts when a job with many running pods exists, and does its first
//     rounds.
//   - Idle: one second without anything to do.
//   - Touch: a field that no controller reads changes in one pod. The figures are for the round of
//     the job, and the time until the next change.
//   - Create: another job creates its pods. Run: all of them start to run. Finish: all of them
//     succeed, and the job ends. The figures are per pod.
//   - Crowd: the process starts when many jobs of ten running pods exist. The figures are for all of
//     it; the time is until the last job has had its first round.
//   - Jobs: many jobs whose pods succeed immediately, from the creation of the first job to the end
//     of the last. The figures are per job; the median and the 99th percentile are of the times from
//     the creation of a job to its condition Complete. There are as many pods in fewer jobs of 10
//     and of 100 pods. Alone is the same with one job of one pod.
//
// Except in Jobs and Alone, the kubelets' writes bypass the API server, which is busy enough with the
// controllers' writes.
func TestLoad(t *testing.T) {
	if !*onServer {
		t.Skip("make costs")
	}
	l := newLab(t)
	for n := range *repeat {
		w := fmt.Sprintf("%d", n)
		for _, mode := range []batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion} {
			name := strings.ToLower(string(mode))
			t.Run("steady-"+name, func(t *testing.T) { l.steady(t, name+"-"+w, mode, *pods) })
		}
		t.Run("finish", func(t *testing.T) { l.finish(t, "finish-"+w, *finishing) })
		t.Run("crowd", func(t *testing.T) { l.crowd(t, "crowd-"+w, *crowd) })
		for _, workers := range []int{1, 5, 10} {
			for _, each := range []int{1, 10, 100} {
				t.Run(fmt.Sprintf("jobs-%d-%d", workers, each), func(t *testing.T) {
					l.complete(t, "Jobs", fmt.Sprintf("jobs-%s-%d-%d", w, workers, each), workers, max(*jobs/each, 1), each)
				})
			}
		}
		t.Run("alone", func(t *testing.T) { l.complete(t, "Alone", "alone-"+w, 5, 1, 1) })
	}
}

// report prints the figures of a side, divided by n, the number of operations.
func report(name string, s side, n int, u usage, more string) {
	_, err := fmt.Fprintf(output, "Benchmark%s/side=%s 1 %d cpu-ns/op %d allocs/op %d B/op %d heap-B %.4g requests/op%s\n", name, s,
		u.CPU.Nanoseconds()/int64(n), u.Allocs/uint64(n), u.Bytes/uint64(n), u.Heap, float64(u.Requests.total())/float64(n), more)
	if err != nil {
		panic(err)
	}
}

var output io.Writer = os.Stdout

// idle is the number of seconds in which nothing happens. touches is the number of times a pod is
// touched.
const (
	idle    = 15
	touches = 20
)

// realistic is a typical template: a few variables, resources, a volume.
const realistic = `"template":{"metadata":{"labels":{"app":"costs","team":"batch"}},"spec":{"restartPolicy":"Never",
	"volumes":[{"name":"work","emptyDir":{}},{"name":"settings","configMap":{"name":"settings"}}],
	"containers":[{"name":"main","image":"example.com/main:1","command":["/bin/main"],"args":["--input=/work/in","--output=/work/out"],
		"env":[{"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"NODE","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}],
		"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"memory":"128Mi"}},
		"volumeMounts":[{"name":"work","mountPath":"/work"},{"name":"settings","mountPath":"/etc/settings"}]}]}}`

// create creates a job with n pods, all at the same time.
func (l *lab) create(t *testing.T, s side, namespace string, mode batchv1.CompletionMode, n int) *batchv1.Job {
	t.Helper()
	j := jobOf(t, s, fmt.Sprintf(`"parallelism":%[1]d,"completions":%[1]d,"completionMode":%q,`, n, mode))
	j.Name = "j"
	out, err := l.BatchV1().Jobs(namespace).Create(t.Context(), j, metav1.CreateOptions{})
	must.OK(t, err)
	return out
}

// jobOf returns a job of a side, with the realistic template and more fields of the spec.
func jobOf(t *testing.T, s side, spec string) *batchv1.Job {
	t.Helper()
	parsed, err := script.Parse("job {" + spec + strings.ReplaceAll(realistic, "\n", " ") + "}")
	must.OK(t, err)
	j := &batchv1.Job{Spec: *parsed.Job}
	j.Spec.ManagedBy = s.managedBy()
	return j
}

func ready(n int) func(*batchv1.Job) bool {
	return func(j *batchv1.Job) bool { return j.Status.Ready != nil && int(*j.Status.Ready) == n }
}

// steady measures a job whose pods run and hardly change.
func (l *lab) steady(t *testing.T, world string, mode batchv1.CompletionMode, n int) {
	parameters := fmt.Sprintf("mode=%s/pods=%d", mode, n)
	for _, s := range sides {
		namespace := s.namespaceOf(world)
		l.makeNamespace(t, namespace)
		l.plant(t, l.create(t, s, namespace, mode, n), n)

		p := l.start(t, s, namespace, 5)
		l.await(t, namespace, 1, ready(n))
		time.Sleep(quiet)
		report("SteadyStart/"+parameters, s, 1, p.end(), "")

		p.begin("SteadyIdle")
		time.Sleep(idle * time.Second)
		report("SteadyIdle/"+parameters, s, idle, p.end(), "")

		p.begin("SteadyTouch")
		for i := range touches {
			all := l.podsOf(namespace)
			l.rewrite(t, all[i*len(all)/touches:][:1], func(p *corev1.Pod) corev1.PodStatus {
				p.Status.Message += "."
				return p.Status
			})
			time.Sleep(quiet)
		}
		report("SteadyTouch/"+parameters, s, touches, p.end(), "")

		p.stop()
	}
}

// finish measures a job whose pods are created, run and succeed.
func (l *lab) finish(t *testing.T, world string, n int) {
	for _, s := range sides {
		namespace := s.namespaceOf(world)
		l.makeNamespace(t, namespace)

		p := l.start(t, s, namespace, 5)
		p.end()

		p.begin("Create")
		l.create(t, s, namespace, batchv1.IndexedCompletion, n)
		l.await(t, namespace, 1, func(j *batchv1.Job) bool { return int(j.Status.Active) == n })
		time.Sleep(quiet)
		report(fmt.Sprintf("Create/pods=%d", n), s, n, p.end(), "")

		p.begin("Run")
		l.rewrite(t, l.podsOf(namespace), func(p *corev1.Pod) corev1.PodStatus {
			return statusOf(p, corev1.PodRunning, corev1.ConditionTrue, running())
		})
		l.await(t, namespace, 1, ready(n))
		time.Sleep(quiet)
		report(fmt.Sprintf("Run/pods=%d", n), s, n, p.end(), "")

		p.begin("Finish")
		l.rewrite(t, l.podsOf(namespace), func(p *corev1.Pod) corev1.PodStatus { return ended(p, 0) })
		l.await(t, namespace, 1, isComplete)
		time.Sleep(quiet)
		report(fmt.Sprintf("Finish/pods=%d", n), s, n, p.end(), "")

		p.stop()
	}
}

// crowd measures a start beside n jobs of ten pods that run.
func (l *lab) crowd(t *testing.T, world string, n int) {
	const each = 10
	for _, s := range sides {
		namespace := s.namespaceOf(world)
		l.makeNamespace(t, namespace)
		many(t, n, func(i int) error {
			j := jobOf(t, s, fmt.Sprintf(`"parallelism":%[1]d,"completions":%[1]d,`, each))
			j.Name = fmt.Sprintf("j-%d", i)
			j, err := l.BatchV1().Jobs(namespace).Create(t.Context(), j, metav1.CreateOptions{})
			if err == nil {
				l.plant(t, j, each)
			}
			return err
		})

		began := time.Now()
		p := l.start(t, s, namespace, 5)
		l.await(t, namespace, n, ready(each))
		took := time.Since(began)
		time.Sleep(quiet)
		report(fmt.Sprintf("Crowd/jobs=%d/pods=%d", n, n*each), s, 1, p.end(), fmt.Sprintf(" %.4g start-s", took.Seconds()))
		p.stop()
	}
}

// complete measures n jobs whose pods succeed as soon as they exist, also with the preset: without
// it, a round does not wait a second when the last pod has ended.
func (l *lab) complete(t *testing.T, name, world string, workers, n, each int) {
	for _, s := range []side{reference, recommended, preset} {
		namespace := s.namespaceOf(world)
		l.makeNamespace(t, namespace)
		l.quick.Store(namespace, true)
		p := l.start(t, s, namespace, workers)
		time.Sleep(quiet)
		p.end()

		p.begin(name)
		server, began := processorTime(), time.Now()
		created := make([]time.Time, n)
		many(t, n, func(i int) error {
			j := jobOf(t, s, fmt.Sprintf(`"parallelism":%[1]d,"completions":%[1]d,`, each))
			j.Name = fmt.Sprintf("j-%d", i)
			created[i] = time.Now()
			_, err := l.BatchV1().Jobs(namespace).Create(t.Context(), j, metav1.CreateOptions{})
			return err
		})
		l.await(t, namespace, n, isComplete)
		took := time.Since(began)
		server = processorTime() - server

		time.Sleep(quiet)
		used := p.end()
		var lives []time.Duration
		for i := range created {
			at, _ := l.ends.Load(fmt.Sprintf("%s/j-%d", namespace, i))
			lives = append(lives, at.(time.Time).Sub(created[i]))
		}
		slices.Sort(lives)

		report(fmt.Sprintf("%s/jobs=%d/pods=%d/workers=%d", name, n, each, workers), s, n, used,
			fmt.Sprintf(" %.4g jobs/s %d server-cpu-ns/op %.4g median-ms %.4g p99-ms", float64(n)/took.Seconds(),
				server.Nanoseconds()/int64(n), lives[n/2].Seconds()*1e3, lives[n*99/100].Seconds()*1e3))
		p.stop()
	}
}
