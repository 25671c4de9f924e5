package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// A backfill is its own progress: After has passed the runs that are settled, and
// Except holds later runs that are settled. A job in what is left of the
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

// settledAhead returns the runs after After that are settled: the runs in Except, and all
// runs that have a job of the CronJob.
func (c *census) settledAhead(b *Backfill) []time.Time {
	all := b.Except
	note := func(run time.Time, name string) {
		if run.After(b.After) && !run.After(b.Until) && nameOfRun(c.cronJob, run).is(name) && !hasRun(b.Except, run) {
			all = append(all, run)
		}
	}
	for i := range c.children {
		if child := &c.children[i]; !child.Foreign {
			note(child.ScheduledTime, child.Name)
		}
	}
	for _, r := range c.active {
		note(c.runOf(r), r.Name)
	}
	if len(all) > len(b.Except) {
		return sortedRuns(all)
	}
	return all
}

// backfills lists the backfills that made progress, once the status is written.
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
// settled. A name that belongs to another owner settles its run, as it settles a trigger.
func (p *Plan) progress(step *backfillStep, w *Writes) (b Backfill, moved bool) {
	b = step.Backfill
	b.Except = slices.Clone(b.Except)
	gap := false
	for i := range p.Create {
		c := &p.Create[i]
		if c.Backfill != b.ID {
			continue
		}
		switch value.At(w.Created, i).Result {
		case ResultDone, ResultAlreadyExists, ResultNameTaken:
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
