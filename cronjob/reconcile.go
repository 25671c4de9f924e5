package cronjob

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// Reconcile plans one round of a CronJob. The same snapshot always gives the same plan. The
// snapshot is not modified.
//
// The rules, in order of precedence:
//
//   - The list of active jobs is brought up to date: finished ones leave it (C4),
//     missing ones are to be looked up (C5), unknown ones are reported (C3), and
//     runs that were not recorded because of a crash are recorded (CI3).
//   - Nothing starts while the CronJob is being deleted, has no schedule, or is
//     suspended (C6).
//   - The due run is the latest run after the last one that was handled. Its deadline must not have
//     passed (C7, C8). If no run is due, missed runs are reported (C9).
//   - A run whose job exists is recorded and not started again (C10, C14).
//   - After Options.PauseAfterFailures failures in a row the run is held back (C19).
//   - Forbid holds the run back while a job is active (C11), Replace deletes the
//     active jobs first (C12), and otherwise the run starts (C13).
//   - Triggers and backfills start the requested jobs, besides those of the schedule.
//   - Finished jobs beyond the limits of the history are deleted (C2).
//
// An error means that the snapshot breaks the contract: it is a [*job.InputError],
// or several joined, and there is no plan. Contradictions that can be worked
// around become [Plan.Notes].
func Reconcile(s Snapshot) (Plan, error) {
	var p Planner
	plan, err := p.Reconcile(&s)
	if err != nil {
		return Plan{}, err
	}
	return *plan, nil
}

// Planner reconciles like [Reconcile] and keeps its buffers from one round to
// the next, so that a round in which nothing happens allocates nothing. The zero
// value is ready to use. A Planner is not safe for concurrent use.
type Planner struct {
	plan    Plan
	buffers buffers
}

// buffers are reused from round to round, only for their memory: no round reads what another has
// left in them.
type buffers struct {
	census     census
	triggers   []Trigger
	active     []Reference
	finished   []int32
	runs       []time.Time
	byUID      map[job.UID]int32
	verify     []Reference
	unexpected []Reference
	waits      []Wait
	events     []job.Event
}

// Reconcile is like the function [Reconcile], but does not copy the snapshot, and its plan is valid
// only until the next call. [Plan.Clone] returns a plan to keep.
func (p *Planner) Reconcile(s *Snapshot) (*Plan, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if plan, ok := p.planQuiet(s); ok {
		return plan, nil
	}
	return p.planRound(s)
}

// planRound plans any round.
func (p *Planner) planRound(s *Snapshot) (*Plan, error) {
	s = byName(s)
	b, f, m := &p.buffers, familyOf(s), memoryAbout(s)
	s = fromChildren(s, &f, &m)
	c := takeCensus(s, &f, &m, b)
	skip := setAside(&m, s)
	run := findRun(s, c, startsFrom(s, c.lastRun, &m), b)
	c.admit(run.obstacle)

	out := decide(s, c, &run, &m, b)
	l := account(s, c, &run, &m, skip, out.recorded)
	if err := checkDuplicates(out.remove); err != nil {
		return nil, err
	}
	return p.assemble(s, c, &m, &run, &out, &l), nil
}

// dueRun is the due run and its obstacle.
type dueRun struct {
	// noRuns is the reason why no run can start; zero if runs can start.
	noRuns cronjobreason.Wait
	timing
	obstacle
	missed Missed
}

func findRun(s *Snapshot, c *census, base time.Time, b *buffers) dueRun {
	w := windowOf(s)
	run := dueRun{noRuns: noRuns(s), timing: timing{window: w, base: base}}
	if run.noRuns != 0 {
		return run
	}

	run.timing = findDue(s, base, w)
	run.missed = missed(s.Schedule.Schedule, &run.timing, b)
	run.obstacle = findObstacle(s, c, &run.timing)
	if run.standing == isFree && s.Options.Quirks.Has(cronjobquirk.Estimate) {
		run.next = estimateNext(s.Schedule.Schedule, run.due, s.Now) // Kubernetes has started the run before
	}
	return run
}

// decide returns the moves for the due run, the triggers, the backfills and the history.
func decide(s *Snapshot, c *census, run *dueRun, m *memory, b *buffers) moves {
	out := moves{waits: b.waits[:0], events: c.events}
	if problem := s.Memory.problem; problem != "" {
		out.add(notes("memory", problem, "cannot be read, and counts as lost"))
	}

	out.events = append(out.events, aboutSchedule(s, run.noRuns)...)

	if run.noRuns == 0 {
		out.add(warnings(s, &run.timing))
		out.add(startDue(s, c, &run.timing, run.obstacle, m))
	}

	out.waitForNext(s, run, len(c.verify))
	mayHold := run.noRuns == 0 || len(c.triggers)+len(s.Backfills) > 0
	if mayHold || !s.Options.ActiveFromChildren { // a stuck job also leaves a stored list
		out.waits = c.appendTerminating(out.waits)
	}

	if len(c.triggers) > 0 {
		out.add(startTriggers(s, c, run.obstacle, len(out.create)))
	}
	if len(s.Backfills) > 0 {
		last := later(later(c.lastRun, out.recorded), later(m.Since, out.since))
		out.add(startBackfills(s, c, run, last, out.create))
	}
	for _, place := range c.ended {
		out.add(c.waitForSnapshot(time.Time{}, s.Children[place].Name))
	}

	base := later(run.base, later(out.recorded, out.since))
	out.add(trimHistory(s, c, &run.window, base, b))
	return out
}

// assemble makes the plan, which replaces the Planner's last one.
func (p *Planner) assemble(s *Snapshot, c *census, m *memory, run *dueRun, out *moves, l *ledger) *Plan {
	b, plan := &p.buffers, &p.plan
	plan.Verify, plan.basis.Reviewed = appendLost(c.appendDoubtful(c.verify, out.remove),
		m.Started, out.limited, l.accounted)

	plan.Delete, plan.Create, plan.Triggered = out.remove, out.create, out.triggered
	plan.Missed, plan.Unstarted = run.missed, l.unstarted

	plan.Unexpected = c.unexpected(b.unexpected[:0])
	plan.Events = appendUnexpected(out.events, plan.Unexpected, s.Options.ChildKind)
	plan.Events = append(plan.Events,
		unstartedEvents(l.unstarted, run.missed.TooLate, s.Options.Quirks, s.Options.ChildKind)...)
	plan.Notes = out.notes

	plan.Requeue, plan.Waits = firstEnd(out.waits, s.Options.Punctual), ofKind(out.waits, s.Options.ChildKind)
	plan.NextRun = run.next
	plan.Namespace, plan.CronJobUID = s.CronJob.Namespace, s.CronJob.UID
	plan.basis.fill(s, c, m, out, l.accounted)

	b.verify, b.unexpected, b.waits, b.events = plan.Verify, plan.Unexpected, plan.Waits, plan.Events
	return plan
}

// fill sets everything that the status and the conclusion are computed from, except Reviewed.
func (b *basis) fill(s *Snapshot, c *census, m *memory, out *moves, accounted time.Time) {
	b.Now, b.Before = s.Now, s.CronJob.Status
	b.Before.Active = slices.Clip(b.Before.Active) // appending must not write to the snapshot
	b.Status = b.Before.startedAt(later(c.lastRun, out.recorded))
	b.Status.Active, b.Status.LastSuccessfulTime = c.active, c.lastSuccess

	b.Since, b.Memory = memoryAbout(s).Since, *m
	b.Memory.Since, b.Memory.Accounted = later(m.Since, out.since), accounted
	b.Backfills = out.backfills
	b.Found = count(len(c.active) - c.kept)
	b.hurry = out.hurry
	b.Unshown = c.unshown
	b.Consistent, b.Quirks, b.Child = s.Consistent, s.Options.Quirks, s.Options.ChildKind
}

// waitForNext adds the wait for the next run, or the reason why none can start. It also adds a note
// if the last run is in the future. Argument looks is the number of jobs to look up.
func (m *moves) waitForNext(s *Snapshot, run *dueRun, looks int) {
	if run.noRuns != 0 {
		w := Wait{Reason: run.noRuns}
		if w.Reason == cronjobreason.WaitNoSchedule {
			w.Name = s.Schedule.Message
		}
		m.waits = append(m.waits, w)
		return
	}

	if last := s.CronJob.Status.LastScheduleTime; last.After(s.Now) {
		m.add(notes("cronJob.status.lastScheduleTime", value.Time(last),
			"lies in the future; nothing starts before it has passed"))
		m.waits = append(m.waits, Wait{Reason: cronjobreason.WaitClock, Run: last})
	}
	if looks > 0 {
		m.waits = append(m.waits, Wait{Reason: cronjobreason.WaitVerify, Jobs: looks})
	}

	next := Wait{Reason: cronjobreason.WaitNever}
	if !run.next.IsZero() {
		next = Wait{Reason: cronjobreason.WaitNextRun, Until: run.startOf(run.next)}
	}
	m.waits = append(m.waits, next)
}
