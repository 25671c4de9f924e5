package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job/release"
)

// Options choose where users want different behaviour. The zero value is what
// the library recommends: Kubernetes without its
// quirks. [Kubernetes] has the quirks of a release.
type Options struct {
	// CatchUp says which of several missed runs start: the latest by default.
	CatchUp CatchUp `json:"catchUp,omitempty"`
	// CatchUpWindow is how late a run may start, beside startingDeadlineSeconds.
	// Zero means any time, and one minute with CatchUpNone.
	CatchUpWindow time.Duration `json:"catchUpWindow,omitempty"`
	// CatchUpLimit is how many missed runs CatchUpAll makes up, the latest ones;
	// zero means 100.
	CatchUpLimit int32 `json:"catchUpLimit,omitempty"`
	// SkipOnResume sets aside the runs that came due while the CronJob was suspended.
	SkipOnResume bool `json:"skipOnResume,omitempty"`
	// SkipOnEdit sets aside the runs that a new schedule or timeZone would have had
	// before the edit.
	SkipOnEdit bool `json:"skipOnEdit,omitempty"`
	// SkipHeld gives up a run that Forbid holds back, instead of starting it late.
	SkipHeld bool `json:"skipHeld,omitempty"`
	// MaxActive holds runs, triggers and backfills back while so many jobs are active;
	// zero means no limit. Jobs that a run replaces do not count.
	MaxActive int32 `json:"maxActive,omitempty"`
	// ReplaceWhenGone starts a run that replaces others only after these, pods
	// included, are gone.
	ReplaceWhenGone bool `json:"replaceWhenGone,omitempty"`
	// Jitter delays each run by a time below it and below the distance to the next
	// run. The delay follows from the UID: it is the same each time. It extends
	// startingDeadlineSeconds and CatchUpWindow.
	Jitter time.Duration `json:"jitter,omitempty"`
	// KeepSuccessful and KeepFailed are how long finished jobs are kept, beside the
	// limits of the history; zero means without end.
	KeepSuccessful time.Duration `json:"keepSuccessful,omitempty"`
	KeepFailed     time.Duration `json:"keepFailed,omitempty"`
	// Punctual asks for the next round at the time of the next run. By default that is 100 ms later, against clocks
	// that differ, as in Kubernetes (C7).
	Punctual bool `json:"punctual,omitempty"`
	// Without are the feature gates that are off. CronJobsScheduledAnnotation is the only one
	// that matters: without it, jobs do not get the time of their run (C13).
	Without release.Gates `json:"without,omitzero"`
	// PauseAfterFailures holds the runs of the schedule back once so many jobs in a row have failed
	// (C19); zero means never.
	PauseAfterFailures int32 `json:"pauseAfterFailures,omitempty"`
	// Child is the kind of the children, for references and events; Job of batch/v1 by default.
	Child Kind `json:"child,omitzero"`
	// Naming is how they are named, Marks where they hold their runs; as in Kubernetes by default.
	Naming Naming `json:"naming,omitzero"`
	Marks  Marks  `json:"marks,omitzero"`
	// ActiveFromChildren and SuccessFromChildren are for a CronJob whose kind stores no list of active
	// jobs, or no lastSuccessfulTime: the children tell (C18). Jobs that others made for the CronJob
	// then count as active, and a success is forgotten with its job.
	ActiveFromChildren  bool `json:"activeFromChildren,omitempty"`
	SuccessFromChildren bool `json:"successFromChildren,omitempty"`
	// Quirks are mistakes of the reference to make as well: see package cronjobquirk.
	Quirks cronjobquirk.Set `json:"quirks,omitzero"`
}

// CatchUp says which runs start when several were missed.
type CatchUp uint8

// The ways to catch up.
const (
	// CatchUpLatest starts the latest of them (C7).
	CatchUpLatest CatchUp = iota
	// CatchUpNone starts none: a run starts in time, which is within
	// Options.CatchUpWindow, or not at all.
	CatchUpNone
	// CatchUpAll starts all of them, one a round and the oldest first, within
	// Options.CatchUpWindow and up to Options.CatchUpLimit. With Forbid the runs wait
	// in line for each other.
	CatchUpAll
)

const catchUps = "latest|none|all"

// String returns the way in a word.
func (c CatchUp) String() string { return enum.String(catchUps, int(c), "CatchUp") }

// MarshalText is [CatchUp.String].
func (c CatchUp) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText writes; the empty text is CatchUpLatest.
func (c *CatchUp) UnmarshalText(text []byte) error {
	i, err := enum.Parse(catchUps, string(text), "catchUp")
	*c = CatchUp(i)
	return err
}

// Kubernetes returns the options with which the planner decides as the controller of a
// release does, with its gates and its quirks. Also compile the schedule with
// [schedule.Kubernetes] of the same release.
func Kubernetes(r release.Release) Options {
	o := Options{Quirks: cronjobquirk.Of(r)}
	if !r.Has(release.CronJobsScheduledAnnotation) {
		o.Without = release.GatesOf(release.CronJobsScheduledAnnotation)
	}
	return o
}

// hasNegative is the quick look, which builds no field paths.
func (o *Options) hasNegative() bool {
	return int64(o.CatchUpWindow)|int64(o.CatchUpLimit)|int64(o.MaxActive)|int64(o.Jitter)|int64(o.PauseAfterFailures)|
		int64(o.KeepSuccessful)|int64(o.KeepFailed) < 0
}

func (o *Options) check() error {
	return noneNegative("options.",
		number{"catchUpWindow", int64(o.CatchUpWindow)},
		number{"catchUpLimit", int64(o.CatchUpLimit)},
		number{"maxActive", int64(o.MaxActive)},
		number{"jitter", int64(o.Jitter)},
		number{"keepSuccessful", int64(o.KeepSuccessful)},
		number{"keepFailed", int64(o.KeepFailed)},
		number{"pauseAfterFailures", int64(o.PauseAfterFailures)},
	)
}
