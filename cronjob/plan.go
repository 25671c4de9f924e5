package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// Plan is what a round decided. It is plain data: it can be printed, stored as JSON
// and carried out elsewhere. The zero Plan does nothing.
//
// The writes go in this order, so that a crash between any two of them starts no
// run twice and loses none:
//
//  1. Verify: read these jobs from the source of truth.
//  2. Delete, each on condition of its UID. Failures do not stop the round.
//  3. Create, if [Plan.MayCreate] still says so.
//  4. The status that [Plan.Settle] returns: the one status write of a round (C15).
//
// Then [Settlement.Conclude] says what to remember, to report and to retry.
type Plan struct {
	// Verify are active jobs that the snapshot does not hold: gone, or not seen yet.
	// Only a live read can tell (C5). A reference without a UID names a job that was
	// perhaps created: it is Gone unless the CronJob controls a job of that name (CI15).
	Verify []Reference `json:"verify,omitempty"`
	// Unexpected are owned jobs that run and that the status does not name (C3). A
	// snapshot may pair children with an older status: where that can happen,
	// re-read the CronJob, and plan again if its status has changed.
	Unexpected []Reference `json:"unexpected,omitempty"`
	// Delete are jobs to delete with their pods, those to replace first.
	Delete []Deletion `json:"delete,omitempty"`
	// Create are jobs to create from the template.
	Create []Creation `json:"create,omitempty"`
	// Triggered are the triggers whose jobs exist already; [Conclusion.Triggered]
	// also holds these.
	Triggered []string `json:"triggered,omitempty"`
	// Missed are the runs that were due and will not start any more.
	Missed Missed `json:"missed,omitzero"`
	// Requeue says when to plan again although nothing happened.
	Requeue Requeue `json:"requeue,omitzero"`
	// Waits are what the CronJob waits for, each with its figures.
	Waits []Wait `json:"waits,omitempty"`
	// Events are to be reported whatever becomes of the writes.
	Events []job.Event `json:"events,omitempty"`
	// Notes name contradictions in the snapshot that the plan has worked around.
	Notes []job.Note `json:"notes,omitempty"`
	// NextRun is the first run of the schedule after this round; zero if none is going
	// to come, or none may.
	NextRun time.Time `json:"nextRun,omitzero"`
	// Namespace and CronJobUID identify the CronJob.
	Namespace  string  `json:"namespace,omitempty"`
	CronJobUID job.UID `json:"cronJobUID,omitempty"`
	// basis is what Settle and Conclude start from.
	basis basis
}

// Deletion is a job to delete, pods included.
type Deletion struct {
	Reference
	Reason DeleteReason `json:"reason"`
	// Foreground asks that the job stays until its pods are gone; otherwise they may
	// outlive it (Options.ReplaceWhenGone).
	Foreground bool `json:"foreground,omitempty"`
}

// Creation is a job to create: the template with what this says. It gets a
// controller reference to the CronJob.
type Creation struct {
	// Name is the lock of the run: the source of truth refuses a second job of that
	// name, so a run never starts twice (C13).
	Name string `json:"name"`
	// ScheduledTime is the run, in the zone of the schedule; zero for a trigger.
	ScheduledTime time.Time `json:"scheduledTime,omitzero"`
	// Trigger or Backfill is the ID of the trigger or backfill that asked for the job.
	// The child of a backfill is marked ([Child].Backfilled).
	Trigger  string `json:"trigger,omitempty"`
	Backfill string `json:"backfill,omitempty"`
	// Labels and Annotations are copied from the template. The annotations also hold
	// the run's time, and who asked for it.
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Reason      CreateReason      `json:"reason"`
}

// Missed are runs that were due since the last one handled and will not start
// any more: a later one took their place, or their deadline has passed (C8, C9).
type Missed struct {
	// Count is exact (B1).
	Count int `json:"count,omitempty"`
	// Runs are the latest of them, newest first, at most ten.
	Runs []time.Time `json:"runs,omitempty"`
	// TooLate is true when there is no run to start in their place.
	TooLate bool `json:"tooLate,omitempty"`
}

// maxMissedRuns is how many missed runs a plan names.
const maxMissedRuns = 10

// Requeue is the next time at which the plan can change without an event. The
// zero value means: never.
type Requeue struct {
	At     time.Time  `json:"at,omitzero"`
	Reason WaitReason `json:"reason,omitempty"`
}

// After returns how long to wait from now; ok is false when there is nothing to wait
// for but events. With ok the wait is at least a nanosecond, also when At has passed:
// several work queues read 0 as "never".
func (r Requeue) After(now time.Time) (d time.Duration, ok bool) {
	if r.At.IsZero() {
		return 0, false
	}
	return max(r.At.Sub(now), 1), true
}

// basis holds the figures of the snapshot that the status and the conclusion are made
// from.
type basis struct {
	Now time.Time `json:"now,omitzero"`
	// Before is the status of the snapshot, Status the same after the upkeep that
	// needs no writes (C4).
	Before Status `json:"before,omitzero"`
	Status Status `json:"status,omitzero"`
	// Memory is the next one; Since is the time in the snapshot's.
	Memory memory    `json:"memory,omitzero"`
	Since  time.Time `json:"since,omitzero"`
	// Backfills are how far the backfills have got.
	Backfills []backfillStep `json:"backfills,omitempty"`
	// Missed is the number of missed runs that no earlier round has counted.
	Missed int `json:"missed,omitempty"`
	// Found is the number of jobs that the round has added to the active list, at its end.
	Found int `json:"found,omitempty"`
	// Blocked is true when a run waits for active jobs some of which are in Verify;
	// Unfinished, when more is to do once the status is written. Either brings the
	// next round forward.
	Blocked    bool `json:"blocked,omitempty"`
	Unfinished bool `json:"unfinished,omitempty"`
	// Consistent is copied from the snapshot.
	Consistent bool `json:"consistent,omitempty"`
	// Stale is true when something waits for a snapshot that shows the own writes.
	Stale  bool             `json:"stale,omitempty"`
	Quirks cronjobquirk.Set `json:"quirks,omitempty"`
}
