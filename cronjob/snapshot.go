package cronjob

import (
	"errors"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// Snapshot is everything that a round knows. Nothing in it is written to.
//
// It can be stored as JSON and replayed: what is read back has the same plan. Zones are stored by name
// and read from the zone database again, and a [Namer] has to be set again.
type Snapshot struct {
	CronJob CronJob `json:"cronJob"`
	// Children are all jobs of the CronJob's namespace that could be its own or hold the name
	// of a run; their order does not matter (B3).
	Children []Child `json:"children,omitempty"`
	// Now is the time of the round. Every time in the plan comes from it (B6).
	Now time.Time `json:"now"`
	// Schedule is what [Compile] made of the spec.
	Schedule Compiled `json:"schedule"`
	// Memory is what the last round's [Conclusion] handed back; the zero value
	// means "just restarted".
	Memory  Memory  `json:"memory,omitzero"`
	Options Options `json:"options,omitzero"`
	// Consistent says that the snapshot contains all of the controller's own writes, and
	// all jobs, as of one moment: it was read in one transaction, or from the source of
	// truth. Nothing then waits for own writes to show, and an active job that is not
	// among the children is gone without a look-up. Leave it false for a snapshot from a
	// watch or a cache.
	Consistent bool `json:"consistent,omitempty"`
	// Triggers ask for jobs outside of the schedule.
	Triggers []Trigger `json:"triggers,omitempty"`
	// Backfills ask for runs of the schedule in a range.
	Backfills []Backfill `json:"backfills,omitempty"`
}

// check is the invariant check at the entry: what no plan can be made from.
func (s *Snapshot) check() error {
	c, year := &s.CronJob, s.Now.Year()
	switch {
	case c.UID == "":
		return invalid("cronJob.uid", "", "is required")
	case c.Name == "":
		return invalid("cronJob.name", "", "is required: names of jobs begin with it")
	case s.Now.IsZero():
		return invalid("now", "", "is required")
	case year > 9999, year < 1:
		return invalid("now", s.Now.Unix(), "is outside of the years 1 to 9999")
	case c.CreationTimestamp.IsZero() && c.Status.LastScheduleTime.IsZero():
		return invalid("cronJob.creationTimestamp", "",
			"is required until status.lastScheduleTime is set: runs count from there (C7)")
	}

	if err := s.Schedule.check(&c.Spec); err != nil {
		return err
	}

	switch c.Spec.ConcurrencyPolicy {
	case "", Allow, Forbid, Replace:
	default:
		return invalid("cronJob.spec.concurrencyPolicy", string(c.Spec.ConcurrencyPolicy), policyProblem)
	}

	for i := range s.Triggers {
		if err := s.Triggers[i].check(); err != nil {
			return err
		}
	}
	if err := checkBackfills(s.Backfills); err != nil {
		return err
	}
	if err := s.checkKind(); err != nil {
		return err
	}

	if s.hasNegative() {
		return errors.Join(checkSigns(&c.Spec, "cronJob.spec."), s.Options.check())
	}
	return nil
}

// checkKind checks the options about what the children are.
func (s *Snapshot) checkKind() error {
	o := &s.Options
	if err := o.Naming.check(s.CronJob.Name, s.Now); err != nil {
		return err
	}
	if err := o.Naming.checkMinutes(&s.Schedule); err != nil {
		return err
	}
	return errors.Join(o.Marks.check(), o.Child.check())
}

// hasNegative is the quick look, which builds no field paths.
func (s *Snapshot) hasNegative() bool {
	spec := &s.CronJob.Spec
	return value.Of(spec.StartingDeadlineSeconds)|
		int64(value.Of(spec.SuccessfulJobsHistoryLimit))|
		int64(value.Of(spec.FailedJobsHistoryLimit)) < 0 || s.Options.hasNegative()
}
