package job

import "testing"

// TestJ29_DeletionsTakePrecedence: one pod has a duplicate index, and others are missing. This
// round deletes; the next one creates.
func TestJ29_DeletionsTakePrecedence(t *testing.T) {
	s := snapshotOf(t, `{"completionMode": "Indexed", "completions": 4, "parallelism": 4}`,
		Pod{Name: "zero", UID: "1", Phase: PodRunning, Index: IndexAt(0)},
		Pod{Name: "zero-again", UID: "2", Index: IndexAt(0)},
	)
	plan := PlanOf(t, s)
	if len(plan.Delete) != 1 || plan.Delete[0].Name != "zero-again" || len(plan.Create) != 0 {
		t.Errorf("with a duplicate:\n%s", plan.String())
	}
	s.Pods = s.Pods[:1]
	plan = PlanOf(t, s)
	if len(plan.Delete) != 0 || len(plan.Create) != 3 || plan.Create[0].Index != IndexAt(1) {
		t.Errorf("without:\n%s", plan.String())
	}
}
