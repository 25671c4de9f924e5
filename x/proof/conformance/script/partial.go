package script

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// part sets a pod's phase, the state of its container "main", and the state of all others. The
// conditions do not change: a pod can fail without a change of readiness.
func part(w *World, p *corev1.Pod, s Step) error {
	if isTerminal(p) {
		return nil
	}
	if err := bind(w, p, s); err != nil {
		return err
	}
	return status(w, p, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodPhase(s.Arg(1))
		setContainers(p, func(c *corev1.ContainerStatus) {
			if is := s.Arg(3); c.Name != "main" {
				setState(w, c, is)
			} else {
				setState(w, c, s.Arg(2))
			}
		})
	})
}

// setState sets the state of a container: "exit:1" has ended now, "untimed:1" has ended at an
// unknown time, and "none" is no state. A container that has ended stays so.
func setState(w *World, c *corev1.ContainerStatus, state string) {
	if c.State.Terminated != nil {
		return
	}
	kind, code, _ := strings.Cut(state, ":")
	c.State = corev1.ContainerState{}
	switch kind {
	case "waiting":
		c.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
	case "running":
		c.State.Running = &corev1.ContainerStateRunning{StartedAt: w.now()}
	case "exit":
		c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: int32(number(code)), FinishedAt: w.now()}
	case "untimed":
		c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: int32(number(code))}
	}
}

// editCondition acts as another writer of the job's status: it sets a condition, and keeps the
// fields that have no argument.
func editCondition(w *World, _ *Script, s Step) error {
	return editStatus(w, func(status *batchv1.JobStatus) {
		i := slices.IndexFunc(status.Conditions,
			func(c batchv1.JobCondition) bool { return string(c.Type) == s.Arg(0) })

		args := s.Args[1:]
		is := corev1.ConditionStatus("")
		if len(args) > 0 && (args[0] == "True" || args[0] == "False") {
			is, args = corev1.ConditionStatus(args[0]), args[1:]
		}

		if i < 0 {
			if is == "" {
				return
			}
			i = len(status.Conditions)
			status.Conditions = append(status.Conditions, batchv1.JobCondition{
				Type:               batchv1.JobConditionType(s.Arg(0)),
				LastProbeTime:      w.now(),
				LastTransitionTime: w.now(),
			})
		}

		c := &status.Conditions[i]
		if is != "" {
			c.Status = is
		}
		if len(args) > 0 {
			c.Reason = args[0]
		}
		if len(args) > 1 {
			c.Message = args[1]
		}
	})
}

// editCounter acts as another writer of the job's counters, or of its list of failed indexes.
func editCounter(w *World, _ *Script, s Step) error {
	n := int32(number(s.Arg(1)))
	return editStatus(w, func(status *batchv1.JobStatus) {
		switch s.Arg(0) {
		case "active":
			status.Active = n
		case "ready":
			status.Ready = &n
		case "terminating":
			status.Terminating = &n
		case "failed":
			status.Failed = n
		case "failedIndexes":
			indexes := s.Arg(1)
			status.FailedIndexes = &indexes
		case "succeeded":
			status.Succeeded = n
		}
	})
}

func editStatus(w *World, how func(*batchv1.JobStatus)) error {
	for _, j := range server.List[*batchv1.Job](w.Server) {
		return server.ChangeStatus(w.Server, j.Namespace, j.Name, func(j *batchv1.Job) { how(&j.Status) })
	}
	return nil
}
