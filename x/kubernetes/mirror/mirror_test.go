package mirror_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/mirror"
)

// TestMirror repeats problems of other projects (karmada#7844, kueue#4027) with the types of
// k8s.io/api.
func TestMirror(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	start := metav1.NewTime(now.Add(-time.Hour))
	of := &batchv1.Job{
		Spec:   batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}}},
		Status: batchv1.JobStatus{StartTime: &start, Active: 1},
	}

	failed := &batchv1.JobStatus{StartTime: &start, Failed: 7, Conditions: []batchv1.JobCondition{
		{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded"},
		{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded"},
	}}

	byHand := failed.DeepCopy()
	byHand.Conditions = byHand.Conditions[1:]
	if err := mirror.CheckServed(of, byHand, release.V136()); err == nil || !strings.Contains(err.Error(), "needs FailureTarget") {
		t.Error(err)
	}

	next := mirror.Aggregate(of, []jobstatus.Part{mirror.Part("member1", failed), mirror.Part("member2", &batchv1.JobStatus{})}, now, release.V136())
	if err := mirror.CheckServed(of, &next, release.V136()); err != nil || next.Failed != 7 || len(next.Conditions) != 2 || next.Conditions[1].Reason != "BackoffLimitExceeded" ||
		next.Conditions[1].Message != "member1" {
		t.Errorf("%+v, %v", next, err)
	}

	success := job.Verdict{Type: job.ConditionSuccessCriteriaMet, Reason: "CompletionsReached"}
	if _, err := mirror.Finish(of, success, now, release.V136()); err == nil || !strings.Contains(err.Error(), "status.active: 1: must be 0 when finished") {
		t.Error(err)
	}
	of.Status.Active = 0
	next, err := mirror.Finish(of, success, now, release.V136())
	if err != nil || mirror.CheckServed(of, &next, release.V136()) != nil || !next.CompletionTime.Time.Equal(now) {
		t.Errorf("%+v, %v", next, err)
	}
}
