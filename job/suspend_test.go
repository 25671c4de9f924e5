package job

import (
	"testing"
	"time"
)

// TestJ39_ResumeStartsAnew resumes a job whose status has kept the start time, as
// earlier versions of Kubernetes wrote it: the deadline counts from now.
func TestJ39_ResumeStartsAnew(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	status := Status{
		StartTime:  now.Add(-time.Hour),
		Conditions: []Condition{{Type: Suspended, Status: ConditionTrue, Reason: "JobSuspended"}},
	}
	recordSuspension(&status, &Basis{Now: now})
	if !status.StartTime.Equal(now) {
		t.Errorf("start time %v, want %v", status.StartTime, now)
	}
	if c := status.Condition(Suspended); c.Status != ConditionFalse || c.Reason != "JobResumed" || !c.LastTransitionTime.Equal(now) {
		t.Errorf("condition %+v", c)
	}
}
