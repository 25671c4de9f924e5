package convert

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/internal/groups"
)

// NewPod returns the pod of a creation. It has the template with what the plan adds to it (J33),
// the pod group of the creation (J44), the finalizer of jobs exactly once, and argument owner as
// its controller. It shares no memory with the arguments. The server generates the name.
func NewPod(
	namespace string, owner metav1.OwnerReference, template *corev1.PodTemplateSpec, c *job.Creation,
) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    c.NamePrefix,
			Namespace:       namespace,
			Labels:          joined(template.Labels, c.Labels()),
			Annotations:     joined(template.Annotations, c.Annotations()),
			Finalizers:      tracked(template.Finalizers),
			OwnerReferences: []metav1.OwnerReference{*owner.DeepCopy()},
		},
		Spec: *template.Spec.DeepCopy(),
	}
	if c.Group.Name != "" {
		groups.Join(pod, c.Group)
	}
	if c.Hostname == "" {
		return pod
	}

	pod.Spec.Hostname = c.Hostname
	for _, list := range [...][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			addIndexVariable(&list[i], c.IndexPath())
		}
	}
	return pod
}

// tracked returns the finalizers, with the finalizer of jobs exactly once: a server refuses
// duplicates.
func tracked(finalizers []string) []string {
	out := slices.Clone(finalizers)
	i := slices.Index(out, job.Finalizer)
	if i < 0 {
		return append(out, job.Finalizer)
	}
	rest := slices.DeleteFunc(out[i+1:], func(f string) bool { return f == job.Finalizer })
	return out[:i+1+len(rest)]
}

// addIndexVariable adds the variable with the index, unless the container defines it. The variable
// gets its value from the pod's field at the given path.
func addIndexVariable(c *corev1.Container, path string) {
	isIt := func(e corev1.EnvVar) bool { return e.Name == job.IndexVariable }
	if slices.ContainsFunc(c.Env, isIt) {
		return
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: job.IndexVariable, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: path},
	}})
}

// NewJob returns the job of a creation: the CronJob's template with the name, labels and
// annotations of the plan, controlled by the CronJob (C13). It shares no memory with its arguments.
func NewJob(of *batchv1.CronJob, c *cronjob.Creation) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:        c.Name,
			Namespace:   of.Namespace,
			Labels:      maps.Clone(c.Labels),
			Annotations: maps.Clone(c.Annotations),
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(of, batchv1.SchemeGroupVersion.WithKind("CronJob")),
			},
		},
		Spec: *of.Spec.JobTemplate.Spec.DeepCopy(),
	}
}

// joined returns a new map with the entries of both, and the value of b for a key in both.
func joined(a, b map[string]string) map[string]string {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := make(map[string]string, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
