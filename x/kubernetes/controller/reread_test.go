//go:build go1.25

package controller_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// TestC3_RereadStartsNothingTwice: the answer to the status write is lost, a fresh read of the
// CronJob shows the status, and the run's job is removed. The next round still reads a cache that
// is older than the run, but the memory keeps what the fresh read has shown.
func TestC3_RereadStartsNothingTwice(t *testing.T) {
	for _, test := range []struct {
		lost int  // answers to status writes
		seen bool // the round that reads afresh sees the job
	}{{0, false}, {1, false}, {1, true}, {2, true}} {
		synctest.Test(t, func(t *testing.T) {
			cached := newCronJob("c", "* * * * *", batchv1.AllowConcurrent)
			other := newJob("x", nil) // started before a restart of the controller
			other.CreationTimestamp = metav1.Now()
			other.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cached, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
			starts := 0

			d := newCronDesk(t, controller.CronJobOptions{})
			must.OK(t, errors.Join(d.Tracker().Add(cached.DeepCopy()), d.Tracker().Add(other), d.cronJobs.Add(cached)))
			d.PrependReactor("create", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
				starts++
				return false, nil, nil
			})
			d.PrependReactor("update", "cronjobs", loseAnswers(d.Clientset, test.lost))

			time.Sleep(61 * time.Second)
			if _, err := d.round("c"); starts != 1 || (err != nil) != (test.lost > 0) {
				t.Fatalf("%+v: %d jobs, %v", test, starts, err)
			}

			// Another client adds the other job to the status, and a user removes the job of the
			// run.
			fresh := d.cronJob("c")
			if len(fresh.Status.Active) != 1 || fresh.Status.LastScheduleTime == nil {
				t.Fatalf("status %+v", fresh.Status)
			}
			fresh.Status.Active = append(fresh.Status.Active, corev1.ObjectReference{Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: "x", UID: other.UID})
			must.OK(t, d.Tracker().Update(batchv1.SchemeGroupVersion.WithResource("cronjobs"), fresh, "ns"))
			started := d.job(run("c", 1))
			if test.seen {
				must.OK(t, d.jobs.Add(started))
			}
			must.OK(t, errors.Join(d.BatchV1().Jobs("ns").Delete(t.Context(), started.Name, metav1.DeleteOptions{}), d.jobs.Add(other)))

			looks := 0
			d.PrependReactor("get", "cronjobs", func(clienttesting.Action) (bool, runtime.Object, error) {
				looks++
				return false, nil, nil
			})
			for range 5 { // the cache stays behind
				time.Sleep(time.Second)
				_, _ = d.round("c") // it may request another round
				// Both jobs leave the cache, so the plan finds no job that the status lacks, and
				// the CronJob is not read again.
				must.OK(t, errors.Join(d.jobs.Delete(other), d.jobs.Delete(started)))
			}

			if starts != 1 || looks != 1 {
				t.Errorf("%+v: the run was started %d times, after %d fresh looks", test, starts, looks)
			}
		})
	}
}

// loseAnswers carries out the first n writes, and loses the answers.
func loseAnswers(client *fake.Clientset, n int) clienttesting.ReactionFunc {
	return func(a clienttesting.Action) (bool, runtime.Object, error) {
		if n--; n < 0 {
			return false, nil, nil
		}
		write := a.(clienttesting.UpdateAction)
		err := client.Tracker().Update(write.GetResource(), write.GetObject(), write.GetNamespace())
		return true, nil, errors.Join(err, errors.New("the answer is lost"))
	}
}
