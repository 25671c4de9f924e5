package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// Status is a batch/v1 JobStatus, and its JSON is that of batch/v1: a status that is read and
// written again is the same. Times are not rounded. A time of whole seconds encodes exactly as in
// Kubernetes.
type Status struct {
	// Conditions hold each type at most once, in the order in which they appeared.
	Conditions     []Condition `json:"conditions,omitempty"`
	StartTime      time.Time   `json:"startTime,omitzero"`
	CompletionTime time.Time   `json:"completionTime,omitzero"`
	// Active is the number of pods that run or wait to run.
	Active int32 `json:"active,omitempty"`
	// Succeeded and Failed count pods that have lost the finalizer. For an Indexed job, Succeeded
	// is the number of CompletedIndexes.
	Succeeded int32 `json:"succeeded,omitempty"`
	Failed    int32 `json:"failed,omitempty"`
	// Terminating counts pods that are being deleted and have not finished.
	Terminating *int32 `json:"terminating,omitempty"`
	// CompletedIndexes and FailedIndexes are index lists such as "1,3-5,7" (J14).
	CompletedIndexes string  `json:"completedIndexes,omitempty"`
	FailedIndexes    *string `json:"failedIndexes,omitempty"`
	// UncountedTerminatedPods holds the UIDs of pods that finished and are not in
	// the counters yet (J35).
	UncountedTerminatedPods *UncountedTerminatedPods `json:"uncountedTerminatedPods,omitempty"`
	// Ready is the number of active pods whose condition Ready is True.
	Ready *int32 `json:"ready,omitempty"`
}

// UncountedTerminatedPods are the UIDs of pods that have finished and are not counted yet. A UID is
// in at most one of the lists, and only once (JI2).
type UncountedTerminatedPods struct {
	Succeeded []UID `json:"succeeded,omitempty"`
	Failed    []UID `json:"failed,omitempty"`
}

// Condition is one condition of a job.
type Condition struct {
	Type               ConditionType   `json:"type"`
	Status             ConditionStatus `json:"status"`
	LastProbeTime      time.Time       `json:"lastProbeTime,omitzero"`
	LastTransitionTime time.Time       `json:"lastTransitionTime,omitzero"`
	Reason             string          `json:"reason,omitempty"`
	Message            string          `json:"message,omitempty"`
}

// ConditionType names a condition of a job.
type ConditionType string

// The condition types of batch/v1. FailureTarget and SuccessCriteriaMet announce how the job is
// going to end. Failed and Complete mean that it has ended.
const (
	ConditionSuspended          ConditionType = "Suspended"
	ConditionFailureTarget      ConditionType = "FailureTarget"
	ConditionSuccessCriteriaMet ConditionType = "SuccessCriteriaMet"
	ConditionFailed             ConditionType = "Failed"
	ConditionComplete           ConditionType = "Complete"
)

// ConditionStatus is True, False or Unknown.
type ConditionStatus string

// The values of a condition.
const (
	ConditionTrue    ConditionStatus = "True"
	ConditionFalse   ConditionStatus = "False"
	ConditionUnknown ConditionStatus = "Unknown"
)

// Condition returns the condition of type t, or the zero Condition when there
// is none.
func (s Status) Condition(t ConditionType) Condition {
	if c := s.find(t); c != nil {
		return *c
	}
	return Condition{}
}

// find returns the condition of type t, or nil when there is none.
func (s *Status) find(t ConditionType) *Condition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == t {
			return &s.Conditions[i]
		}
	}
	return nil
}

// Finished returns the type of the finishing condition, Complete or Failed, or
// "" while the job has not ended (J4).
func (s Status) Finished() ConditionType { return s.finished() }

// finished is Finished without a copy of the status.
func (s *Status) finished() ConditionType {
	switch {
	case s.isTrue(ConditionComplete):
		return ConditionComplete
	case s.isTrue(ConditionFailed):
		return ConditionFailed
	}
	return ""
}

// isTrue reports whether a condition of type t is True. A faulty list can hold a type more
// than once.
func (s *Status) isTrue(t ConditionType) bool {
	for i := range s.Conditions {
		if s.Conditions[i].Type == t && s.Conditions[i].Status == ConditionTrue {
			return true
		}
	}
	return false
}

// withCondition returns the conditions with c, which replaces the condition of its type or comes
// last. The argument's array is not written to.
func withCondition(conditions []Condition, c Condition) []Condition {
	return value.Put(conditions, c, func(other Condition) bool { return other.Type == c.Type })
}

// equalStatus reports whether writing b over a would change nothing.
func equalStatus(a, b *Status) bool {
	switch {
	case a.Active != b.Active,
		a.Succeeded != b.Succeeded,
		a.Failed != b.Failed,
		!value.Equal(a.Terminating, b.Terminating),
		!value.Equal(a.Ready, b.Ready),
		a.CompletedIndexes != b.CompletedIndexes,
		!value.Equal(a.FailedIndexes, b.FailedIndexes),
		!equalUncounted(a.UncountedTerminatedPods, b.UncountedTerminatedPods),
		!a.StartTime.Equal(b.StartTime),
		!a.CompletionTime.Equal(b.CompletionTime):
		return false
	}
	return slices.EqualFunc(a.Conditions, b.Conditions, equalCondition)
}

func equalCondition(a, b Condition) bool {
	sameTimes := a.LastProbeTime.Equal(b.LastProbeTime) && a.LastTransitionTime.Equal(b.LastTransitionTime)
	a.LastProbeTime, a.LastTransitionTime = b.LastProbeTime, b.LastTransitionTime
	return sameTimes && a == b
}

// equalUncounted treats nil like two empty lists.
func equalUncounted(a, b *UncountedTerminatedPods) bool {
	x, y := value.Of(a), value.Of(b)
	return slices.Equal(x.Succeeded, y.Succeeded) && slices.Equal(x.Failed, y.Failed)
}

// uncounted returns the uncounted lists. They are empty if the field is nil.
func (s *Status) uncounted() UncountedTerminatedPods { return value.Of(s.UncountedTerminatedPods) }
