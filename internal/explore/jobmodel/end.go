package jobmodel

import (
	"fmt"

	"github.com/batchplan/batchplan/internal/explore"
	"github.com/batchplan/batchplan/job"
)

var _ explore.Ender[state] = (*worker)(nil)

// End tells the ends of jobs apart (L8). From now on all pods succeed, so their outcomes depend on
// nothing that a fault changes. There is no end to compare where others have a say in it: after
// edits and deletions, with orphans, which count only if they were adopted in time, and with
// containers that are restarted in place, which count only until their pod succeeds.
func (w *worker) End(s *state) uint64 {
	status, scope := w.rounds.statuses.with(s.status, job.UncountedTerminatedPods{}), &w.rounds.scope
	inPlace := scope.Spec.Template.RestartPolicy == job.RestartOnFailure
	if status.Finished() == "" || s.deletedAt > 0 || s.past.edited || scope.Budget.Orphans > 0 || inPlace {
		return 0
	}
	return explore.KeyOf([]byte(w.DescribeEnd(s))).Short()
}

// DescribeEnd says how the job has ended: the condition, its reason, and the indexes where all of
// them decide. Of an end that deletes pods, the figures depend on which of these are faster.
func (w *worker) DescribeEnd(s *state) string {
	status := w.rounds.statuses.with(s.status, job.UncountedTerminatedPods{})
	how := status.Finished()
	text := fmt.Sprintf("%s (%s)", how, status.Condition(how).Reason)
	if failed := status.FailedIndexes; failed != nil {
		text += fmt.Sprintf(", completed %q, failed %q", status.CompletedIndexes, *failed)
	}
	return text
}
