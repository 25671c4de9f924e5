package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job/release"
)

// Options change the behaviour where users have different needs. The zero value is recommended:
// Kubernetes without its quirks. [Kubernetes] returns options with the quirks of a release.
type Options struct {
	// CatchUp selects which of several missed runs start: the latest by default.
	CatchUp CatchUp `json:"catchUp,omitempty"`
	// CatchUpWindow limits how late a run may start, in addition to startingDeadlineSeconds. Zero
	// means no limit, except with CatchUpNone, where it means one minute.
	CatchUpWindow time.Duration `json:"catchUpWindow,omitempty,format:nano"`
	// CatchUpLimit is the number of the latest missed runs that CatchUpAll starts. Zero means 100.
	CatchUpLimit int32 `json:"catchUpLimit,omitempty"`
	// SkipOnResume sets aside the runs that came due while the CronJob was suspended.
	SkipOnResume bool `json:"skipOnResume,omitempty"`
	// SkipOnEdit sets aside the runs of a new schedule or timeZone that lie before the edit.
	SkipOnEdit bool `json:"skipOnEdit,omitempty"`
	// SkipHeld gives up a run that Forbid holds back, instead of starting it late.
	SkipHeld bool `json:"skipHeld,omitempty"`
	// MaxActive holds runs, triggers and backfills back while this many jobs are active; zero means
	// no limit. Jobs that a run replaces do not count.
	MaxActive int32 `json:"maxActive,omitempty"`
	// ReplaceWhenGone delays a run that replaces jobs until the replaced jobs and their pods are
	// gone.
	ReplaceWhenGone bool `json:"replaceWhenGone,omitempty"`
	// TerminatingTimeout is how long a job counts as active after its deletionTimestamp. If a
	// finalizer or a dead node holds a job for longer, the job delays nothing any more, not even
	// with ReplaceWhenGone, though its pods may still run (C21). Zero means that it counts until it
	// is gone.
	TerminatingTimeout time.Duration `json:"terminatingTimeout,omitempty,format:nano"`
	// Jitter delays each run by a time that is less than Jitter and less than the time to the next
	// run. The delay is computed from the UID. Jitter is added to startingDeadlineSeconds and
	// CatchUpWindow.
	Jitter time.Duration `json:"jitter,omitempty,format:nano"`
	// KeepSuccessful and KeepFailed limit how long finished jobs are kept, in addition to the
	// history limits; zero means no limit.
	KeepSuccessful time.Duration `json:"keepSuccessful,omitempty,format:nano"`
	KeepFailed     time.Duration `json:"keepFailed,omitempty,format:nano"`
	// Punctual requests the next round exactly at the time of the next run. By default it is 100 ms
	// later, as in Kubernetes, because clocks differ (C7).
	Punctual bool `json:"punctual,omitempty"`
	// Without holds the feature gates that are off. Only CronJobsScheduledAnnotation matters:
	// without it, jobs do not get the time of their run (C13).
	Without release.Gates `json:"without,omitzero"`
	// PauseAfterFailures holds the runs of the schedule back once this many jobs in a row have
	// failed (C19); zero means never.
	PauseAfterFailures int32 `json:"pauseAfterFailures,omitempty"`
	// ChildKind is the kind of the children, for references and events; Job of batch/v1 by default.
	ChildKind Kind `json:"childKind,omitzero"`
	// Naming and Marks define the names of the children, and where they store their runs.
	Naming Naming `json:"naming,omitzero"`
	Marks  Marks  `json:"marks,omitzero"`
	// ActiveFromChildren and SuccessFromChildren compute the active list and lastSuccessfulTime
	// from the children, for a CronJob whose kind does not store them (C18). Then jobs that others
	// made for the CronJob count as active, and a success is forgotten once its job is deleted.
	ActiveFromChildren  bool `json:"activeFromChildren,omitempty"`
	SuccessFromChildren bool `json:"successFromChildren,omitempty"`
	// Quirks are the mistakes of Kubernetes to repeat: see package cronjobquirk.
	Quirks cronjobquirk.Set `json:"quirks,omitzero"`
}

// CatchUp selects which runs start when several were missed.
type CatchUp uint8

// The ways to catch up.
const (
	// CatchUpLatest starts the latest missed run (C7).
	CatchUpLatest CatchUp = iota
	// CatchUpNone starts no missed run: a run starts within Options.CatchUpWindow after its time,
	// or not at all.
	CatchUpNone
	// CatchUpAll starts all missed runs within Options.CatchUpWindow and up to
	// Options.CatchUpLimit, oldest first, one per round. With Forbid each run waits for the end of
	// the one before.
	CatchUpAll
)

const catchUps = "Latest|None|All"

// String returns the name of the constant without CatchUp.
func (c CatchUp) String() string { return enum.String(catchUps, int(c), "CatchUp") }

// MarshalText is [CatchUp.String].
func (c CatchUp) MarshalText() ([]byte, error) { return enum.Text(catchUps, int(c), "CatchUp") }

// UnmarshalText reads what MarshalText writes; the empty text is CatchUpLatest. Any other text is
// an error and changes nothing.
func (c *CatchUp) UnmarshalText(text []byte) error { return enum.Read(c, catchUps, text, "catchUp") }

// Kubernetes returns the options with which the planner decides like the controller of a release,
// including its gates and its quirks. Compile the schedule with [schedule.Kubernetes] of the same
// release.
func Kubernetes(r release.Release) Options {
	o := Options{Quirks: cronjobquirk.Of(r)}
	if !r.Has(release.CronJobsScheduledAnnotation) {
		o.Without = release.GatesOf(release.CronJobsScheduledAnnotation)
	}
	return o
}

// IsZero reports whether the options are the zero value. With a [Namer] they are not.
func (o Options) IsZero() bool {
	names := o.Naming.Namer != nil
	o.Naming.Namer = nil // a Namer may not be comparable
	return !names && o == Options{}
}

// hasNegative reports whether any number is negative. It is cheaper than check, which builds field
// paths.
func (o *Options) hasNegative() bool {
	return int64(o.CatchUpWindow)|int64(o.CatchUpLimit)|int64(o.MaxActive)|int64(o.Jitter)|int64(o.PauseAfterFailures)|
		int64(o.KeepSuccessful)|int64(o.KeepFailed)|int64(o.TerminatingTimeout) < 0
}

func (o *Options) check() error {
	return noneNegative("options.",
		number{"catchUpWindow", int64(o.CatchUpWindow)},
		number{"catchUpLimit", int64(o.CatchUpLimit)},
		number{"maxActive", int64(o.MaxActive)},
		number{"terminatingTimeout", int64(o.TerminatingTimeout)},
		number{"jitter", int64(o.Jitter)},
		number{"keepSuccessful", int64(o.KeepSuccessful)},
		number{"keepFailed", int64(o.KeepFailed)},
		number{"pauseAfterFailures", int64(o.PauseAfterFailures)},
	)
}
