package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// Namespace holds all objects of a script; elsewhere holds the objects of another tenant.
const (
	Namespace = "default"
	elsewhere = "elsewhere"
)

// World is a server with controllers. It carries out the steps of a script in the
// role of the scheduler, the kubelets and the users.
type World struct {
	*server.Server
	controllers Controllers
	stop        func()

	rest    rest
	faults  []fault
	chances chances
	strays  int
	manual  bool
	// numbered is set if steps name pods by the order of their creation. Then born has all pods in
	// this order.
	numbered bool
	born     []types.UID
}

// Controllers makes controllers for a server, to be started phase by phase.
type Controllers func(*server.Server) (phases []func(), stop func())

// NewWorld puts the objects of the script on a new server and starts the
// controllers. An error means that the server has refused an object.
func NewWorld(s *Script, controllers Controllers) (*World, error) {
	w := &World{
		Server: server.New(), controllers: controllers,
		manual: s.Manual, numbered: slices.ContainsFunc(s.Steps, isNumbered),
	}
	w.Fault = w.fault

	if s.CronJob != nil {
		c := &batchv1.CronJob{
			ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: Namespace},
			Spec:       *s.CronJob.DeepCopy(),
		}
		if err := w.Create(c); err != nil {
			return nil, err
		}
	}
	if s.Job != nil {
		if err := w.createJob(s.Job); err != nil {
			return nil, err
		}
	}
	w.start()
	return w, nil
}

// start creates new controllers, without the memory of earlier ones.
func (w *World) start() {
	phases, stop := w.controllers(w.Server)
	for _, start := range phases {
		start()
		synctest.Wait()
	}
	w.stop = stop
}

func (w *World) createJob(spec *batchv1.JobSpec) error {
	return w.Create(
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: Namespace}, Spec: *spec.DeepCopy()})
}

// Stop stops the controllers.
func (w *World) Stop() { w.stop() }

// Do carries out a step. A step that the server refuses has no effect; the refusal
// is returned.
func (w *World) Do(s *Script, step Step) error {
	if w.numbered {
		w.note()
	}
	switch {
	case w.manual && step.Op == "fail":
		return finish(w, s, step)
	case w.manual && step.Op == "delete" && isOfRun(step):
		return deleteRun(w, step)
	}
	if do, ok := podSteps[step.Op]; ok {
		var err error
		for _, pod := range w.pick(step.Arg(0)) {
			if e := do(w, pod, step); e != nil {
				err = e
			}
		}
		return err
	}
	if do, ok := worldSteps[step.Op]; ok {
		return do(w, s, step)
	}
	panic(fmt.Sprintf("step %q: no such operation", step))
}

// pick returns the pods that an argument selects: "all", one by its number, or a range such as
// "0-99".
func (w *World) pick(arg string) []*corev1.Pod {
	pods := server.List[*corev1.Pod](w.Server)
	if n, ok := strings.CutPrefix(arg, "#"); ok {
		return slices.DeleteFunc(pods, func(p *corev1.Pod) bool { return p.UID != value.At(w.born, number(n)-1) })
	}
	if arg == "all" || len(pods) == 0 {
		return pods
	}
	if from, to, ok := strings.Cut(arg, "-"); ok {
		return pods[min(number(from), len(pods)):min(number(to)+1, len(pods))]
	}
	i := number(arg) % len(pods)
	return pods[i : i+1]
}

// note notes the pods that are new since the last step.
func (w *World) note() {
	pods := server.List[*corev1.Pod](w.Server)
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	for _, p := range pods {
		if !slices.Contains(w.born, p.UID) {
			w.born = append(w.born, p.UID)
		}
	}
}

func number(arg string) int {
	n, err := strconv.Atoi(arg)
	if err != nil {
		panic(fmt.Sprintf("argument %q: %v", arg, err))
	}
	return n
}

func duration(arg string) time.Duration {
	d, err := time.ParseDuration(arg)
	if err != nil {
		panic(fmt.Sprintf("argument %q: %v", arg, err))
	}
	return d
}

// now returns the kubelets' time.
func (w *World) now() metav1.Time { return metav1.NewTime(time.Now().Add(w.Skew).UTC()) }

// isNumbered reports whether a step names a pod by the order of creation.
func isNumbered(s Step) bool { return strings.HasPrefix(s.Arg(0), "#") }

// isOfRun reports whether a step names a job by its run.
func isOfRun(s Step) bool {
	_, err := time.Parse(time.RFC3339, s.Arg(0))
	return err == nil
}

// jobNamed returns a job by its number or its run, or nil.
func (w *World) jobNamed(arg string) *batchv1.Job {
	jobs := server.List[*batchv1.Job](w.Server)
	if run, err := time.Parse(time.RFC3339, arg); err == nil {
		jobs = slices.DeleteFunc(jobs, func(j *batchv1.Job) bool {
			of, err := time.Parse(time.RFC3339, j.Annotations[batchv1.CronJobScheduledTimestampAnnotation])
			return err != nil || !of.Equal(run)
		})
		return value.At(jobs, 0)
	}
	if len(jobs) == 0 {
		return nil
	}
	return jobs[number(arg)%len(jobs)]
}

// deleteRun deletes the job of a run.
func deleteRun(w *World, s Step) error {
	j := w.jobNamed(s.Arg(0))
	if j == nil {
		return nil
	}
	background := metav1.DeletePropagationBackground
	return w.Delete(server.Jobs, j.Namespace, j.Name, metav1.DeleteOptions{PropagationPolicy: &background})
}
