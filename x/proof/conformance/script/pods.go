package script

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

var podSteps = map[string]func(*World, *corev1.Pod, Step) error{
	"bind":     bind,
	"run":      run,
	"unready":  func(w *World, p *corev1.Pod, _ Step) error { return setReady(w, p, corev1.ConditionFalse) },
	"ready":    func(w *World, p *corev1.Pod, _ Step) error { return setReady(w, p, corev1.ConditionTrue) },
	"lost":     func(w *World, p *corev1.Pod, _ Step) error { return setReady(w, p, corev1.ConditionUnknown) },
	"part":     part,
	"restart":  restart,
	"succeed":  end,
	"fail":     end,
	"evict":    evict,
	"mark":     mark,
	"unknown":  func(w *World, p *corev1.Pod, _ Step) error { return setPhase(w, p, corev1.PodUnknown) },
	"delete":   deletePod,
	"gone":     gone,
	"strip":    strip,
	"annotate": annotate,
	"relabel":  relabel,
	"disown":   disown,
	"claim":    claim,
	"merge":    merge,
}

func status(w *World, p *corev1.Pod, how func(*corev1.Pod)) error {
	return server.ChangeStatus(w.Server, p.Namespace, p.Name, how)
}

func change(w *World, p *corev1.Pod, how func(*corev1.Pod)) error {
	return server.Change(w.Server, p.Namespace, p.Name, how)
}

func isTerminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func bind(w *World, p *corev1.Pod, _ Step) error {
	if p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
		return nil
	}
	return w.Bind(p.Namespace, p.Name, "node")
}

func run(w *World, p *corev1.Pod, s Step) error {
	if isTerminal(p) {
		return nil
	}
	if err := bind(w, p, s); err != nil {
		return err
	}
	return status(w, p, func(p *corev1.Pod) {
		now := w.now()
		p.Status.Phase = corev1.PodRunning
		p.Status.StartTime = &now
		setContainers(p, func(c *corev1.ContainerStatus) {
			c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
		})
	})
}

func setContainers(p *corev1.Pod, how func(*corev1.ContainerStatus)) {
	set := func(containers []corev1.Container, statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
		for i := range containers {
			if i == len(statuses) {
				statuses = append(statuses, corev1.ContainerStatus{Name: containers[i].Name, Image: "i", ImageID: "i"})
			}
			how(&statuses[i])
		}
		return statuses
	}
	p.Status.ContainerStatuses = set(p.Spec.Containers, p.Status.ContainerStatuses)
	p.Status.InitContainerStatuses = set(p.Spec.InitContainers, p.Status.InitContainerStatuses)
}

func setReady(w *World, p *corev1.Pod, ready corev1.ConditionStatus) error {
	if p.Status.Phase != corev1.PodRunning {
		return nil
	}
	return status(w, p, func(p *corev1.Pod) { setCondition(w, p, corev1.PodReady, ready, "") })
}

func setCondition(w *World, p *corev1.Pod, kind corev1.PodConditionType, is corev1.ConditionStatus, reason string) {
	c := corev1.PodCondition{Type: kind, Status: is, Reason: reason, LastTransitionTime: w.now()}
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	switch {
	case i < 0:
		p.Status.Conditions = append(p.Status.Conditions, c)
	case p.Status.Conditions[i].Status != is:
		p.Status.Conditions[i] = c
	}
}

func setPhase(w *World, p *corev1.Pod, phase corev1.PodPhase) error {
	if isTerminal(p) {
		return nil
	}
	return status(w, p, func(p *corev1.Pod) { p.Status.Phase = phase })
}

// restart counts one restart, or the given number of restarts, of the named container or of all
// containers.
func restart(w *World, p *corev1.Pod, s Step) error {
	if isTerminal(p) || p.Spec.NodeName == "" {
		return nil
	}
	return status(w, p, func(p *corev1.Pod) {
		setContainers(p, func(c *corev1.ContainerStatus) {
			if name := s.Value("container", ""); name == "" || name == c.Name {
				c.RestartCount += int32(number(s.Value("times", "1")))
			}
		})
	})
}

// end makes a pod succeed or fail. The exit code of a failure is 1 if none is given.
func end(w *World, p *corev1.Pod, s Step) error {
	code := "0"
	if s.Op == "fail" {
		code = s.Value("code", "1")
	}
	return exit(w, p, code, s.Value("container", ""))
}

// exit ends the containers with a code, and init containers with 0. If a container is named, only
// that one ends with the code, and all others end with 0.
func exit(w *World, p *corev1.Pod, exitCode, container string) error {
	if isTerminal(p) {
		return nil
	}
	if err := bind(w, p, Step{}); err != nil {
		return err
	}

	code := int32(number(exitCode))
	return status(w, p, func(p *corev1.Pod) {
		setContainers(p, func(c *corev1.ContainerStatus) {
			of := int32(0)
			isMain := func(k corev1.Container) bool { return k.Name == c.Name }
			if container == c.Name || container == "" && slices.ContainsFunc(p.Spec.Containers, isMain) {
				of = code
			}
			c.State = corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: of, FinishedAt: w.now()},
			}
		})

		setCondition(w, p, corev1.PodReady, corev1.ConditionFalse, "")
		p.Status.Phase = corev1.PodSucceeded
		if code != 0 {
			p.Status.Phase = corev1.PodFailed
		}
	})
}

// evict gives the pod the condition DisruptionTarget, and deletes it.
func evict(w *World, p *corev1.Pod, s Step) error {
	if isTerminal(p) {
		return nil
	}
	s = Step{Op: s.Op, Args: []string{s.Arg(0), string(corev1.DisruptionTarget)}}
	if err := mark(w, p, s); err != nil {
		return err
	}
	return deletePod(w, p, Step{})
}

// mark gives the pod a condition and, with "failed", fails it. The containers do not change. A
// kubelet that is short of memory leaves them unchanged as well, and others may.
func mark(w *World, p *corev1.Pod, s Step) error {
	if isTerminal(p) {
		return nil
	}
	return status(w, p, func(p *corev1.Pod) {
		setCondition(w, p, corev1.PodConditionType(s.Arg(1)), corev1.ConditionTrue, "Evicted")
		if s.Arg(2) == "failed" {
			p.Status.Phase = corev1.PodFailed
		}
	})
}

// deletePod deletes the pod, with a grace period if one is given.
func deletePod(w *World, p *corev1.Pod, s Step) error {
	var opts metav1.DeleteOptions
	if arg := s.Arg(1); arg != "" {
		seconds := int64(number(arg))
		opts.GracePeriodSeconds = &seconds
	}
	return w.Delete(server.Pods, p.Namespace, p.Name, opts)
}

// gone acts as a kubelet once a terminating pod has ended: it reports the end, and then removes the
// pod.
func gone(w *World, p *corev1.Pod, s Step) error {
	if p.DeletionTimestamp == nil {
		return nil
	}
	if !isTerminal(p) && p.Spec.NodeName != "" && s.Arg(1) != "" {
		if err := exit(w, p, s.Arg(1), ""); err != nil {
			return err
		}
	}
	none := int64(0)
	return w.Delete(server.Pods, p.Namespace, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &none})
}

// strip removes the finalizer, which only the controller should do.
func strip(w *World, p *corev1.Pod, _ Step) error {
	return change(w, p, func(p *corev1.Pod) {
		p.Finalizers = slices.DeleteFunc(p.Finalizers, func(f string) bool { return f == job.Finalizer })
	})
}

// annotate overwrites an annotation of the controller.
func annotate(w *World, p *corev1.Pod, s Step) error {
	return change(w, p, func(p *corev1.Pod) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		key := map[string]string{
			"index":    batchv1.JobCompletionIndexAnnotation,
			"failures": batchv1.JobIndexFailureCountAnnotation,
			"ignored":  batchv1.JobIndexIgnoredFailureCountAnnotation,
		}[s.Arg(1)]
		p.Annotations[key] = s.Arg(2)
	})
}

// relabel changes the pod's labels so that the job's selector no longer matches, or matches again.
func relabel(w *World, p *corev1.Pod, _ Step) error {
	return change(w, p, func(p *corev1.Pod) {
		const label, away = "batch.kubernetes.io/controller-uid", "was"
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[label], p.Labels[away] = p.Labels[away], p.Labels[label]
	})
}

func disown(w *World, p *corev1.Pod, _ Step) error {
	return change(w, p, func(p *corev1.Pod) { p.OwnerReferences = nil })
}

func claim(w *World, p *corev1.Pod, _ Step) error {
	return change(w, p, func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{somebody()} })
}

func somebody() metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Other", Name: "o", UID: "uid-o", Controller: &yes}
}
