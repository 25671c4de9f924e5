//go:build go1.25

package controller_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/kubernetes/controller"
)

// TestC3_RereadStartsNothingTwice: the answer to the status write is lost, a fresh look at the CronJob
// shows the status, and the run's job is removed. The next round reads the cache, which is still older
// than the run. The memory keeps what the fresh look has shown.
func TestC3_RereadStartsNothingTwice(t *testing.T) {
	for _, test := range []struct {
		lost int  // answers to status writes
		seen bool // the job is seen in the round of the fresh look
	}{{0, false}, {1, false}, {1, true}, {2, true}} {
		synctest.Test(t, func(t *testing.T) {
			ctx := klog.NewContext(t.Context(), logr.Discard())
			cached := newCronJob("c", "* * * * *", batchv1.AllowConcurrent)
			other := newJob("x", nil) // an earlier life of the controller has started it
			other.CreationTimestamp = metav1.Now()
			other.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cached, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
			client := fake.NewClientset(cached.DeepCopy(), other)
			starts := 0
			client.PrependReactor("create", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
				starts++
				j := a.(clienttesting.CreateAction).GetObject().(*batchv1.Job)
				j.UID, j.CreationTimestamp = "the-run", metav1.Now()
				return false, nil, nil
			})
			// The caches show what the test puts into them.
			factory := informers.NewSharedInformerFactory(client, resync)
			cronJobs, jobs := factory.Batch().V1().CronJobs().Informer(), factory.Batch().V1().Jobs().Informer()
			c, err := controller.NewCronJobReconciler(client, cronJobs, jobs, controller.CronJobOptions{})
			must.OK(t, errors.Join(err, cronJobs.GetIndexer().Add(cached)))
			round := func() error {
				_, err := c.Reconcile(ctx, types.NamespacedName{Namespace: "ns", Name: "c"})
				return err
			}
			client.PrependReactor("update", "cronjobs", loseAnswers(client, test.lost))
			time.Sleep(61 * time.Second)
			if err := round(); starts != 1 || (err != nil) != (test.lost > 0) {
				t.Fatalf("%+v: %d jobs, %v", test, starts, err)
			}
			// Another client names the other job, and a user removes the run's.
			fresh, err := client.BatchV1().CronJobs("ns").Get(ctx, "c", metav1.GetOptions{})
			if err != nil || len(fresh.Status.Active) != 1 || fresh.Status.LastScheduleTime == nil {
				t.Fatalf("status %+v, %v", fresh.Status, err)
			}
			fresh.Status.Active = append(fresh.Status.Active, corev1.ObjectReference{Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: "x", UID: other.UID})
			err = client.Tracker().Update(batchv1.SchemeGroupVersion.WithResource("cronjobs"), fresh, "ns")
			started, failed := client.BatchV1().Jobs("ns").Get(ctx, run("c", 1), metav1.GetOptions{})
			if test.seen {
				err = errors.Join(err, failed, jobs.GetIndexer().Add(started))
			}
			err = errors.Join(err, client.BatchV1().Jobs("ns").Delete(ctx, run("c", 1), metav1.DeleteOptions{}), jobs.GetIndexer().Add(other))
			must.OK(t, err)
			looks := 0
			client.PrependReactor("get", "cronjobs", func(clienttesting.Action) (bool, runtime.Object, error) {
				looks++
				return false, nil, nil
			})
			for range 5 { // the cache stays behind
				time.Sleep(time.Second)
				_ = round() // it may ask for another one
				// Both jobs are gone, so nothing is unexpected, and nothing is read again.
				must.OK(t, errors.Join(jobs.GetIndexer().Delete(other), jobs.GetIndexer().Delete(started)))
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
