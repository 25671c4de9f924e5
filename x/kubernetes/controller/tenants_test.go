//go:build go1.25

package controller_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// Another tenant can name any UID in an owner reference. So only objects of its own namespace
// belong to an owner.

// jobElsewhere is a job of another namespace that names a CronJob as its controller.
func jobElsewhere(name string, of *batchv1.CronJob) *batchv1.Job {
	j := newJob(name, nil)
	j.Namespace, j.CreationTimestamp = "evil", metav1.Now()
	j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: of.Name, UID: of.UID, Controller: pointTo(true)}}
	return j
}

// TestC1_JobOfAnotherNamespace: a job of another namespace neither prevents a run nor changes the
// status, and is never deleted.
func TestC1_JobOfAnotherNamespace(t *testing.T) {
	scheduled := func(j *batchv1.Job, n int) {
		j.Annotations = map[string]string{"batch.kubernetes.io/cronjob-scheduled-timestamp": time.Date(2000, 1, 1, 0, n, 0, 0, time.UTC).Format(time.RFC3339)}
	}

	tests := map[string]func(*batchv1.Job, *batchv1.CronJob){
		"with the name of the run":   func(j *batchv1.Job, _ *batchv1.CronJob) { scheduled(j, 1) },
		"scheduled for a later run":  func(j *batchv1.Job, _ *batchv1.CronJob) { j.Name = "x"; scheduled(j, 9) },
		"with the name and no owner": func(j *batchv1.Job, _ *batchv1.CronJob) { j.OwnerReferences = nil },
		"active in the status": func(j *batchv1.Job, o *batchv1.CronJob) {
			o.Status.Active = []corev1.ObjectReference{{Namespace: "ns", Name: j.Name, UID: j.UID}}
		},
		"finished far in the future": func(j *batchv1.Job, _ *batchv1.CronJob) { j.Name = "x"; complete(j, 1000*time.Hour) },
		"finished, and none are kept": func(j *batchv1.Job, o *batchv1.CronJob) {
			j.Name = "x"
			complete(j, 0)
			o.Spec.SuccessfulJobsHistoryLimit = pointTo[int32](0)
		},
		"running, and Replace is asked": func(j *batchv1.Job, o *batchv1.CronJob) {
			j.Name = "x"
			o.Spec.ConcurrencyPolicy = batchv1.ReplaceConcurrent
		},
	}

	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				victim := newCronJob("c", "* * * * *", batchv1.ForbidConcurrent)
				evil := jobElsewhere(run("c", 1), victim)
				change(evil, victim)
				// The namespace of the victim has a job named x as well, which belongs to nobody.
				namesake := newJob("x", nil)
				c := newCluster(t, victim, evil, namesake)
				c.startCronJobs(controller.CronJobOptions{})

				c.rest(61 * time.Second)
				if got, want := c.jobs(), []string{run("c", 1), "x"}; !slices.Equal(got, want) {
					t.Errorf("jobs %v, want %v", got, want)
				}
				s := c.cronJob("c").Status
				if len(s.Active) != 1 || s.Active[0].UID == evil.UID || s.LastSuccessfulTime != nil {
					t.Errorf("status %+v", s)
				}
				if _, err := c.BatchV1().Jobs("evil").Get(t.Context(), evil.Name, metav1.GetOptions{}); err != nil {
					t.Error(err)
				}
				if events := c.events.take(); strings.Contains(events, "UnexpectedJob") {
					t.Errorf("events %s", events)
				}
			})
		})
	}
}

// podElsewhere is a pod of another namespace that names a job as its controller.
func podElsewhere(of *batchv1.Job, phase corev1.PodPhase) *corev1.Pod {
	return podIn("evil", of, phase)
}

func podIn(namespace string, of *batchv1.Job, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "pod", UID: "evil-pod", Labels: of.Spec.Template.Labels, Finalizers: []string{job.Finalizer},
			OwnerReferences: []metav1.OwnerReference{*ownedBy(of)},
		},
		Status: corev1.PodStatus{Phase: phase},
	}
}

// TestJ6_PodOfAnotherNamespace: a pod of another namespace is never read or written.
func TestJ6_PodOfAnotherNamespace(t *testing.T) {
	for _, phase := range []corev1.PodPhase{corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed} {
		synctest.Test(t, func(t *testing.T) {
			j := newJob("j", pointTo(mine))
			j.Spec.BackoffLimit = pointTo[int32](0)
			evil, stray := podElsewhere(j, phase), podElsewhere(j, phase)
			stray.Name, stray.UID, stray.OwnerReferences, stray.Finalizers = "stray", "evil-stray", nil, nil

			most := 0
			c := newCluster(t, j, evil, stray)
			c.startJobs(controller.JobOptions{Hooks: controller.JobHooks{
				Round: func(r controller.JobRound) { most = max(most, len(r.Snapshot.Pods)) },
			}})

			c.rest(5 * time.Second)
			pods := c.pods()
			if s := c.job("j").Status; len(pods) != 1 || most > 1 || s.Active != 1 || s.Failed+s.Succeeded > 0 {
				t.Fatalf("%s: %d pods, %d in a round, status %+v", phase, len(pods), most, s)
			}

			c.end(pods[0], corev1.PodSucceeded)
			c.rest(5 * time.Second)
			if s := c.job("j").Status; s.Succeeded != 1 || s.Failed > 0 {
				t.Errorf("%s: status %+v", phase, s)
			}
		})
	}
}

// TestJ36_PodOfAnotherNamespace: when a job ends, only the pods of its own namespace are queued.
// Pods of other namespaces may belong to another replica.
func TestJ36_PodOfAnotherNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob("j", pointTo(mine))
		evil := podElsewhere(j, corev1.PodRunning)
		c := newCluster(t, j, evil)
		c.startJobs(controller.JobOptions{Common: controller.Common{Namespace: func(name string) bool { return name == "ns" }}})
		c.rest(5 * time.Second)
		c.end(c.pods()[0], corev1.PodSucceeded)
		c.rest(5 * time.Second)
		left, err := c.CoreV1().Pods("evil").Get(t.Context(), evil.Name, metav1.GetOptions{})
		if err != nil || !convert.IsTracked(left) || !convert.IsFinished(c.job("j")) {
			t.Errorf("the finalizer of another replica's pod is gone: %v, %v", left, err)
		}
		for _, a := range c.Actions() {
			if a.GetNamespace() == "evil" && !strings.Contains("list watch get", a.GetVerb()) {
				t.Errorf("%s %s in another namespace", a.GetVerb(), a.GetResource().Resource)
			}
		}
	})
}
