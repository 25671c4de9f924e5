package jobtest

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// Store gives users, kubelets and the test access to the store of the program that is tested. It
// holds one job with its pods. Reads must show the current source of truth. The store must not use
// the UID of a job or a pod twice in a life, even if the program starts again.
type Store interface {
	// CreateJob stores a new job, without a status. Its spec has its defaults. The store may
	// give it another UID, which must be new.
	CreateJob(j job.Job) error
	// RemoveJob removes the job and its pods. Another job of the same name may follow.
	RemoveJob() error
	// UpdateSpec replaces the job's spec, as a user does.
	UpdateSpec(s job.Spec) error
	// Job reads the job. It is not called while there is none.
	Job() (job.Job, error)
	// Pods reads all pods of the job. After RemoveJobOnly of an Orphaner, it reads the pods that
	// stay.
	Pods() ([]job.Pod, error)
	// UpdatePod stores the fields that a kubelet reports of a pod: its phase, whether it is
	// assigned to a node and ready, its deletion and its detail. The resource version in the detail
	// is the store's own, and the finalizer is the program's. If a pod is being deleted, has no
	// finalizer, and has ended or was never started, the store must remove it now.
	UpdatePod(p job.Pod) error
}

// JobDeleter is a Store whose jobs can be deleted while they run: DeletionTimestamp is
// set, and the job stays until RemoveJob is called.
type JobDeleter interface {
	// DeleteJob sets the job's DeletionTimestamp.
	DeleteJob(at time.Time) error
}

// Program is the program that is tested, while it runs. A call looks at the job, plans once
// and carries out the plan. It returns the time at which it wants to be called again even if
// nothing happens; the zero time means never. A program is called when the job or a pod
// changes, when that time comes, and soon again after an error, but never because of a write
// of its own.
type Program func(ctx context.Context) (again time.Time, err error)

// Subject is a store with a program on it.
type Subject struct {
	Store Store
	// Start starts the program, at first and after the program was ended. With forget, the program
	// must drop the memories that it has stored, as if they were lost. Otherwise it uses them.
	Start func(forget bool) Program
	// Late means that the program sees its objects late, through a watch or a cache. Fewer
	// invariants are checked then.
	Late bool
	// Cache, if not nil, is the program's view of its objects. The test shows changes to the Cache
	// some time after they happen, and then calls the program. With a Cache, the test sets Late.
	Cache Cache
	// OneWriter means that nobody else writes the job during a round: users edit it between the
	// rounds. So the program may write the status without checking the version of the job.
	OneWriter bool
	// Unconditional means that the store has no conditional updates. A status may be written after
	// the job has changed, and must leave the rest of the job alone. A pod may be deleted with
	// UntrackFirst after it has changed, unless it has succeeded: the backend reads its current
	// state.
	Unconditional bool
	// Close, if not nil, is called when the life is over.
	Close func()
}

// Look reads a snapshot, and returns it with the backend that carries out a plan made from it. Now
// and Memory are filled in by the caller. If the job is gone, the snapshot has a job without a UID,
// and the pods that the job has left.
type Look func(ctx context.Context) (job.Snapshot, jobapply.Backend, error)
