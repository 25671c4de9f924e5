package job

import (
	"fmt"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job/jobquirk"
)

// TestJ39_ResumeStartsAnew resumes a job whose status has kept its start time, as in earlier
// versions of Kubernetes. The start time becomes now, so the deadline counts from now.
func TestJ39_ResumeStartsAnew(t *testing.T) {
	now := second(0)
	status := asSuspended(Snapshot{Job: Job{Status: Status{StartTime: now.Add(-time.Hour)}}}, ConditionTrue).Job.Status
	recordSuspension(&status, &facts{Now: now, Status: status})
	if !status.StartTime.Equal(now) {
		t.Errorf("start time %v, want %v", status.StartTime, now)
	}
	if c, want := status.Condition(ConditionSuspended),
		(Condition{ConditionSuspended, ConditionFalse, now, now, "JobResumed", "Job resumed"}); c != want {
		t.Errorf("condition %+v, want %+v", c, want)
	}
}

// TestJ39_ConditionOfAnotherWriter: another writer has set the condition Suspended to the right
// status, with a reason of its own. The condition and the start time are left alone. With the quirk
// SuspendedRewritten both are overwritten, and an event reports it.
func TestJ39_ConditionOfAnotherWriter(t *testing.T) {
	for _, test := range []struct {
		name    string
		suspend bool
		is      Condition
		quirk   string // the reason that the quirk writes
	}{
		{"running, another reason", false, Condition{ConditionSuspended, ConditionFalse, second(1), second(1), "Queue", "Job resumed"}, "JobResumed"},
		{"running, another message", false, Condition{ConditionSuspended, ConditionFalse, second(1), second(1), "JobResumed", "by the queue"}, "JobResumed"},
		{"running, unknown", false, Condition{ConditionSuspended, ConditionUnknown, second(1), second(1), "JobResumed", "Job resumed"}, "JobResumed"},
		{"running, as we write it", false, Condition{ConditionSuspended, ConditionFalse, second(1), second(1), "JobResumed", "Job resumed"}, ""},
		{"running, no condition", false, Condition{}, ""},
		{"suspended, another reason", true, Condition{ConditionSuspended, ConditionTrue, second(1), second(1), "Queue", "Job suspended"}, "JobSuspended"},
		{"suspended, another message", true, Condition{ConditionSuspended, ConditionTrue, second(1), second(1), "JobSuspended", "by the queue"}, "JobSuspended"},
		{"suspended, as we write it", true, Condition{ConditionSuspended, ConditionTrue, second(1), second(1), "JobSuspended", "Job suspended"}, ""},
	} {
		for _, quirk := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/quirk=%v", test.name, quirk), func(t *testing.T) {
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
				if quirk && test.quirk != "" {
					s.Options.Quirks = jobquirk.SetOf(jobquirk.SuspendedRewritten)
					want, events = test.quirk, 1
					if !test.suspend {
						start = s.Now
					}
				}

				plan := PlanOf(t, s)
				o := doneAll(plan)
				status := settled(plan, o).Status
				if got := status.Condition(ConditionSuspended).Reason; got != want || !status.StartTime.Equal(start) {
					t.Errorf("reason %q, start time %v, want %q and %v", got, status.StartTime, want, start)
				}
				if got := plan.Conclude(o).Events; len(got) != events {
					t.Errorf("events %v, want %d", got, events)
				}
			})
		}
	}
}

// TestJ39_ConditionIsAddedForTrueOnly: a job without the condition gets it when it is suspended,
// and never with status False. This holds with the quirk and without it.
func TestJ39_ConditionIsAddedForTrueOnly(t *testing.T) {
	for _, quirks := range []jobquirk.Set{{}, jobquirk.SetOf(jobquirk.SuspendedRewritten)} {
		for status, want := range map[ConditionStatus]bool{ConditionTrue: true, ConditionFalse: false} {
			if got := turnsSuspended(Condition{},
				Condition{Type: ConditionSuspended, Status: status, Reason: "r", Message: "m"}, quirks); got != want {
				t.Errorf("quirks %v, %s: %v, want %v", quirks, status, got, want)
			}
		}
	}
}

// TestJ39_ResumedWithTooManyPods: the round that deletes surplus pods also records that the job is
// resumed.
func TestJ39_ResumedWithTooManyPods(t *testing.T) {
	plan := PlanOf(t, asSuspended(snapshotOf(t, `{"completions": 9}`, activePod("a"), activePod("b")), ConditionTrue))
	if c := plan.Record(doneAll(plan).Writes).Status.Condition(ConditionSuspended); len(plan.Delete) != 1 ||
		c.Status != ConditionFalse {
		t.Errorf("%d deletions, %+v", len(plan.Delete), c)
	}
}
