package job

import (
	"encoding/json"

	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Writes holds the results of the writes that come before the first status. Results are in the
// order of the plan's actions. A missing result means ResultNotTried.
type Writes struct {
	// Claimed is the result of Adopt and Release taken together: ResultDone if all are done, and
	// ResultGone if a pod to adopt no longer exists. With ResultGone the round ends, and the next
	// one plans without that pod.
	Claimed Reply `json:"claimed,omitzero"`
	// Grouped is parallel to the plan's Groups. If one of these writes is not done, the round ends,
	// and the next round tries again.
	Grouped []jobgroup.Effect `json:"grouped,omitempty"`
	// Deleted and Created are parallel to the plan's Delete and Create.
	Deleted []Effect `json:"deleted,omitempty"`
	Created []Effect `json:"created,omitempty"`
}

// Outcome holds the results of all writes of a plan. It can be stored with the plan, and is the
// argument of [Plan.Conclude].
type Outcome struct {
	Writes
	// Recorded is the result of writing the status of the Recording.
	Recorded Reply `json:"recorded,omitzero"`
	// Untracked is parallel to the Untrack list of the Recording.
	Untracked []Reply `json:"untracked,omitempty"`
	// Settled is the result of writing the status of the Settlement.
	Settled Reply `json:"settled,omitzero"`
}

// wroteStatus reports whether a status was written.
func (o *Outcome) wroteStatus() bool {
	return o.Recorded.Result == jobreason.ResultDone || o.Settled.Result == jobreason.ResultDone
}

// Effect is the result of one entry of Create or Delete.
type Effect struct {
	Result jobreason.Result `json:"result,omitzero"`
	// Pod is the pod that was created; zero for a deletion.
	Pod PodRef `json:"pod,omitzero"`
	// Error is the text of the error, for the event.
	Error string `json:"error,omitempty"`
}

// Reply is the result of a claim, of a status write, or of the removal of a finalizer. Its JSON is
// the text of Result alone, or an object if other fields are set.
type Reply struct {
	Result jobreason.Result `json:"result"`
	// Version is the version of the job after a status write, in the form of Job.Version; 0 means
	// unknown. It goes into Memory.Written.
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

// UnmarshalJSON reads what MarshalJSON writes. An unknown result is an error.
func (r *Reply) UnmarshalJSON(data []byte) error {
	*r = Reply{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &r.Result)
	}
	type object Reply
	return json.Unmarshal(data, (*object)(r))
}

// version returns the version of the job after a status write, or 0 if the write did not take
// effect or the version is unknown.
func (r Reply) version() int64 {
	if r.Result != jobreason.ResultDone {
		return 0
	}
	return r.Version
}

func isDone(r jobreason.Result) bool { return r == jobreason.ResultDone || r == jobreason.ResultGone }
