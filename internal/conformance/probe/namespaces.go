package probe

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var namespaces = []Probe{
	{"namespace terminating", func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.cronJobs.create(newCronJob("c"))
		s.pods.create(newPod("p", onNode, finalizers(tracking)))
		s.close()
		s.pods.create(newPod("q"))
		s.pods.create(newPod("p"))
		s.pods.create(newPod("", ownedBy(j), func(o *corev1.Pod) { o.GenerateName = "j-" }))
		s.jobs.create(newJob("k"))
		s.cronJobs.create(newCronJob("d"))
		s.pods.report("p", "running", phase(corev1.PodRunning))
		s.pods.strategic("p", "untrack", untrack)
		s.jobs.report("j", "status", status(func(o *batchv1.JobStatus) { o.Active = 1 }))
		s.jobs.change("j", "spec", spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(5)) }))
		s.jobs.delete("j", "Background", propagation(metav1.DeletePropagationBackground))
	}},
	{"namespace terminating: events", func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.close()
		s.events.refuses("about a job", newEvent("e", j))
	}},
	{"namespace terminating: how a controller knows", func(s *script) {
		s.close()
		_, err := s.client().CoreV1().Pods(s.namespace).Create(s.ctx, newPod("p"), metav1.CreateOptions{})
		s.say("forbidden %t, with the cause %t", apierrors.IsForbidden(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause))
	}},
}
