package rounds

import (
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/series"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// The namespace and name of the job or CronJob of every snapshot.
const (
	namespace = "ns"
	name      = "work"
	jobUID    = "job-uid"
)

// Snapshot is the input of both planners of jobs.
type Snapshot struct {
	// Number and Class describe how the snapshot was drawn.
	Number int
	Class  string

	Job  *batchv1.Job
	Pods []*corev1.Pod
	// Groups are drawn only with the gate WorkloadWithJob.
	Groups jobgroup.Groups
	// Now is the time of the round.
	Now time.Time
	Memory
	Faults
}

// Memory is the memory of a controller between rounds.
type Memory struct {
	Failures    int32
	LastFailure time.Time
	// Creations and Deletions are the expectations, which were recorded Age before the round.
	Creations, Deletions int
	Age                  time.Duration
	// Untracking are the UIDs of pods whose finalizer is being removed by a request in flight.
	Untracking []job.UID
	// Finished is set once a final status was written.
	Finished bool
}

// Faults holds the failing answers of the server: an error, "gone", "invalid" or
// "closing".
type Faults struct {
	// Job is the answer to a read of the job. "deleted" means that the job is being deleted by now,
	// and "replaced" that the job has another UID.
	Job string
	// Patch and Delete are the answers by the pod's name.
	Patch, Delete map[string]string
	// Create holds the answers by the name of the created pod: its prefix, and its number among
	// those with that prefix.
	Create map[string]string
	// Groups holds the answers by verb and kind, such as "create Workload".
	Groups map[string]string
	// Status holds the answers by the number of the write.
	Status map[int]string
}

// Result is the result of a controller's round.
type Result struct {
	// Writes are all attempted writes, with their answers. The writes between two writes of the
	// status are sorted, since their order is random.
	Writes []string
	// Requeue is the delay until the next round, or empty.
	Requeue string
	// Retry is true if the round must be repeated after a failure.
	Retry  bool
	Events []string
	// Metrics is what the round has added to the counters.
	Metrics series.Counts
	// Memory is the memory for the next round.
	Memory string
	// Seen lists what the round has exercised, with the numbers of the rules; only ours sets it.
	Seen []string
	// Panic is the value with which the controller panicked.
	Panic string
}

func (s *Snapshot) class() string  { return s.Class }
func (s *Snapshot) theirs() Result { return playTheirs(s) }
func (s *Snapshot) ours() Result   { return playOurs(s) }

// played is the release that both sides play. A run may have switched some of its feature gates.
var played release.Release

// setGate sets a feature gate of the real controllers.
var setGate func(string) error

// playTheirs and playTheirsCron play one round of the real controllers; nil without the overlay.
var (
	playTheirs     func(*Snapshot) Result
	playTheirsCron func(*CronSnapshot) Result
)
