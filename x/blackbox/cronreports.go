package blackbox

import (
	"maps"
	"slices"
	"time"

	"github.com/batchplan/batchplan/schedule"
)

// run is the history of one run of the schedule.
type run struct {
	child    string    // the UID of its latest child
	started  time.Time // when its first child was started
	reported time.Time // when it was reported as skipped
}

// period is a time in which neither the schedule nor the suspension changes. It ends when the next
// period begins.
type period struct {
	from      time.Time
	schedule  schedule.Schedule
	suspended bool
}

// runAt returns the history of a run, and begins one if there is none.
func (c *cronScript) runAt(at time.Time) *run {
	r := c.runs[at.Unix()]
	if r == nil {
		r = new(run)
		c.runs[at.Unix()] = r
	}
	return r
}

// scheduleOf returns the latest schedule that has a run at this time, and whether that run is due.
func (c *cronScript) scheduleOf(at time.Time) (s schedule.Schedule, due bool) {
	for _, s := range slices.Backward(c.schedules) {
		if isRun(s, at) {
			return s, !at.After(c.now())
		}
	}
	return s, false
}

// isRun reports whether a schedule has a run at this time.
func isRun(s schedule.Schedule, at time.Time) bool { return s.Next(at.Add(-time.Nanosecond)).Equal(at) }

// mayForget reports whether the program may not know what it has done about a run.
func (c *cronScript) mayForget(at time.Time) bool {
	return c.skewed || meets(c.lost, at, time.Now())
}

// reported notes the runs that an event reports, and checks them. The API must be locked.
func (c *cronScript) reported(e Event) {
	if c.cron.Skipped == nil {
		return
	}
	latest, left := c.cron.Skipped(e)
	if left == 0 {
		return
	}
	c.tell("it reports %s: %s", e.Reason, e.Message)
	if latest.IsZero() {
		latest, _ = c.inForce().Latest(time.Now().AddDate(-1, 0, 0), c.now())
	}

	s, due := c.scheduleOf(latest)
	if !due {
		c.fail(ReportsOnce, "%s is reported as skipped, which is not a run or not yet due", clock(latest))
		return
	}

	for at := latest; left != 0 && at.After(c.periods[0].from); at = s.Prev(at) {
		r := c.runAt(at)
		known := r.child != "" || !r.reported.IsZero()
		switch {
		case left < 0 && known && at.Before(latest):
			return // the runs before it were already accounted for
		case r.child != "" && at.Before(latest):
			continue
		case known && !c.mayForget(at):
			c.failReport(at, r)
		}
		r.reported = time.Now()
		left--
	}
}

// failReport fails the check of a run that is reported as skipped, although it was started or has
// already been reported.
func (c *cronScript) failReport(at time.Time, r *run) {
	if r.child != "" {
		c.fail(ReportsOnce, "the run of %s is reported as skipped, and was started at %s", clock(at), clock(r.started))
		return
	}
	c.fail(ReportsOnce, "the run of %s is reported as skipped again, after %s", clock(at), clock(r.reported))
}

func clock(t time.Time) string { return t.UTC().Format("2 Jan 15:04:05") }

// checkReports checks that each run that was due was started or reported, and fails with the first
// one that was not. The API must be locked.
func (c *cronScript) checkReports() {
	if c.skewed {
		return
	}
	var changes []span // by users: until the program has seen them, it may treat the runs either way
	for _, p := range c.periods[1:] {
		changes = append(changes, span{p.from, c.shown(p.from).Add(c.slack())})
	}

	laterStart := c.laterStarts()

	for i, p := range c.periods {
		until := time.Now()
		if i+1 < len(c.periods) {
			until = c.periods[i+1].from
		}
		if p.suspended {
			continue
		}
		for at := range p.schedule.Between(p.from, until) {
			if r := c.runs[at.Unix()]; r != nil && (r.child != "" || !r.reported.IsZero()) {
				continue
			}

			check, decided := c.decided(at, p.schedule, laterStart(at))
			judged := c.shown(decided).Add(c.slack())
			mayDiffer := meets(c.lost, at, judged) || meets(changes, at, judged)
			if check == "" || judged.After(time.Now()) || mayDiffer {
				continue
			}

			if !slices.ContainsFunc(c.broken, func(v Violation) bool { return v.Check == check }) {
				c.fail(check, "the run of %s has not started, and was never reported as skipped", clock(at))
			}
		}
	}
}

// laterStarts returns a function that takes the time of a run. It returns the earliest start among
// all later runs, or zero if none was started.
func (c *cronScript) laterStarts() func(time.Time) time.Time {
	runs := slices.Sorted(maps.Keys(c.runs))
	first := make([]time.Time, len(runs)+1) // by index: the earliest start of this run and the later ones
	for i, seconds := range slices.Backward(runs) {
		first[i] = first[i+1]
		if started := c.runs[seconds].started; !started.IsZero() && (first[i].IsZero() || started.Before(first[i])) {
			first[i] = started
		}
	}
	return func(at time.Time) time.Time {
		next, _ := slices.BinarySearch(runs, at.Unix()+1)
		return first[next]
	}
}

// decided returns when it was clear that the run of the given time would not start, and the check
// by which the program must report that run as skipped. The check is empty if the run may still
// start. Argument later is the earliest start among the later runs.
func (c *cronScript) decided(at time.Time, s schedule.Schedule, later time.Time) (check Check, decided time.Time) {
	if limit, ok := c.deadline(); ok {
		late := at.Add(limit)
		for _, down := range c.down {
			if !late.Before(down.from) && late.Before(down.until) {
				late = down.until
			}
		}
		if last, _ := s.Latest(at.Add(-time.Second), late); last.Equal(at) || last.Before(late.Add(-limit)) {
			return ReportsLate, late // no later run that is still in time has taken its place
		}
	}
	if later.IsZero() {
		return "", later
	}
	return ReportsPassed, later
}
