package job

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/internal/stored"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Plan is what a round decided. It is plain data: it can be printed, copied, stored as JSON
// and carried out elsewhere. The zero Plan does nothing.
//
// The writes go in this order, so that a crash between any two of them loses
// nothing and counts nothing twice (J35):
//
//  1. Adopt and Release. If one fails, stop: the plan assumed them.
//  2. Groups, one after the other. If one fails, stop: pods would be in no group, or in one of the
//     wrong size.
//  3. Delete or Create; never both in one plan. Failures do not stop the round.
//  4. The status that [Plan.Record] returns. If this write fails, stop.
//  5. The finalizers that the [Recording] names.
//  6. The status that [Recording.Settle] returns.
//
// Then [Settlement.Conclude] says what to remember, to report and to retry. Package
// job/jobapply does all of this over a small interface.
type Plan struct {
	// Adopt are pods that get a controller reference to the job and the finalizer
	// (J6). Re-read the job from the source of truth first: its UID must be the
	// same and it must not be deleted. The ResourceVersion of a reference is the
	// version at which the pod had no controller.
	Adopt []PodRef `json:"adopt,omitempty"`
	// Release are pods that lose the controller reference and the finalizer (J6).
	Release []PodRef `json:"release,omitempty"`
	// Groups are workloads and pod groups to create or to resize, with Options.Gangs (J44, J45).
	Groups []jobgroup.Write `json:"groups,omitempty"`
	// Delete are pods to delete, the least valuable first.
	Delete []Deletion `json:"delete,omitempty"`
	// Create are pods to create, with slow start (J34).
	Create []Creation `json:"create,omitempty"`
	// Untrack are the finalizers to remove if every deletion succeeds; [Recording.Untrack]
	// are those to remove after what really happened.
	Untrack []Untracking `json:"untrack,omitempty"`
	// Verdict is how the job is going to end, if that is decided.
	Verdict Verdict `json:"verdict,omitzero"`
	// Requeue says when the plan changes although nothing happens. [Conclusion.Requeue]
	// says when to plan again, which may be sooner.
	Requeue Requeue `json:"requeue,omitzero"`
	// Waits are what the job waits for, each with its figures.
	Waits []Wait `json:"waits,omitempty"`
	// Events are to be reported whatever becomes of the writes.
	Events []Event `json:"events,omitempty"`
	// Notes name contradictions in the snapshot that the plan has worked around.
	Notes []Note `json:"notes,omitempty"`
	// JobUID is the job that the plan is for.
	JobUID UID `json:"jobUID,omitempty"`
	// basis is what the status, the memory and the metrics are made from.
	basis basis
}

// planVersion is the version of a plan's JSON.
const planVersion = 1

// planJSON is the JSON of a plan: a version, the fields, and what only this package reads.
type planJSON struct {
	FormatVersion int `json:"formatVersion"`
	plainPlan
	Internal basis `json:"internal,omitzero"`
}

// plainPlan is a plan without its methods.
type plainPlan Plan

// MarshalJSON writes the whole plan with the version of its form. What Record, Settle and Conclude
// need besides its fields is the member "internal", which is for this package alone.
func (p Plan) MarshalJSON() ([]byte, error) {
	return json.Marshal(planJSON{planVersion, plainPlan(p), p.basis})
}

// UnmarshalJSON reads what MarshalJSON writes. A plan of another version is an error that names
// both: make a new plan then, from a new snapshot.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var in planJSON
	if problem := stored.Read(data, planVersion, &in); problem != "" {
		return fmt.Errorf("plan: %s", problem)
	}
	*p = Plan(in.plainPlan)
	p.basis = in.Internal
	return nil
}

// Deletion is a pod to delete.
type Deletion struct {
	PodRef
	Reason jobreason.Delete `json:"reason"`
	// UntrackFirst asks to remove the finalizer before the deletion: the pod is
	// not going to be counted. The ResourceVersion is the condition of that: a pod that
	// has succeeded since must not lose its finalizer, or the success would be lost (JI9).
	UntrackFirst bool `json:"untrackFirst,omitempty"`
	// Ready is true when the pod was counted in status.ready.
	Ready bool `json:"ready,omitempty"`
}

// Creation is a pod to create: the job's template with what this adds to it. A backend that
// keeps its pods as values stores [Creation.Pod]; another keeps all fields of that with its own
// object.
type Creation struct {
	// Index is the completion index, or NoIndex for a NonIndexed job. A pod with
	// an index gets [Creation.Labels] and [Creation.Annotations], Hostname, and the
	// variable [IndexVariable] taken from the label, unless a container defines it (J33).
	Index Index `json:"index"`
	// NamePrefix is what the generated name starts with.
	NamePrefix string `json:"namePrefix"`
	// Hostname is empty for a NonIndexed job.
	Hostname string `json:"hostname,omitempty"`
	// PerIndex is true when failures are limited index by index. Then FailureCount
	// and IgnoredFailureCount count the failures of the index so far (J18).
	PerIndex            bool             `json:"perIndex,omitempty"`
	FailureCount        int32            `json:"failureCount,omitempty"`
	IgnoredFailureCount int32            `json:"ignoredFailureCount,omitempty"`
	Reason              jobreason.Create `json:"reason"`
	// Unlabeled is true without the gate PodIndexLabel: the pod has no label with its index,
	// and the variable is taken from the annotation.
	Unlabeled bool `json:"unlabeled,omitempty"`
	// Group is the pod group that the pod names in spec.schedulingGroup.podGroupName. It is empty
	// if the job has none. The UID is empty in a plan that creates the group, see [jobgroup.Effect].
	Group jobgroup.Ref `json:"group,omitzero"`
}

// Untracking is a finalizer to remove, and how its pod is accounted for.
type Untracking struct {
	PodRef
	// As is how the pod is counted.
	As jobreason.Counted `json:"as"`
	// OnEnd restricts the removal to a round that declares the job's end (J37).
	OnEnd bool `json:"onEnd,omitempty"`
	// UnlessEnd restricts it to a round that does not: an end fills the room of the
	// round with other pods (J35).
	UnlessEnd bool `json:"unlessEnd,omitempty"`
	// Ended is true for a pod whose phase is Succeeded or Failed.
	Ended bool `json:"ended,omitempty"`
	// Policy is the action of the podFailurePolicy that handles the pod. It is empty
	// if no rule matches, or if an earlier round has reported the match (JI27).
	Policy FailureAction `json:"policy,omitempty"`
}

// Verdict is how a job is going to end. The zero value means: not decided.
type Verdict struct {
	// Type is FailureTarget or SuccessCriteriaMet.
	Type    ConditionType `json:"type,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Message string        `json:"message,omitempty"`
}

func (v Verdict) decided() bool { return v.Type != "" }
func (v Verdict) failed() bool  { return v.Type == ConditionFailureTarget }

// Requeue is the next time at which the plan can change without an event. The
// zero value means: never.
type Requeue struct {
	At     time.Time      `json:"at,omitzero"`
	Reason jobreason.Wait `json:"reason,omitempty"`
}

// After returns how long to wait from now; ok is false when there is nothing to wait
// for but events. With ok the wait is at least a nanosecond, also when At has passed:
// several work queues read 0 as "never".
func (r Requeue) After(now time.Time) (d time.Duration, ok bool) {
	return value.WaitFor(r.At, now)
}
