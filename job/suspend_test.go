package job

import (
	"fmt"
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
	if c, want := status.Condition(Suspended), (Condition{Suspended, ConditionFalse, now, now, "JobResumed", "Job resumed"}); c != want {
		t.Errorf("condition %+v, want %+v", c, want)
	}
}

// TestJ39_ConditionOfAnotherWriter: another writer has set the condition to the right
// status for a reason of its own. It is left alone, and so is the start time. The slip
// writes over both and reports the event.
func TestJ39_ConditionOfAnotherWriter(t *testing.T) {
	tests := []struct {
		name    string
		suspend bool
		is      Condition
		slip    string // reason that the slip writes
	}{
		{"running, another reason", false, Condition{Suspended, ConditionFalse, second(1), second(1), "Queue", "Job resumed"}, "JobResumed"},
		{"running, another message", false, Condition{Suspended, ConditionFalse, second(1), second(1), "JobResumed", "by the queue"}, "JobResumed"},
		{"running, unknown", false, Condition{Suspended, ConditionUnknown, second(1), second(1), "JobResumed", "Job resumed"}, "JobResumed"},
		{"running, as we write it", false, Condition{Suspended, ConditionFalse, second(1), second(1), "JobResumed", "Job resumed"}, ""},
		{"running, no condition", false, Condition{}, ""},
		{"suspended, another reason", true, Condition{Suspended, ConditionTrue, second(1), second(1), "Queue", "Job suspended"}, "JobSuspended"},
		{"suspended, another message", true, Condition{Suspended, ConditionTrue, second(1), second(1), "JobSuspended", "by the queue"}, "JobSuspended"},
		{"suspended, as we write it", true, Condition{Suspended, ConditionTrue, second(1), second(1), "JobSuspended", "Job suspended"}, ""},
	}
	for _, test := range tests {
		for _, slip := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/slip=%v", test.name, slip), func(t *testing.T) {
				s := snapshotOf(t, `{}`, activePod("a"))
				start := s.Job.Status.StartTime
				if test.suspend {
					s.Pods, start = nil, time.Time{}
				}
				s.Job.Spec.Suspend = &test.suspend
				s.Job.Status.StartTime = start
				if test.is.Type != "" {
					s.Job.Status.Conditions = []Condition{test.is}
				}
				want, events := test.is.Reason, 0
				if slip && test.slip != "" {
					s.Options.Slips = SlipSuspendedRewritten
					want, events = test.slip, 1
					if !test.suspend {
						start = s.Now
					}
				}
				plan := planOf(t, s)
				o := doneAll(plan)
				status := plan.Settle(o).Status
				if got := status.Condition(Suspended).Reason; got != want || !status.StartTime.Equal(start) {
					t.Errorf("reason %q, start time %v, want %q and %v", got, status.StartTime, want, start)
				}
				if got := plan.Conclude(o).Events; len(got) != events {
					t.Errorf("events %v, want %d", got, events)
				}
			})
		}
	}
}

// TestJ39_ConditionIsAddedForTrueOnly: a job without the condition gets it when it is
// suspended, and never with status False, with the slip and without.
func TestJ39_ConditionIsAddedForTrueOnly(t *testing.T) {
	for _, slips := range []Slips{0, SlipSuspendedRewritten} {
		for status, want := range map[ConditionStatus]bool{ConditionTrue: true, ConditionFalse: false} {
			if got := turnsSuspended(Condition{}, Condition{Type: Suspended, Status: status, Reason: "r", Message: "m"}, slips); got != want {
				t.Errorf("slips %v, %s: %v, want %v", slips, status, got, want)
			}
		}
	}
}
