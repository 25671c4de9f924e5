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

// CronReport is what a round knows about a parent. [Cron].Report fills in the parent's own status
// from it. It is valid until Report returns.
type CronReport struct {
	// Schedule is the compiled schedule. If there is none, its Problem and Message are the reason.
	Schedule cronjob.Compiled
	// Plan holds the decisions of the round, such as NextRun, Waits and Unstarted. It is nil if
	// nothing could be decided; Err is then the reason.
	Plan *cronjob.Plan
	// Writes holds the results of the plan's reads and writes. It is empty until they are made.
	Writes cronjob.Writes
	// Status is the status after these writes. Its list of active children and its time of the last
	// success are there even if the kind does not store them. It is empty if Plan is nil.
	Status cronjob.Status
	// Err is why the round failed: a *job.InputError, which names the field of a parent that
	// cannot be planned; the error of Cron.Check; or the error of a read or a write. The error
	// texts of a server can differ from try to try.
	Err error
}

// JobReport is what a round knows about an object with pods. It is valid until Report returns.
type JobReport struct {
	// Plan holds the decisions of the round. If there are none, it is nil, and Err is the reason.
	Plan *job.Plan
	// Writes holds the results of the writes to pods. It is empty until they are made.
	Writes job.Writes
	// Err is why the round failed: a *job.InputError, which names the field of an object that
	// cannot be planned; the error of Kind.Check; or the error of a write. The error texts of a
	// server can differ from try to try.
	Err error
}

// isReported reports whether a round that ends with err, which may be nil, writes a report. It does
// not if its context has ended, or if the error is expected and will go away with a newer snapshot.
func isReported(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !IsExpected(err)
}

// hasFailed reports whether a read or write of the round has failed so far. The report is then
// written only at the end of the round, when Err has the reason.
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

// isStoredAs reports whether a server would store a and b as the same. The same instant in another
// zone is the same, and so is a time that differs by a fraction that is not stored. If such a
// difference counted, a round would write in vain, and its write would request another round.
func isStoredAs(a, b any) bool {
	x, failed := json.Marshal(a)
	y, err := json.Marshal(b)
	return failed == nil && err == nil && bytes.Equal(x, y)
}

// isTold reports whether an object has changed only in what a Report writes. Such a change requests
// no round: the text of an error can differ each time, and the queue already delays the next try.
// wasStatus and isStatus are the parts of the statuses that a planner reads. For objects without a
// generation isTold is false.
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

// told returns the error of a round after its report was written. failed is the error of that
// write, or nil. If the round itself has failed, a conflict of the write is left out.
func told(err, failed error) error {
	if err != nil && apierrors.IsConflict(failed) {
		return err
	}
	return errors.Join(err, failed)
}

// invalid is the error of an object that cannot be served as it is.
type invalid struct{ error }

func (i invalid) Unwrap() error { return i.error }

// isInvalid reports whether an error says why an object cannot be served as it is.
func isInvalid(err error) bool {
	var refused invalid
	var input *job.InputError
	return errors.As(err, &refused) || errors.As(err, &input)
}
