package job

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/internal/object"
	"github.com/batchplan/batchplan/job/jobpod"
)

// DecodeJob reads the JSON of a batch/v1 Job object, as `kubectl get -o json` prints it. apiVersion
// and kind may be missing, since typed clients leave them out. Unknown fields are ignored, because
// objects may come from other versions. Version is the resourceVersion, or 0 if that is not a
// number.
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
	version, _ := strconv.ParseInt(m.ResourceVersion, 10, 64) // 0 means unknown
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

// DecodePod reads the JSON of a v1 Pod object and sets Owner by its relation to the job (J6).
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
		p.Deletion = &PodDeletion{m.DeletionTimestamp, max(m.DeletionGracePeriodSeconds, 0)}
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

func decodeOwner(of *Job, in *podJSON) jobpod.Ownership {
	if in.Metadata.Namespace != of.Namespace {
		return jobpod.Foreign
	}
	return OwnerOf(of, UID(in.Metadata.Controller()), in.Metadata.Labels)
}

func decodeContainers(in *podJSON) []jobpod.Container {
	restartable := make(map[string]bool)
	for _, c := range in.Spec.InitContainers {
		restartable[c.Name] = c.RestartPolicy == "Always"
	}

	var out []jobpod.Container
	for _, s := range in.Status.ContainerStatuses {
		out = append(out, s.container(jobpod.App))
	}

	for _, s := range in.Status.InitContainerStatuses {
		kind := jobpod.Init
		if restartable[s.Name] {
			kind = jobpod.RestartableInit
		}
		out = append(out, s.container(kind))
	}
	return out
}

func (s *containerStatusJSON) container(kind jobpod.Kind) jobpod.Container {
	c := jobpod.Container{Name: s.Name, Kind: kind, Restarts: s.RestartCount}
	switch {
	case s.State.Terminated != nil:
		c.State = jobpod.Terminated
		c.ExitCode = s.State.Terminated.ExitCode
		c.FinishedAt = s.State.Terminated.FinishedAt
	case s.State.Running != nil:
		c.State = jobpod.Running
	}
	return c
}
