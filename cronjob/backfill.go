package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// Backfill requests the runs of the schedule that lie in a range of time and have no job: runs from
// before the CronJob was created, missed runs, runs of an outage. They start oldest first, a few in
// each round, whether or not the CronJob is suspended. startingDeadlineSeconds, the catch-up
// options and jitter do not apply to them. The job of a run is the same as if the schedule had
// started it, except that the annotation cronjob.kubernetes.io/instantiate says "backfill". It is
// named after the run, so a run never gets a second job (C13, CI1).
//
// The runs are those of the snapshot's schedule. After an edit of the schedule, wait until
// snapshots show the edit before you request runs of the new schedule.
//
// A run took place if its job exists, even if the job failed: delete the job of a failed run to
// repeat the run. If a job was deleted before the backfill was requested, by the history limits or
// by hand, its run is repeated unless Except names it.
//
// The schedule has priority. The backfill does not start runs that the schedule is going to start,
// and starts no run while a due run of the schedule is held back. The backfill does not change
// lastScheduleTime, with one exception: a run later than lastScheduleTime is recorded there before
// the history limits delete its job (C2). The jobs of a backfill are active jobs: Forbid and
// Options.MaxActive count them. Replace spares them, since no run of the schedule takes their
// place. But Replace cannot recognise such a job if neither the children nor the memory show it.
type Backfill struct {
	// ID identifies the backfill.
	ID string `json:"id"`
	// After and Until bound the range: a run is in it if the run is later than After and not later
	// than Until. Runs that are not due yet start when they are due.
	After time.Time `json:"after"`
	Until time.Time `json:"until"`
	// Overlap is required. With Forbid a run starts only while no job is active. With Allow it
	// starts even if other jobs are active.
	Overlap ConcurrencyPolicy `json:"overlap,omitempty"`
	// MaxActive holds runs back while this many jobs are active, including jobs of the schedule.
	// Zero means that only Options.MaxActive limits them.
	MaxActive int32 `json:"maxActive,omitempty"`
	// Except lists runs to leave out. Runs whose jobs have the same name (by default, the runs of
	// one minute) count as one run. A round adds runs that have a job, up to 100 in all. The
	// history limits do not delete the jobs of further runs until After comes closer to those runs.
	Except []time.Time `json:"except,omitempty"`
}

// IsComplete reports whether no part of the range is left.
func (b *Backfill) IsComplete() bool { return !b.After.Before(b.Until) }

func (b *Backfill) check() error {
	field := "backfills[" + b.ID + "]."
	switch {
	case b.ID == "":
		return invalid("backfills.id", b.ID, "is required")
	case b.After.IsZero():
		return invalid(field+"after", "", "is required")
	case b.Until.Before(b.After):
		return invalid(field+"until", value.Time(b.Until), "must not be before after")
	case b.Overlap == "", !b.Overlap.isOverlap():
		return invalid(field+"overlap", string(b.Overlap), "must be Allow or Forbid")
	case b.MaxActive < 0:
		return invalid(field+"maxActive", b.MaxActive, "must not be negative")
	}
	return nil
}

func checkBackfills(all []Backfill) error {
	for i := range all {
		if err := all[i].check(); err != nil {
			return err
		}
	}
	if len(all) < 2 {
		return nil
	}

	ids := make(map[string]bool, len(all))
	for i := range all {
		if ids[all[i].ID] {
			return invalid("backfills.id", all[i].ID, "must be unique")
		}
		ids[all[i].ID] = true
	}
	return nil
}

// covers reports whether a run is later than After and not later than Until.
func (b *Backfill) covers(run time.Time) bool { return isIn(run, b.After, b.Until) }

// backfillStep is the progress of a backfill in a round.
type backfillStep struct {
	// Backfill is the rest of the backfill. It lacks the runs that are settled even before the
	// writes of this round.
	Backfill
	// Moved is true if Backfill differs from the snapshot's.
	Moved bool `json:"moved,omitempty"`
	// Last is true if no run is left after the plan's creations.
	Last bool `json:"last,omitempty"`
}
