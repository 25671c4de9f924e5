package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
)

// CronReport is what a round knows of a parent, for what its status says besides the status of a CronJob. It is valid
// until Report returns.
type CronReport struct {
	// Schedule is the schedule, or with its Problem and Message why there is none.
	Schedule cronjob.Compiled
	// Plan is what the round has decided: NextRun, Waits, the Unstarted runs. It is nil if nothing could be decided,
	// for which Err is the reason.
	Plan *cronjob.Plan
	// Writes holds the results of the plan's reads and writes. It is empty until they are made.
	Writes cronjob.Writes
	// Err is what went wrong: a [*cronjob.InputError] names the field of a parent that cannot be planned; what
	// Cron.Check has returned; or a read or a write that failed. Texts of a server can differ from try to try.
	Err error
}

// JobReport is what a round knows of an object whose pods it runs. It is valid until Report returns.
type JobReport struct {
	// Plan is what the round has decided. It is nil if nothing could be decided, for which Err is the reason.
	Plan *job.Plan
	// Writes holds the results of the writes to pods. It is empty until they are made.
	Writes job.Writes
	// Err is what went wrong: a [*job.InputError] names the field of an object that cannot be planned; what Kind.Check
	// has returned; or a write that failed. Texts of a server can differ from try to try.
	Err error
}

// isReported reports whether a status says that a round has failed so: not if the next one begins with another
// snapshot.
func isReported(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !IsExpected(err)
}

// hasFailed reports whether a write of the round has failed so far: the report then waits for its end, when Err says
// more.
func (r *CronReport) hasFailed() bool {
	failed := func(e cronjob.Effect) bool { return e.Result == cronjobreason.ResultUnsuccessful }
	unseen := func(r cronjob.Reply) bool { return r.Result == cronjobreason.ResultUnsuccessful }
	return slices.ContainsFunc(r.Writes.Verified, unseen) ||
		slices.ContainsFunc(r.Writes.Deleted, failed) ||
		slices.ContainsFunc(r.Writes.Created, failed)
}

// hasFailed is [CronReport.hasFailed] for pods.
func (r *JobReport) hasFailed() bool {
	failed := func(e job.Effect) bool { return e.Result == jobreason.ResultUnsuccessful }
	return slices.ContainsFunc(r.Writes.Deleted, failed) || slices.ContainsFunc(r.Writes.Created, failed)
}

// isStoredAs reports whether a server would store the same for both. Times that are the same instant in two zones,
// or that differ by less than is stored, are no change: else a round would write in vain, and its own write ask for
// the next.
func isStoredAs(a, b any) bool {
	x, failed := json.Marshal(a)
	y, err := json.Marshal(b)
	return failed == nil && err == nil && bytes.Equal(x, y)
}

// isTold reports whether an object has changed in nothing but what a Report writes, which asks for no round: the
// text of an error can differ each time, and the queue already delays the next try. status are what a planner reads
// of both statuses. Without generations nothing tells.
func isTold(was, is Object, wasStatus, isStatus any) bool {
	switch {
	case is.GetGeneration() == 0,
		is.GetGeneration() != was.GetGeneration(),
		is.GetResourceVersion() == was.GetResourceVersion(),
		!is.GetDeletionTimestamp().Equal(was.GetDeletionTimestamp()),
		!maps.Equal(is.GetLabels(), was.GetLabels()),
		!maps.Equal(is.GetAnnotations(), was.GetAnnotations()):
		return false
	}
	return isStoredAs(wasStatus, isStatus)
}

// told is the error of a round whose report was written, or not: a conflict of that is none beside why the round
// failed.
func told(err, failed error) error {
	if err != nil && apierrors.IsConflict(failed) {
		return err
	}
	return errors.Join(err, failed)
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
