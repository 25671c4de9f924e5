package job

import (
	"encoding/json"

	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Writes are what became of the writes to pods that come before the first status.
// Results are in the order of the plan's actions; a missing one means ResultNotTried.
type Writes struct {
	// Claimed is what became of Adopt and Release taken together: its result is ResultDone if all are
	// done, and ResultGone if a pod to adopt is not there any more. Then the round ends,
	// and the next one, which does not see the pod, plans without it.
	Claimed Reply `json:"claimed,omitzero"`
	// Grouped is parallel to the plan's Groups. If one is not done, the round ends, and the next
	// one tries again.
	Grouped []jobgroup.Effect `json:"grouped,omitempty"`
	// Deleted and Created are parallel to the plan's Delete and Create.
	Deleted []Effect `json:"deleted,omitempty"`
	Created []Effect `json:"created,omitempty"`
}

// Outcome is what became of all writes of a plan. It can be stored beside the plan;
// [Plan.Conclude] takes it.
type Outcome struct {
	Writes
	// Recorded is what became of writing the status of the [Recording].
	Recorded Reply `json:"recorded,omitzero"`
	// Untracked is parallel to the Untrack list of the Recording.
	Untracked []Reply `json:"untracked,omitempty"`
	// Settled is what became of writing the status of the [Settlement].
	Settled Reply `json:"settled,omitzero"`
}

// wroteStatus reports whether a status was written.
func (o *Outcome) wroteStatus() bool {
	return o.Recorded.Result == jobreason.ResultDone || o.Settled.Result == jobreason.ResultDone
}

// Effect is what became of one creation or deletion.
type Effect struct {
	Result jobreason.Result `json:"result,omitzero"`
	// Pod is the pod that was created.
	Pod PodRef `json:"pod,omitzero"`
	// Error is the text of the error, for the event.
	Error string `json:"error,omitempty"`
}

// Reply is what became of a write that creates nothing. As JSON it is the word of its result, or an
// object where it says more.
type Reply struct {
	Result jobreason.Result `json:"result"`
	// Version is the one that a status write has made, in the form of Job.Version; 0 if it is not
	// known. It goes into Memory.Written.
	Version int64 `json:"version,omitempty"`
	// Error is the text of the error.
	Error string `json:"error,omitempty"`
}

// MarshalJSON writes a word or an object.
func (r Reply) MarshalJSON() ([]byte, error) {
	if r == (Reply{Result: r.Result}) {
		return json.Marshal(r.Result)
	}
	type object Reply
	return json.Marshal(object(r))
}

// UnmarshalJSON reads what MarshalJSON writes. A result that is not known is an error.
func (r *Reply) UnmarshalJSON(data []byte) error {
	*r = Reply{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &r.Result)
	}
	type object Reply
	return json.Unmarshal(data, (*object)(r))
}

// version returns the version that a status write has made, if it took effect and tells.
func (r Reply) version() int64 {
	if r.Result != jobreason.ResultDone {
		return 0
	}
	return r.Version
}

func isDone(r jobreason.Result) bool { return r == jobreason.ResultDone || r == jobreason.ResultGone }
