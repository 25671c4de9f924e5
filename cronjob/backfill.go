package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// Backfill asks for the runs of the schedule in a range of time that have no job:
// runs from before the CronJob was created, missed runs, runs of an outage. They
// start oldest first, a few in each round, whether or not the CronJob is suspended.
// startingDeadlineSeconds, the catch-up options and jitter do not apply to them. The
// job of a run is the same as if the schedule had started it, except that the annotation
// cronjob.kubernetes.io/instantiate says "backfill". It is named after the run, so a run
// never gets a second job (C13, CI1).
//
// The runs come from the schedule that the snapshot shows. Request runs of an edited schedule
// once the snapshots show the edit.
//
// A run took place if its job is there, whatever became of the job: delete the job
// of a failed run to have it run again. Nothing is known of a run whose job was deleted
// before the backfill was requested, by the history or by hand: it runs again, unless
// Except names it.
//
// The schedule goes first. The backfill leaves to it the runs that it is going to start, and
// starts no run while a due run of the schedule is held back. The backfill does not change
// lastScheduleTime, but the history records a later run there before it deletes the job of that
// run (C2). The jobs of a backfill are active jobs: Forbid and Options.MaxActive count them.
// Replace spares them, since no run of the schedule takes their place. But it cannot recognise
// such a job if neither the children nor the memory show it.
type Backfill struct {
	// ID tells backfills apart.
	ID string `json:"id"`
	// After and Until are the range: runs later than After and not later than Until.
	// Runs that are not due yet start when they are.
	After time.Time `json:"after"`
	Until time.Time `json:"until"`
	// Overlap is Forbid when empty: a run starts when no job is active, so they go
	// one by one. With Allow they start beside others.
	Overlap ConcurrencyPolicy `json:"overlap,omitempty"`
	// MaxActive holds runs back while so many jobs are active, jobs of the schedule
	// included; zero means no limit but Options.MaxActive.
	MaxActive int32 `json:"maxActive,omitempty"`
	// Except are runs to leave out, told apart by the minute, as names are. A round adds runs
	// that have a job, up to 100 in all; the history keeps the jobs of further ones until After has
	// come closer.
	Except []time.Time `json:"except,omitempty"`
}

// IsComplete reports whether nothing of the range is left.
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
	case !b.Overlap.isOverlap():
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

// covers reports whether a run lies in what is left of the range.
func (b *Backfill) covers(run time.Time) bool { return isIn(run, b.After, b.Until) }

// backfillStep is what a round does for a backfill.
type backfillStep struct {
	// Backfill is the backfill without the runs that are settled before any write.
	Backfill
	// Moved says that it differs from that in the snapshot.
	Moved bool `json:"moved,omitempty"`
	// Last says that nothing is left once the plan's creations took effect.
	Last bool `json:"last,omitempty"`
}
