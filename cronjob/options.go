package cronjob

import (
	"errors"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// Options choose where users want different behaviour. The zero value is what
// the library recommends: Kubernetes without its
// quirks. [Kubernetes136] has them.
type Options struct {
	// CatchUp says which of several missed runs start: the latest by default.
	CatchUp CatchUp `json:"catchUp,omitempty"`
	// CatchUpWindow is how late a run may start, beside startingDeadlineSeconds.
	// Zero means any time, and one minute with CatchUpNone.
	CatchUpWindow time.Duration `json:"catchUpWindow,omitempty"`
	// CatchUpLimit is how many missed runs CatchUpAll makes up, the latest ones;
	// zero means 100.
	CatchUpLimit int32 `json:"catchUpLimit,omitempty"`
	// SkipOnResume sets the runs aside that came due while the CronJob was suspended.
	SkipOnResume bool `json:"skipOnResume,omitempty"`
	// SkipOnEdit sets the runs aside that a new schedule or timeZone would have had
	// before the edit.
	SkipOnEdit bool `json:"skipOnEdit,omitempty"`
	// SkipHeld gives a run up that Forbid holds back, instead of starting it late.
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
	// Quirks are mistakes of the reference to make as well: see package cronjobquirk.
	Quirks cronjobquirk.Set `json:"quirks,omitempty"`
}

// Kubernetes136 returns the options with which the planner decides exactly as the
// controller of Kubernetes 1.36 does, quirks included. Also compile the schedule with
// [schedule.Kubernetes136].
func Kubernetes136() Options {
	return Options{Quirks: cronjobquirk.All}
}

// hasNegative is the quick look, which builds no field paths.
func (o *Options) hasNegative() bool {
	return int64(o.CatchUpWindow)|int64(o.CatchUpLimit)|int64(o.MaxActive)|int64(o.Jitter)|
		int64(o.KeepSuccessful)|int64(o.KeepFailed) < 0
}

func (o *Options) check() error {
	fields := [...]struct {
		name  string
		value int64
	}{
		{"options.catchUpWindow", int64(o.CatchUpWindow)},
		{"options.catchUpLimit", int64(o.CatchUpLimit)},
		{"options.maxActive", int64(o.MaxActive)},
		{"options.jitter", int64(o.Jitter)},
		{"options.keepSuccessful", int64(o.KeepSuccessful)},
		{"options.keepFailed", int64(o.KeepFailed)},
	}
	var problems []error
	for i := range fields {
		if f := &fields[i]; f.value < 0 {
			problems = append(problems, invalid(f.name, f.value, "must not be negative"))
		}
	}
	return errors.Join(problems...)
}
