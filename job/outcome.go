package job

import (
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Writes are what became of the writes to pods that come before the first status.
// Results are in the order of the plan's actions; a missing one means ResultNotTried.
type Writes struct {
	// Claimed is the result of Adopt and Release taken together: ResultDone if all are
	// done, and ResultGone if a pod to adopt is not there any more. Then the round ends,
	// and the next one, which does not see the pod, plans without it.
	Claimed jobreason.Result `json:"claimed,omitzero"`
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
	// Recorded is the result of writing the status of the [Recording].
	Recorded jobreason.Result `json:"recorded,omitzero"`
	// Untracked is parallel to the Untrack list of the Recording.
	Untracked []jobreason.Result `json:"untracked,omitempty"`
	// Settled is the result of writing the status of the [Settlement].
	Settled jobreason.Result `json:"settled,omitzero"`
}

// Effect is what became of one creation or deletion.
type Effect struct {
	Result jobreason.Result `json:"result,omitzero"`
	// Pod is the pod that was created.
	Pod PodRef `json:"pod,omitzero"`
	// Error is the text of the error, for the event.
	Error string `json:"error,omitempty"`
}

func isDone(r jobreason.Result) bool { return r == jobreason.ResultDone || r == jobreason.ResultGone }
