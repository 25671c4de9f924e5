package cronjob

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
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
// An error means that the snapshot breaks the contract: it is an [*InputError],
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
	snap *Snapshot
	cj   *CronJob
	plan Plan

	active   []Reference // what is left of the active list, if anything left it
	kept     int         // entries of the status' active list that stay
	listed   []bool      // by child: the active list names it
	unlisted bool        // some running child is not listed
	found    []Reference // running jobs on their way into the active list
	finished []int32     // places of finished children (C2)
	byUID    map[string]int32
	name     []byte
	triggers []Trigger // in the order of their IDs, each once
	hasJob   func(name string) bool

	// leaving are the places of children that were deleted and do not show it yet.
	leaving map[int]bool
	// spares says that the memory holds jobs of backfills, which Replace spares (isSpared).
	spares bool
	// behind is true when the snapshot is older than the controller's own writes (CI15).
	behind bool
	// dependent counts the creations that the active list has allowed, dependentName is
	// the last of them; limited says that those of the backfill at hand are such ones, and
	// backfilled counts the creations of all backfills.
	dependent     int
	dependentName string
	limited       bool
	backfilled    int

	// base is the time after which runs count; earliest the same, raised by the
	// deadline (C7).
	base, earliest time.Time
	// due is the run to start, latest the last one that is due, next the first that is
	// not.
	due, latest, next time.Time
	// overdue is the number of runs in (earliest, now].
	overdue int
	// quiet is true when no run came due since base, held when the run that is due
	// waits for active jobs.
	quiet, held bool
}

// Reconcile is [Reconcile] for a snapshot that is not copied. The plan is valid
// until the next call: clone what is to be kept.
func (p *Planner) Reconcile(s *Snapshot) (*Plan, error) {
	p.begin(s)
	if err := s.check(); err != nil {
		return nil, err
	}
	p.recall()
	p.sortTriggers()
	p.matchActive()
	p.recallWrites()
	p.recoverStarts()
	p.setAside()
	if p.mayRun() {
		p.findDue()
		p.reportMissed()
		p.startDue()
		p.explainWaits()
	}
	p.startTriggers()
	p.startBackfills()
	p.verifyLost()
	p.reportUnexpected()
	if err := p.trimHistory(); err != nil {
		return nil, err
	}
	p.requeue()
	return &p.plan, nil
}

// begin empties the plan and the buffers.
func (p *Planner) begin(s *Snapshot) {
	p.snap, p.cj = s, &s.CronJob
	old := &p.plan
	p.plan = Plan{
		Verify:     old.Verify[:0],
		Unexpected: old.Unexpected[:0],
		Delete:     old.Delete[:0],
		Create:     old.Create[:0],
		Triggered:  old.Triggered[:0],
		Missed:     Missed{Runs: old.Missed.Runs[:0]},
		Waits:      old.Waits[:0],
		Events:     old.Events[:0],
		Notes:      old.Notes[:0],
	}
	p.base, p.earliest, p.due, p.latest, p.next = time.Time{}, time.Time{}, time.Time{}, time.Time{}, time.Time{}
	p.overdue, p.quiet, p.held = 0, false, false
	p.unlisted, p.behind, p.found = false, false, p.found[:0]
	p.dependent, p.dependentName, p.backfilled, p.limited = 0, "", 0, false
	p.hasJob, p.spares, p.leaving = nil, false, nil
}

// recall takes the memory over, unless it is about an earlier CronJob of this
// name, and starts the basis from it (B5).
func (p *Planner) recall() {
	m := p.snap.Memory.kept
	if m.CronJobUID != p.cj.UID {
		m = memory{CronJobUID: p.cj.UID}
	}
	if problem := p.snap.Memory.problem; problem != "" {
		p.note("memory", problem, "cannot be read, and counts as lost")
	}
	p.plan.Namespace, p.plan.CronJobUID = p.cj.Namespace, p.cj.UID
	p.plan.basis = basis{
		Now:    p.snap.Now,
		Before: p.cj.Status,
		Status: p.cj.Status,
		Memory: m,
		Since:  m.Since,
		Quirks: p.snap.Options.Quirks,
	}
}

// mayRun reports whether runs may start at all (C6).
func (p *Planner) mayRun() bool {
	compiled := &p.snap.Schedule
	switch {
	case p.cj.isDeleted():
		p.wait(Wait{Reason: WaitDeleted})
	case compiled.Problem == UnknownTimeZone:
		p.noSchedule()
	case p.cj.isSuspended():
		p.wait(Wait{Reason: WaitSuspended})
	default:
		p.warnOfZone()
		return p.hasSchedule()
	}
	return false
}

// warnOfZone tells of a schedule that names a zone itself, beside or instead of timeZone:
// it wins, and the server refuses it by now.
func (p *Planner) warnOfZone() {
	if text := p.cj.Spec.Schedule; strings.Contains(text, "TZ") {
		p.event(job.Warning, "UnsupportedSchedule", fmt.Sprintf("CRON_TZ or TZ used in schedule %q is not officially supported, see "+
			"https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", text))
	}
}

// hasSchedule reports whether there is a schedule that can run (C6).
func (p *Planner) hasSchedule() bool {
	compiled := &p.snap.Schedule
	switch {
	case compiled.Problem != "":
		p.noSchedule()
	case compiled.Schedule.Never() && !p.snap.Options.Quirks.Has(cronjobquirk.Estimate):
		// With the quirk, estimateDue asks the schedule itself: under its preset it may run.
		p.event(job.Warning, "InvalidSchedule", "invalid schedule: "+p.cj.Spec.Schedule+" : it never runs")
		p.wait(Wait{Reason: WaitNever})
	default:
		return true
	}
	return false
}

func (p *Planner) noSchedule() {
	compiled := &p.snap.Schedule
	p.event(job.Warning, string(compiled.Problem), compiled.Message)
	p.wait(Wait{Reason: WaitNoSchedule, Name: compiled.Message})
}

// explainWaits names when the next run comes.
func (p *Planner) explainWaits() {
	p.plan.NextRun = p.next
	if last := p.cj.Status.LastScheduleTime; last.After(p.snap.Now) {
		p.note("cronJob.status.lastScheduleTime", formatTime(last), "lies in the future; nothing starts before it has passed")
		p.wait(Wait{Reason: WaitClock, Run: last})
	}
	if n := len(p.plan.Verify); n > 0 {
		p.wait(Wait{Reason: WaitVerify, Jobs: n})
	}
	if p.next.IsZero() {
		p.wait(Wait{Reason: WaitNever})
		return
	}
	p.wait(Wait{Reason: WaitNextRun, Until: p.startOf(p.next)})
}

func (p *Planner) event(t job.EventType, reason, message string) {
	p.plan.Events = append(p.plan.Events, Event{Type: t, Reason: reason, Message: message})
}

func (p *Planner) note(field, value, message string) {
	p.plan.Notes = append(p.plan.Notes, Note{Field: field, Value: value, Message: message})
}
