package job

import (
	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// Reconcile plans one round of a job. The same snapshot always gives the same
// plan; nothing in the snapshot is written to.
//
// The rules, in order of precedence:
//
//   - A job that is not ours gets an empty plan: managedBy names another
//     controller (J3), the completion mode is unknown (J5).
//   - A finished job keeps its status for ever; finalizers that were left behind
//     are removed (J4, J36).
//   - Pods are claimed (J6) and counted (J7-J14).
//   - The end, the first that holds: SuccessCriteriaMet stands (J19);
//     FailureTarget stands (J20); podFailurePolicy FailJob (J21); backoffLimit
//     (J22); activeDeadlineSeconds (J23); failed indexes (J24); successPolicy
//     (J25). An ending job deletes its active pods (J27).
//   - Otherwise pods are managed, once the expectations are satisfied (E1) and
//     unless the job is being deleted: a suspended job deletes all (J28), a
//     running one deletes what is too much or else creates what is missing
//     (J29-J33).
//   - Reaching completions ends the job in success, decided after the pods were
//     managed (J26), by [Plan.Record].
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
	snap *Snapshot
	job  *Job
	plan Plan

	pods    podSets
	counts  podCounts
	overdue overdue

	// completed and failedIndexes are the sets of J14 and J16; activeIndexes are
	// those of active pods, leavingIndexes those of terminating pods that must end
	// before they are replaced (J33).
	completed, failedIndexes, activeIndexes, leavingIndexes indexset.Set
	named                                                   indexset.Set // by a rule of the successPolicy
	written                                                 indexset.Set // completed ones of the status, for the limit of a round
	// completedSame and failedSame are the sizes at which the index lists of the
	// status stay as they are.
	completedSame, failedSame int
	// succeeded and failed are the totals of J9 and J10.
	succeeded, failed int64

	known     uidTable // UIDs of the uncounted lists and of removals in flight
	uncounted UncountedTerminatedPods
	absorbed  absorbed
	claimed   uidTable // every UID, while looking for duplicates
	text      []byte
}

// Reconcile is [Reconcile] for a snapshot that is not copied. The plan is valid
// until the next call: clone what is to be kept.
func (p *Planner) Reconcile(s *Snapshot) (*Plan, error) {
	p.begin(s)
	if err := s.check(); err != nil {
		return nil, err
	}
	if p.notOurs() {
		return &p.plan, nil
	}
	p.recall()
	if err := p.observe(); err != nil {
		return nil, err
	}
	if p.job.Status.Finished() != "" {
		p.cleanUp()
		return &p.plan, nil
	}
	if p.isStale() {
		return &p.plan, nil
	}
	p.plan.Basis.Action = ActionReconciling
	p.findUntimed()
	p.countIndexes()
	p.countPods()
	p.recordBackoff()

	p.plan.Verdict = p.decideEnd()
	if p.plan.Verdict.decided() {
		p.deleteActive(DeleteEnding)
	} else {
		p.managePods()
	}
	p.account()
	p.explainWaits()
	if err := p.checkDuplicates(); err != nil {
		return nil, err
	}
	return &p.plan, nil
}

// begin empties the plan and the buffers.
func (p *Planner) begin(s *Snapshot) {
	p.snap, p.job = s, &s.Job
	old := &p.plan
	p.plan = Plan{
		Adopt:   old.Adopt[:0],
		Release: old.Release[:0],
		Delete:  old.Delete[:0],
		Create:  old.Create[:0],
		Untrack: old.Untrack[:0],
		Waits:   old.Waits[:0],
		Events:  old.Events[:0],
		Notes:   old.Notes[:0],
	}
	p.pods.reset()
	p.counts = podCounts{}
	p.overdue = overdue{pending: p.overdue.pending[:0]}
	for _, set := range [...]*indexset.Set{&p.completed, &p.failedIndexes, &p.activeIndexes, &p.leavingIndexes, &p.written} {
		set.Reset()
	}
}

// recall takes the memory over, unless it is about an earlier job of this name,
// and starts the basis from it (B5, JI22).
func (p *Planner) recall() {
	memory := p.snap.Memory
	if memory.JobUID != p.job.UID {
		memory = Memory{JobUID: p.job.UID}
	}
	if memory.Expectations.At.After(p.snap.Now) {
		// The clock has gone back: the record holds the job for five minutes from
		// now on, not until the clock has caught up, and not in turns (L6).
		memory.Expectations.At = p.snap.Now
	}
	b := &p.plan.Basis
	b.JobUID = p.job.UID
	b.Now = p.snap.Now
	b.Status = p.job.Status
	b.Memory = memory
	b.Backoff = memory.Backoff
	b.Untracking = memory.Untracking
	b.Handled = memory.Handled
	b.Untimed = memory.Untimed
	b.Completions = p.job.Spec.Completions
	b.Indexed = p.job.isIndexed()
	b.PerIndex = p.job.limitsIndexes()
	b.Suspend = p.job.isSuspended()
	b.Deleted = p.job.isDeleted()
	b.Quirks = p.snap.Options.Quirks
	b.Satisfied = memory.Expectations.Satisfied(p.snap.Now)
	if due := memory.Expectations.Expires(); !due.IsZero() && due.Equal(p.snap.Now) && p.snap.Options.Quirks.Has(jobquirk.CoarseRequeue) {
		b.Satisfied = false
	}
}

// notOurs stops the round for a job of another controller (J3) and for one whose
// completion mode this version does not know (J5).
func (p *Planner) notOurs() bool {
	spec := &p.job.Spec
	switch {
	case spec.ManagedBy != nil && *spec.ManagedBy != ControllerName:
		p.wait(Wait{Reason: WaitManagedBy, Name: *spec.ManagedBy})
	case spec.CompletionMode != "" && spec.CompletionMode != NonIndexed && spec.CompletionMode != Indexed:
		p.event(Warning, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
		p.wait(Wait{Reason: WaitUnknownMode, Name: string(spec.CompletionMode)})
	default:
		return false
	}
	p.plan.Basis.Stopped = true
	return true
}

// isStale stops a round whose snapshot is older than a status that was written:
// planning from it could start pods of a job that has ended (E5, M2), or run an
// index again that has succeeded (E6).
func (p *Planner) isStale() bool {
	memory := &p.plan.Basis.Memory
	if !memory.Finished && p.job.Version >= memory.Written {
		return false
	}
	p.plan.Basis.Stopped = true
	p.plan.Adopt, p.plan.Release = p.plan.Adopt[:0], p.plan.Release[:0]
	p.wait(Wait{Reason: WaitObserved})
	return true
}

func (p *Planner) event(t EventType, reason, message string) {
	p.plan.Events = append(p.plan.Events, Event{t, reason, message})
}

func (p *Planner) note(field, value, message string) {
	p.plan.Notes = append(p.plan.Notes, Note{field, value, message})
}
