package job

import "testing"

// TestJ5_CompletionMode: a job without a mode is NonIndexed, and one with a mode that this
// version does not know is left alone. If it is another controller's job (J3), no event says so.
func TestJ5_CompletionMode(t *testing.T) {
	s := snapshotOf(t, `{}`)
	s.Job.Spec.CompletionMode = ""
	if plan := PlanOf(t, s); len(plan.Create) != 1 {
		t.Errorf("no mode:\n%s", plan)
	}
	s = snapshotOf(t, `{"completionMode": "Sorted"}`, endedPod("a", PodFailed))
	plan := PlanOf(t, s)
	if end := plan.Conclude(Outcome{}); len(plan.Create)+len(plan.Untrack) > 0 || end.Retry || len(end.Events) != 1 ||
		end.Metrics.PodsFailed != 0 {
		t.Errorf("an unknown mode: %+v\n%s", end, plan)
	}

	other := "example.com/other"
	s.Job.Spec.ManagedBy = &other
	if end := PlanOf(t, s).Conclude(Outcome{}); len(end.Events) > 0 || !end.Metrics.External {
		t.Errorf("an unknown mode of another controller's job: %+v", end)
	}
}
