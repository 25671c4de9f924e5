package cronjob

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A backfill is its own progress: After has passed the runs that are settled, and
// Except holds those that are settled ahead of it. A job in what is left of the
// range is the only trace of its run, so none is deleted before the progress is
// stored: a crash between any two writes starts no run twice (CI1).

// backfillStep is what a round does for a backfill.
type backfillStep struct {
	// Backfill is the backfill without the runs that are settled before any write.
	Backfill
	// Moved says that it differs from that in the snapshot.
	Moved bool `json:"moved,omitempty"`
	// Last says that nothing is left once the plan's creations took effect.
	Last bool `json:"last,omitempty"`
}

// runMinute is what tells runs apart: the number in the names of their jobs.
func runMinute(run time.Time) int64 { return run.Unix() / 60 }

func compareRuns(a, b time.Time) int { return cmp.Compare(runMinute(a), runMinute(b)) }

func isSameRun(a, b time.Time) bool { return compareRuns(a, b) == 0 }

// sortedRuns is a list of runs in order and without repetition.
func sortedRuns(runs []time.Time) []time.Time {
	return slices.CompactFunc(slices.SortedFunc(slices.Values(runs), time.Time.Compare), isSameRun)
}

func hasRun(runs []time.Time, run time.Time) bool {
	_, found := slices.BinarySearchFunc(runs, run, compareRuns)
	return found
}

// runsAfter is the part of a list that is later than t.
func runsAfter(runs []time.Time, t time.Time) []time.Time {
	return slices.DeleteFunc(runs, func(run time.Time) bool { return !run.After(t) })
}

// has reports whether a run lies in what is left of the range.
func (b *Backfill) has(run time.Time) bool {
	return run.After(b.After) && !run.After(b.Until) &&
		!slices.ContainsFunc(b.Except, func(e time.Time) bool { return isSameRun(e, run) })
}

// noteAhead adds the runs behind After that have a job of the CronJob.
func (p *Planner) noteAhead(b *Backfill) {
	sorted := b.Except
	note := func(run time.Time, name string) {
		if run.After(b.After) && !run.After(b.Until) && name == JobName(p.cj.Name, run) && !hasRun(sorted, run) {
			b.Except = append(b.Except, run)
		}
	}
	for i := range p.snap.Children {
		if c := &p.snap.Children[i]; c.Owner == Owned {
			note(c.ScheduledTime, c.Name)
		}
	}
	for _, r := range p.plan.basis.Status.Active {
		note(p.runOf(r), r.Name)
	}
	if len(b.Except) > len(sorted) {
		b.Except = sortedRuns(b.Except)
	}
}

// runOf is the run of an active job, from its child or else from its name; zero
// for a job that was started by hand.
func (p *Planner) runOf(r Reference) time.Time {
	if place := p.childOf(r.UID); place >= 0 {
		return p.snap.Children[place].ScheduledTime
	}
	number, _ := strings.CutPrefix(r.Name, p.cj.Name+"-")
	minute, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(minute*60, 0).UTC()
}

// isAwaited reports whether a job is the trace that a trigger or a backfill of the
// snapshot goes by.
func (p *Planner) isAwaited(name string, run time.Time) bool {
	return p.isTriggered(name) ||
		slices.ContainsFunc(p.snap.Backfills, func(b Backfill) bool { return b.has(run) && name == JobName(p.cj.Name, run) })
}

// isBackfilled reports whether a child is the job of a backfill, by its mark and its
// name. That it exists says nothing about the schedule (lastScheduleTime).
func (p *Planner) isBackfilled(c *Child) bool { return c.Backfilled && isRunOf(p.cj.Name, c) }

func isRunOf(cronJob string, c *Child) bool { return c.Name == JobName(cronJob, c.ScheduledTime) }

// isSpared reports whether Replace leaves an active job alone.
func (p *Planner) isSpared(r Reference) bool {
	if place := p.childOf(r.UID); place >= 0 {
		return p.isBackfilled(&p.snap.Children[place])
	}
	starts := p.plan.basis.Memory.Started
	return p.spares && slices.ContainsFunc(starts, func(s startedJob) bool { return s.Backfilled && s.UID == r.UID })
}

// backfills lists the backfills that got on, once the status is written.
func (p *Plan) backfills(w *Writes) []Backfill {
	var all []Backfill
	for i := range p.basis.Backfills {
		step := &p.basis.Backfills[i]
		if b, moved := p.progress(step, w); moved || step.Moved {
			all = append(all, b)
		}
	}
	return all
}

// progress adds what the creations of a round settled. They are in the order of
// their runs and leave none out, so After follows them up to the first that is not
// settled. A name that somebody else has is the end of its run, as of a trigger.
func (p *Plan) progress(step *backfillStep, w *Writes) (b Backfill, moved bool) {
	b = step.Backfill
	b.Except = slices.Clone(b.Except)
	gap := false
	for i := range p.Create {
		c := &p.Create[i]
		if c.Backfill != b.ID {
			continue
		}
		switch effectAt(w.Created, i).Result {
		case Done, AlreadyExists, NameTaken:
			moved = true
			if gap {
				b.Except = append(b.Except, c.ScheduledTime)
			} else {
				b.After = c.ScheduledTime
			}
		default:
			gap = true
		}
	}
	if moved && step.Last && !gap {
		b.After = b.Until
	}
	b.Except = runsAfter(sortedRuns(b.Except), b.After)
	return b, moved
}
