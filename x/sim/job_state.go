package sim

import (
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// jobState is a job as the API server has it, and its controller's knowledge of it.
type jobState struct {
	of *Job
	id int32
	// life counts the jobs that have used this jobState.
	life uint32
	// key selects the job's draws, which are the same in every variant of a world.
	key uint64

	// edits are the edits that were not made yet, in the order of their times.
	edits []Edit

	// truth is the job as the API server has it.
	truth job.Job
	// jobView is the view of the controller, which differs from truth while the watch lags. It is nil
	// once the round that saw the end is over: the controller does not look at it again. If the
	// controller stops during that round, the view stays until the job is deleted.
	*jobView

	// wake is when the job must be planned, or 0.
	wake   int64
	queued bool
	busy   bool
	dirty  bool // it must be planned again after this round
	// failures counts the failed rounds in a row.
	failures int

	// pods is the first pod, or -1. existing counts the pods, tracked those with a finalizer, and
	// created all that were ever created.
	pods              int32
	existing, tracked int32
	created           int32

	// groups are the workload and the pod group of the job as the API server has them. gang holds
	// the pods of the job that start together; it is nil if none do.
	groups jobgroup.Groups
	gang   *gang
	// worker and meeting are for Pod.Quorum. worker is the pod that completed the quorum most
	// recently, so that the waiting pods began their work. meeting is at least the number of
	// running pods, or at least the Quorum.
	worker, meeting int32

	cron  *cronState // its owner, or nil
	child int32      // its place in the owner's list, or -1
	run   time.Time
	// underway counts the changes that the caches have not seen yet.
	underway int32
	finished bool
	deleting bool // in the foreground
	gone     bool
	// record and runRecord are the places of the job's record and of its run's, or -1.
	record, runRecord int32
	container         string
	submitted         int64
	// hasStarted is true once a pod has started.
	hasStarted bool
}

// jobView is a job and its pods as the controller sees them.
type jobView struct {
	snap job.Snapshot
	// viewed holds the place of each pod of snap.Pods in the store.
	viewed []int32
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

// trackerKey identifies the job, since jobs that are gone may have had the same id.
func (js *jobState) trackerKey() uint64 { return uint64(js.life)<<32 | uint64(uint32(js.id)) }
