package cronjobtest

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/value"
)

// aside holds bounds of the time up to which the program sets runs aside (CI16). That time is in
// the program's memory. After a round with an error the program may still have the memory of an
// earlier round, so the exact time is unknown.
type aside struct {
	// No run up to the time least may start any more. The runs up to the time most may have been
	// given up.
	least, most time.Time
	// suspended and schedule are the fields of the spec that are stored in the memory. If that is
	// not certain, they are false and empty.
	suspended bool
	schedule  string
	// resumes and edited are set if the memory may be older than a resumption or an edit.
	resumes, edited bool
}

// planned returns the bounds after a plan for the snapshot was carried out.
func (a aside) planned(s *cronjob.Snapshot) aside {
	o, spec, next := &s.Options, &s.CronJob.Spec, a
	since := s.Now
	if changed := s.CronJob.SpecChanged; !changed.IsZero() && !changed.After(s.Now) {
		since = latest(changed, a.least)
	}

	suspended := value.Of(spec.Suspend)
	if o.SkipOnResume {
		switch {
		case suspended:
			next.least = s.Now
		case a.suspended:
			next.least = since
		case a.resumes:
			next.least = earliest(a.least, since) // the clock may have gone back
		}
		if suspended || a.resumes {
			next.most = latest(next.most, s.Now)
		}
		next.suspended, next.resumes = suspended, suspended
	}

	if o.SkipOnEdit {
		schedule := spec.Schedule
		if spec.TimeZone != nil {
			schedule += " " + *spec.TimeZone
		}
		switch {
		case a.schedule == "" || a.edited:
			next.least = earliest(next.least, since)
		case a.schedule != schedule:
			next.least = since
		}
		if a.schedule != schedule || a.edited {
			next.most = latest(next.most, s.Now)
		}
		next.schedule, next.edited = schedule, false
	}

	if o.SkipHeld && spec.ConcurrencyPolicy == cronjob.Forbid {
		next.most = latest(next.most, s.Now)
		if !suspended && isHeld(s) {
			due := s.Now.Add(-o.Jitter + 1) // earlier runs are due, no matter how long their delays are
			next.least = latest(next.least, s.Schedule.Schedule.Prev(due))
		}
	}
	return next
}

// isHeld reports whether an active job certainly holds back the latest run, and the run is not too
// late to start. It is false with CatchUpAll, because the controller may first pass an earlier run
// whose job exists. It is also false with PauseAfterFailures, because a pause has priority and sets
// nothing aside.
func isHeld(s *cronjob.Snapshot) bool {
	o := &s.Options
	inTime := s.CronJob.Spec.StartingDeadlineSeconds == nil && o.CatchUpWindow == 0
	plain := o.PauseAfterFailures == 0 && o.CatchUp == cronjob.CatchUpLatest
	if !s.Consistent || !inTime || !plain {
		return false
	}

	isActive := func(c cronjob.Child) bool {
		return slices.ContainsFunc(s.CronJob.Status.Active, func(r cronjob.Reference) bool { return r.UID == c.UID })
	}
	return slices.ContainsFunc(s.Children, func(c cronjob.Child) bool {
		return isActive(c) && !c.Foreign && isRunning(&c)
	})
}

// failed returns the bounds after a round with an error. The program then has either its memory
// from before the round or the one from after it.
func (a aside) failed(before aside) aside {
	a.least = earliest(a.least, before.least)
	a.resumes, a.edited = a.resumes || before.resumes, a.edited || before.schedule != a.schedule
	a.suspended, a.schedule = false, ""
	return a
}

func latest(times ...time.Time) time.Time   { return slices.MaxFunc(times, time.Time.Compare) }
func earliest(times ...time.Time) time.Time { return slices.MinFunc(times, time.Time.Compare) }

// checkAside checks that a run that was set aside does not start (CI16).
func (e *Env) checkAside(n *cronjob.Creation) []cronjobcheck.Violation {
	isAside := n.Trigger == "" && n.Backfill == "" && !n.ScheduledTime.After(e.aside.least)
	return life.Wrong(isAside, "CI16", "the run of %s starts, and the runs up to %s are set aside",
		clock(n.ScheduledTime), clock(e.aside.least))
}
