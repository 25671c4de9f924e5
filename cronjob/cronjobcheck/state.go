package cronjobcheck

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
)

// State is the source of truth before a write.
type State struct {
	CronJob    *cronjob.CronJob
	Options    *cronjob.Options
	Triggers   []cronjob.Trigger
	Backfills  []cronjob.Backfill
	Neighbours Neighbours
}

// Neighbours counts the jobs of the CronJob that run when another is created.
type Neighbours struct {
	// Active is the number of jobs that are not being deleted. Backfilled is the number of active
	// jobs that were started by a backfill.
	Active, Backfilled int
	// Leaving is the number of jobs that are being deleted and were not started by a backfill: a
	// run that replaces others need not wait for jobs of backfills.
	Leaving int
}

// AddNeighbour counts one more job. A job that a user made by hand, without a trigger, does not
// count, and neither does one that is stuck (Options.TerminatingTimeout). CronJob and Options must be
// set.
func (st *State) AddNeighbour(c *cronjob.Child, now time.Time) {
	n := &st.Neighbours
	triggered := st.Options.Naming.TriggerName(st.CronJob.Name, cronjob.Trigger{}) // without an ID
	byHand := c.ScheduledTime.IsZero() && !strings.HasPrefix(c.Name, triggered)
	switch {
	case c.Foreign, c.Finished != "", byHand, isStuck(c, st.Options, now):
	case c.DeletionTimestamp.IsZero():
		n.Active++
		if c.Backfilled {
			n.Backfilled++
		}
	case !c.Backfilled:
		n.Leaving++
	}
}

// isStuck reports whether a job has been terminating for too long to count (C21).
func isStuck(c *cronjob.Child, o *cronjob.Options, now time.Time) bool {
	limit := o.TerminatingTimeout
	return limit > 0 && !c.DeletionTimestamp.IsZero() && now.Sub(c.DeletionTimestamp) >= limit
}

// waitsUntilGone reports whether a run waits for the jobs that it replaces to be gone.
func waitsUntilGone(c *cronjob.CronJob, o *cronjob.Options) bool {
	return c.Spec.ConcurrencyPolicy == cronjob.Replace && o.ReplaceWhenGone
}

// Create checks that a new job may run at the same time as the jobs that exist (CI8, CI15). A
// controller that has lost its memory may violate this.
func (st *State) Create(c *cronjob.Creation) []Violation {
	var f found
	n, policy := st.Neighbours, st.CronJob.Spec.ConcurrencyPolicy
	beside := func(what string) {
		f.add("CI8", "%s: %s beside %s, %d leaving", what, c.Name, value.Count(n.Active, "job"), n.Leaving)
	}

	waits, busy := waitsUntilGone(st.CronJob, st.Options), n.Active
	if waits {
		busy += n.Leaving // their pods may still run
	}

	switch {
	case c.Trigger != "":
		i := slices.IndexFunc(st.Triggers, func(t cronjob.Trigger) bool { return t.ID == c.Trigger })
		if i < 0 || st.Triggers[i].Overlap == cronjob.Forbid && busy > 0 {
			beside("a trigger with Forbid")
		}
	case c.Backfill != "":
		i := slices.IndexFunc(st.Backfills, func(b cronjob.Backfill) bool { return b.ID == c.Backfill })
		if i < 0 || overlaps(&st.Backfills[i], busy) {
			beside("a backfill")
		}
	case policy == cronjob.Forbid && n.Active > 0:
		beside("Forbid")
	case policy == cronjob.Replace && n.Active > n.Backfilled:
		beside("Replace")
	case waits && n.Leaving > 0:
		beside("ReplaceWhenGone")
	}

	if limit := int(st.Options.MaxActive); limit > 0 && n.Active >= limit {
		beside("MaxActive")
	}
	return f
}

// overlaps reports whether a run of the backfill must wait for active jobs.
func overlaps(b *cronjob.Backfill, active int) bool {
	if b.MaxActive > 0 && active >= int(b.MaxActive) {
		return true
	}
	return b.Overlap == cronjob.Forbid && active > 0
}

// Status checks a status before it is written (CI4, CI12). Function started must report whether a
// job was ever created for the run.
func (st *State) Status(next *cronjob.Status, started func(run time.Time) bool) []Violation {
	var f found
	before := &st.CronJob.Status
	if next.LastScheduleTime.Before(before.LastScheduleTime) {
		f.add("CI4", "lastScheduleTime goes back from %s to %s", before.LastScheduleTime, next.LastScheduleTime)
	}
	if next.LastSuccessfulTime.Before(before.LastSuccessfulTime) {
		f.add("CI12", "lastSuccessfulTime goes back from %s to %s", before.LastSuccessfulTime, next.LastSuccessfulTime)
	}
	if run := next.LastScheduleTime; !run.Equal(before.LastScheduleTime) && !started(run) {
		f.add("CI4", "lastScheduleTime %s, and no such job was created", run)
	}
	return f
}

// History counts the jobs that were created for each run, and for each trigger by name,
// over the whole life of a CronJob (CI1). The zero value is empty.
type History struct {
	runs   map[int64]int // by the second
	others map[string]int
}

// Clone returns an independent copy.
func (h *History) Clone() History { return History{maps.Clone(h.runs), maps.Clone(h.others)} }

// Started records that a job was created for a run, and checks CI1. If run is zero, the job was not
// created by the schedule, and its name must be new.
func (h *History) Started(name string, run time.Time) []Violation {
	if h.runs == nil {
		h.runs, h.others = make(map[int64]int), make(map[string]int)
	}

	var f found
	if run.IsZero() {
		if h.others[name]++; h.others[name] > 1 {
			f.add("CI1", "%s was started %d times", name, h.others[name])
		}
		return f
	}

	at := run.Unix()
	if h.runs[at]++; h.runs[at] > 1 {
		f.add("CI1", "the run of %s was started %d times", run.UTC(), h.runs[at])
	}
	return f
}

// HasStarted reports whether a job was created for the run.
func (h *History) HasStarted(run time.Time) bool { return h.runs[run.Unix()] > 0 }

// HasStartedBeside reports whether a job of that name was created outside of the schedule.
func (h *History) HasStartedBeside(name string) bool { return h.others[name] > 0 }

// Runs returns the runs for which a job was created, in order.
func (h *History) Runs() (all []time.Time) {
	for _, at := range slices.Sorted(maps.Keys(h.runs)) {
		all = append(all, time.Unix(at, 0).UTC())
	}
	return all
}
