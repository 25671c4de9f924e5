package cronjobtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
)

// Options generates options: half of them are the zero value, the others choose how missed
// runs are caught up, what is set aside, how many jobs run at once, and how long they are kept.
func Options() *rapid.Generator[cronjob.Options] { return rapid.Custom(drawOptions) }

func drawOptions(t *rapid.T) (o cronjob.Options) {
	kind := rapid.IntRange(0, 5).Draw(t, "options")
	if kind < 3 {
		return o
	}
	o.MaxActive = rapid.Int32Range(0, 2).Draw(t, "MaxActive")
	o.ReplaceWhenGone = rapid.Bool().Draw(t, "ReplaceWhenGone")
	if kind == 3 { // one run follows the other at once
		o.CatchUp, o.CatchUpLimit = cronjob.CatchUpAll, rapid.Int32Range(1, 6).Draw(t, "CatchUpLimit")
		return o
	}
	duration := func(label string, most time.Duration) time.Duration {
		return max(0, time.Duration(rapid.Int64Range(-int64(most/time.Second), int64(most/time.Second)).Draw(t, label))*time.Second)
	}
	o.CatchUp = rapid.SampledFrom([]cronjob.CatchUp{cronjob.CatchUpLatest, cronjob.CatchUpNone, cronjob.CatchUpAll}).Draw(t, "CatchUp")
	o.CatchUpWindow = duration("CatchUpWindow", 100*time.Hour)
	o.CatchUpLimit = rapid.Int32Range(1, 6).Draw(t, "CatchUpLimit")
	o.SkipOnResume = rapid.Bool().Draw(t, "SkipOnResume")
	o.SkipOnEdit = rapid.Bool().Draw(t, "SkipOnEdit")
	o.SkipHeld = rapid.Bool().Draw(t, "SkipHeld")
	o.Jitter = duration("Jitter", 2*time.Hour)
	o.KeepSuccessful = duration("KeepSuccessful", 100*time.Hour)
	o.KeepFailed = duration("KeepFailed", 100*time.Hour)
	return o
}

// optionsText is the options in a line; empty for the zero value.
func optionsText(o *cronjob.Options) string {
	var parts []string
	add := func(is bool, format string, args ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	all := o.CatchUp == cronjob.CatchUpAll
	add(o.CatchUp != cronjob.CatchUpLatest, "catchUp %s", o.CatchUp)
	add(o.CatchUpWindow > 0, "catchUpWindow %s", o.CatchUpWindow)
	add(all && o.CatchUpLimit > 0, "catchUpLimit %d", o.CatchUpLimit)
	add(o.SkipOnResume, "skipOnResume")
	add(o.SkipOnEdit, "skipOnEdit")
	add(o.SkipHeld, "skipHeld")
	add(o.MaxActive > 0, "maxActive %d", o.MaxActive)
	add(o.ReplaceWhenGone, "replaceWhenGone")
	add(o.Jitter > 0, "jitter %s", o.Jitter)
	add(o.KeepSuccessful > 0, "keepSuccessful %s", o.KeepSuccessful)
	add(o.KeepFailed > 0, "keepFailed %s", o.KeepFailed)
	return strings.Join(parts, ", ")
}

// aside is what is known of the time up to which runs are set aside, for the check of CI16.
// A round that ends well leaves a memory that knows it; after any other the memory
// may come from an earlier round.
type aside struct {
	// least is the time up to which no run may start any more; most is the time up to which
	// runs may have been given up.
	least, most time.Time
	// suspended and schedule are what the memory knows of the spec for certain; an empty
	// schedule is not known.
	suspended bool
	schedule  string
	// resumes and edited say that the memory may be of the time before a change.
	resumes, edited bool
}

// planned is what is set aside once a plan for the snapshot is carried out.
func (a aside) planned(s *cronjob.Snapshot) aside {
	o, spec, next := &s.Options, &s.CronJob.Spec, a
	since := s.Now
	if changed := s.CronJob.SpecChanged; !changed.IsZero() && !changed.After(s.Now) {
		since = latest(changed, a.least)
	}
	suspended := *spec.Suspend
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
			next.least = latest(next.least, s.Schedule.Schedule.Prev(s.Now.Add(-o.Jitter+1))) // due whatever its delay
		}
	}
	return next
}

// isHeld reports whether an active job certainly holds the latest run back, and that would be
// in time. CatchUpAll goes from run to run, and may first pass one whose job is there.
func isHeld(s *cronjob.Snapshot) bool {
	o := &s.Options
	if !s.Consistent || s.CronJob.Spec.StartingDeadlineSeconds != nil || o.CatchUpWindow > 0 || o.CatchUp != cronjob.CatchUpLatest {
		return false
	}
	return slices.ContainsFunc(s.Children, func(c cronjob.Child) bool {
		active := slices.ContainsFunc(s.CronJob.Status.Active, func(r cronjob.Reference) bool { return r.UID == c.UID })
		return active && !c.Foreign && c.Finished == "" && c.DeletionTimestamp.IsZero()
	})
}

// failed is what is set aside after a round that has not ended well: the memory may be that
// before the round, or that after it.
func (a aside) failed(before aside) aside {
	a.least = earliest(a.least, before.least)
	a.resumes, a.edited = a.resumes || before.resumes, a.edited || before.schedule != a.schedule
	a.suspended, a.schedule = false, ""
	return a
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// checkAside checks that a run does not start that was set aside (CI16).
func (e *Env) checkAside(n *cronjob.Creation) []cronjobcheck.Violation {
	if n.Trigger != "" || n.Backfill != "" || n.ScheduledTime.After(e.aside.least) {
		return nil
	}
	return []cronjobcheck.Violation{{Rule: "CI16", Problem: fmt.Sprintf("the run of %s starts, and the runs up to %s are set aside", clock(n.ScheduledTime), clock(e.aside.least))}}
}
