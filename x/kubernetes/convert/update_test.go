package convert

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/batchplan/batchplan/job/release"
)

func TestValidateUpdate(t *testing.T) {
	of := &batchv1.Job{Spec: batchv1.JobSpec{Suspend: new(bool), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}}}}
	*of.Spec.Suspend = true
	next := of.Spec.DeepCopy()
	next.BackoffLimit, next.Template.Spec.NodeSelector = new(int32), map[string]string{"zone": "x"}
	if err := ValidateUpdate(of, next, release.V136()); err != nil {
		t.Error(err)
	}
	next.Template.Spec.Hostname = "x"
	if err := ValidateUpdate(of, next, release.V136()); err == nil || !strings.Contains(err.Error(), "spec.template.spec.hostname") {
		t.Error(err)
	}
}

// TestValidateUpdate_BadTemplate: if a template cannot be written as JSON, the error names the
// field.
func TestValidateUpdate_BadTemplate(t *testing.T) {
	of := &batchv1.Job{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}}}}
	bad := of.DeepCopy()
	port := intstr.IntOrString{Type: 7}
	bad.Spec.Template.Spec.Containers = []corev1.Container{{LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}}}}
	for _, err := range []error{ValidateUpdate(bad, &of.Spec, release.V136()), ValidateUpdate(of, &bad.Spec, release.V136())} {
		if err == nil || !strings.HasPrefix(err.Error(), "spec.template: ") || !strings.Contains(err.Error(), "IntOrString") {
			t.Error(err)
		}
	}
}
