package job

import "github.com/batchplan/batchplan/internal/enum"

// Result is what became of one read or write. Package cronjob has the same results.
type Result uint8

const (
	// ResultNotTried: the round stopped before the write. An Outcome of only these
	// describes a crash before the first write.
	ResultNotTried Result = iota
	// ResultDone: the write took effect.
	ResultDone
	// ResultGone: the object was not there any more. That is as good as done, but no
	// notification will come.
	ResultGone
	// ResultUnsuccessful: the write did not take effect, or its reply was lost.
	ResultUnsuccessful
	// ResultStillTracked: the finalizer could not be removed, so the pod was not deleted.
	ResultStillTracked
	// ResultRefused: the write did not and will not take effect, since the namespace is
	// going away; that is no reason to retry (J34).
	ResultRefused
	// ResultAlreadyExists: a job of that name is there, and its CronJob controls it. This
	// result and the next are about CronJobs.
	ResultAlreadyExists
	// ResultNameTaken: a job of that name is there, and another owner controls it or none.
	ResultNameTaken
)

const results = "not tried|done|gone|unsuccessful|still tracked|refused|already exists|name taken"

// String returns the result in words.
func (r Result) String() string { return enum.String(results, int(r), "Result") }

func (r Result) isDone() bool { return r == ResultDone || r == ResultGone }

// MarshalText returns the result in words.
func (r Result) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a result in words; the empty text is ResultNotTried.
func (r *Result) UnmarshalText(text []byte) error {
	i, err := enum.Parse(results, string(text), "result")
	*r = Result(i)
	return err
}

// Writes are what became of the writes to pods that come before the first status.
// Results are in the order of the plan's actions; a missing one means ResultNotTried.
type Writes struct {
	// Claimed is the result of Adopt and Release taken together: ResultDone if all are
	// done, and ResultGone if a pod to adopt is not there any more. Then the round ends,
	// and the next one, which does not see the pod, plans without it.
	Claimed Result `json:"claimed,omitzero"`
	// Grouped is parallel to the plan's Groups. If one is not done, the round ends, and the next
	// one tries again.
	Grouped []GroupEffect `json:"grouped,omitempty"`
	// Deleted and Created are parallel to the plan's Delete and Create.
	Deleted []Effect `json:"deleted,omitempty"`
	Created []Effect `json:"created,omitempty"`
}

// Outcome is what became of all writes of a plan. It can be stored beside the plan;
// [Plan.Conclude] takes it.
type Outcome struct {
	Writes
	// Recorded is the result of writing the status of the [Recording].
	Recorded Result `json:"recorded,omitzero"`
	// Untracked is parallel to the Untrack list of the Recording.
	Untracked []Result `json:"untracked,omitempty"`
	// Settled is the result of writing the status of the [Settlement].
	Settled Result `json:"settled,omitzero"`
}

// GroupEffect is what became of one write to a workload or a pod group.
type GroupEffect struct {
	Result Result `json:"result,omitzero"`
	// UID is the one of the object. It goes where the plan names an object that it creates:
	// into [GroupWrite.Workload] and [Creation.Group].
	UID UID `json:"uid,omitempty"`
	// Error is the text of the error, for the event.
	Error string `json:"error,omitempty"`
}

// Effect is what became of one creation or deletion.
type Effect struct {
	Result Result `json:"result,omitzero"`
	// Pod is the pod that was created.
	Pod PodRef `json:"pod,omitzero"`
	// Error is the text of the error, for the event.
	Error string `json:"error,omitempty"`
}
