package cronjob

import (
	"errors"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// Snapshot is the input of a round. A round does not modify it.
//
// It can be stored as JSON and replayed, with the same plan as the result. Zones are stored by name
// and looked up again. A [Namer] is not stored and must be set again.
type Snapshot struct {
	CronJob CronJob `json:"cronJob"`
	// Children are all jobs of the CronJob's namespace that could be its own or hold the name
	// of a run; their order does not matter (B3).
	Children []Child `json:"children,omitempty"`
	// Now is the time of the round. Every time in the plan comes from it (B6).
	Now time.Time `json:"now"`
	// Schedule is the compiled schedule of the spec: see Compile.
	Schedule Compiled `json:"schedule"`
	// Memory is copied from the last round's Conclusion; the zero value means "just restarted".
	Memory  Memory  `json:"memory,omitzero"`
	Options Options `json:"options,omitzero"`
	// Consistent is true if the snapshot contains all of the controller's own writes, and all jobs,
	// as of one moment: it was read in one transaction, or from the source of truth. Then nothing
	// waits for own writes to show, and an active job that is not among the children counts as gone
	// without a look-up. Leave it false for a snapshot from a watch or a cache.
	Consistent bool `json:"consistent,omitempty"`
	// Triggers request jobs outside of the schedule.
	Triggers []Trigger `json:"triggers,omitempty"`
	// Backfills request runs of the schedule in ranges of time.
	Backfills []Backfill `json:"backfills,omitempty"`
}

// check returns an error if no plan can be made from the snapshot.
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

	if policy := c.Spec.ConcurrencyPolicy; policy != "" {
		if err := checkPolicy(policy, "cronJob.spec."); err != nil {
			return err
		}
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

// checkKind checks the options that define the children.
func (s *Snapshot) checkKind() error {
	o := &s.Options
	if err := o.Naming.checkForm(); err != nil {
		return err
	}
	if err := o.Naming.checkNamer(s.CronJob.Name, s.Now); err != nil {
		return err
	}
	if err := o.Naming.checkMinutes(&s.Schedule); err != nil {
		return err
	}
	return errors.Join(o.Marks.check(), o.ChildKind.check())
}

// hasNegative reports whether any number is negative. It is cheap, because it builds no field
// paths.
func (s *Snapshot) hasNegative() bool {
	spec := &s.CronJob.Spec
	return value.Of(spec.StartingDeadlineSeconds)|
		int64(value.Of(spec.SuccessfulJobsHistoryLimit))|
		int64(value.Of(spec.FailedJobsHistoryLimit)) < 0 || s.Options.hasNegative()
}
