package conformance

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

// BenchmarkCronJobs measures the CronJob controllers when all of a hundred CronJobs
// change, as in BenchmarkRound. Each has its own namespace, with one running job
// and three finished ones in the history.
//
//   - steady: a client has touched every CronJob, and there is nothing to do.
//   - due: every CronJob starts its job and records it.
func BenchmarkCronJobs(b *testing.B) {
	const n = 100
	for _, c := range []struct {
		name  string
		round func(*cronJobs, *meter)
	}{{"steady", (*cronJobs).steady}, {"due", (*cronJobs).due}} {
		for side, controllers := range cronSides {
			b.Run(fmt.Sprintf("%s/cronjobs=%d/%s", c.name, n, side), func(b *testing.B) {
				m := meter{B: b}
				a := newCronJobs(b, n, controllers)
				runtime.GC()

				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					c.round(a, &m)
					a.do(func() error { m.writes += len(a.server.Journal()); return nil })
					b.StartTimer()
				}
				a.stop()
				m.report()
			})
		}
	}
}

// cronSides yields the controllers of CronJobs, in the order of their benchmarks.
func cronSides(yield func(string, script.Controllers) bool) {
	_ = yield("theirs", func(s *server.Server) ([]func(), func()) { return theirs.New(s.Client(), theirs.Which{CronJobs: true}) }) &&
		yield("ours", func(s *server.Server) ([]func(), func()) {
			o := ours.Kubernetes(played)
			o.CronJobs = true
			return ours.New(s.Client(), o)
		})
}

// cronJobs is a world of CronJobs in a bubble, at a moment when nothing changes.
type cronJobs struct {
	*bubble
	server          *server.Server
	stopControllers func()
	touched         int
}

func newCronJobs(b *testing.B, n int, controllers script.Controllers) *cronJobs {
	a := &cronJobs{bubble: newBubble(b), server: server.New()}
	a.do(func() error {
		for i := range n {
			err := a.server.Create(&batchv1.CronJob{
				ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: fmt.Sprintf("n-%d", i)},
				Spec: batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
					Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
						RestartPolicy: corev1.RestartPolicyNever,
						Containers:    []corev1.Container{{Name: "main", Image: "i"}},
					}},
				}}},
			})
			if err != nil {
				return err
			}
		}

		phases, stop := controllers(a.server)
		for _, start := range phases {
			start()
			synctest.Wait()
		}
		a.stopControllers = stop

		for range 5 {
			if err := a.almostDue(); err != nil {
				return err
			}
			if err := a.run(); err != nil {
				return err
			}
		}
		a.server.Journal()
		return nil
	})

	return a
}

// almostDue ends all jobs, and lets time pass until a second before the next run.
func (a *cronJobs) almostDue() error {
	for _, j := range server.List[*batchv1.Job](a.server) {
		if len(j.Status.Conditions) > 0 {
			continue
		}
		err := server.ChangeStatus(a.server, j.Namespace, j.Name, func(j *batchv1.Job) {
			now, none := metav1.NewTime(time.Now().UTC()), int32(0)
			j.Status = batchv1.JobStatus{
				StartTime: &now, CompletionTime: &now, Succeeded: 1, Terminating: &none, Ready: &none,
				UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
			}
			for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
				j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
					Type: kind, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now,
				})
			}
		})
		if err != nil {
			return err
		}
	}

	time.Sleep(settled)
	synctest.Wait()
	now := time.Now()
	time.Sleep(now.Truncate(time.Minute).Add(time.Minute - time.Second).Sub(now))
	synctest.Wait()
	return nil
}

// run lets two seconds pass; the CronJobs become due after the first.
func (a *cronJobs) run() error {
	time.Sleep(2 * time.Second)
	synctest.Wait()
	for _, c := range server.List[*batchv1.CronJob](a.server) {
		if last := c.Status.LastScheduleTime; len(c.Status.Active) != 1 || last == nil || time.Since(last.Time) > time.Minute {
			return fmt.Errorf("CronJob %s/%s has not run: %v", c.Namespace, c.Name, c.Status)
		}
	}
	return nil
}

func (a *cronJobs) due(m *meter) {
	a.do(a.almostDue)
	a.do(func() error { a.server.Journal(); return nil })
	m.start()
	a.do(a.run)
	m.stop()
}

// steady touches all CronJobs while their notifications are held back. The controller plans as soon
// as it sees a change. So the measured time has the work and the delivery of the notifications, and
// no wait.
func (a *cronJobs) steady(m *meter) {
	a.do(func() error {
		a.touched++
		a.server.Hold(server.CronJobs)
		for _, c := range server.List[*batchv1.CronJob](a.server) {
			err := server.Change(a.server, c.Namespace, c.Name, func(c *batchv1.CronJob) {
				c.Annotations = map[string]string{"touched": fmt.Sprint(a.touched)}
			})
			if err != nil {
				return err
			}
		}
		synctest.Wait()
		return nil
	})

	m.start()
	a.do(func() error {
		a.server.Release(server.CronJobs)
		time.Sleep(settled)
		synctest.Wait()
		return nil
	})
	m.stop()
}

func (a *cronJobs) stop() {
	a.do(func() error { a.stopControllers(); return nil })
	a.bubble.stop()
}
