package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// Reconcile plans one round of a CronJob. The same snapshot always gives the same
// plan; nothing in the snapshot is written to.
//
// The rules, in order of precedence:
//
//   - The list of active jobs is brought up to date: finished ones leave it (C4),
//     missing ones are to be looked up (C5), unknown ones are reported (C3), and
//     runs that a crash kept from being recorded are recorded (CI3).
//   - Nothing starts while the CronJob is being deleted, has no schedule, or is
//     suspended (C6).
//   - The run due is the latest since the last one handled that its deadline still
//     allows (C7, C8); without one, missed runs are reported (C9).
//   - A run whose job exists is recorded and not started again (C10, C14).
//   - Forbid holds the run back while a job is active (C11), Replace deletes the
//     active jobs first (C12), and otherwise the run starts (C13).
//   - Triggers and backfills start what was asked for, beside the schedule.
//   - Finished jobs beyond the limits of the history are deleted (C2).
//
// An error means that the snapshot breaks the contract: it is an [*job.InputError],
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
	// All of these are buffers: no round reads what another has left in them.
	plan     Plan
	triggers []Trigger
	active   []Reference
	found    []Reference
	listed   []bool
	finished []int32
	byUID    map[job.UID]int32
}

// Reconcile is [Reconcile] for a snapshot that is not copied. The plan is valid
// until the next call: clone what is to be kept.
func (p *Planner) Reconcile(s *Snapshot) (*Plan, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	plan := p.begin(s)
	c := p.takeCensus(s, plan)
	setAside(&plan.basis.Memory, s)

	var t timing
	var o obstacle
	why := noRuns(s)
	reportSchedule(plan, s, why)
	if why == 0 {
		t = findDue(s, startsFrom(s, &plan.basis))
		reportDue(plan, s, &t)
		reportMissed(plan, s, &t)
		o = findObstacle(s, &c, &t)
		startDue(plan, s, &c, &t, o)
		explainWaits(plan, s, &t)
	}
	startTriggers(plan, s, &c, o)
	startBackfills(plan, s, &c, reserved(&t, &plan.basis), o.holds())
	verifyLost(plan, s, &c)
	reportUnexpected(plan, &c)
	if err := p.trimHistory(plan, s, &c); err != nil {
		return nil, err
	}
	plan.Requeue = firstEnd(plan.Waits)
	return plan, nil
}

// begin empties the plan and starts its basis from the snapshot.
func (p *Planner) begin(s *Snapshot) *Plan {
	plan := &p.plan
	*plan = Plan{
		Verify:     plan.Verify[:0],
		Unexpected: plan.Unexpected[:0],
		Delete:     plan.Delete[:0],
		Create:     plan.Create[:0],
		Triggered:  plan.Triggered[:0],
		Missed:     Missed{Runs: plan.Missed.Runs[:0]},
		Waits:      plan.Waits[:0],
		Events:     plan.Events[:0],
		Notes:      plan.Notes[:0],
	}
	if problem := s.Memory.problem; problem != "" {
		plan.note("memory", problem, "cannot be read, and counts as lost")
	}
	plan.Namespace, plan.CronJobUID = s.CronJob.Namespace, s.CronJob.UID
	b := &plan.basis
	b.Now, b.Quirks, b.Consistent = s.Now, s.Options.Quirks, s.Consistent
	b.Before, b.Status = s.CronJob.Status, s.CronJob.Status
	b.Memory.CronJobUID = s.CronJob.UID
	if m := &s.Memory.kept; m.CronJobUID == s.CronJob.UID { // otherwise it is about an earlier CronJob of this name (B5)
		b.Memory = *m
	}
	b.Since = b.Memory.Since
	return plan
}

// explainWaits says when the next run comes.
func explainWaits(plan *Plan, s *Snapshot, t *timing) {
	plan.NextRun = t.next
	if last := s.CronJob.Status.LastScheduleTime; last.After(s.Now) {
		plan.note("cronJob.status.lastScheduleTime", value.Time(last), "lies in the future; nothing starts before it has passed")
		plan.wait(Wait{Reason: WaitClock, Run: last})
	}
	if n := len(plan.Verify); n > 0 {
		plan.wait(Wait{Reason: WaitVerify, Jobs: n})
	}
	if t.next.IsZero() {
		plan.wait(Wait{Reason: WaitNever})
		return
	}
	plan.wait(Wait{Reason: WaitNextRun, Until: jitterOf(s).startOf(t.next)})
}

func (p *Plan) event(t job.EventType, reason, message string) {
	p.Events = append(p.Events, job.Event{Type: t, Reason: reason, Message: message})
}

func (p *Plan) note(field, value, message string) {
	p.Notes = append(p.Notes, job.Note{Field: field, Value: value, Message: message})
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
