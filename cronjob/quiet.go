package cronjob

import (
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
)

// Most rounds find nothing to do. planQuiet recognises them by one look at each value, without the
// lists and copies of a full round. The plan of a full round would be the same.

// planQuiet returns the plan of a round that has nothing to do, and false for other rounds.
func (p *Planner) planQuiet(s *Snapshot) (plan *Plan, ok bool) {
	if !isCalm(s) || !isUpToDate(s) {
		return nil, false
	}

	m, last := memoryAbout(s), s.CronJob.Status.LastScheduleTime
	m.Recorded = later(m.Recorded, last)
	if s.Options.CatchUp == CatchUpAll {
		m.Schedule, m.TimeZone = scheduleText(s), value.Of(s.CronJob.Spec.TimeZone)
	}
	base := startsFrom(s, last, &m)
	if m.Accounted.IsZero() {
		m.Accounted = base
	}
	if last.After(m.Accounted) {
		return nil, false
	}

	next := s.Schedule.Schedule.Next(base)
	if !next.After(s.Now) {
		return nil, false
	}

	p.buffers.waits = append(p.buffers.waits[:0], Wait{Reason: cronjobreason.WaitNextRun, Until: next})
	plan = &p.plan
	*plan = Plan{
		Namespace:  s.CronJob.Namespace,
		CronJobUID: s.CronJob.UID,
		Waits:      ofKind(p.buffers.waits, s.Options.ChildKind),
		Requeue:    firstEnd(p.buffers.waits, s.Options.Punctual),
		NextRun:    next,
	}

	b := &plan.basis
	b.Now, b.Before, b.Memory = s.Now, s.CronJob.Status, m
	b.Status = b.Before
	b.Consistent, b.Child = s.Consistent, s.Options.ChildKind
	return plan, true
}

// isCalm reports whether only the children and the time can make the round do something: the
// schedule is active, at most one job runs, there are no triggers or backfills, and the snapshot
// shows all of the controller's own writes.
func isCalm(s *Snapshot) bool {
	c, m, o := &s.CronJob, &s.Memory.kept, &s.Options
	last := c.Status.LastScheduleTime
	switch {
	case len(c.Status.Active) > 1, len(s.Triggers)+len(s.Backfills) > 0,
		len(m.Started)+len(m.Replaced)+len(m.Deleted) > 0,
		s.Memory.problem != "",
		!o.Quirks.IsZero(), o.Jitter|o.KeepSuccessful|o.KeepFailed > 0,
		o.SkipOnResume, o.SkipOnEdit, o.ActiveFromChildren, o.SuccessFromChildren,
		!m.Unrecorded.IsZero(), !m.Behind.IsZero(), !m.Since.IsZero(),
		last.After(s.Now), m.Recorded.After(last),
		noRuns(s) != 0, namesZone(c.Spec.Schedule):
		return false
	}

	w := windowOf(s)
	return !w.bounded || w.deadline > 0
}

// isUpToDate reports whether the status agrees with the children and the history is within its
// limits. The status agrees if the job that it lists is running, and all other jobs have ended.
func isUpToDate(s *Snapshot) bool {
	status, running, successful, failed := &s.CronJob.Status, 0, 0, 0
	for i := range s.Children {
		c := &s.Children[i]
		if c.Foreign {
			continue
		}

		isActive := len(status.Active) > 0 && c.UID == status.Active[0].UID
		switch {
		case isActive == c.isFinished(), c.ScheduledTime.After(status.LastScheduleTime),
			c.isDeleted() && s.Options.TerminatingTimeout > 0:
			return false
		}

		switch c.keptAs() {
		case Failed:
			failed++
		case Complete:
			if c.isOwnSuccess() && c.CompletionTime.After(status.LastSuccessfulTime) {
				return false
			}
			successful++
		case "":
			running++
		}
	}

	limit := s.CronJob.Spec.SuccessfulJobsHistoryLimit
	return running == len(status.Active) && surplus(successful, limit)+surplus(failed, failedLimit(s)) == 0
}
