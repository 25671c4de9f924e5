package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// Plan is what a round decided. It is plain data: it can be printed, copied, stored as JSON
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
	// Others were perhaps deleted by an earlier round, and the children still show them (CL2).
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
	// Unstarted are the runs that this round gives up. [Conclusion.Unstarted] also holds
	// the runs that are given up because of the results of the reads and writes.
	Unstarted []Unstarted `json:"unstarted,omitempty"`
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
	Reason cronjobreason.Delete `json:"reason"`
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
	// Trigger or Backfill is the ID of the trigger or backfill that requested the job.
	// The child of a backfill is marked ([Child].Backfilled).
	Trigger  string `json:"trigger,omitempty"`
	Backfill string `json:"backfill,omitempty"`
	// Labels and Annotations are copied from the template. The annotations also hold
	// the run's time, and who requested it.
	Labels      map[string]string    `json:"labels,omitempty"`
	Annotations map[string]string    `json:"annotations,omitempty"`
	Reason      cronjobreason.Create `json:"reason"`
}

// Missed are runs that were due since the last one handled and will not start
// any more: a later one took their place, or their deadline has passed (C8, C9). Each round
// names them until a later run is handled; Plan.Unstarted names each run once.
type Missed struct {
	// Count is exact (B1).
	Count int `json:"count,omitempty"`
	// Runs are the latest of them, newest first, at most ten.
	Runs []time.Time `json:"runs,omitempty"`
	// TooLate is true when there is no run to start in their place.
	TooLate bool `json:"tooLate,omitempty"`
}

// Unstarted are runs that have not started and will not start any more, for one reason.
type Unstarted struct {
	Reason cronjobreason.Unstarted `json:"reason"`
	// Count is exact (B1).
	Count int `json:"count"`
	// Latest is the latest of them.
	Latest time.Time `json:"latest"`
}

// maxMissedRuns is how many missed runs a plan names.
const maxMissedRuns = 10

// count is a number of the last entries of a list. A stored plan may be damaged: one that is
// negative cannot be read.
type count uint32

// of returns the number, at most n.
func (c count) of(n int) int { return int(min(uint64(c), uint64(n))) }

// hurry is what brings the next round forward.
type hurry struct {
	// Blocked is true when a run waits for active jobs some of which are looked up; Unfinished, when
	// more is to do once the status is written.
	Blocked    bool `json:"blocked,omitempty"`
	Unfinished bool `json:"unfinished,omitempty"`
	// Look is when to look for a snapshot that shows the controller's own writes.
	Look time.Time `json:"look,omitzero"`
	// Unshown is from the census. It counts only if no status is written.
	Unshown bool `json:"unshown,omitempty"`
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
	// Found is the number of jobs that the round has added to the active list, at its end.
	Found count `json:"found,omitempty"`
	// Reviewed is the number of the last entries of Verify that are looked up only to
	// report their runs: no creation waits for them.
	Reviewed count `json:"reviewed,omitempty"`
	hurry
	// Consistent is copied from the snapshot, Child and Quirks from its options.
	Consistent bool             `json:"consistent,omitempty"`
	Child      Kind             `json:"child,omitzero"`
	Quirks     cronjobquirk.Set `json:"quirks,omitzero"`
}
