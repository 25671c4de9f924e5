package convert

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// What others have run into (karmada#7844, kueue#4027), in the types of k8s.io/api.
func TestLegal(t *testing.T) {
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
	if err := CheckServed(release.V136, of, byHand); err == nil || !strings.Contains(err.Error(), "needs FailureTarget") {
		t.Error(err)
	}
	next := Aggregate(release.V136, of, []*batchv1.JobStatus{failed, {}}, now)
	if err := CheckServed(release.V136, of, &next); err != nil || next.Failed != 7 || len(next.Conditions) != 2 || next.Conditions[1].Reason != "BackoffLimitExceeded" {
		t.Errorf("%+v, %v", next, err)
	}
	success := job.Verdict{Type: job.ConditionSuccessCriteriaMet, Reason: "CompletionsReached"}
	if _, err := Finish(release.V136, of, success, now); err == nil || !strings.Contains(err.Error(), "status.active: 1: must be 0 when finished") {
		t.Error(err)
	}
	of.Status.Active = 0
	next, err := Finish(release.V136, of, success, now)
	if err != nil || CheckServed(release.V136, of, &next) != nil || !next.CompletionTime.Time.Equal(now) {
		t.Errorf("%+v, %v", next, err)
	}
}

func TestValidateUpdate(t *testing.T) {
	of := &batchv1.Job{Spec: batchv1.JobSpec{Suspend: new(bool), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}}}}
	*of.Spec.Suspend = true
	next := of.Spec.DeepCopy()
	next.BackoffLimit, next.Template.Spec.NodeSelector = new(int32), map[string]string{"zone": "x"}
	if err := ValidateUpdate(release.V136, of, next); err != nil {
		t.Error(err)
	}
	next.Template.Spec.Hostname = "x"
	if err := ValidateUpdate(release.V136, of, next); err == nil || !strings.Contains(err.Error(), "spec.template.spec.hostname") {
		t.Error(err)
	}
}

// A template that cannot be written names its field, on both sides.
func TestValidateUpdate_BadTemplate(t *testing.T) {
	of := &batchv1.Job{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}}}}
	bad := of.DeepCopy()
	port := intstr.IntOrString{Type: 7}
	bad.Spec.Template.Spec.Containers = []corev1.Container{{LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}}}}
	for _, err := range []error{ValidateUpdate(release.V136, bad, &of.Spec), ValidateUpdate(release.V136, of, &bad.Spec)} {
		if err == nil || !strings.HasPrefix(err.Error(), "spec.template: ") || !strings.Contains(err.Error(), "IntOrString") {
			t.Error(err)
		}
	}
}
