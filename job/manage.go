package job

import "github.com/batchplan/batchplan/job/jobquirk"

// managePods plans the deletions or else the creations of a round, never both. It plans
// neither while own writes are still to be seen (E1), while the job is being deleted, and
// while pods are being adopted.
func managePods(plan *Plan, s *Snapshot, found *findings, buf *scratch) {
	b := &plan.basis
	switch {
	case !b.Satisfied || s.Job.isDeleted():
		return
	case waitsForAdoption(found.pods, s.Options.Quirks):
		plan.wait(Wait{Reason: WaitAdoption, Pods: int64(len(found.pods.adopted))})
		return
	}
	b.Managed = true
	if s.Job.Spec.isSuspended() {
		b.Action = ActionPodsDeleted // even if there is no pod to delete
		plan.Delete = appendSuspended(plan.Delete, s, buf)
		return
	}
	wanted := wantedActive(&s.Job.Spec, found.tally)
	if plan.Delete = appendExcess(plan.Delete, s, found, wanted, buf); len(plan.Delete) > 0 {
		b.Action = ActionPodsDeleted
		return
	}
	b.Action = ActionTracking
	missing := wanted - found.tally.active
	if held := heldByTerminating(&s.Job.Spec, found.tally, missing); held > 0 {
		plan.wait(Wait{Reason: WaitReplacement, Pods: held, Terminating: found.tally.terminating})
		missing -= held
	}
	if missing > 0 {
		b.Action = ActionPodsCreated // even if a backoff holds all of them
		createMissing(plan, s, found, missing, buf)
	}
}

// waitsForAdoption reports whether pods are managed in a later round, because some are
// adopted in this one. An adopted pod has a version that this plan cannot know, so its
// finalizer must not go on condition of one (JI9). The next round sees it.
func waitsForAdoption(c *census, quirks jobquirk.Set) bool {
	return len(c.adopted) > 0 && !quirks.Has(jobquirk.UncheckedUntrack)
}

// appendExcess adds the deletions of pods that have not started in time, of pods without
// an index of their own, and of those beyond the wanted number (J29).
func appendExcess(deletions []Deletion, s *Snapshot, found *findings, wanted int64, buf *scratch) []Deletion {
	deletions = appendLate(deletions, s, found.pods.late)
	surplus := max(found.tally.active-wanted, 0)
	if surplus > 0 || hasMisplaced(&s.Job.Spec, found.pods) {
		buf.active = activePods(buf.active[:0], s)
		deletions = appendSurplus(deletions, s, buf.active, surplus, &found.indexes.spare)
	}
	return deletions
}

// createMissing plans the creations of missing pods that no backoff holds (J30, J31).
func createMissing(plan *Plan, s *Snapshot, found *findings, missing int64, buf *scratch) {
	var chosen creationPlan
	if s.Job.Spec.limitsIndexes() {
		chosen = planDueIndexes(buf.pending, s, found, missing)
	} else {
		record := plan.basis.Backoff
		if due := backoffDue(record, s.Options.Backoff, s.Now); !due.IsZero() {
			plan.wait(Wait{Reason: WaitBackoff, Pods: missing, Until: due, Failures: int64(record.Failures)})
			return
		}
		chosen = planCreations(buf.pending, s, found, missing)
	}
	reason := createReason(&s.Job.Spec, found.tally)
	for _, pending := range chosen.pending {
		plan.Create = append(plan.Create, creationOf(s, pending, &found.policy, reason))
	}
	if chosen.waiting > 0 && (len(plan.Create) == 0 || !s.Options.Quirks.Has(jobquirk.CoarseRequeue)) {
		plan.wait(Wait{Reason: WaitIndexBackoff, Pods: chosen.waiting, Until: chosen.due})
	}
	plan.basis.More = chosen.more
	buf.pending = chosen.pending
}
