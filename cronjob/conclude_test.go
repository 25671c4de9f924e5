package cronjob

import (
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// C2: with the quirk, a failed deletion of the history is not repeated. One that a new
// run asked for is.
func TestC2_EagerDeletionsAreNotRepeated(t *testing.T) {
	for _, tc := range []struct {
		quirks cronjobquirk.Set
		reason DeleteReason
		again  bool
	}{
		{0, DeleteSuccessful, true},
		{0, DeleteFailed, true},
		{cronjobquirk.EagerHistory, DeleteSuccessful, false},
		{cronjobquirk.EagerHistory, DeleteFailed, false},
		{cronjobquirk.EagerHistory, DeleteReplaced, true},
	} {
		p := Plan{basis: basis{Quirks: tc.quirks}, Delete: []Deletion{{Reason: tc.reason}}}
		if got := p.Conclude(Outcome{Writes: Writes{Deleted: []Effect{{Result: ResultUnsuccessful}}}}).Retry; got != tc.again {
			t.Errorf("quirks %b, %v: again %t", tc.quirks, tc.reason, got)
		}
	}
}

// C11: that a job runs already is not told where the round finds out that it is gone and
// a run waits for it. Other events are reported in any case.
func TestC11_EventsThatHaveBecomeUntrue(t *testing.T) {
	for _, tc := range []struct {
		blocked  bool
		verified Result
		want     string
	}{
		{true, ResultGone, "MissSchedule"},
		{true, ResultDone, "JobAlreadyActive MissSchedule"},
		{false, ResultGone, "JobAlreadyActive MissSchedule"},
	} {
		p := Plan{
			basis:  basis{Blocked: tc.blocked},
			Verify: []Reference{{Name: "a", UID: "a"}},
			Events: []job.Event{{Reason: "JobAlreadyActive"}, {Reason: "MissSchedule"}},
		}
		var got []string
		for _, e := range p.Conclude(Outcome{Writes: Writes{Verified: []Result{tc.verified}}}).Events {
			got = append(got, e.Reason)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("blocked %t, %v: got %v, want %s", tc.blocked, tc.verified, got, tc.want)
		}
	}
}

// C16: only the job of a run has a time that it should have been created at.
func TestC16_SkewOfRunsAlone(t *testing.T) {
	run := time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name     string
		creation Creation
		created  time.Time
		want     time.Duration
	}{
		{"a run", Creation{ScheduledTime: run}, run.Add(time.Second), time.Second},
		{"a run whose job has no time", Creation{ScheduledTime: run}, time.Time{}, 0},
		{"a trigger", Creation{Trigger: "a"}, run.Add(time.Second), 0},
		{"a backfill", Creation{ScheduledTime: run, Backfill: "b"}, run.Add(time.Second), 0},
	} {
		p := Plan{Create: []Creation{tc.creation}}
		f := p.Conclude(Outcome{Writes: Writes{Created: []Effect{{Result: ResultDone, CreationTimestamp: tc.created}}}}).Metrics
		if f.CreationSkew != tc.want || f.Created != 1 {
			t.Errorf("%s: %+v, want a skew of %v", tc.name, f, tc.want)
		}
	}
}

// TestCL4_RoomMadeByTheRound: what waits for active jobs gets its turn immediately when the
// round has replaced these, or when a creation that was counted has come to nothing.
func TestCL4_RoomMadeByTheRound(t *testing.T) {
	tests := []struct {
		name    string
		blocked bool
		outcome Outcome
		want    WaitReason
	}{
		{"a job was replaced", true, Outcome{Writes: Writes{Deleted: []Effect{{Result: ResultDone}}}, Settled: ResultDone}, WaitActive},
		{"it was gone", true, Outcome{Writes: Writes{Deleted: []Effect{{Result: ResultGone}}}, Settled: ResultDone}, WaitActive},
		{"it could not be deleted", true, Outcome{Writes: Writes{Deleted: []Effect{{Result: ResultUnsuccessful}}}, Settled: ResultDone}, WaitNextRun},
		{"nothing waits", false, Outcome{Writes: Writes{Deleted: []Effect{{Result: ResultDone}}}, Settled: ResultDone}, WaitNextRun},
		{"the status is not written", true, Outcome{Writes: Writes{Deleted: []Effect{{Result: ResultDone}}}, Settled: ResultUnsuccessful}, WaitNextRun},
		{"the name is taken", true, Outcome{Writes: Writes{Created: []Effect{{Result: ResultNameTaken}}}, Settled: ResultDone}, WaitActive},
		{"the namespace refuses the job", true, Outcome{Writes: Writes{Created: []Effect{{Result: ResultRefused}}}, Settled: ResultDone}, WaitNextRun},
		{"the job is created", true, Outcome{Writes: Writes{Created: []Effect{{Result: ResultDone}}}, Settled: ResultDone}, WaitNextRun},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			active := Status{Active: []Reference{{Name: "a", UID: "a"}}}
			p := Plan{
				CronJobUID: "c", basis: basis{Blocked: test.blocked, Before: active, Status: active},
				Delete:  []Deletion{{Reference: Reference{Name: "a", UID: "a"}, Reason: DeleteReplaced}},
				Create:  []Creation{{Name: "b", Trigger: "b", Reason: CreateTriggered}},
				Requeue: Requeue{Reason: WaitNextRun},
			}
			if got := p.Conclude(test.outcome).Requeue.Reason; got != test.want {
				t.Errorf("again for reason %v, want %v", got, test.want)
			}
		})
	}
}
