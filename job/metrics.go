package job

import (
	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// Metrics holds what a round adds to the metrics of a Job controller. The names of these metrics
// begin with job_controller_ (J42). No figure is negative, and over all rounds each pod, index and
// match is reported once, as long as the memory is kept (JI27).
//
// The adapter must measure three other metrics, because they depend on more than rounds:
// job_sync_duration_seconds, jobs_by_external_controller_total and
// terminated_pods_tracking_finalizer_total. The second counts each job that appears with the
// managedBy of another controller. The third is counted where pods are watched: event "add" for a
// pod that has ended with its finalizer, and "delete" once the pod loses the finalizer or is gone.
type Metrics struct {
	// CompletionMode, Action and SyncFailed are the labels of job_syncs_total. Action is empty for
	// a round that job_syncs_total does not count: the job has ended or is not ours, or the
	// snapshot is older than a status that was written. Otherwise Action is "reconciling" if pods
	// were not managed, "tracking" if no pod had to be created or deleted, and else "pods_created"
	// or "pods_deleted". SyncFailed means result "error".
	CompletionMode CompletionMode `json:"completionMode,omitempty"`
	Action         string         `json:"action,omitempty"`
	SyncFailed     bool           `json:"syncFailed,omitempty"`
	// PodsSucceeded and PodsFailed are job_pods_finished_total by completion_mode and
	// result.
	PodsSucceeded int32 `json:"podsSucceeded,omitempty"`
	PodsFailed    int32 `json:"podsFailed,omitempty"`
	// Policy is pod_failures_handled_by_failure_policy_total by action.
	Policy PolicyActions `json:"policy,omitzero"`
	// IndexesSucceeded and IndexesFailed are job_finished_indexes_total by status. Label
	// backoffLimit is "perIndex" with PerIndex, otherwise "global".
	IndexesSucceeded int32 `json:"indexesSucceeded,omitempty"`
	IndexesFailed    int32 `json:"indexesFailed,omitempty"`
	PerIndex         bool  `json:"perIndex,omitempty"`
	// PodsCreated and PodsNotCreated are job_pods_creation_total by status. The label reason is
	// CreateReason.Metric. Creations that a namespace refuses because it is being deleted count as
	// neither.
	PodsCreated    int32            `json:"podsCreated,omitempty"`
	PodsNotCreated int32            `json:"podsNotCreated,omitempty"`
	CreateReason   jobreason.Create `json:"createReason,omitempty"`
	// Finished is Complete or Failed if the job ended in this round, and FinishedReason is the
	// reason. They count in jobs_finished_total, whose labels are completion_mode, result
	// ("succeeded" or "failed") and reason.
	Finished       ConditionType `json:"finished,omitempty"`
	FinishedReason string        `json:"finishedReason,omitempty"`
	// Untracked is the number of ended pods that lost their finalizer:
	// terminated_pods_tracking_finalizer_total with event "delete".
	Untracked int32 `json:"untracked,omitempty"`
	// External is true for a job of another controller.
	External bool `json:"external,omitempty"`
}

// PolicyActions counts the pod failures that rules of a podFailurePolicy have matched, by the
// action of the rule.
type PolicyActions struct {
	FailJob   int32 `json:"failJob,omitempty"`
	FailIndex int32 `json:"failIndex,omitempty"`
	Ignore    int32 `json:"ignore,omitempty"`
	Count     int32 `json:"count,omitempty"`
}

// The actions of a round, as the label of job_syncs_total names them.
const (
	// reconciling: pods were not managed, since the job ends or is being deleted, or
	// the expectations are not met.
	reconciling = "reconciling"
	// tracking: pods were managed, and there was nothing to create or delete.
	tracking = "tracking"
	// podsCreated: pods are missing, even if a backoff keeps the round from creating them.
	podsCreated = "pods_created"
	// podsDeleted: there are surplus pods, or the job is suspended.
	podsDeleted = "pods_deleted"
)

func (a *aftermath) metrics(recorded *Status, failed bool, before, after *reported) Metrics {
	final := a.final
	if a.Facts.Quirks.Has(jobquirk.Miscount) && a.recorded && !isUntracked(a.untrack, a.outcome.Untracked) {
		// With quirk Miscount, pods that Settle moves into the counters are not reported.
		last := reportedOf(recorded)
		final, after = recorded, &last
	}

	m := Metrics{
		CompletionMode: NonIndexed,
		Action:         a.Course.Action,
		SyncFailed:     failed,
		PodsFailed:     max(final.Failed-before.Failed, 0),
		PerIndex:       a.Facts.PerIndex,
		Untracked:      countUntrackedEnded(a.untrack, a.outcome.Untracked),
		External:       a.plan.isStoppedFor(jobreason.WaitManagedBy),
	}

	if m.Action != "" && !hasBegun(a.plan, &a.outcome.Writes) {
		m.Action = reconciling // the round stopped before pods were managed
	}

	if a.Facts.Indexed {
		m.CompletionMode = Indexed
		status := reportedOf(&a.Facts.Status)
		m.countIndexes(before, &status)
		m.countIndexes(&status, after)
	} else {
		m.PodsSucceeded = max(final.Succeeded-before.Succeeded, 0)
	}

	if a.recorded {
		m.countPolicy(a.untrack)
	}
	m.countCreations(a.plan, a.outcome)

	if end := final.finished(); end != "" && !before.Finished {
		m.Finished = end
		m.FinishedReason = final.Condition(end).Reason
	}
	return m
}

// countIndexes counts the indexes that are new in the lists. The numbers of indexes are not enough,
// since an elastic job that shrinks loses some.
func (f *Metrics) countIndexes(before, after *reported) {
	succeeded := int32(indexset.Added(before.CompletedIndexes, after.CompletedIndexes))
	f.IndexesSucceeded += succeeded
	f.PodsSucceeded += succeeded
	if f.PerIndex {
		f.IndexesFailed += int32(indexset.Added(before.FailedIndexes, after.FailedIndexes))
	}
}

func (f *Metrics) countCreations(p *Plan, o *Outcome) {
	for i := range p.Create {
		f.CreateReason = p.Create[i].Reason
		if p.basis.Facts.Without.Has(release.JobPodReplacementPolicy) {
			f.CreateReason = jobreason.CreateNew
		}
		switch value.At(o.Created, i).Result {
		case jobreason.ResultDone:
			f.PodsCreated++
		case jobreason.ResultUnsuccessful:
			f.PodsNotCreated++
			if p.basis.Facts.Quirks.Has(jobquirk.Miscount) {
				f.PodsCreated++
			}
		}
	}
}

func (f *Metrics) countPolicy(untrack []Untracking) {
	for i := range untrack {
		switch untrack[i].Policy {
		case FailJob:
			f.Policy.FailJob++
		case FailIndex:
			f.Policy.FailIndex++
		case IgnoreFailure:
			f.Policy.Ignore++
		case CountFailure:
			f.Policy.Count++
		}
	}
}

func countUntrackedEnded(untrack []Untracking, results []Reply) (n int32) {
	for i := range untrack {
		if untrack[i].Ended && isDone(value.At(results, i).Result) {
			n++
		}
	}
	return n
}
