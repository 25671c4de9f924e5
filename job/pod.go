package job

import (
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job/jobpod"
)

// Pod is a pod as a small value: what a round reads of every pod. What it reads only of
// pods that have finished or must go is behind two pointers.
type Pod struct {
	// Phase is how far the pod has come in its life.
	Phase PodPhase `json:"phase,omitempty"`
	// Owner says whether the pod is the job's. The zero value is Owned; an
	// adapter whose pods can change hands uses [OwnerOf].
	Owner jobpod.Ownership `json:"owner,omitempty"`
	// Untracked is true once the pod has lost the finalizer [Finalizer]: it is accounted
	// for. The zero value is a pod that has still to be counted.
	Untracked bool `json:"untracked,omitempty"`
	// Ready is true while the pod's condition Ready is True.
	Ready bool `json:"ready,omitempty"`
	// Assigned is true once the pod is bound to a node.
	Assigned bool `json:"assigned,omitempty"`
	// Index is the completion index, or NoIndex (J13). An Indexed job needs it; for
	// a NonIndexed one it means nothing.
	Index Index `json:"index,omitzero"`
	// UID identifies the pod; a name can be used again. It must not be empty.
	UID  UID    `json:"uid"`
	Name string `json:"name"`
	// Deletion is set once the pod is being deleted.
	Deletion *PodDeletion `json:"deletion,omitempty"`
	// Detail may be nil: then nothing of it is known.
	Detail *PodDetail `json:"detail,omitempty"`
}

// PodDeletion is a deletion under way.
type PodDeletion struct {
	// Timestamp is the time by which the pod must be gone.
	Timestamp time.Time `json:"timestamp,omitzero"`
	// GracePeriodSeconds is how long before that the deletion was requested.
	GracePeriodSeconds int32 `json:"gracePeriodSeconds,omitempty"`
}

// PodDetail is what is looked at when a pod has finished or must go.
type PodDetail struct {
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
	// ReadyTransition is when the condition Ready turned True or False. It is zero
	// while Ready is Unknown or unset, which tells no finish time (J32).
	ReadyTransition time.Time          `json:"readyTransition,omitzero"`
	Containers      []jobpod.Container `json:"containers,omitempty"`
	Conditions      []PodCondition     `json:"conditions,omitempty"`
	// FailureCount and IgnoredFailureCount are the failures of the index before
	// this pod, kept with backoffLimitPerIndex (J18).
	FailureCount        int32 `json:"failureCount,omitempty"`
	IgnoredFailureCount int32 `json:"ignoredFailureCount,omitempty"`
	// ResourceVersion is opaque: an adapter may make a deletion conditional on it.
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// Sight is what the expectations of the job go by: an argument of expectations.Tracker.Observe.
// It is nil for nil.
func (p *Pod) Sight() *expectations.Sight {
	if p == nil {
		return nil
	}
	return &expectations.Sight{
		UID:       p.UID,
		Foreign:   p.Owner > jobpod.OwnedUnmatched,
		Deleting:  p.Deletion != nil,
		Untracked: p.Untracked,
	}
}

// Names on the objects of Kubernetes that users and tools rely on.
const (
	// Finalizer marks a pod that is not accounted for yet.
	Finalizer = "batch.kubernetes.io/job-tracking"
	// IndexLabel is the label with the completion index. [Creation.Labels] sets it.
	IndexLabel = "batch.kubernetes.io/job-completion-index"
	// IndexVariable is the environment variable that holds the completion index.
	IndexVariable = "JOB_COMPLETION_INDEX"
)

// PodPhase is the phase of a pod.
type PodPhase uint8

// The phases. The zero value is Pending: a pod of which nothing was heard yet.
const (
	PodPending PodPhase = iota
	PodUnknown
	PodRunning
	PodSucceeded
	PodFailed
)

const podPhases = "Pending|Unknown|Running|Succeeded|Failed"

// String returns the phase as Kubernetes writes it.
func (p PodPhase) String() string { return enum.String(podPhases, int(p), "PodPhase") }

// MarshalText writes the phase as Kubernetes writes it.
func (p PodPhase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a phase as Kubernetes writes it; the empty text is Pending.
func (p *PodPhase) UnmarshalText(text []byte) error {
	i, err := enum.Parse(podPhases, string(text), "phase")
	*p = PodPhase(i)
	return err
}

// PodCondition is a condition of a pod, as podFailurePolicy sees it.
type PodCondition struct {
	Type string `json:"type"`
	// Status is True in a rule that leaves it out.
	Status ConditionStatus `json:"status,omitempty"`
}

// PodRef names a pod.
type PodRef struct {
	Name string `json:"name"`
	UID  UID    `json:"uid"`
	// ResourceVersion is the version of the pod that the plan saw, for writes on condition
	// of it. Empty means that it is not known.
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// index is the completion index as a number, -1 if there is none.
func (p *Pod) index() int32 { return p.Index.Int32() }

func (p *Pod) ref() PodRef { return PodRef{p.Name, p.UID, p.detail().ResourceVersion} }

// detail is the detail of a pod, empty when nothing is known.
func (p *Pod) detail() *PodDetail {
	if p.Detail == nil {
		return &PodDetail{}
	}
	return p.Detail
}

// isTerminal reports whether the pod has run to an end.
func (p *Pod) isTerminal() bool { return p.Phase >= PodSucceeded }
