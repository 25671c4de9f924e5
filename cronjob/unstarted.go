package cronjob

import (
	"fmt"
	"slices"
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
	// accounted is the last run that is accounted for. All runs before it are accounted for as
	// well.
	accounted time.Time
	unstarted []Unstarted
}

// runs holds the schedule of a CronJob and everything known about the jobs of its runs.
type runs struct {
	schedule schedule.Schedule
	census   *census
	starts   []startedJob
}

// openLedger continues the ledger of the memory. If the memory has none, the runs up to
// lastScheduleTime count as accounted for.
func openLedger(s *Snapshot, c *census, m *memory) ledger {
	accounted := m.Accounted
	if accounted.IsZero() {
		if accounted = s.CronJob.Status.LastScheduleTime; accounted.IsZero() {
			accounted = s.CronJob.CreationTimestamp
		}
	}

	l := ledger{accounted: accounted}
	for _, run := range c.taken {
		l.unstarted = append(l.unstarted, Unstarted{cronjobreason.UnstartedNameTaken, 1, run})
	}
	return l
}

// recorded accounts for the runs before a run that has started, and for that run.
func (l ledger) recorded(r *runs, run time.Time) ledger {
	if run.After(l.accounted) && !r.schedule.Never() {
		l = l.upTo(r, run.Add(-1), cronjobreason.UnstartedForLater)
		l.accounted = run
	}
	return l
}

// upTo accounts for the runs up to a time. Runs without a job count as unstarted for the given
// reason (C9). Without a schedule there are no runs, and nothing is accounted for.
func (l ledger) upTo(r *runs, until time.Time, why cronjobreason.Unstarted) ledger {
	sch := r.schedule
	if !until.After(l.accounted) {
		return l
	}
	if isBeyond(sch.Next(l.accounted), until) {
		return l
	}

	last, _ := sch.Latest(l.accounted, until)
	if latest, n := r.countUnstarted(l.accounted, last); n > 0 {
		l.unstarted = append(slices.Clip(l.unstarted), Unstarted{why, n, latest})
	}
	l.accounted = last
	return l
}

// countUnstarted counts the runs in (after, last] that have no job, and returns the latest of them.
func (r *runs) countUnstarted(after, last time.Time) (latest time.Time, n int) {
	sch, started := r.schedule, r.started(after, last)
	latest, n = last, sch.Count(after, last)
	for _, run := range started {
		start := r.census.names.startOf(run) // the name does not identify the run more exactly
		if r.census.names.isSameRun(sch.Next(start.Add(-1)), run) {
			n--
		}
	}

	for n > 0 && r.census.names.has(started, latest) {
		latest = sch.Prev(latest)
	}
	return latest, n
}

// started returns the runs in (after, until] that have a job. A job that was perhaps created counts
// until a look-up shows that it does not exist (isLost).
func (r *runs) started(after, until time.Time) (all []time.Time) {
	c := r.census
	add := func(run time.Time, name string) {
		if isIn(run, after, until) && c.names.of(run).is(name) {
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

	for i := range r.starts {
		add(r.starts[i].ScheduledTime, r.starts[i].Name)
	}
	return c.names.sorted(all)
}

// reopened moves the time accounted back to just before the due run, if accounted is later. It is
// called after an edit of the schedule: only runs of the old schedule were accounted for. With
// CatchUpAll more runs follow the due run, and each of them starts or is reported.
func (l ledger) reopened(t *timing) ledger {
	if !t.due.IsZero() && t.due.Before(l.accounted) {
		l.accounted = t.due.Add(-1)
	}
	return l
}

// due accounts for the runs before the due run. If no run is due, it accounts for the runs whose
// deadlines have passed.
func (l ledger) due(r *runs, t *timing) ledger {
	switch {
	case t.quiet, t.invalid:
		return l
	case t.due.IsZero():
		return l.upTo(r, t.earliest, cronjobreason.UnstartedTooLate)
	case t.earliest.Before(t.due):
		l = l.upTo(r, t.earliest, cronjobreason.UnstartedTooLate)
	}
	return l.upTo(r, t.due.Add(-1), cronjobreason.UnstartedForLater)
}

// givenUp adds the due run to the ledger if the round gives it up because of its obstacle.
func (l ledger) givenUp(r *runs, t *timing, o obstacle, catchUp CatchUp) ledger {
	switch {
	case o.standing == isSkipped:
		return l.upTo(r, t.latest, cronjobreason.UnstartedHeld)
	case o.standing == isTaken && catchUp == CatchUpAll:
		return l.upTo(r, t.due, cronjobreason.UnstartedNameTaken)
	}
	return l
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
