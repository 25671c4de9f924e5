package sim

import (
	"time"

	"github.com/batchplan/batchplan/job"
)

// jobState is a job as the API server has it, and its controller's knowledge of it.
type jobState struct {
	of *Job
	id int32
	// life counts the jobs that have had this place.
	life uint32
	// key tells the job's draws from other jobs', in every variant of a world.
	key uint64

	// edits are the edits that have not been made, in the order of their times.
	edits []Edit

	// truth is the job as the API server has it. snap is what the controller sees: another
	// value while the watch lags.
	truth job.Job
	snap  job.Snapshot
	// viewed holds the place of each pod of snap.Pods in the store.
	viewed []int32

	// wake is when the job is to be planned, or 0.
	wake   int64
	queued bool
	busy   bool
	dirty  bool // planned again after the round under way
	// failures counts the rounds in a row that are to be repeated.
	failures int

	// pods is the first pod, or -1. existing counts them, tracked those with a finalizer,
	// created all that have ever been.
	pods              int32
	existing, tracked int32
	created           int32

	cron  *cronState // its owner, or nil
	child int32      // its place in the owner's list, or -1
	run   time.Time
	// underway counts the changes that the caches have not seen yet.
	underway  int32
	finished  bool
	deleting  bool // in the foreground
	gone      bool
	record    int32
	container string
	submitted int64
	// hasStarted is true once a pod has.
	hasStarted bool
}

func (js *jobState) spec() *job.Spec { return &js.truth.Spec }

func (js *jobState) grace() time.Duration {
	if g := js.of.Pod.Grace; g != 0 {
		return max(g, 0)
	}
	return defaultGrace
}

func (js *jobState) request() Request {
	spec := js.spec()
	pods := *spec.Parallelism
	if spec.Completions != nil {
		pods = min(pods, *spec.Completions)
	}
	return Request{int64(js.trackerKey()), js.truth.Name, pods, js.of.Pod.Resources}
}

// trackerKey tells the job from others that have had its place.
func (js *jobState) trackerKey() uint64 { return uint64(js.life)<<32 | uint64(uint32(js.id)) }
