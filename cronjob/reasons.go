package cronjob

import (
	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job"
)

// DeleteReason is why a job is deleted.
type DeleteReason uint8

// The reasons to delete a job.
const (
	// DeleteReplaced: another run takes its place (C12).
	DeleteReplaced DeleteReason = 1 + iota
	// DeleteSuccessful and DeleteFailed: more finished jobs than the history keeps (C2).
	DeleteSuccessful
	DeleteFailed
	// DeleteExpired: a finished job was kept for as long as the options say.
	DeleteExpired
)

const deleteNames = "|Replaced|Successful|Failed|Expired"

const deleteReasons = "unspecified|" +
	"another run replaces it (C12)|" +
	"more successful jobs than successfulJobsHistoryLimit (C2)|" +
	"more failed jobs than failedJobsHistoryLimit (C2)|" +
	"it finished long enough ago (KeepSuccessful, KeepFailed)"

// String is a sentence for people.
func (r DeleteReason) String() string { return enum.String(deleteReasons, int(r), "DeleteReason") }

// MarshalText returns the name of the constant without Delete.
func (r DeleteReason) MarshalText() ([]byte, error) {
	return []byte(enum.String(deleteNames, int(r), "DeleteReason")), nil
}

// UnmarshalText reads what MarshalText returns.
func (r *DeleteReason) UnmarshalText(text []byte) error {
	i, err := enum.Parse(deleteNames, string(text), "reason")
	*r = DeleteReason(i)
	return err
}

// CreateReason is why a job is created.
type CreateReason uint8

// The reasons to create a job.
const (
	// CreateDue: the run is due and nothing was missed before it.
	CreateDue CreateReason = 1 + iota
	// CreateLatest: the run is the latest of several that were missed (C7).
	CreateLatest
	// CreateOldest: the run is the oldest of several that are made up (CatchUpAll).
	CreateOldest
	// CreateTriggered: a user requested it (Trigger).
	CreateTriggered
	// CreateBackfilled: a user requested the run (Backfill).
	CreateBackfilled
)

const createNames = "|Due|Latest|Oldest|Triggered|Backfilled"

const createReasons = "unspecified|" +
	"the run is due (C7)|" +
	"the run is the latest of those that were missed (C7)|" +
	"the run is the oldest of those to make up (CatchUpAll)|" +
	"it was asked for (Trigger)|" +
	"the run was asked for (Backfill)"

// String is a sentence for people.
func (r CreateReason) String() string { return enum.String(createReasons, int(r), "CreateReason") }

// MarshalText returns the name of the constant without Create.
func (r CreateReason) MarshalText() ([]byte, error) {
	return []byte(enum.String(createNames, int(r), "CreateReason")), nil
}

// UnmarshalText reads what MarshalText returns.
func (r *CreateReason) UnmarshalText(text []byte) error {
	i, err := enum.Parse(createNames, string(text), "reason")
	*r = CreateReason(i)
	return err
}

// UnstartedReason is why a run never starts.
type UnstartedReason uint8

// The reasons why runs never start.
const (
	// UnstartedForLater: a later run takes its place (C8).
	UnstartedForLater UnstartedReason = 1 + iota
	// UnstartedTooLate: its deadline has passed (C9).
	UnstartedTooLate
	// UnstartedSuspended: it came due while the CronJob was suspended (Options.SkipOnResume).
	UnstartedSuspended
	// UnstartedEdited: a new schedule has it, and it lies before the edit (Options.SkipOnEdit).
	UnstartedEdited
	// UnstartedHeld: Forbid held it back (Options.SkipHeld).
	UnstartedHeld
	// UnstartedNameTaken: its name belongs to another owner, and the next run takes its turn
	// (C14, CatchUpAll).
	UnstartedNameTaken
)

const unstartedNames = "|ForLater|TooLate|Suspended|Edited|Held|NameTaken"

const unstartedReasons = "unspecified|" +
	"a later run takes its place (C8)|" +
	"its deadline has passed (C9)|" +
	"the CronJob was suspended (SkipOnResume)|" +
	"it lies before the edit of the schedule (SkipOnEdit)|" +
	"an active job held it back (SkipHeld)|" +
	"its name belongs to another owner (C14)"

// String is a sentence for people.
func (r UnstartedReason) String() string {
	return enum.String(unstartedReasons, int(r), "UnstartedReason")
}

// MarshalText returns the name of the constant without Unstarted.
func (r UnstartedReason) MarshalText() ([]byte, error) {
	return []byte(enum.String(unstartedNames, int(r), "UnstartedReason")), nil
}

// UnmarshalText reads what MarshalText returns.
func (r *UnstartedReason) UnmarshalText(text []byte) error {
	i, err := enum.Parse(unstartedNames, string(text), "reason")
	*r = UnstartedReason(i)
	return err
}

// WaitReason is what a Job or a CronJob waits for. No two reasons have the same number.
type WaitReason = job.WaitReason

// The reasons that Jobs have as well.
const (
	// WaitSuspended: the CronJob is suspended (C6).
	WaitSuspended = job.WaitSuspended
	// WaitDeleted: the CronJob is being deleted (C6).
	WaitDeleted = job.WaitDeleted
)

// The reasons of CronJobs alone. Their numbers follow the reasons of Jobs.
const (
	// WaitNextRun: the next run is not due yet (C7).
	WaitNextRun WaitReason = 64 + iota
	// WaitNever: no run is going to come (S3).
	WaitNever
	// WaitActive: a run is due, and active jobs hold it back (C11).
	WaitActive
	// WaitVerify: active jobs that the snapshot does not hold are looked up (C5).
	WaitVerify
	// WaitStartDeadline: a run held back is given up at a time (C9).
	WaitStartDeadline
	// WaitNameTaken: the name of the run belongs to another owner (C14).
	WaitNameTaken
	// WaitNoSchedule: the schedule does not parse, or its zone is unknown (C6).
	WaitNoSchedule
	// WaitClock: the last run lies in the future; nothing starts before it has passed (CI14).
	WaitClock
	// WaitHistory: a finished job is kept until a time (KeepSuccessful, KeepFailed).
	WaitHistory
	// WaitTrigger: a trigger waits for active jobs (Trigger.Overlap).
	WaitTrigger
	// WaitRecord: jobs that a run replaces are to be recorded first (CI1).
	WaitRecord
	// WaitBackfill: a run of a backfill is not due, is left to the schedule, or waits
	// for active jobs (Backfill.Overlap).
	WaitBackfill
	// WaitStale: the snapshot is older than the controller's own writes, and what the
	// active list decides waits until it shows them (CI15).
	WaitStale
	// WaitFailures: a run is due, and too many jobs in a row have failed (C19).
	WaitFailures
)
