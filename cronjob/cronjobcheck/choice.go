package cronjobcheck

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
)

// maxDeadline is in seconds and longer than any test. A deadline of this length or more is no
// limit.
const maxDeadline = 1 << 32

// Deadline returns how late a run may start: startingDeadlineSeconds or the window of the catch-up
// options, whichever is shorter, plus the jitter. It returns false if there is no limit.
func Deadline(spec *cronjob.Spec, o *cronjob.Options) (d time.Duration, ok bool) {
	d, ok = o.CatchUpWindow, o.CatchUpWindow > 0
	if !ok && o.CatchUp == cronjob.CatchUpNone {
		d, ok = time.Minute, true
	}
	if s := spec.StartingDeadlineSeconds; s != nil && *s < maxDeadline {
		if deadline := time.Duration(*s) * time.Second; !ok || deadline < d {
			d, ok = deadline, true
		}
	}
	return d + o.Jitter, ok
}

// checkChoice checks CI6: the started run is the one that the options choose among the due runs. It
// does not know which runs the memory excludes, so fewer runs than it assumes may be due.
func checkChoice(f *found, s *cronjob.Snapshot, base, run time.Time) {
	sch, o := s.Schedule.Schedule, &s.Options
	if !o.Quirks.IsZero() {
		return
	}

	if !sch.Prev(run.Add(1)).Equal(run) {
		f.add("CI6", "starts %s, which is not a run", run)
	}
	if o.CatchUp == cronjob.CatchUpAll {
		checkOldest(f, s, base, run)
		return
	}
	// A run that is longer ago than the jitter is due, no matter what its delay is.
	if latest, ok := sch.Latest(base, s.Now.Add(-o.Jitter)); ok && run.Before(latest) {
		f.add("CI6", "starts the run of %s, the latest is %s", run, latest)
	}
}

// maxCatchUp is the limit of CatchUpAll unless the options set one.
const maxCatchUp = 100

// checkOldest checks CI6 for CatchUpAll: of the runs within the deadline, the oldest starts. If
// there are more runs than the limit, the oldest are skipped until as many as the limit are left.
func checkOldest(f *found, s *cronjob.Snapshot, base, run time.Time) {
	sch, o := s.Schedule.Schedule, &s.Options
	limit := int(o.CatchUpLimit)
	if limit == 0 {
		limit = maxCatchUp
	}

	n := sch.Count(run.Add(-1), s.Now.Add(-o.Jitter))
	if n > limit {
		f.add("CI6", "starts the run of %s, with which %d are made up, at most %d", run, n, limit)
	}

	// The children do not show which runs the options have set aside.
	setsAside := o.SkipOnResume || o.SkipOnEdit || o.SkipHeld
	known := s.Consistent && o.Jitter == 0 && !setsAside
	if !known || n >= limit {
		return
	}

	from := base
	if d, ok := Deadline(&s.CronJob.Spec, o); ok {
		from = value.Later(from, s.Now.Add(-d))
	}
	for i := range s.Children { // their runs may not be recorded yet
		if c := &s.Children[i]; !c.Foreign && !c.Backfilled {
			from = value.Later(from, c.ScheduledTime)
		}
	}
	isForeign := func(c cronjob.Child) bool { return c.Foreign }
	if oldest := sch.Next(from); oldest.Before(run) && !slices.ContainsFunc(s.Children, isForeign) {
		f.add("CI6", "starts the run of %s before the older run of %s", run, oldest)
	}
}
