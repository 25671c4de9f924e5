package cronjob

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// ledger accounts for the runs of a CronJob: each run has started, or is reported as unstarted by
// exactly one round (C9).
type ledger struct {
	schedule schedule.Schedule
	census   *census
	starts   []startedJob
	// accounted is the last run that is accounted for. All runs before it are accounted for as
	// well.
	accounted time.Time
	unstarted []Unstarted
}

// account accounts for the runs that have started, and for those that this round sets aside or
// gives up. It continues the ledger of the memory. If the memory has none, the runs up to
// lastScheduleTime count as accounted for.
func account(s *Snapshot, c *census, run *dueRun, m *memory, skip skipped, recorded time.Time) ledger {
	l := ledger{schedule: s.Schedule.Schedule, census: c, starts: m.Started, accounted: m.Accounted}
	if l.accounted.IsZero() {
		if l.accounted = s.CronJob.Status.LastScheduleTime; l.accounted.IsZero() {
			l.accounted = s.CronJob.CreationTimestamp
		}
	}

	for _, taken := range c.taken {
		l.unstarted = append(l.unstarted, Unstarted{cronjobreason.UnstartedNameTaken, 1, taken})
	}
	l.record(c.lastRun)
	l.upTo(m.Since, skip.why)

	t, all := &run.timing, s.Options.CatchUp == CatchUpAll
	// After an edit, only runs of the old schedule are accounted for. With CatchUpAll more runs
	// follow the due run, and each of them starts or is reported. With quirk Stale, a late status
	// repeats runs.
	isNew := skip.edited && all && !s.Options.Quirks.Has(cronjobquirk.Stale)
	if isNew && !t.due.IsZero() && t.due.Before(l.accounted) {
		l.accounted = t.due.Add(-1)
	}

	l.pass(t)
	switch {
	case run.standing == isSkipped:
		l.upTo(t.latest, cronjobreason.UnstartedHeld)
	case run.standing == isTaken && all:
		l.upTo(t.due, cronjobreason.UnstartedNameTaken)
	}
	l.record(recorded)
	return l
}

// record accounts for the runs before a run that has started, and for that run.
func (l *ledger) record(run time.Time) {
	if run.After(l.accounted) && !l.schedule.Never() {
		l.upTo(run.Add(-1), cronjobreason.UnstartedForLater)
		l.accounted = run
	}
}

// pass accounts for the runs before the due run. If no run is due, it accounts for the runs whose
// deadlines have passed.
func (l *ledger) pass(t *timing) {
	if t.quiet || t.invalid {
		return
	}
	if t.due.IsZero() || t.earliest.Before(t.due) {
		l.upTo(t.earliest, cronjobreason.UnstartedTooLate)
	}
	if !t.due.IsZero() {
		l.upTo(t.due.Add(-1), cronjobreason.UnstartedForLater)
	}
}

// upTo accounts for the runs up to a time. Runs without a job count as unstarted for the given
// reason (C9). Without a schedule there are no runs, and nothing is accounted for.
func (l *ledger) upTo(until time.Time, why cronjobreason.Unstarted) {
	if !until.After(l.accounted) || isBeyond(l.schedule.Next(l.accounted), until) {
		return
	}

	last, _ := l.schedule.Latest(l.accounted, until)
	if latest, n := l.countUnstarted(last); n > 0 {
		l.unstarted = append(l.unstarted, Unstarted{why, n, latest})
	}
	l.accounted = last
}

// countUnstarted counts the runs after l.accounted, up to last, that have no job. It returns the
// latest of them.
func (l *ledger) countUnstarted(last time.Time) (latest time.Time, n int) {
	sch, names, started := l.schedule, &l.census.names, l.started(last)
	latest, n = last, sch.Count(l.accounted, last)
	for _, run := range started {
		start := names.startOf(run) // the name does not identify the run more exactly
		if names.isSameRun(sch.Next(start.Add(-1)), run) {
			n--
		}
	}

	for n > 0 && names.has(started, latest) {
		latest = sch.Prev(latest)
	}
	return latest, n
}

// started returns the runs after l.accounted, up to last, that have a job. A job that was perhaps
// created counts until a look-up shows that it does not exist (isLost).
func (l *ledger) started(last time.Time) (all []time.Time) {
	c := l.census
	add := func(run time.Time, name string) {
		if isIn(run, l.accounted, last) && c.names.of(run).is(name) {
			all = append(all, run)
		}
	}

	for i := range c.children {
		if child := &c.children[i]; !child.Foreign {
			add(child.ScheduledTime, child.Name)
		}
	}
	for _, ref := range c.active[:c.kept] { // the others are among the children or starts
		add(c.runOf(ref), ref.Name)
	}
	for i := range l.starts {
		add(l.starts[i].ScheduledTime, l.starts[i].Name)
	}
	return c.names.sorted(all)
}

// unstartedEvents returns the events about runs that a round gives up. There is no event about a
// run if a later run starts instead, as in Kubernetes, or if the name of the run is taken: a wait
// shows that.
func unstartedEvents(all []Unstarted, tooLate bool, quirks cronjobquirk.Set, k Kind) (events []job.Event) {
	for i := range all {
		u := &all[i]
		switch at := u.Latest.UTC().Format(time.RFC1123Z); u.Reason {
		case cronjobreason.UnstartedTooLate:
			// Kubernetes cannot report this: it only looks back as far as the deadline.
			if tooLate && !quirks.Has(cronjobquirk.SilentMiss) {
				events = append(events, event(job.EventWarning, "MissSchedule",
					"Missed scheduled time to start "+k.one()+": "+at))
			}
		case cronjobreason.UnstartedSuspended, cronjobreason.UnstartedEdited, cronjobreason.UnstartedHeld:
			events = append(events, event(job.EventNormal, "SkippedSchedule",
				fmt.Sprintf("Skipped %s, the latest at %s: %s", value.Count(u.Count, "run"), at, u.Reason)))
		}
	}
	return events
}
