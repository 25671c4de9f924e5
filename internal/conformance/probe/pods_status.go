package probe

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

var podStatus = []Probe{
	{"pod status: a life", func(s *script) {
		s.pods.create(newPod("p", onNode))
		s.pods.report("p", "running", phase(corev1.PodRunning))
		s.pods.report("p", "ready", podCondition(corev1.PodReady, ""))
		s.pods.report("p", "nothing", func(*corev1.Pod) {})
		s.pods.report("p", "the same again", phase(corev1.PodRunning))
		s.pods.report("p", "succeeded", phase(corev1.PodSucceeded))
		s.pods.report("p", "running again", phase(corev1.PodRunning))
		s.pods.report("p", "failed", phase(corev1.PodFailed))
		s.pods.report("p", "unknown phase", phase("Sleeping"))
	}},
	{"pod status: leaves the rest alone", func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.pods.create(newPod("p", finalizers(tracking)))
		s.pods.report("p", "spec", func(o *corev1.Pod) { o.Spec.Containers[0].Image = "example.com/next" })
		s.pods.report("p", "node", onNode)
		s.pods.report("p", "labels", func(o *corev1.Pod) { o.Labels = map[string]string{"a": "1"} })
		s.pods.report("p", "owner", ownedBy(j))
		s.pods.report("p", "no finalizer", finalizers())
		s.pods.report("p", "deletion time", func(o *corev1.Pod) { o.DeletionTimestamp, o.DeletionGracePeriodSeconds = at(0), p(int64(1)) })
		s.pods.report("p", "phase and labels", func(o *corev1.Pod) {
			o.Status.Phase, o.Labels = corev1.PodRunning, map[string]string{"a": "2"}
		})
	}},
	{"pod status: version and UID", func(s *script) {
		first := s.pods.create(newPod("p"))
		s.pods.report("p", "running", phase(corev1.PodRunning))
		phase(corev1.PodFailed)(first)
		s.pods.updateStatus("from a stale version", first)
		first.ResourceVersion = ""
		s.pods.updateStatus("without a version", first)
		s.pods.report("p", "another UID", func(o *corev1.Pod) { o.UID = strange })
		first.Name = "missing"
		s.pods.updateStatus("missing", first)
	}},
	{"pod status: conditions and reasons", func(s *script) {
		s.pods.create(newPod("p", onNode))
		s.pods.report("p", "disrupted", podCondition(corev1.DisruptionTarget, "PreemptionByScheduler"))
		s.pods.report("p", "the condition twice", podCondition(corev1.DisruptionTarget, "TerminationByKubelet"))
		s.pods.report("p", "without conditions", func(o *corev1.Pod) { o.Status.Conditions = nil })
		s.pods.report("p", "custom condition", podCondition("example.com/mine", "Mine"))
		s.pods.report("p", "condition without a type", podCondition("", "None"))
		s.pods.report("p", "reason and message", func(o *corev1.Pod) { o.Status.Reason, o.Status.Message = "Evicted", "no room" })
		s.pods.report("p", "observed generation", func(o *corev1.Pod) { o.Status.ObservedGeneration = 1 })
		s.pods.report("p", "observed generation, negative", func(o *corev1.Pod) { o.Status.ObservedGeneration = -1 })
		s.pods.report("p", "start time", func(o *corev1.Pod) { o.Status.StartTime = at(0) })
	}},
	{"pod status: containers", func(s *script) {
		s.pods.create(newPod("p", onNode))
		s.pods.report("p", "running", func(o *corev1.Pod) {
			o.Status.Phase, o.Status.ContainerStatuses = corev1.PodRunning, []corev1.ContainerStatus{running()}
		})
		s.pods.report("p", "exited with 3", func(o *corev1.Pod) {
			o.Status.Phase, o.Status.ContainerStatuses = corev1.PodFailed, []corev1.ContainerStatus{exited(3)}
		})
		s.pods.report("p", "runs again, though restarts are off", func(o *corev1.Pod) {
			o.Status.Phase, o.Status.ContainerStatuses = corev1.PodRunning, []corev1.ContainerStatus{running()}
		})
		s.pods.report("p", "without containers", func(o *corev1.Pod) { o.Status.ContainerStatuses = nil })
		s.pods.create(newPod("restarts", onNode, func(o *corev1.Pod) { o.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }))
		s.pods.report("restarts", "exited with 3", func(o *corev1.Pod) { o.Status.ContainerStatuses = []corev1.ContainerStatus{exited(3)} })
		s.pods.report("restarts", "runs again", func(o *corev1.Pod) { o.Status.ContainerStatuses = []corev1.ContainerStatus{running()} })
		s.pods.report("restarts", "exited with 0", func(o *corev1.Pod) { o.Status.ContainerStatuses = []corev1.ContainerStatus{exited(0)} })
		s.pods.report("restarts", "runs again", func(o *corev1.Pod) { o.Status.ContainerStatuses = []corev1.ContainerStatus{running()} })
	}},
	{"pod status: by patch", func(s *script) {
		s.pods.create(newPod("p", onNode))
		s.pods.patch("p", "phase", types.StrategicMergePatchType, `{"status":{"phase":"Running"}}`, "status")
		s.pods.patch("p", "condition", types.StrategicMergePatchType, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, "status")
		s.pods.patch("p", "second condition", types.StrategicMergePatchType,
			`{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByTaintManager"}]}}`, "status")
		s.pods.patch("p", "condition is over", types.StrategicMergePatchType, `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
		s.pods.patch("p", "nothing new", types.StrategicMergePatchType, `{"status":{"phase":"Running"}}`, "status")
		s.pods.patch("p", "status without the subresource", types.StrategicMergePatchType, `{"status":{"phase":"Failed"}}`)
	}},
	{"pod status: by a merge patch", func(s *script) {
		s.pods.create(newPod("p", onNode))
		s.pods.report("p", "disrupted", podCondition(corev1.DisruptionTarget, ""))
		s.pods.patch("p", "all conditions", types.MergePatchType, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, "status")
	}},
}

func running() corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "main", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *at(0)}}}
}

func exited(code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Done", StartedAt: *at(0), FinishedAt: *at(10)},
	}}
}
