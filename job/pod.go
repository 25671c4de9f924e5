package job

import (
	"math"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job/jobpod"
)

// Pod is a pod as a small value, with the fields that a round reads of every pod. The other fields
// are behind two pointers. A round reads them only for pods that have finished or are to be
// deleted.
type Pod struct {
	// Phase is the pod's phase; the zero value is Pending.
	Phase PodPhase `json:"phase,omitempty"`
	// Owner tells whether the pod belongs to the job. The zero value is Owned. An adapter whose
	// pods can change their owner uses OwnerOf.
	Owner jobpod.Ownership `json:"owner,omitempty"`
	// Untracked is true once the pod has lost the finalizer Finalizer, because it is accounted
	// for. False means that the pod is still to be counted.
	Untracked bool `json:"untracked,omitempty"`
	// Ready is true while the pod's condition Ready is True.
	Ready bool `json:"ready,omitempty"`
	// Assigned is true once the pod is bound to a node.
	Assigned bool `json:"assigned,omitempty"`
	// Index is the completion index, or NoIndex (J13). It is required for an Indexed job and
	// ignored for a NonIndexed one.
	Index Index `json:"index,omitzero"`
	// UID identifies the pod, since a name can be reused. It must not be empty.
	UID  UID    `json:"uid"`
	Name string `json:"name"`
	// Deletion is set once the pod is being deleted.
	Deletion *PodDeletion `json:"deletion,omitempty"`
	// Detail may be nil, which means that none of its fields is known.
	Detail *PodDetail `json:"detail,omitempty"`
}

// PodDeletion is the deletion of a pod that was requested.
type PodDeletion struct {
	// Timestamp is the time by which the pod must be gone.
	Timestamp time.Time `json:"timestamp,omitzero"`
	// GracePeriodSeconds is the time from the request for the deletion to Timestamp, in seconds.
	GracePeriodSeconds int64 `json:"gracePeriodSeconds,omitempty"`
}

// Begun returns the time of the request for the deletion. A longer grace period than 292 years
// counts as 292 years.
func (d PodDeletion) Begun() time.Time {
	const most = math.MaxInt64 / int64(time.Second)
	return d.Timestamp.Add(-time.Duration(min(max(d.GracePeriodSeconds, -most), most)) * time.Second)
}

// PodDetail holds the fields that are read when a pod has finished or is to be deleted.
type PodDetail struct {
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
	// ReadyTransition is the time at which the condition Ready turned True or False. It is zero
	// while Ready is Unknown or unset, because the pod may not have finished yet (J32).
	ReadyTransition time.Time          `json:"readyTransition,omitzero"`
	Containers      []jobpod.Container `json:"containers,omitempty"`
	Conditions      []PodCondition     `json:"conditions,omitempty"`
	// With backoffLimitPerIndex, FailureCount is the number of earlier failures of the index that
	// count. IgnoredFailureCount is the number of earlier failures that the podFailurePolicy
	// ignored (J18).
	FailureCount        int32 `json:"failureCount,omitempty"`
	IgnoredFailureCount int32 `json:"ignoredFailureCount,omitempty"`
	// ResourceVersion is opaque: an adapter may make a deletion conditional on it.
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// Sight returns the argument of expectations.Tracker.Observe for the pod. It is nil for a nil pod.
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
	// IndexLabel is the label with the completion index. Creation.Labels sets it.
	IndexLabel = "batch.kubernetes.io/job-completion-index"
	// IndexVariable is the environment variable that holds the completion index.
	IndexVariable = "JOB_COMPLETION_INDEX"
)

// PodPhase is the phase of a pod.
type PodPhase uint8

// The phases. The zero value is Pending, for pods about which nothing is known yet.
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
func (p PodPhase) MarshalText() ([]byte, error) { return enum.Text(podPhases, int(p), "PodPhase") }

// UnmarshalText reads a phase as Kubernetes writes it; the empty text is Pending. Any other text is
// an error and changes nothing.
func (p *PodPhase) UnmarshalText(text []byte) error { return enum.Read(p, podPhases, text, "phase") }

// PodCondition is a condition of a pod, or a pattern for one in a podFailurePolicy.
type PodCondition struct {
	Type string `json:"type"`
	// Status is taken to be True if a pattern leaves it out.
	Status ConditionStatus `json:"status,omitempty"`
}

// PodRef names a pod. References can be compared with ==.
type PodRef struct {
	Name string `json:"name"`
	UID  UID    `json:"uid"`
	// ResourceVersion is the version of the pod in the snapshot, for conditional writes. Empty
	// means unknown.
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// index returns the completion index as a number, -1 if there is none.
func (p *Pod) index() int32 { return p.Index.Int32() }

func (p *Pod) ref() PodRef { return PodRef{p.Name, p.UID, p.detail().ResourceVersion} }

// detail returns the detail of a pod, empty if nothing is known.
func (p *Pod) detail() *PodDetail {
	if p.Detail == nil {
		return &PodDetail{}
	}
	return p.Detail
}

// isTerminal reports whether the pod has run to an end.
func (p *Pod) isTerminal() bool { return p.Phase >= PodSucceeded }
