package probe

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func withFinalizer(o *batchv1.Job) { o.Finalizers = []string{other} }

func noFinalizers(o *batchv1.Job) { o.Finalizers = nil }

var jobDelete = []Probe{
	{"job delete: without a policy", func(s *script) {
		s.jobs.create(newJob("j"))
		s.jobs.delete("j", "")
		s.jobs.delete("j", "again")
		s.jobs.change("j", "the finalizer goes", noFinalizers)
		s.jobs.get("j")
	}},
	{"job delete: background", func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.pods.create(newPod("p", ownedBy(j), finalizers(tracking)))
		s.jobs.delete("j", "Background", propagation(metav1.DeletePropagationBackground))
		s.jobs.delete("j", "again", propagation(metav1.DeletePropagationBackground))
	}},
	{"job delete: foreground", func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.pods.create(newPod("p", ownedBy(j), finalizers(tracking)))
		s.jobs.delete("j", "Foreground", propagation(metav1.DeletePropagationForeground))
		s.jobs.delete("j", "again", propagation(metav1.DeletePropagationForeground))
		s.jobs.report("j", "status", status(func(o *batchv1.JobStatus) { o.Active = 1 }))
		s.jobs.change("j", "the finalizer goes", noFinalizers)
		s.jobs.get("j")
	}},
	{"job delete: orphan", func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.pods.create(newPod("p", ownedBy(j)))
		s.jobs.delete("j", "Orphan", propagation(metav1.DeletePropagationOrphan))
		s.jobs.change("j", "the finalizer goes", noFinalizers)
		s.jobs.get("j")
	}},
	{"job delete: one policy after another", func(s *script) {
		s.jobs.create(newJob("a"))
		s.jobs.delete("a", "Foreground", propagation(metav1.DeletePropagationForeground))
		s.jobs.delete("a", "Orphan", propagation(metav1.DeletePropagationOrphan))
		s.jobs.delete("a", "Background", propagation(metav1.DeletePropagationBackground))
		s.jobs.create(newJob("b", withFinalizer))
		s.jobs.delete("b", "Background", propagation(metav1.DeletePropagationBackground))
		s.jobs.delete("b", "Foreground", propagation(metav1.DeletePropagationForeground))
		s.jobs.delete("b", "without a policy")
	}},
	{"job delete: other options", func(s *script) {
		s.jobs.create(newJob("a"))
		s.jobs.delete("a", "unknown policy", propagation("Sideways"))
		s.jobs.delete("a", "with grace 30 s", grace(30), propagation(metav1.DeletePropagationBackground))
		s.jobs.create(newJob("b", withFinalizer))
		s.jobs.delete("b", "with grace 30 s", grace(30), propagation(metav1.DeletePropagationBackground))
	}},
	{"job delete: finalizer", func(s *script) {
		s.jobs.create(newJob("j", withFinalizer))
		s.jobs.delete("j", "Background", propagation(metav1.DeletePropagationBackground))
		s.jobs.delete("j", "again", propagation(metav1.DeletePropagationBackground))
		s.jobs.change("j", "a finalizer more", func(o *batchv1.Job) { o.Finalizers = append(o.Finalizers, tracking) })
		s.jobs.change("j", "parallelism", spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(5)) }))
		s.jobs.report("j", "failed", failed)
		s.jobs.create(newJob("j"))
		s.jobs.strategic("j", "the finalizer goes", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["`+other+`"]}}`)
		s.jobs.get("j")
	}},
	{"job delete: as the TTL controller does", func(s *script) {
		j := s.jobs.create(newJob("j", spec(func(o *batchv1.JobSpec) { o.TTLSecondsAfterFinished = p(int32(0)) })))
		s.jobs.report("j", "complete", finished(complete))
		s.jobs.delete("j", "another UID", propagation(metav1.DeletePropagationForeground), onlyUID(strange))
		s.jobs.delete("j", "its UID", propagation(metav1.DeletePropagationForeground), onlyUID(j.UID))
		s.jobs.delete("j", "its UID again", propagation(metav1.DeletePropagationForeground), onlyUID(j.UID))
		s.jobs.delete("missing", "any UID", propagation(metav1.DeletePropagationForeground), onlyUID(j.UID))
	}},
	{"job delete: made again", func(s *script) {
		first := s.jobs.create(newJob("j"))
		s.jobs.delete("j", "Background", propagation(metav1.DeletePropagationBackground))
		again := s.jobs.create(newJob("j"))
		s.say("another UID: %t", first.UID != again.UID)
		first.ResourceVersion = ""
		s.jobs.updateStatus("of the first", first)
		s.jobs.delete("j", "the first", propagation(metav1.DeletePropagationForeground), onlyUID(first.UID))
	}},
}
