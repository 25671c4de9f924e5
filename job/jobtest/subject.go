package jobtest

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// Store is the store of the program that is tested, as users, kubelets and the test see
// it. It holds one job with its pods. Reads must show the source of truth, as it is now. A UID, of
// a job or a pod, must be new in the whole life, also after a start of the program.
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
	// Pods reads all pods of the job; after RemoveJobOnly of an [Orphaner], those that it has left.
	Pods() ([]job.Pod, error)
	// UpdatePod stores what a kubelet says of a pod: its phase, whether it is assigned to a node and
	// ready, its deletion and its detail, except the resource version, which is the store's own. Whether it has the
	// finalizer is for the program to change. A pod that is being deleted, has ended or was
	// never started, and has no finalizer, is gone: the store removes it now.
	UpdatePod(p job.Pod) error
}

// JobDeleter is a Store whose jobs can be deleted while they run: DeletionTimestamp is
// set, and the job stays until RemoveJob is called.
type JobDeleter interface {
	DeleteJob(at time.Time) error
}

// Program is the program that is tested, while it runs. A call looks at the job, plans once
// and carries out the plan. It returns when it wants to be called again although nothing
// happens; the zero time means not at all. A program is called when the job or a pod
// changes, when that time comes, and soon again after an error, but never because of a write
// of its own.
type Program func(ctx context.Context) (again time.Time, err error)

// Subject is a store with a program on it.
type Subject struct {
	Store Store
	// Start starts the program. It is called at first, and again after the program was
	// ended: with forget the program must drop the memories that it has stored, as if they were
	// lost, otherwise it finds them.
	Start func(forget bool) Program
	// Late says that the program sees its objects late, through a watch or a cache. Less can
	// be promised then.
	Late bool
	// Cache, if not nil, is what the program sees its objects through. The test shows it the
	// changes late, and calls the program when it has shown something. Such a subject is Late.
	Cache Cache
	// OneWriter says that nothing but the program writes the job while a round is under way, so
	// that its status needs no condition: users edit the job between the rounds.
	OneWriter bool
	// Close, if not nil, is called when the life is over.
	Close func()
}

// Look reads a snapshot, and returns it with the backend that carries out a plan made from
// it. Now and Memory are filled in by the caller. A snapshot whose job has no UID says that the
// job is gone, and has the pods that it has left.
type Look func(ctx context.Context) (job.Snapshot, jobapply.Backend, error)
