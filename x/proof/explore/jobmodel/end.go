package jobmodel

import (
	"fmt"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/explore"
)

var _ explore.Ender[state] = (*worker)(nil)

// End returns a number that identifies the end of a job (L8). All pods that are left succeed, so a
// fault does not change how they end. 0 means that ends are not compared, because something else
// decides them:
//
//   - users who edit or delete the job, and orphans, which count only if they were adopted in time
//   - containers that are restarted in place, which count only until their pod succeeds
//   - surplus pods, after the controller gave up the wait for its own writes or restarted with an
//     older list: the pod that is seen first decides
func (w *worker) End(s *state) uint64 {
	status, scope := w.rounds.statuses.with(s.status, job.UncountedTerminatedPods{}), &w.rounds.scope
	switch inPlace := scope.Spec.Template.RestartPolicy == job.RestartOnFailure; {
	case status.Finished() == "", s.deletedAt > 0, s.past.edited, scope.Budget.Orphans > 0, inPlace:
		return 0
	case s.past.lagged, s.past.traveled:
		return 0
	}
	return explore.KeyOf([]byte(w.DescribeEnd(s))).Short()
}

// DescribeEnd describes how the job has ended: the condition, its reason, and with
// backoffLimitPerIndex the indexes. It leaves out other figures: they depend on which pods end
// before the job deletes them.
func (w *worker) DescribeEnd(s *state) string {
	status := w.rounds.statuses.with(s.status, job.UncountedTerminatedPods{})
	how := status.Finished()
	text := fmt.Sprintf("%s (%s)", how, status.Condition(how).Reason)
	if failed := status.FailedIndexes; failed != nil {
		text += fmt.Sprintf(", completed %q, failed %q", status.CompletedIndexes, *failed)
	}
	return text
}
