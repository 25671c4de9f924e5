package job

import (
	"strings"
	"testing"
)

// TestUnknownScheduling: a plan says that spec.scheduling of 1.37 is not known, and the field
// survives.
func TestUnknownScheduling(t *testing.T) {
	plan := PlanOf(t, snapshotOf(t, `{"scheduling": {"schedulingPolicy": {"gang": {"minCount": 2}}}}`))
	if len(plan.Create) != 1 || len(plan.Notes) != 1 || plan.Notes[0].Field != "job.spec.scheduling" || !strings.Contains(plan.Notes[0].Message, "no gang") {
		t.Errorf("notes %v", plan.Notes)
	}
}
