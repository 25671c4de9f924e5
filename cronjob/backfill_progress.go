package cronjob

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// A Backfill holds its own progress: After is moved past settled runs, and Except lists the settled
// runs that are later. If any other run of the range has started, only the run's job shows that. So
// a job is not deleted before the progress is stored, and no crash lets a run start twice (CI1).

// ownRuns returns the runs that have a job of the CronJob, in order.
func (c *census) ownRuns() (runs []time.Time) {
	note := func(run time.Time, name string) {
		if c.names.of(run).is(name) {
			runs = append(runs, run.UTC()) // in UTC, so that the order of children and names does not matter (B3)
		}
	}

	for i := range c.children {
		if child := &c.children[i]; !child.Foreign {
			note(child.ScheduledTime, child.Name)
		}
	}

	for _, r := range c.active {
		note(c.names.runNamed(r.Name), r.Name) // the job may not be among the children
	}
	return c.names.sorted(runs)
}

// maxExcept limits the settled runs that a backfill holds in Except. The history limits do not
// delete the jobs of further settled runs until After comes closer to those runs.
const maxExcept = 100

// settledAhead returns the settled runs after b.After: first the runs in b.Except, then the next
// runs that have a job of the CronJob. It adds such runs only up to maxExcept in all.
func settledAhead(b *Backfill, own []time.Time, n *names) []time.Time {
	all := runsAfter(b.Except, b.After)
	first, _ := slices.BinarySearchFunc(own, b.After.Add(1), time.Time.Compare)

	room := maxExcept - len(all)
	for _, run := range own[first:] {
		if room <= 0 || run.After(b.Until) {
			break
		}
		if !n.has(b.Except, run) {
			all, room = append(all, run), room-1
		}
	}
	return n.sorted(all)
}

// backfills returns the backfills that made progress in the round.
func (p *Plan) backfills(w *Writes) []Backfill {
	var all []Backfill
	first := len(p.Create) - countBackfilled(p.Create)
	for i := range p.basis.Backfills {
		step := &p.basis.Backfills[i]
		if b, moved := p.progress(step, first, w); moved || step.Moved {
			all = append(all, b)
		}
	}
	return all
}

// progress returns the backfill of a step after the creations of the round. A creation settles its
// run if the job now exists, and also if a job of another owner has the name. The creations are in
// the order of their runs and skip no run. So the backfill's After moves to the last run before the
// first unsettled one. Settled runs after that are added to its list Except. The creations of
// backfills begin at p.Create[first].
func (p *Plan) progress(step *backfillStep, first int, w *Writes) (b Backfill, moved bool) {
	b = step.Backfill
	b.Except = slices.Clone(b.Except)

	gap := false
	for i := first; i < len(p.Create); i++ {
		c := &p.Create[i]
		if c.Backfill != b.ID {
			continue
		}
		switch settled := isSettled(value.At(w.Created, i).Result); {
		case !settled:
			gap = true
		case gap:
			b.Except, moved = append(b.Except, c.ScheduledTime), true
		default:
			b.After, moved = c.ScheduledTime, true
		}
	}

	if moved && step.Last && !gap {
		b.After = b.Until
	}
	slices.SortFunc(b.Except, time.Time.Compare)
	b.Except = runsAfter(b.Except, b.After)
	return b, moved
}

// countBackfilled counts the creations of backfills, which come last.
func countBackfilled(created []Creation) (n int) {
	for n < len(created) && created[len(created)-1-n].Backfill != "" {
		n++
	}
	return n
}
