package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// Plan holds the decisions of a round. It is plain data: it can be printed, copied, stored as JSON
// and carried out elsewhere. The zero Plan does nothing.
//
// Make its reads and writes in this order, so that a crash between any two of them starts no run
// twice and loses none:
//
//  1. Verify: read these jobs from the source of truth.
//  2. Delete, each on condition of its UID. Failures do not stop the round.
//  3. Create, if [Plan.MayCreate] returns true.
//  4. The status that [Plan.Settle] returns: the one status write of a round (C15).
//
// Then [Settlement.Conclude] returns what to remember, to report and to retry.
//
// Do not change the lists of a plan: results belong to their entries by position. To leave a write
// out, give it the result [cronjobreason.ResultNotTried]; the conclusion then asks for another round.
type Plan struct {
	// Verify lists active jobs that may be gone. Read each from the source of truth. Most of them
	// are not among the children: they are gone, or not seen yet (C5). Some were perhaps deleted by
	// an earlier round, and the children still show them (CL2). A reference without a UID is a job
	// that was perhaps created. Its result is ResultGone unless the CronJob controls a job of that
	// name (CI15).
	Verify []Reference `json:"verify,omitempty"`
	// Unexpected lists running jobs of the CronJob that its active list lacks (C3). If the
	// snapshot's status can be older than its children, re-read the CronJob, and plan again if its
	// status has changed.
	Unexpected []Reference `json:"unexpected,omitempty"`
	// Delete lists jobs to delete with their pods. Jobs that a run replaces come first.
	Delete []Deletion `json:"delete,omitempty"`
	// Create lists jobs to create from the template.
	Create []Creation `json:"create,omitempty"`
	// Triggered lists the IDs of triggers whose jobs exist already. They are also in
	// Conclusion.Triggered.
	Triggered []string `json:"triggered,omitempty"`
	// Missed are the runs that were due and will not start any more.
	Missed Missed `json:"missed,omitzero"`
	// Unstarted are the runs that this round gives up. Conclusion.Unstarted adds runs that are
	// given up because of the results of the reads and writes.
	Unstarted []Unstarted `json:"unstarted,omitempty"`
	// Requeue is the time to plan again even if nothing happens before.
	Requeue Requeue `json:"requeue,omitzero"`
	// Waits lists what the CronJob waits for.
	Waits []Wait `json:"waits,omitempty"`
	// Events are known before the writes. Report Conclusion.Events: it has these too, unless the
	// writes have made them untrue.
	Events []job.Event `json:"events,omitempty"`
	// Notes describe contradictions in the snapshot that the plan works around.
	Notes []job.Note `json:"notes,omitempty"`
	// NextRun is the first run of the schedule after this round; zero if no run can start.
	NextRun time.Time `json:"nextRun,omitzero"`
	// Namespace and CronJobUID identify the CronJob.
	Namespace  string  `json:"namespace,omitempty"`
	CronJobUID job.UID `json:"cronJobUID,omitempty"`
	// basis is the input of Settle and Conclude.
	basis basis
}

// Deletion is a job to delete, pods included.
type Deletion struct {
	Reference
	Reason cronjobreason.Delete `json:"reason"`
	// Foreground keeps the job until its pods are gone (Options.ReplaceWhenGone).
	Foreground bool `json:"foreground,omitempty"`
}

// Creation is a job to create from the template, with these fields. Its controller reference must
// refer to the CronJob.
type Creation struct {
	// Name is the lock of the run: the source of truth refuses a second job of that
	// name, so a run never starts twice (C13).
	Name string `json:"name"`
	// ScheduledTime is the time of the run, in the zone of the schedule; zero for a trigger.
	ScheduledTime time.Time `json:"scheduledTime,omitzero"`
	// Trigger or Backfill is the ID of the trigger or backfill that requested the job.
	// The child of a backfill is marked (Child.Backfilled).
	Trigger  string `json:"trigger,omitempty"`
	Backfill string `json:"backfill,omitempty"`
	// Labels and Annotations are copied from the template. The annotations also hold
	// the run's time, and who requested it.
	Labels      map[string]string    `json:"labels,omitempty"`
	Annotations map[string]string    `json:"annotations,omitempty"`
	Reason      cronjobreason.Create `json:"reason"`
}

// Missed are runs that were due after the last handled run and will not start any more: a later run
// starts instead, or their deadline has passed (C8, C9). They are in each plan until a later run is
// handled; Plan.Unstarted has each run only once.
type Missed struct {
	// Count is exact (B1).
	Count int `json:"count,omitempty"`
	// Runs are the latest missed runs, newest first, at most ten.
	Runs []time.Time `json:"runs,omitempty"`
	// TooLate is true if no later run starts instead.
	TooLate bool `json:"tooLate,omitempty"`
}

// Unstarted are runs that have not started and will not start any more, for one reason.
type Unstarted struct {
	Reason cronjobreason.Unstarted `json:"reason"`
	// Count is exact (B1).
	Count int `json:"count"`
	// Latest is the latest of the runs that Count counts.
	Latest time.Time `json:"latest"`
}

// maxMissedRuns limits Missed.Runs.
const maxMissedRuns = 10

// count is a number of entries at the end of a list. It is unsigned, so that a damaged stored plan
// with a negative number cannot be read.
type count uint32

// of returns the number, at most n.
func (c count) of(n int) int { return int(min(uint64(c), uint64(n))) }

// hurry holds the facts that can make the next round earlier.
type hurry struct {
	// Blocked is true if a run or a trigger waits for active jobs. Unfinished is true if the next
	// round has more to do, once the status of this round is written.
	Blocked    bool `json:"blocked,omitempty"`
	Unfinished bool `json:"unfinished,omitempty"`
	// Look is the time of a round that checks whether the snapshot shows the controller's own
	// writes, if something waits for them.
	Look time.Time `json:"look,omitzero"`
	// Unshown is copied from the census. It matters only if no status is written.
	Unshown bool `json:"unshown,omitempty"`
}

// basis holds the facts of the snapshot from which the status and the conclusion are computed.
type basis struct {
	Now time.Time `json:"now,omitzero"`
	// Before is the status of the snapshot. Status is that status after all changes that do not
	// depend on the plan's reads and writes (C4).
	Before Status `json:"before,omitzero"`
	Status Status `json:"status,omitzero"`
	// Memory is the next memory; Since is copied from the snapshot's memory.
	Memory memory    `json:"memory,omitzero"`
	Since  time.Time `json:"since,omitzero"`
	// Backfills holds the progress of the backfills.
	Backfills []backfillStep `json:"backfills,omitempty"`
	// Found is the number of jobs at the end of the active list that the round has added.
	Found count `json:"found,omitempty"`
	// Reviewed is the number of jobs at the end of Verify that are looked up only to report their
	// runs: no creation waits for them.
	Reviewed count `json:"reviewed,omitempty"`
	hurry
	// Consistent is copied from the snapshot, Child and Quirks from its options.
	Consistent bool             `json:"consistent,omitempty"`
	Child      Kind             `json:"child,omitzero"`
	Quirks     cronjobquirk.Set `json:"quirks,omitzero"`
}
