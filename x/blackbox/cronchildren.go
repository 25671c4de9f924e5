package blackbox

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/schedule"
)

// cronChild is what happened to a child. The time of an event is zero until the event.
type cronChild struct {
	name                 string
	run                  time.Time
	created, ended, gone time.Time // gone is its deletion, even if finalizers hold it
	succeeded            bool
	removed              bool // deleted by a user
}

// cleanup is the deletion of a child that had ended.
type cleanup struct {
	of    *cronChild
	at    time.Time
	older []*cronChild // older children with the same outcome that the program could see
}

// backlog counts the starts of missed runs. It begins when a run starts although later runs are due,
// and ends with the latest of these.
type backlog struct {
	until   time.Time
	started int
}

// missed checks how many runs of a backlog start.
func (c *cronScript) missed(run, now time.Time) {
	if latest, _ := c.scheduleSeen(run).Latest(run, now); latest.After(run) && run.After(c.backlog.until) {
		c.backlog = backlog{until: latest}
	}
	if !run.Before(c.backlog.until) {
		return
	}
	if c.backlog.started++; c.backlog.started == 2 {
		c.fail(Bursts, "the run of %s starts, and it is the second one of those that were missed until %s",
			clock(run), clock(c.backlog.until))
	}
}

// scheduleSeen returns the oldest schedule that the program may still see and that has this run.
func (c *cronScript) scheduleSeen(run time.Time) schedule.Schedule {
	for i, p := range c.periods {
		isOver := i+1 < len(c.periods) && time.Now().After(c.shown(c.periods[i+1].from).Add(c.slack()))
		if !isOver && isRun(p.schedule, run) {
			return p.schedule
		}
	}
	return c.inForce()
}

// changed checks a change of a child, or its deletion. The API must be locked.
func (c *cronScript) changed(child *cronChild, w write) {
	isDeleted := child.gone.IsZero() && (w.New == nil || w.New.isDeleted())
	isEnded := child.ended.IsZero() && w.New != nil && c.Ended(w.New)
	// The program may replace a child before it has seen that the child has ended.
	mayReplace := c.settings.Policy == "Replace" && !time.Now().After(c.shown(child.ended).Add(time.Second))
	switch {
	case !w.BySubject:
	case isEnded || isDeleted && child.ended.IsZero():
		c.stopped(child)
	case isDeleted && !mayReplace:
		c.cleaned(child)
	}

	if isDeleted {
		child.gone = time.Now()
	}
	if isEnded {
		child.ended = time.Now()
	}
}

// stopped checks that the program stops a child only to replace it.
func (c *cronScript) stopped(child *cronChild) {
	isSuspended := !c.suspended.IsZero() && time.Now().After(c.shown(c.suspended).Add(time.Second))
	isLater := func(s schedule.Schedule) bool { return !s.Next(child.run).After(c.now()) }
	hasNext := slices.ContainsFunc(c.schedules, isLater)
	switch {
	case c.settings.Policy != "Replace":
		c.fail(KeepsRunning, "%s is stopped, and the policy is %s", child.name, c.settings.Policy)
	case isSuspended:
		c.fail(KeepsRunning, "%s is stopped, and the parent is suspended since %s", child.name, time.Since(c.suspended))
	case !hasNext:
		c.fail(KeepsRunning, "%s is stopped, and no later run is due", child.name)
	}
}

// cleaned checks that a deleted child was beyond the history limit. It notes the older children,
// which must be deleted as well.
func (c *cronScript) cleaned(child *cronChild) {
	now := time.Now()
	left := 0
	clean := cleanup{of: child, at: now}
	for _, other := range c.born {
		isGone := !other.gone.IsZero() && (!other.removed || c.hasSeen(other.gone))
		isOther := other == child || other.ended.IsZero() || other.succeeded != child.succeeded
		if isGone || isOther {
			continue
		}
		left++
		isOlder := other.run.Before(child.run) && other.created.Before(child.created) && other.ended.Before(child.ended)
		if isOlder && c.hasSeen(other.ended) {
			clean.older = append(clean.older, other)
		}
	}
	c.cleanups = append(c.cleanups, clean)

	if limit := c.settings.keep(child.succeeded); limit != nil && left < int(*limit) {
		c.fail(History, "%s is deleted, which has ended (succeeded %v): the limit is %d, and %d others are left",
			child.name, child.succeeded, *limit, left)
	}
}

// checkCleanups checks that the oldest children were deleted: when a child is deleted, all older
// ones must be deleted soon after. The API must be locked.
func (c *cronScript) checkCleanups() {
	for _, clean := range c.cleanups {
		soon := clean.at.Add(3 * c.slack())
		if soon.After(time.Now()) || meets(c.down, clean.at, soon) {
			continue
		}
		for _, older := range clean.older {
			if older.gone.IsZero() || older.gone.After(soon) {
				c.fail(History, "%s is deleted, and the older %s is kept", clean.of.name, older.name)
				return
			}
		}
	}
}

// checkRetries checks that each run has started soon, unless something other than a failed write
// may have delayed it. A run need not start if a later run may take its place. The API must be
// locked.
func (c *cronScript) checkRetries() {
	if c.skewed {
		return
	}
	for i, p := range c.periods {
		until := time.Now()
		if i+1 < len(c.periods) {
			until = c.periods[i+1].from
		}
		if p.suspended {
			continue
		}

		for at := range p.schedule.Between(c.shown(p.from), until) {
			limit := c.soonAfter(at)

			deadline, ok := c.deadline()
			isTooLate := ok && !limit.Before(at.Add(deadline))
			isReplaced := limit.After(until) || !p.schedule.Next(at).After(limit)
			mayWait := isTooLate || isReplaced || meets(c.holds, at, limit)
			if mayWait || c.settings.Policy == "Forbid" && c.anyRan(at, limit) {
				continue
			}

			if r := c.runs[at.Unix()]; r == nil || r.started.IsZero() || r.started.After(limit) {
				c.fail(Retries, "the run of %s has not started by %s", clock(at), clock(limit))
				return
			}
		}
	}
}

// soonAfter returns the time by which a run must have started. If the program was down, the time to
// start counts from the end of the outage.
func (c *cronScript) soonAfter(at time.Time) (limit time.Time) {
	limit = at.Add(3 * c.slack())
	for _, down := range c.down {
		if meets([]span{down}, at, limit) {
			limit = down.until.Add(3 * c.slack())
		}
	}
	return limit
}

// anyRan reports whether the program may have seen a child run between two times.
func (c *cronScript) anyRan(from, until time.Time) bool {
	for _, child := range c.born {
		end := child.ended
		if end.IsZero() || !child.gone.IsZero() && child.gone.Before(end) {
			end = child.gone
		}
		if child.created.Before(until) && (end.IsZero() || end.Add(2*c.lag+time.Minute).After(from)) {
			return true
		}
	}
	return false
}
