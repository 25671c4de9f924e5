package job

// Facts are the figures of a round behind the metrics of a Job controller,
// prefix job_controller_ (J42). The duration of a round and jobs_by_external_controller_total
// are the adapter's to measure.
type Facts struct {
	// CompletionMode, Action and Failed are the labels of job_syncs_total and
	// job_sync_duration_seconds; Failed is result "error".
	CompletionMode CompletionMode
	Action         Action
	Failed         bool
	// PodsSucceeded and PodsFailed were added to job_pods_finished_total.
	PodsSucceeded, PodsFailed int32
	// Policy is pod_failures_handled_by_failure_policy_total by action.
	Policy PolicyCounts
	// IndexesSucceeded and IndexesFailed are job_finished_indexes_total by status.
	IndexesSucceeded, IndexesFailed int32
	// PodsCreated and PodsNotCreated are job_pods_creation_total by status.
	PodsCreated, PodsNotCreated int32
	CreateReason                CreateReason
	// Finished is Complete or Failed when the job ended in this round, with the
	// reason: jobs_finished_total.
	Finished       ConditionType
	FinishedReason string
	// Untracked is the number of finalizers removed: terminated_pods_tracking_finalizer_total.
	Untracked int32
	// ManagedBy is true for a job of another controller.
	ManagedBy bool
}

// Action is what a round did, as the metric job_syncs_total names it.
type Action string

// The actions of a round.
const (
	ActionReconciling Action = "reconciling"
	ActionTracking    Action = "tracking"
	ActionPodsCreated Action = "pods_created"
	ActionPodsDeleted Action = "pods_deleted"
)

func (p *Plan) facts(o *Outcome, final *Status, failed bool) Facts {
	b := &p.Basis
	f := Facts{
		CompletionMode:   NonIndexed,
		Action:           p.action(),
		Failed:           failed,
		PodsSucceeded:    final.Succeeded - b.Status.Succeeded,
		PodsFailed:       final.Failed - b.Status.Failed,
		Policy:           b.Policy,
		IndexesSucceeded: 0,
		IndexesFailed:    b.NewFailedIndexes,
		Untracked:        countDone(o.Untracked),
	}
	if b.Indexed {
		f.CompletionMode = Indexed
		f.IndexesSucceeded = max(final.Succeeded-b.Status.Succeeded, 0)
	}
	if len(p.Waits) > 0 && p.Waits[0].Reason == WaitManagedBy {
		f.ManagedBy = true
	}
	for i := range p.Create {
		f.CreateReason = p.Create[i].Reason
		switch effectAt(o.Created, i).Result {
		case Done:
			f.PodsCreated++
		case Unsuccessful, Refused:
			f.PodsNotCreated++
		}
	}
	if end := final.Finished(); end != "" && b.Status.Finished() == "" {
		f.Finished = end
		f.FinishedReason = final.Condition(end).Reason
	}
	return f
}

func (p *Plan) action() Action {
	switch {
	case len(p.Delete) > 0:
		return ActionPodsDeleted
	case len(p.Create) > 0:
		return ActionPodsCreated
	case len(p.Untrack) > 0:
		return ActionTracking
	}
	return ActionReconciling
}

func countDone(results []Result) (n int32) {
	for _, r := range results {
		if r.isDone() {
			n++
		}
	}
	return n
}
