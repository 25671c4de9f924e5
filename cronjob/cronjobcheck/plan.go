package cronjobcheck

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// Plan checks a plan against the snapshot that it was made from: CI2, CI6, CI7, CI8, CI9,
// CI10 and CI11, each as far as the snapshot shows it. The spec must have its defaults. Nil means
// that nothing is wrong.
func Plan(s *cronjob.Snapshot, p *cronjob.Plan) []Violation {
	var f found
	runs := 0
	busy := active(s)
	for i := range p.Create {
		if c := &p.Create[i]; c.Trigger == "" && c.Backfill == "" {
			runs++
			checkRun(&f, s, c)
			checkOverlap(&f, s, p, busy)
		}
	}
	if runs > 1 {
		f.add("CI6", "%d runs start", runs)
	}

	if at := p.Requeue.At; !at.IsZero() && !at.After(s.Now) {
		f.add("CI9", "again at %s, now is %s", at, s.Now)
	}

	checkHistory(&f, s, p)
	checkUnexpected(&f, s, p)
	checkTriggers(&f, s, p, len(busy))
	checkBackfills(&f, s, p, len(busy))
	return f
}

// active returns the jobs that run according to the snapshot. Most of them are in the active list.
// The others belong to later runs that were not recorded because of a crash (CI3); Kubernetes does
// not look for these.
func active(s *cronjob.Snapshot) (busy []cronjob.Child) {
	status := &s.CronJob.Status
	children := make(map[string]*cronjob.Child, len(s.Children))
	for i := range s.Children {
		children[string(s.Children[i].UID)] = &s.Children[i]
	}

	named := make(map[string]bool, len(status.Active))
	for _, r := range status.Active {
		named[string(r.UID)] = true
		switch c := children[string(r.UID)]; {
		case c != nil && c.Finished == "" && !isStuck(c, &s.Options, s.Now):
			busy = append(busy, *c)
		case c == nil && !s.Consistent:
			busy = append(busy, cronjob.Child{Name: r.Name, UID: r.UID}) // gone or not seen yet
		}
	}
	if !s.Options.Quirks.IsZero() {
		return busy
	}

	for i := range s.Children {
		c := &s.Children[i]
		isUnrecorded := c.ScheduledTime.After(status.LastScheduleTime) && !c.Backfilled
		isUnlisted := s.Options.ActiveFromChildren && !isKnownGone(s, c)
		runs := !c.Foreign && c.Finished == "" && c.DeletionTimestamp.IsZero()
		isNew := (isUnrecorded || isUnlisted) && !named[string(c.UID)]
		if runs && isNew {
			busy = append(busy, *c)
		}
	}
	return busy
}

// checkRun checks CI2, CI6, CI7 and CI10: the run may start, it is a run of the schedule, it is due
// and not too late, it is the right one of the due runs, and its job has the name and the time of
// the run.
func checkRun(f *found, s *cronjob.Snapshot, c *cronjob.Creation) {
	run, spec := c.ScheduledTime, &s.CronJob.Spec
	base := s.CronJob.Status.LastScheduleTime
	if base.IsZero() {
		base = s.CronJob.CreationTimestamp
	}

	if value.Of(spec.Suspend) {
		f.add("CI10", "suspended, and a run starts")
	}
	if !s.CronJob.DeletionTimestamp.IsZero() {
		f.add("CI10", "being deleted, and a run starts")
	}

	checkChoice(f, s, base, run)
	if !run.After(base) || run.After(s.Now) {
		f.add("CI2", "the run of %s is not in (%s, %s]", run, base, s.Now)
	}
	if d, ok := Deadline(spec, &s.Options); ok && s.Now.Sub(run) >= d {
		f.add("CI7", "the run of %s is too late at %s", run, s.Now)
	}
	if !tellsRun(s, c, false) {
		f.add("CI2", "%s for the run of %s, labels %q, annotations %q", c.Name, run, c.Labels, c.Annotations)
	}
}

// tellsRun reports whether the job of a creation has the name and the marks of its run.
func tellsRun(s *cronjob.Snapshot, c *cronjob.Creation, isBackfill bool) bool {
	o, parent := &s.Options, s.CronJob.Name
	at, marked := o.ReadMarks(parent, c.Name, c.Labels, c.Annotations)
	isExact := o.Marks.TimeIn != cronjob.InName // a name may contain only the minute
	if marked != isBackfill || isExact && !at.Equal(c.ScheduledTime) {
		return false
	}
	return o.Naming.JobName(parent, c.ScheduledTime) == c.Name && o.Naming.JobName(parent, at) == c.Name
}

// checkOverlap checks CI8 for a run of the schedule.
func checkOverlap(f *found, s *cronjob.Snapshot, p *cronjob.Plan, busy []cronjob.Child) {
	policy := s.CronJob.Spec.ConcurrencyPolicy
	if policy == cronjob.Forbid && len(busy) > 0 {
		f.add("CI8", "Forbid, and a run starts beside %s", busy[0].Name)
	}
	if waitsUntilGone(&s.CronJob, &s.Options) {
		for i := range s.Children {
			if c := &s.Children[i]; isReplaced(c) && !isKnownGone(s, c) && !isStuck(c, &s.Options, s.Now) {
				f.add("CI8", "ReplaceWhenGone, and %s is not gone", c.Name)
			}
		}
	}

	beside := len(busy)
	for i := range busy {
		if policy != cronjob.Replace {
			break
		}
		replaced := slices.ContainsFunc(p.Delete, func(d cronjob.Deletion) bool { return d.UID == busy[i].UID })
		switch {
		case replaced:
			beside--
		case !busy[i].Backfilled && !isRemembered(s, &busy[i]):
			f.add("CI8", "Replace, and %s is not deleted", busy[i].Name)
		}
	}

	if n := int(s.Options.MaxActive); n > 0 && beside >= n {
		f.add("CI8", "a run starts beside %d active jobs, at most %d", beside, n)
	}
}

// isRemembered reports whether the controller may know only from its memory that a backfill has
// started an active job: the job is not among the children.
func isRemembered(s *cronjob.Snapshot, c *cronjob.Child) bool {
	isChild := func(child cronjob.Child) bool { return child.UID == c.UID && !child.Foreign }
	return !slices.ContainsFunc(s.Children, isChild) && !s.Memory.Equal(cronjob.Memory{})
}

// isKnownGone reports whether the controller may know from its memory that a child is gone, because
// of an earlier deletion or look-up. The children do not show it yet. State.Create checks whether
// the job really is gone.
func isKnownGone(s *cronjob.Snapshot, c *cronjob.Child) bool {
	return !s.Consistent && c.DeletionTimestamp.IsZero() && !s.Memory.Equal(cronjob.Memory{})
}

// checkUnexpected checks C3: a job that is being deleted for a waiting run is not reported as
// unexpected.
func checkUnexpected(f *found, s *cronjob.Snapshot, p *cronjob.Plan) {
	if !waitsUntilGone(&s.CronJob, &s.Options) {
		return
	}
	for _, r := range p.Unexpected {
		for i := range s.Children {
			if c := &s.Children[i]; c.UID == r.UID && isReplaced(c) && !c.DeletionTimestamp.IsZero() {
				f.add("C3", "%s is called unexpected, and is being deleted", c.Name)
			}
		}
	}
}

// isReplaced reports whether a job is of a run of the schedule and has not ended.
func isReplaced(c *cronjob.Child) bool {
	isOfSchedule := !c.Foreign && !c.Backfilled && !c.ScheduledTime.IsZero()
	return isOfSchedule && c.Finished == ""
}

// checkTriggers checks CI8 for the jobs of triggers, in the order in which they start.
func checkTriggers(f *found, s *cronjob.Snapshot, p *cronjob.Plan, busy int) {
	for i := range p.Create {
		c := &p.Create[i]
		at := slices.IndexFunc(s.Triggers, func(t cronjob.Trigger) bool { return t.ID == c.Trigger })
		switch n, beside := int(s.Options.MaxActive), busy+i; {
		case c.Trigger == "":
		case at < 0:
			f.add("CI2", "%s for trigger %q, which nobody has requested", c.Name, c.Trigger)
		case s.Triggers[at].Overlap == cronjob.Forbid && beside > 0, n > 0 && beside >= n:
			f.add("CI8", "%s of trigger %s beside %s", c.Name, c.Trigger, value.Count(beside, "job"))
		}
	}
}

// checkHistory checks CI11: only finished jobs are deleted, and the limits are kept.
func checkHistory(f *found, s *cronjob.Snapshot, p *cronjob.Plan) {
	reasons := make(map[string]cronjobreason.Delete, len(p.Delete))
	for _, d := range p.Delete {
		reasons[string(d.UID)] = d.Reason
	}

	all, kept := map[job.ConditionType]int{}, map[job.ConditionType]int{}
	for i := range s.Children {
		c := &s.Children[i]
		reason := reasons[string(c.UID)]
		if c.Foreign && reason != 0 {
			f.add("CI11", "%s of another owner is deleted", c.Name)
		}
		checkExpired(f, s, c, reason)
		if c.Finished == "" && reason != 0 && reason != cronjobreason.DeleteReplaced {
			f.add("CI11", "%s is deleted for the history, and has not finished", c.Name)
		}

		how := keptAs(c)
		all[how]++
		isCounted := how == "" || how == cronjob.Complete || how == cronjob.Failed
		if !isCounted && reason != 0 && reason != cronjobreason.DeleteReplaced {
			f.add("CI11", "%s is deleted for the history, and no limit counts it", c.Name)
		}
		if reason != cronjobreason.DeleteSuccessful && reason != cronjobreason.DeleteFailed {
			kept[how]++
		}
	}

	spec := &s.CronJob.Spec
	checkLimit(f, job.ConditionComplete, spec.SuccessfulJobsHistoryLimit, all, kept)
	checkLimit(f, job.ConditionFailed, spec.FailedJobsHistoryLimit, all, kept)
}

// keptAs names the history limit that applies to a child.
func keptAs(c *cronjob.Child) cronjob.Ending { return jobrules.KeptAs(c.Finished, c.KeptAs) }

// checkExpired checks that a job is not deleted for its age before its time.
func checkExpired(f *found, s *cronjob.Snapshot, c *cronjob.Child, reason cronjobreason.Delete) {
	keep := s.Options.KeepFailed
	if keptAs(c) == cronjob.Complete {
		keep = s.Options.KeepSuccessful
	}
	if reason == cronjobreason.DeleteExpired && (keep == 0 || s.Now.Sub(c.FinishTime) < keep) {
		f.add("CI11", "%s is deleted for its age: it ended at %s, and is kept for %s", c.Name, c.FinishTime, keep)
	}
}

func checkLimit(f *found, how job.ConditionType, limit *int32, all, kept map[job.ConditionType]int) {
	keep := all[how]
	if limit != nil {
		keep = min(keep, int(*limit))
	}
	if kept[how] < keep {
		f.add("CI11", "%d of %d %s jobs are deleted", all[how]-kept[how], all[how], how)
	}
}

// checkBackfills checks the jobs of backfills. Their runs are due, in the backfill's range and in
// order. The jobs obey the overlap policy and the limit of a round.
func checkBackfills(f *found, s *cronjob.Snapshot, p *cronjob.Plan, busy int) {
	last, n := map[string]time.Time{}, 0
	for i := range p.Create {
		c := &p.Create[i]
		if c.Backfill == "" {
			continue
		}
		n++

		at := slices.IndexFunc(s.Backfills, func(b cronjob.Backfill) bool { return b.ID == c.Backfill })
		if at < 0 {
			f.add("CI2", "%s for backfill %q, which nobody has requested", c.Name, c.Backfill)
			continue
		}
		checkBackfilled(f, s, &s.Backfills[at], c, last[c.Backfill], busy+i)
		last[c.Backfill] = c.ScheduledTime
	}

	if n > 10 {
		f.add("CI13", "%d jobs of backfills in a round", n)
	}
}

func checkBackfilled(
	f *found, s *cronjob.Snapshot, b *cronjob.Backfill, c *cronjob.Creation, last time.Time, busy int,
) {
	run := c.ScheduledTime
	switch {
	case !run.After(b.After), run.After(b.Until), run.After(s.Now), slices.ContainsFunc(b.Except, run.Equal):
		f.add("CI2", "backfill of %s, not in %+v", run, b)
	case !s.Schedule.Schedule.Prev(run.Add(1)).Equal(run):
		f.add("CI2", "backfill of %s, not a run", run)
	case !run.After(last):
		f.add("CI2", "backfill of %s after %s", run, last)
	case overlaps(b, busy):
		f.add("CI8", "backfill of %s beside %s: %+v", run, value.Count(busy, "job"), b)
	case !tellsRun(s, c, true):
		f.add("CI2", "%s for %s, %v", c.Name, run, c.Annotations)
	}
}
