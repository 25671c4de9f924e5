package job

import (
	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// management is the result of managing pods, besides the lists of the plan.
type management struct {
	action  string
	managed bool // whether pods were managed
	more    bool // whether the round leaves out pods that could be created
	held    bool // whether a backoff holds all missing pods
}

// managePods plans the deletions or else the creations of a round, never both. It plans neither
// while the expectations are not satisfied (E1), nor while the job is being deleted, nor in a round
// that adopts pods.
func managePods(plan *Plan, s *Snapshot, found *findings, record backoff.Record, buf *scratch) management {
	switch {
	case !found.satisfied || s.Job.isDeleted():
		return management{action: reconciling}
	case waitsForAdoption(found.pods, s.Options.Quirks):
		plan.wait(Wait{Reason: jobreason.WaitAdoption, Pods: int64(len(found.pods.adopted))})
		return management{action: reconciling}
	}

	if s.Job.Spec.isSuspended() {
		plan.Delete = appendSuspended(plan.Delete, s, buf)
		return management{action: podsDeleted, managed: true} // even if there is no pod to delete
	}

	wanted := wantedActive(&s.Job.Spec, found.tally)
	if plan.Delete = appendExcess(plan.Delete, s, found, wanted, buf); len(plan.Delete) > 0 {
		return management{action: podsDeleted, managed: true}
	}

	missing := wanted - found.tally.active
	if held := heldByTerminating(&s.Job.Spec, found.tally, missing); held > 0 {
		plan.wait(Wait{Reason: jobreason.WaitReplacement, Pods: held, Terminating: found.tally.terminating})
		missing -= held
	}
	if missing <= 0 {
		return management{action: tracking, managed: true}
	}

	more, held := createMissing(plan, s, found, missing, record, buf)
	return management{action: podsCreated, managed: true, more: more, held: held}
}

// waitsForAdoption reports whether pods are managed only in the next round, because this round
// adopts pods. An adoption changes the version of the pod. This plan does not know the new version,
// and so cannot make the removal of the pod's finalizer conditional on it (JI9).
func waitsForAdoption(c *census, quirks jobquirk.Set) bool {
	return len(c.adopted) > 0 && !quirks.Has(jobquirk.UncheckedUntrack)
}

// appendExcess adds the deletions of pods that have not started in time, of pods without an index
// of their own, and of pods beyond the wanted number (J29).
func appendExcess(deletions []Deletion, s *Snapshot, found *findings, wanted int64, buf *scratch) []Deletion {
	deletions = appendLate(deletions, s, found.pods.late)
	surplus := max(found.tally.active-wanted, 0)
	if surplus > 0 || hasMisplaced(&s.Job.Spec, found.pods) {
		buf.active = activePods(buf.active[:0], s)
		deletions = appendSurplus(deletions, s, buf.active, surplus, &found.indexes.spare)
	}
	return deletions
}

// createMissing plans the creations of the missing pods whose backoff is over (J30, J31). more is
// true if the limit of a round leaves some of them out. held is true if a backoff is the reason
// that no pod is created.
func createMissing(
	plan *Plan, s *Snapshot, found *findings, missing int64, record backoff.Record, buf *scratch,
) (more, held bool) {
	var chosen creationPlan
	if s.Job.Spec.limitsIndexes() {
		chosen = planDueIndexes(buf.pending, s, found, missing)
	} else {
		if due := backoffDue(record, s.Options.Backoff, s.Now); !due.IsZero() {
			plan.wait(Wait{Reason: jobreason.WaitBackoff, Pods: missing, Until: due, Failures: int64(record.Failures)})
			return false, true
		}
		chosen = planCreations(buf.pending, s, found, missing)
	}

	reason := createReason(&s.Job.Spec, found.tally)
	for _, pending := range chosen.pending {
		plan.Create = append(plan.Create, creationOf(s, pending, found, reason))
	}
	if chosen.waiting > 0 && (len(plan.Create) == 0 || !s.Options.Quirks.Has(jobquirk.CoarseRequeue)) {
		plan.wait(Wait{Reason: jobreason.WaitIndexBackoff, Pods: chosen.waiting, Until: chosen.due})
	}

	buf.pending = chosen.pending
	return chosen.more, chosen.waiting > 0 && len(plan.Create) == 0
}
