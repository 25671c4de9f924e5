package job

import (
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Reconcile plans one round of a job. The same snapshot always gives the same
// plan; nothing in the snapshot is written to.
//
// The rules, in order of precedence:
//
//   - A job that is not ours gets an empty plan: managedBy names another controller (J3), or the
//     completion mode is unknown (J5).
//   - A finished job keeps its status. Finalizers that are still on its pods are removed (J4, J36).
//   - Pods are claimed (J6), the job's workload and pod group are made or resized (J44, J45),
//     and pods are counted (J7-J14).
//   - The first of these that applies decides the end: SuccessCriteriaMet is declared (J19);
//     FailureTarget is declared (J20); podFailurePolicy FailJob (J21); backoffLimit (J22);
//     activeDeadlineSeconds (J23); failed indexes (J24); successPolicy (J25). An ending job deletes
//     its active pods (J27).
//   - Otherwise pods are managed, once the expectations are satisfied (E1) and unless the job is
//     being deleted: a suspended job deletes all pods (J28), a running one deletes surplus pods or
//     else creates missing ones (J29-J33).
//   - A job that reaches its completions ends in success. [Plan.Record] decides that, after the
//     pods were managed (J26).
//   - Finished pods are accounted for (J35).
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
	plan    Plan
	known   uidTable
	lists   UncountedTerminatedPods
	census  census
	indexes indexes
	scratch scratch
	// found holds the findings of the last round.
	found findings
}

// Reconcile is like the function [Reconcile], but does not copy the snapshot. The plan is
// valid until the next call. Use [Plan.Clone] to keep it for longer.
func (p *Planner) Reconcile(s *Snapshot) (*Plan, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if plan, ok := p.planQuiet(s); ok {
		return plan, nil
	}
	return p.planRound(s)
}

// planRound plans any round, quiet or not.
func (p *Planner) planRound(s *Snapshot) (*Plan, error) {
	if !s.Options.Without.IsZero() {
		s = s.withoutGates()
	}

	plan := p.plan.reset()
	plan.JobUID = s.Job.UID
	if by, ours := managerOf(&s.Job.Spec, &s.Options); !ours {
		return plan.stop(Wait{Reason: jobreason.WaitManagedBy, Name: by}), nil
	}
	if spec := &s.Job.Spec; hasUnknownMode(spec) {
		plan.event(EventWarning, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
		return plan.stop(Wait{Reason: jobreason.WaitUnknownMode, Name: string(spec.CompletionMode)}), nil
	}

	memory, notes := &plan.basis.Carried.Memory, (*noteList)(&plan.Notes)
	recall(memory, s)
	if problem := s.Memory.problem; problem != "" {
		notes.add("memory", problem, "cannot be read, and counts as lost")
	}

	if err := p.look(s, memory, notes); err != nil {
		return nil, err
	}

	plan.basis.Facts.learn(s)
	switch end := s.Job.Status.finished(); {
	case end != "":
		plan.Untrack = appendLeftBehind(plan.Untrack, s, &p.known, &p.scratch)
		plan.basis.Carried.carryOn(stillTracked(memory.Untracking, &p.known))
		return plan.stop(Wait{Reason: jobreason.WaitFinished, Name: string(end)}), nil
	case isStale(&s.Job, memory):
		plan.basis.Carried.carryOn(memory.Untracking)
		return plan.stop(Wait{Reason: jobreason.WaitObserved}), nil
	}

	found := p.find(s, memory, notes)
	group, err := planGroups(plan, s, &p.census)
	if err != nil {
		return nil, err
	}
	found.group = group
	decide(plan, s, found, &p.scratch)

	if !plan.basis.Course.Idle {
		if err := checkDuplicates(s.Pods, &p.scratch.places); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// decide makes the plan from the findings.
func decide(plan *Plan, s *Snapshot, found *findings, buf *scratch) {
	record := recordBackoff(found.memory.Backoff, s, found, (*noteList)(&plan.Notes))

	plan.Adopt, plan.Release = found.pods.adopted, found.pods.released
	end := decideEnd(s, found)
	if !end.deadline.IsZero() && s.Now.Before(end.deadline) {
		plan.wait(Wait{Reason: jobreason.WaitDeadline, Until: end.deadline})
	}

	plan.Verdict = end.Verdict
	done := management{action: reconciling}
	if plan.Verdict.decided() {
		plan.Delete = appendEnding(plan.Delete, s, buf)
	} else {
		done = managePods(plan, s, found, record, buf)
	}

	untrack, capped := appendUntracking(plan.Untrack, s, found, plan.Verdict, buf)
	plan.Untrack = untrack
	explainWaits(plan, s, found, capped)
	plan.Requeue = requeueOf(plan.Waits, s.Now, s.Options.Quirks)

	b := &plan.basis
	b.Counts = countsOf(&s.Job.Status, found.tally, &found.lists)
	if done.held && s.Options.Quirks.Has(jobquirk.HeldIsIdle) {
		b.Counts.Active = 0
	}
	b.Progress = found.indexes.progress(&s.Job.Status, &s.Job.Spec)
	b.Carried.carryOver(record, found)
	b.Course = course{Action: done.action, Managed: done.managed, More: done.more, Capped: capped}
	b.Course.Idle = isIdle(plan, b)
}
