package probe

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var podDelete = []Probe{
	{"pod delete: nobody runs it", func(s *script) {
		s.pods.create(newPod("p"))
		s.pods.delete("p", "")
		s.pods.delete("p", "again")
		s.pods.create(newPod("p"))
		s.pods.delete("p", "with 60 s", grace(60))
	}},
	{"pod delete: assigned, not yet running", func(s *script) {
		s.pods.create(newPod("p", onNode))
		s.pods.delete("p", "")
		s.pods.delete("p", "at once", grace(0))
	}},
	{"pod delete: running", func(s *script) {
		s.pods.create(newPod("p", onNode))
		s.pods.report("p", "running", phase(corev1.PodRunning))
		s.pods.delete("p", "")
		s.pods.delete("p", "again")
		s.pods.delete("p", "with a longer grace", grace(60))
		s.pods.delete("p", "with a shorter grace", grace(10))
		s.pods.delete("p", "again, with the first grace", grace(30))
		s.pods.report("p", "succeeded", phase(corev1.PodSucceeded))
		s.pods.delete("p", "again, as it is terminal")
		s.pods.delete("p", "at once", grace(0))
	}},
	{"pod delete: grace of the pod", func(s *script) {
		s.pods.create(newPod("minute", onNode, func(o *corev1.Pod) { o.Spec.TerminationGracePeriodSeconds = p(int64(60)) }))
		s.pods.delete("minute", "")
		s.pods.create(newPod("zero", onNode, func(o *corev1.Pod) { o.Spec.TerminationGracePeriodSeconds = p(int64(0)) }))
		s.pods.delete("zero", "")
		s.pods.create(newPod("given", onNode))
		s.pods.delete("given", "with 120 s", grace(120))
		s.pods.create(newPod("negative", onNode))
		s.pods.delete("negative", "with -1 s", grace(-1))
	}},
	{"pod delete: terminal", func(s *script) {
		for _, ph := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed} {
			s.pods.create(newPod("p", onNode))
			s.pods.report("p", string(ph), phase(ph))
			s.pods.delete("p", "")
		}
		s.pods.create(newPod("q", onNode))
		s.pods.report("q", "failed", phase(corev1.PodFailed))
		s.pods.delete("q", "with 60 s", grace(60))
	}},
	{"pod delete: finalizer, nobody runs it", func(s *script) {
		s.pods.create(newPod("p", finalizers(tracking)))
		s.pods.delete("p", "")
		s.pods.delete("p", "again")
		s.pods.delete("p", "at once", grace(0))
		s.pods.strategic("p", "untrack", untrack)
		s.pods.get("p")
	}},
	{"pod delete: finalizer, terminal", func(s *script) {
		s.pods.create(newPod("p", onNode, finalizers(tracking)))
		s.pods.report("p", "failed", phase(corev1.PodFailed))
		s.pods.delete("p", "")
		s.pods.delete("p", "again")
		s.pods.change("p", "untrack by update", finalizers())
		s.pods.get("p")
	}},
	{"pod delete: running, finalizer goes first", func(s *script) {
		s.pods.create(newPod("p", onNode, finalizers(tracking)))
		s.pods.report("p", "running", phase(corev1.PodRunning))
		s.pods.delete("p", "")
		s.pods.strategic("p", "untrack", untrack)
		s.pods.report("p", "failed", phase(corev1.PodFailed))
		s.pods.get("p")
		s.pods.delete("p", "at once", grace(0))
	}},
	{"pod delete: running, kubelet goes first", func(s *script) {
		s.pods.create(newPod("p", onNode, finalizers(tracking)))
		s.pods.report("p", "running", phase(corev1.PodRunning))
		s.pods.delete("p", "")
		s.pods.report("p", "failed", phase(corev1.PodFailed))
		s.pods.delete("p", "at once", grace(0))
		s.pods.delete("p", "at once, again", grace(0))
		s.pods.strategic("p", "untrack", untrack)
		s.pods.get("p")
	}},
	{"pod delete: two finalizers", func(s *script) {
		s.pods.create(newPod("p", finalizers(tracking, other)))
		s.pods.delete("p", "")
		s.pods.strategic("p", "untrack", untrack)
		s.pods.change("p", "the last one", finalizers())
		s.pods.get("p")
	}},
	{"pod delete: what a terminating pod takes", func(s *script) {
		j := s.jobs.create(newJob("j"))
		pod := s.pods.create(newPod("p", onNode, finalizers(other)))
		s.pods.delete("p", "")
		s.pods.change("p", "a finalizer more", finalizers(other, tracking))
		s.pods.strategic("p", "adopt", adopt(pod.UID, j))
		s.pods.change("p", "another finalizer instead", finalizers(tracking))
		s.pods.change("p", "label", func(o *corev1.Pod) { o.Labels = map[string]string{"a": "1"} })
		s.pods.change("p", "owner", ownedBy(j))
		s.pods.change("p", "no deletion time", func(o *corev1.Pod) { o.DeletionTimestamp = nil })
		s.pods.change("p", "no deletion time, no grace", func(o *corev1.Pod) { o.DeletionTimestamp, o.DeletionGracePeriodSeconds = nil, nil })
		s.pods.change("p", "another grace", func(o *corev1.Pod) { o.DeletionGracePeriodSeconds = p(int64(1)) })
		s.pods.report("p", "running", phase(corev1.PodRunning))
		s.pods.report("p", "no deletion time", func(o *corev1.Pod) { o.DeletionTimestamp, o.Status.Reason = nil, "Why" })
		s.pods.create(newPod("p"))
	}},
	{"pod delete: preconditions", func(s *script) {
		first := s.pods.create(newPod("p"))
		s.pods.delete("p", "with another UID", onlyUID(strange))
		s.pods.change("p", "label", func(o *corev1.Pod) { o.Labels = map[string]string{"a": "1"} })
		s.pods.delete("p", "with a stale version", onlyVersion(first.ResourceVersion))
		s.pods.delete("missing", "with a UID", onlyUID(strange))
		s.pods.delete("p", "with its UID", onlyUID(first.UID))
		last := s.pods.create(newPod("p"))
		s.pods.delete("p", "with the UID of its predecessor", onlyUID(first.UID))
		s.pods.delete("p", "with its version", onlyVersion(last.ResourceVersion))
	}},
	{"pod delete: preconditions of a terminating pod", func(s *script) {
		first := s.pods.create(newPod("p", onNode))
		s.pods.delete("p", "")
		s.pods.delete("p", "with another UID", onlyUID(strange))
		s.pods.delete("p", "with a stale version", onlyVersion(first.ResourceVersion))
		s.pods.delete("p", "with its UID, at once", onlyUID(first.UID), grace(0))
	}},
	{"pod delete: propagation", func(s *script) {
		for _, policy := range []metav1.DeletionPropagation{
			metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan, "Sideways",
		} {
			s.pods.create(newPod("p"))
			s.pods.delete("p", string(policy), propagation(policy))
			if policy == metav1.DeletePropagationForeground || policy == metav1.DeletePropagationOrphan {
				s.pods.change("p", "without finalizers", finalizers())
			}
		}
	}},
	{"pod delete: generation", func(s *script) {
		s.pods.create(newPod("p", onNode, finalizers(tracking)))
		s.pods.delete("p", "")
		s.pods.delete("p", "with a shorter grace", grace(10))
		s.pods.delete("p", "at once", grace(0))
	}},
}
