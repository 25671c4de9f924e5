package cronjobreason

import "github.com/batchplan/batchplan/internal/enum"

// Wait is what a CronJob waits for.
type Wait uint8

// The reasons to wait.
const (
	// WaitNextRun: the next run is not due yet (C7).
	WaitNextRun Wait = 1 + iota
	// WaitNever: the schedule has no further run (S3).
	WaitNever
	// WaitActive: a run is due, and active jobs hold it back (C11).
	WaitActive
	// WaitVerify: active jobs that are not among the children are looked up (C5).
	WaitVerify
	// WaitStartDeadline: a run is held back, and is given up at its deadline (C9).
	WaitStartDeadline
	// WaitNameTaken: the name of the run belongs to another owner (C14).
	WaitNameTaken
	// WaitNoSchedule: the schedule does not parse, or its zone is unknown (C6).
	WaitNoSchedule
	// WaitClock: the last run is in the future; nothing starts until that time has passed (CI14).
	WaitClock
	// WaitHistory: a finished job is kept for now, and may be deleted later (KeepSuccessful,
	// KeepFailed).
	WaitHistory
	// WaitTrigger: a trigger waits for active jobs (Trigger.Overlap).
	WaitTrigger
	// WaitRecord: jobs that a run replaces must be recorded first (CI1).
	WaitRecord
	// WaitBackfill: a run of a backfill is not due, is left to the schedule, or waits
	// for active jobs (Backfill.Overlap).
	WaitBackfill
	// WaitStale: the snapshot is older than the controller's own writes, and a decision that
	// depends on the active list waits until snapshots show these writes (CI15).
	WaitStale
	// WaitFailures: a run is due, and too many jobs in a row have failed (C19).
	WaitFailures
	// WaitSuspended: the CronJob is suspended (C6).
	WaitSuspended
	// WaitDeleted: the CronJob is being deleted (C6).
	WaitDeleted
	// WaitTerminating: a terminating job counts as active for a limited time
	// (Options.TerminatingTimeout, C21).
	WaitTerminating
)

const waitNames = "|NextRun|Never|Active|Verify|StartDeadline|NameTaken|NoSchedule|" +
	"Clock|History|Trigger|Record|Backfill|Stale|Failures|Suspended|Deleted|Terminating"

// String returns the name of the constant without Wait. Method String of a cronjob.Wait returns a
// sentence.
func (r Wait) String() string { return enum.String(waitNames, int(r), "Wait") }

// MarshalText is [Wait.String].
func (r Wait) MarshalText() ([]byte, error) { return enum.Text(waitNames, int(r), "Wait") }

// UnmarshalText reads what MarshalText returns. Any other text is an error and changes nothing.
func (r *Wait) UnmarshalText(text []byte) error { return enum.Read(r, waitNames, text, "reason") }
