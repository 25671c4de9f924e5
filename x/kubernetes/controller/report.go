package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// CronReport is what a round knows of a parent, for what its status says besides the status of a CronJob. It is valid
// until Report returns.
type CronReport struct {
	// Schedule is the schedule, or with its Problem and Message why there is none.
	Schedule cronjob.Compiled
	// Plan is what the round has decided: NextRun, Waits, the Unstarted runs. It is nil if nothing could be decided,
	// for which Err is the reason.
	Plan *cronjob.Plan
	// Writes are what became of the reads and writes of the plan; nothing before they are made.
	Writes cronjob.Writes
	// Err is what went wrong: a [*cronjob.InputError] names the field of a parent that cannot be planned; what
	// Cron.Check has returned; or a read or a write that failed. It is nil while the status of the CronJob is written.
	Err error
}

// JobReport is what a round knows of an object whose pods it runs. It is valid until Report returns.
type JobReport struct {
	// Plan is what the round has decided. It is nil if nothing could be decided, for which Err is the reason.
	Plan *job.Plan
	// Writes are what became of the writes to pods; nothing before they are made.
	Writes job.Writes
	// Err is what went wrong: a [*job.InputError] names the field of an object that cannot be planned; what Kind.Check
	// has returned; or a write that failed. It is nil while the status of the job is written.
	Err error
}

// isReported reports whether a status says that a round has failed so: not if the next one begins with another
// snapshot.
func isReported(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !IsExpected(err)
}

// isStoredAs reports whether a server would store the same for both. Times that are the same instant in two zones,
// or that differ by less than is stored, are no change: else a round would write in vain, and its own write ask for
// the next.
func isStoredAs(a, b Object) bool {
	x, failed := json.Marshal(a)
	y, err := json.Marshal(b)
	return failed == nil && err == nil && bytes.Equal(x, y)
}

// invalid is an object that cannot be served as it is.
type invalid struct{ error }

func (i invalid) Unwrap() error { return i.error }

// isInvalid reports whether an error says why an object cannot be served as it is.
func isInvalid(err error) bool {
	var refused invalid
	var input *job.InputError
	return errors.As(err, &refused) || errors.As(err, &input)
}
