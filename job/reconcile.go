package job

// Reconcile plans one round of a job. The same snapshot always gives the same
// plan; nothing in the snapshot is written to.
//
// The rules, in order of precedence:
//
//   - A job that is not ours gets an empty plan: managedBy names another
//     controller (J3), the completion mode is unknown (J5).
//   - A finished job keeps its status; finalizers that were left behind
//     are removed (J4, J36).
//   - Pods are claimed (J6) and counted (J7-J14).
//   - The end, the first that holds: SuccessCriteriaMet is declared (J19);
//     FailureTarget is declared (J20); podFailurePolicy FailJob (J21); backoffLimit
//     (J22); activeDeadlineSeconds (J23); failed indexes (J24); successPolicy
//     (J25). An ending job deletes its active pods (J27).
//   - Otherwise pods are managed, once the expectations are satisfied (E1) and
//     unless the job is being deleted: a suspended job deletes all (J28), a
//     running one deletes the surplus or else creates what is missing
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
	plan    Plan
	known   uidTable
	lists   UncountedTerminatedPods
	census  census
	indexes indexes
	scratch scratch
}

// Reconcile is [Reconcile] for a snapshot that is not copied. The plan is valid
// until the next call: clone what is to be kept.
func (p *Planner) Reconcile(s *Snapshot) (*Plan, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	plan := p.plan.reset()
	plan.JobUID = s.Job.UID
	if by, ok := managedElsewhere(&s.Job.Spec, &s.Options); ok {
		return plan.stop(Wait{Reason: WaitManagedBy, Name: by}), nil
	}
	if spec := &s.Job.Spec; hasUnknownMode(spec) {
		plan.event(EventWarning, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
		return plan.stop(Wait{Reason: WaitUnknownMode, Name: string(spec.CompletionMode)}), nil
	}
	startBasis(&plan.basis, s)
	memory, notes := &plan.basis.Memory, (*noteList)(&plan.Notes)
	if problem := s.Memory.problem; problem != "" {
		notes.add("memory", problem, "cannot be read, and counts as lost")
	}
	p.lists = p.known.learn(memory, s.Job.Status.UncountedTerminatedPods, p.lists, notes)
	if err := p.census.take(s, &p.known, shortcutsOf(s, &p.known)); err != nil {
		return nil, err
	}
	switch end := s.Job.Status.finished(); {
	case end != "":
		plan.Untrack = appendLeftBehind(plan.Untrack, s, &p.known, &p.scratch)
		plan.basis.Untracking = stillTracked(memory.Untracking, &p.known)
		return plan.stop(Wait{Reason: WaitFinished, Name: string(end)}), nil
	case isStale(&s.Job, memory):
		return plan.stop(Wait{Reason: WaitObserved}), nil
	}
	found := p.find(s, memory, notes)
	decide(plan, s, &found, &p.scratch)
	writes, idle := intentOf(plan)
	plan.basis.Idle = idle
	if writes {
		if err := checkDuplicates(s.Pods, &p.scratch.places); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// decide plans a round from what it has found.
func decide(plan *Plan, s *Snapshot, found *findings, buf *scratch) {
	b := &plan.basis
	b.Action = ActionReconciling
	b.Backoff = recordBackoff(b.Memory.Backoff, s, found, (*noteList)(&plan.Notes))
	plan.Adopt, plan.Release = found.pods.adopted, found.pods.released
	end := decideEnd(s, found)
	if s.Now.Before(end.deadline) {
		plan.wait(Wait{Reason: WaitDeadline, Until: end.deadline})
	}
	plan.Verdict = end.Verdict
	if plan.Verdict.decided() {
		plan.Delete = appendEnding(plan.Delete, s, buf)
	} else {
		managePods(plan, s, found, buf)
	}
	untrackPods(plan, s, found, buf)
	fillBasis(b, s, found)
	explainWaits(plan, s, found)
	plan.Requeue = requeue(plan.Waits, s.Now, s.Options.Quirks)
}
