package job

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/internal/object"
)

// DecodeJob reads a batch/v1 Job object, as `kubectl get -o json` prints it or a typed
// client marshals it, which leaves apiVersion and kind out. Unknown fields are ignored:
// objects come from other versions as well. Version is the resourceVersion, where that is
// a number.
func DecodeJob(data []byte) (Job, error) {
	var in struct {
		object.Head
		Spec   Spec   `json:"spec"`
		Status Status `json:"status"`
	}

	if err := object.Decode(data, &in, "batch/v1", "Job"); err != nil {
		return Job{}, fmt.Errorf("decode job: %w", err)
	}

	m := &in.Metadata
	version, _ := strconv.ParseInt(m.ResourceVersion, 10, 64) // 0, unknown, if it is not a number
	return Job{
		Version:           version,
		Namespace:         m.Namespace,
		Name:              m.Name,
		UID:               UID(m.UID),
		CreationTimestamp: m.CreationTimestamp,
		DeletionTimestamp: m.DeletionTimestamp,
		Spec:              in.Spec,
		Status:            in.Status,
	}, nil
}

type podJSON struct {
	object.Head
	Spec struct {
		NodeName       string `json:"nodeName"`
		InitContainers []struct {
			Name          string `json:"name"`
			RestartPolicy string `json:"restartPolicy"`
		} `json:"initContainers"`
	} `json:"spec"`
	Status struct {
		Phase      PodPhase `json:"phase"`
		Conditions []struct {
			PodCondition
			LastTransitionTime time.Time `json:"lastTransitionTime"`
		} `json:"conditions"`
		ContainerStatuses     []containerStatusJSON `json:"containerStatuses"`
		InitContainerStatuses []containerStatusJSON `json:"initContainerStatuses"`
	} `json:"status"`
}

type containerStatusJSON struct {
	Name         string `json:"name"`
	RestartCount int32  `json:"restartCount"`
	State        struct {
		Running    *struct{} `json:"running"`
		Terminated *struct {
			ExitCode   int32     `json:"exitCode"`
			FinishedAt time.Time `json:"finishedAt"`
		} `json:"terminated"`
	} `json:"state"`
}

// DecodePod reads a v1 Pod object and decides what it is to the job (J6).
// Unknown fields are ignored.
func DecodePod(of *Job, data []byte) (Pod, error) {
	var in podJSON
	if err := object.Decode(data, &in, "v1", "Pod"); err != nil {
		return Pod{}, fmt.Errorf("decode pod: %w", err)
	}

	m := &in.Metadata
	detail := &PodDetail{
		CreationTimestamp: m.CreationTimestamp,
		Containers:        decodeContainers(&in),
		ResourceVersion:   m.ResourceVersion,
	}

	p := Pod{
		Phase:     in.Status.Phase,
		Owner:     decodeOwner(of, &in),
		Untracked: !slices.Contains(m.Finalizers, Finalizer),
		Assigned:  in.Spec.NodeName != "",
		UID:       UID(m.UID),
		Name:      m.Name,
		Detail:    detail,
	}

	if !m.DeletionTimestamp.IsZero() {
		p.Deletion = &PodDeletion{m.DeletionTimestamp, m.DeletionGracePeriodSeconds}
	}

	for _, c := range in.Status.Conditions {
		detail.Conditions = append(detail.Conditions, c.PodCondition)
		if c.Type == "Ready" {
			p.Ready = c.Status == ConditionTrue
			if c.Status == ConditionTrue || c.Status == ConditionFalse {
				detail.ReadyTransition = c.LastTransitionTime
			}
		}
	}

	p.ReadAnnotations(m.Annotations)
	return p, nil
}

func decodeOwner(of *Job, in *podJSON) Ownership {
	if in.Metadata.Namespace != of.Namespace {
		return Foreign
	}
	return OwnerOf(of, UID(in.Metadata.Controller()), in.Metadata.Labels)
}

func decodeContainers(in *podJSON) []Container {
	restartable := make(map[string]bool)
	for _, c := range in.Spec.InitContainers {
		restartable[c.Name] = c.RestartPolicy == "Always"
	}

	var out []Container
	for _, s := range in.Status.ContainerStatuses {
		out = append(out, s.container(AppContainer))
	}

	for _, s := range in.Status.InitContainerStatuses {
		kind := InitContainer
		if restartable[s.Name] {
			kind = RestartableInitContainer
		}
		out = append(out, s.container(kind))
	}
	return out
}

func (s *containerStatusJSON) container(kind ContainerKind) Container {
	c := Container{Name: s.Name, Kind: kind, Restarts: s.RestartCount}
	switch {
	case s.State.Terminated != nil:
		c.State = ContainerTerminated
		c.ExitCode = s.State.Terminated.ExitCode
		c.FinishedAt = s.State.Terminated.FinishedAt
	case s.State.Running != nil:
		c.State = ContainerRunning
	}
	return c
}
