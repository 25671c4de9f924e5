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

// Plan holds the decisions of a round. It is plain data: it can be printed, copied, stored as JSON
// and carried out elsewhere. The zero Plan does nothing.
//
// The writes go in this order, so that a crash between any two of them loses
// nothing and counts nothing twice (J35):
//
//  1. Adopt and Release. If one fails, stop: the rest of the plan assumes that all succeed.
//  2. Groups, one after the other. If one fails, stop: pods would be in no group, or in one of the
//     wrong size.
//  3. Delete or Create; never both in one plan. Failures do not stop the round.
//  4. The status that [Plan.Record] returns. If this write fails, stop.
//  5. The removal of the finalizers that the [Recording] names.
//  6. The status that [Recording.Settle] returns.
//
// Then [Settlement.Conclude] returns what to remember, to report and to retry. Package job/jobapply
// does all of this over a small interface.
//
// Do not change the lists of a plan: results belong to their entries by position. To leave a write
// out, give it the result [jobreason.ResultNotTried]; the conclusion then asks for another round.
type Plan struct {
	// Adopt are pods that get a controller reference to the job and the finalizer (J6). Re-read the
	// job from the source of truth first: its UID must be the same and it must not be deleted. The
	// ResourceVersion of a claim is the version at which the pod had no controller.
	Adopt []Claim `json:"adopt,omitempty"`
	// Release are pods that lose the controller reference and the finalizer (J6).
	Release []Claim `json:"release,omitempty"`
	// Groups are workloads and pod groups to create or to resize, with Options.Gangs (J44, J45).
	Groups []jobgroup.Write `json:"groups,omitempty"`
	// Delete are pods to delete, the least valuable first.
	Delete []Deletion `json:"delete,omitempty"`
	// Create are pods to create, with slow start (J34).
	Create []Creation `json:"create,omitempty"`
	// Untrack are the finalizers to remove if every deletion succeeds. Recording.Untrack are
	// those to remove given the real results.
	Untrack []Untracking `json:"untrack,omitempty"`
	// Verdict tells how the job is going to end, once that is decided.
	Verdict Verdict `json:"verdict,omitzero"`
	// Requeue is the time at which the plan changes even if nothing happens. Conclusion.Requeue
	// is the time to plan again, which may be earlier.
	Requeue Requeue `json:"requeue,omitzero"`
	// Waits list what the job waits for, and until when or for how many pods.
	Waits []Wait `json:"waits,omitempty"`
	// Events are to be reported whether or not the writes succeed.
	Events []Event `json:"events,omitempty"`
	// Notes name contradictions in the snapshot that the plan has worked around.
	Notes []Note `json:"notes,omitempty"`
	// JobUID is the UID of the plan's job.
	JobUID UID `json:"jobUID,omitempty"`
	// basis holds the values from which Record, Settle and Conclude compute their results.
	basis basis
}

// planVersion is the version of a plan's JSON.
const planVersion = 1

// planJSON is the JSON of a plan: a version, the fields, and a part that only this package reads.
type planJSON struct {
	FormatVersion int `json:"formatVersion"`
	plainPlan
	Internal basis `json:"internal,omitzero"`
}

// plainPlan is a plan without its methods.
type plainPlan Plan

// MarshalJSON writes the whole plan with the version of its format. Only this package reads the
// member "internal", which holds what Record, Settle and Conclude need besides the fields.
func (p Plan) MarshalJSON() ([]byte, error) {
	return json.Marshal(planJSON{planVersion, plainPlan(p), p.basis})
}

// UnmarshalJSON reads what MarshalJSON writes. For a plan of another version it returns an error
// that names both versions. Make a new plan from a new snapshot then.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var in planJSON
	if problem := stored.Read(data, planVersion, &in); problem != "" {
		return fmt.Errorf("plan: %s", problem)
	}
	*p = Plan(in.plainPlan)
	p.basis = in.Internal
	return nil
}

// Claim is a pod to adopt or to release.
type Claim struct{ PodRef }

// Deletion is a pod to delete.
type Deletion struct {
	PodRef
	Reason jobreason.Delete `json:"reason"`
	// UntrackFirst asks to remove the finalizer before the deletion, since the pod is not going to
	// be counted. Make the removal conditional on ResourceVersion: if the pod has succeeded since
	// the snapshot, it must keep its finalizer, or the success would be lost (JI9).
	UntrackFirst bool `json:"untrackFirst,omitempty"`
	// Ready is true when the pod was counted in status.ready.
	Ready bool `json:"ready,omitempty"`
}

// Creation is a pod to create: it lists what the pod has besides the job's template. A backend that
// stores values of type [Pod] stores [Creation.Pod]. Any other backend must keep all fields of that
// value with its own object.
type Creation struct {
	// Index is the completion index, or NoIndex for a NonIndexed job. A pod with an index gets
	// Creation.Labels, Creation.Annotations and Hostname. Each container gets the variable
	// IndexVariable with the value of the label, unless it defines that variable itself (J33).
	Index Index `json:"index"`
	// NamePrefix is the prefix of the pod's generated name.
	NamePrefix string `json:"namePrefix"`
	// Hostname is empty for a NonIndexed job.
	Hostname string `json:"hostname,omitempty"`
	// PerIndex is true with backoffLimitPerIndex. Then FailureCount and IgnoredFailureCount count
	// the failures of the index so far (J18).
	PerIndex            bool             `json:"perIndex,omitempty"`
	FailureCount        int32            `json:"failureCount,omitempty"`
	IgnoredFailureCount int32            `json:"ignoredFailureCount,omitempty"`
	Reason              jobreason.Create `json:"reason"`
	// Unlabeled is true without the gate PodIndexLabel: the pod has no label with its index,
	// and the variable is taken from the annotation.
	Unlabeled bool `json:"unlabeled,omitempty"`
	// Group is the pod group that the pod names in spec.schedulingGroup.podGroupName. It is empty
	// if the job has none. In a plan that creates the group, the UID of this reference is empty,
	// see jobgroup.Effect.
	Group jobgroup.Ref `json:"group,omitzero"`
}

// Untracking is a finalizer to remove, and how its pod is accounted for.
type Untracking struct {
	PodRef
	// As tells how the pod is counted.
	As jobreason.Counted `json:"as"`
	// OnEnd restricts the removal to a round that declares the job's end (J37).
	OnEnd bool `json:"onEnd,omitempty"`
	// UnlessEnd restricts the removal to a round that does not declare the end. In a round that
	// declares the end, other pods use up the limit (J35).
	UnlessEnd bool `json:"unlessEnd,omitempty"`
	// Ended is true for a pod whose phase is Succeeded or Failed.
	Ended bool `json:"ended,omitempty"`
	// Policy is the action of the podFailurePolicy that handles the pod. It is empty
	// if no rule matches, or if an earlier round has reported the match (JI27).
	Policy FailureAction `json:"policy,omitempty"`
}

// Verdict tells how a job is going to end. The zero value means that this is not decided.
// Verdicts can be compared with ==.
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

// After returns the time to wait from now. If ok is false, only events can change the plan. If ok
// is true, d is at least a nanosecond even when At has passed, because several work queues take 0
// for "never".
func (r Requeue) After(now time.Time) (d time.Duration, ok bool) {
	return value.WaitFor(r.At, now)
}
