package cronjobtest

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
)

// Store is the store of the program under test, as users and the test see it. It holds one CronJob
// with its jobs. Reads must show the current source of truth.
type Store interface {
	// CreateCronJob stores a new CronJob, without a status. Its spec has its defaults. The store
	// may give it another UID, which must be new.
	CreateCronJob(c cronjob.CronJob) error
	// RemoveCronJob removes the CronJob with its jobs, its triggers and its backfills. Another
	// CronJob of the same name may follow, and jobs of the same names.
	RemoveCronJob() error
	// UpdateSpec replaces the spec, as a user does.
	UpdateSpec(s cronjob.Spec) error
	// CronJob reads the CronJob.
	CronJob() (cronjob.CronJob, error)
	// Children reads all jobs of the CronJob, including those that have ended. UIDs must be unique in
	// the whole life.
	Children() ([]cronjob.Child, error)
	// UpdateChild stores how a job has ended (Finished, FinishTime and CompletionTime), or the
	// DeletionTimestamp of a job that a user has deleted. A deleted job stays until RemoveChild. If
	// the store cannot keep deleted jobs, UpdateChild returns errors.ErrUnsupported for a
	// DeletionTimestamp, and the test calls RemoveChild.
	UpdateChild(c cronjob.Child) error
	// RemoveChild removes a job, as a user does, or as the garbage collector does once the pods of a
	// deleted job are gone.
	RemoveChild(name string) error
}

// Program is the program under test, while it runs. A call reads the CronJob, plans once and
// carries out the plan. It returns the time at which it wants to be called again even if nothing
// happens; the zero time means never. A program is called when the CronJob or a job changes, when
// that time comes, and soon again after an error, but never because of a write of its own.
type Program func(ctx context.Context) (again time.Time, err error)

// Subject is a store with a program on it.
type Subject struct {
	Store Store
	// Start starts the program, at first and after each end. If forget is true, the program must
	// drop its stored memory, as if that were lost; otherwise it must use it.
	Start func(forget bool) Program
	// Late is true if the program sees its objects late, through a watch or a cache. Then the test
	// demands less.
	Late bool
	// Cache, if not nil, is the program's view of its objects. The test shows changes to the Cache
	// some time after they happen, and then calls the program. With a Cache, the test sets Late.
	Cache Cache
	// OneWriter is true if only the program writes the CronJob during a round, so that status
	// writes need no condition. Then users edit it only between rounds.
	OneWriter bool
	// Close, if not nil, is called at the end of the life.
	Close func()
}

// Look reads a snapshot, and returns it with the backend that carries out a plan made from it. The
// caller fills in Now, Schedule and Memory.
type Look func(ctx context.Context) (cronjob.Snapshot, cronjobapply.Backend, error)
