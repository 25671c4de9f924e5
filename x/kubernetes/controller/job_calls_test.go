//go:build go1.25

package controller_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// TestJobs_Calls: the calls, the events and the result of one round of a started job with a deadline.
func TestJobs_Calls(t *testing.T) {
	conflict := apierrors.NewConflict(batchv1.Resource("jobs"), "j", errors.New("too old"))
	down, gone := errors.New("no reply"), apierrors.NewNotFound(corev1.Resource("pods"), "p")

	type scene struct {
		*jobDesk
		job *batchv1.Job
	}

	pod := func(s scene, name string, changes ...func(*corev1.Pod)) { s.put(s.job, name, changes...) }
	free := func(p *corev1.Pod) { p.OwnerReferences, p.Finalizers = nil, nil }
	other := func(p *corev1.Pod) { p.Labels = nil }
	failed := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	const annotation = "example.com/memory"
	remembers := controller.JobOptions{MemoryAnnotation: annotation}

	tests := []struct {
		name               string
		options            controller.JobOptions
		set                func(s scene)
		calls, events, end string
	}{
		{"a pod is missing", controller.JobOptions{}, func(s scene) {},
			"create pods, update jobs/status j at 1",
			"Normal SuccessfulCreate Created pod: j-1", "<nil>, again in 10m0s"},
		{"the status cannot be written", controller.JobOptions{}, func(s scene) { s.refuse("update", "jobs", conflict) },
			"create pods, update jobs/status j at 1",
			"Normal SuccessfulCreate Created pod: j-1", `write status: Operation cannot be fulfilled on jobs.batch "j": too old, again in 10m0s`},
		{"a pod cannot be created", controller.JobOptions{}, func(s scene) { s.refuse("create", "pods", down) },
			"create pods, update jobs/status j at 1",
			"Warning FailedCreate Error creating: no reply", "create pods: no reply, again in 10m0s"},
		{"a pod is taken", controller.JobOptions{}, func(s scene) { pod(s, "p", free) },
			"get jobs j, patch pods p, update jobs/status j at 1",
			"", "<nil>, again in 0s"},
		{"a pod cannot be taken", controller.JobOptions{}, func(s scene) { pod(s, "p", free); s.refuse("patch", "pods", down) },
			"get jobs j, patch pods p",
			"", "claim pods: no reply"},
		{"the look before fails", controller.JobOptions{}, func(s scene) { pod(s, "p", free); s.refuse("get", "jobs", down) },
			"get jobs j",
			"", `claim pods: Job "j": no reply`},
		{"the pod is gone", controller.JobOptions{}, func(s scene) { pod(s, "p", free); s.refuse("patch", "pods", gone) },
			"get jobs j, patch pods p, create pods, update jobs/status j at 1",
			"Normal SuccessfulCreate Created pod: j-1", "<nil>, again in 10m0s"},
		{"the pod is gone, and another is taken", controller.JobOptions{Parallel: 1}, func(s scene) { pod(s, "p", free); pod(s, "q", free); s.refuse("patch", "pods", gone) },
			"get jobs j, patch pods p, patch pods q",
			"", "<nil>, again in 1s"},
		{"the pod is gone, and another is released", controller.JobOptions{Parallel: 1}, func(s scene) { pod(s, "p", free); pod(s, "q", other); s.refuse("patch", "pods", gone) },
			"get jobs j, patch pods p, patch pods q",
			"", "<nil>, again in 1s"},
		{"a pod is released", controller.JobOptions{}, func(s scene) { pod(s, "p", other) },
			"patch pods p, create pods, update jobs/status j at 1",
			"Normal SuccessfulCreate Created pod: j-1", "<nil>, again in 10m0s"},
		{"a pod that no server has stored", controller.JobOptions{}, func(s scene) { pod(s, "p", func(p *corev1.Pod) { free(p); p.UID = "" }) },
			"create pods, update jobs/status j at 1",
			"Normal SuccessfulCreate Created pod: j-1", "<nil>, again in 10m0s"},
		{"a pod has failed", controller.JobOptions{}, func(s scene) { pod(s, "p", failed) },
			"update jobs/status j at 1, patch pods p, update jobs/status j at 1",
			"", "<nil>, again in 10s"},
		{"the last pod has failed", remembers, func(s scene) { pod(s, "p", failed); s.job.Spec.BackoffLimit = pointTo[int32](0) },
			"update jobs/status j at 1, patch pods p, update jobs/status j at 1",
			"Warning BackoffLimitExceeded Job has reached the specified backoff limit", "<nil>"},
		{"the failure is kept in an annotation", remembers, func(s scene) { pod(s, "p", failed) },
			"update jobs/status j at 1, patch pods p, update jobs/status j at 1, patch jobs j",
			"", "<nil>, again in 10s"},
		{"the annotation cannot be written", remembers, func(s scene) { pod(s, "p", failed); s.refuse("patch", "jobs", down) },
			"update jobs/status j at 1, patch pods p, update jobs/status j at 1, patch jobs j",
			"", "memory: no reply, again in 10s"},
		{"the job is gone by then", remembers, func(s scene) {
			pod(s, "p", failed)
			s.refuse("patch", "jobs", apierrors.NewNotFound(batchv1.Resource("jobs"), "j"))
		},
			"update jobs/status j at 1, patch pods p, update jobs/status j at 1, patch jobs j",
			"", "<nil>, again in 10s"},
		{"an annotation that cannot be read", remembers, func(s scene) { s.job.Annotations = map[string]string{annotation: "{"} },
			"create pods, update jobs/status j at 1, patch jobs j",
			"Normal SuccessfulCreate Created pod: j-1", "<nil>, again in 10m0s"},
		{"the job of another controller", remembers, func(s scene) {
			s.job.Spec.ManagedBy = pointTo("example.com/other")
			s.job.Annotations = map[string]string{annotation: "theirs"}
			s.job.Spec.Selector = nil
			pod(s, "p", failed)
		},
			"", "", "<nil>"},
		{"no selector, and a pod of nobody", controller.JobOptions{}, func(s scene) { s.job.Spec.Selector = nil; pod(s, "p", free, other) },
			"",
			"Warning InvalidJob job.spec.selector: is required", "job ns/j: job.spec.selector: is required"},
		{"a selector that no server takes, and a pod of nobody", controller.JobOptions{}, func(s scene) {
			s.job.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "job", Operator: "Near"}}}
			pod(s, "p", free, other)
		},
			"",
			"Warning InvalidJob job.spec.template.metadata.labels: map[job:j]: do not match the selector", "job ns/j: job.spec.template.metadata.labels: map[job:j]: do not match the selector"},
		{"a selector that its pods do not match, and a pod of nobody", controller.JobOptions{}, func(s scene) { s.job.Spec.Template.Labels = nil; pod(s, "p", free) },
			"",
			"Warning InvalidJob job.spec.template.metadata.labels: map[]: do not match the selector", "job ns/j: job.spec.template.metadata.labels: map[]: do not match the selector"},
		{"a job that no server has stored", controller.JobOptions{}, func(s scene) { s.job.UID = "" },
			"",
			`Warning InvalidJob job.uid: "": is required`, `job ns/j: job.uid: "": is required`},
		{"a job that has ended", controller.JobOptions{}, func(s scene) { complete(s.job, 0); pod(s, "p") },
			"", "", "<nil>"},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memories := stored{{Namespace: "ns", Name: "j"}: {JobUID: "uid-of-j"}}
				rounds, retry := 0, false // not counting a plan that found all pods gone (J6)
				test.options.Memories = memories
				test.options.Hooks.Round = func(r controller.JobRound) {
					rounds, retry = rounds+1, r.Plan.Conclude(r.Outcome).Retry
				}
				s := scene{newJobDesk(t, test.options), newJob("j", pointTo(mine))}
				s.job.ResourceVersion = "1"
				s.job.Status.StartTime, s.job.Spec.ActiveDeadlineSeconds = pointTo(metav1.Now()), pointTo[int64](600)
				test.set(s)
				must.OK(t, errors.Join(s.owners.Add(s.job), s.Tracker().Add(s.job.DeepCopy())))
				next, err := s.round("j")
				end := fmt.Sprint(err)
				if !next.IsZero() {
					end += ", again in " + time.Until(next).String()
				}
				if got := s.calls(); got != test.calls {
					t.Errorf("calls\n%s, want\n%s", got, test.calls)
				}
				if got := s.reports.take(); got != test.events {
					t.Errorf("events\n%s, want\n%s", got, test.events)
				}
				s.checkWarnings(test.events, err)
				if end != test.end {
					t.Errorf("it ends with\n%s, want\n%s", end, test.end)
				}
				if rounds > 1 || retry && test.name == "the pod is gone" {
					t.Errorf("%d rounds, again %t", rounds, retry)
				}
				if forgotten := test.name == "a job that has ended"; (len(memories) == 0) != forgotten {
					t.Errorf("remembered %v", memories)
				}
			})
		})
	}
}

// TestJobs_ForgetsPods: the pods of a job that has ended or is gone are not kept.
func TestJobs_ForgetsPods(t *testing.T) {
	j := newJob("j", pointTo(mine))
	ended := j.DeepCopy()
	complete(ended, 0)
	for name, change := range map[string]func(*jobDesk) error{
		"ended": func(d *jobDesk) error { return d.owners.Update(ended) },
		"gone":  func(d *jobDesk) error { return d.owners.Delete(j) },
	} {
		d := newJobDesk(t, controller.JobOptions{}, j)
		d.put(j, "p")
		for _, want := range []int{1, 0} {
			if _, err := d.round("j"); err != nil || d.Known() != want {
				t.Errorf("%s: %d pods are kept, want %d, %v", name, d.Known(), want, err)
			}
			must.OK(t, change(d))
		}
	}
}
