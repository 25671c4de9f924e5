package cronjob_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// B4: all values in a plan have a text, even values of a newer version.
func TestB4_Words(t *testing.T) {
	for got, want := range map[string]string{
		fmt.Sprint(cronjob.CatchUpLatest, cronjob.CatchUpNone, cronjob.CatchUpAll, cronjob.CatchUp(9)): "Latest None All CatchUp(9)",
		fmt.Sprint(cronjobreason.ResultNotTried, cronjobreason.ResultRefused, cronjobreason.Result(9)): "not tried refused Result(9)",
		cronjobreason.DeleteExpired.String():           "it finished long enough ago (KeepSuccessful, KeepFailed)",
		cronjobreason.Delete(9).String():               "Delete(9)",
		cronjobreason.CreateBackfilled.String():        "the run was asked for (Backfill)",
		cronjobreason.Create(9).String():               "Create(9)",
		cronjob.Wait{Reason: 99}.String():              "wait for reason 99",
		(&cronjob.Plan{}).String():                     "nothing to do\n",
		cronjob.Status{}.String():                      "active=[]",
		cronjob.Naming{}.JobName("a", time.Unix(0, 0)): "a-0",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestB4_Waits(t *testing.T) {
	for want, w := range map[string]cronjob.Wait{
		"the next run is at 2026-01-01T01:00:00Z":                                      {Reason: cronjobreason.WaitNextRun, Until: hours(1)},
		"the schedule has no further run":                                              {Reason: cronjobreason.WaitNever},
		"the run of 2026-01-01T01:00:00Z is held back: 2 active jobs":                  {Reason: cronjobreason.WaitActive, Run: hours(1), Jobs: 2},
		"1 active job not among the children, looked up":                               {Reason: cronjobreason.WaitVerify, Jobs: 1},
		"the run of 2026-01-01T01:00:00Z is given up at 2026-01-01T02:00:00Z":          {Reason: cronjobreason.WaitStartDeadline, Run: hours(1), Until: hours(2)},
		`"x" is held back: the snapshot is older than the last write`:                  {Reason: cronjobreason.WaitStale, Run: hours(1), Name: "x"},
		`the run of 2026-01-01T01:00:00Z does not start: "x" belongs to another owner`: {Reason: cronjobreason.WaitNameTaken, Run: hours(1), Name: "x"},
		"the CronJob is suspended":                                                     {Reason: cronjobreason.WaitSuspended},
		"the CronJob is being deleted":                                                 {Reason: cronjobreason.WaitDeleted},
		"there is no schedule: because":                                                {Reason: cronjobreason.WaitNoSchedule, Name: "because"},
		"the last run, 2026-01-01T01:00:00Z, lies in the future":                       {Reason: cronjobreason.WaitClock, Run: hours(1)},
		"a finished job is kept until 2026-01-01T01:00:00Z":                            {Reason: cronjobreason.WaitHistory, Until: hours(1)},
		`trigger "b" is held back: 2 active Works`:                                     {Reason: cronjobreason.WaitTrigger, Name: "b", Jobs: 2, Kind: "Work"},
		"a finished Work is kept until 2026-01-01T01:00:00Z":                           {Reason: cronjobreason.WaitHistory, Until: hours(1), Kind: "Work"},
		"the run of 2026-01-01T01:00:00Z is held back: 1 Work to record first":         {Reason: cronjobreason.WaitRecord, Run: hours(1), Jobs: 1, Kind: "Work"},
		`trigger "a" is held back: 1 active job`:                                       {Reason: cronjobreason.WaitTrigger, Name: "a", Jobs: 1},
		"the run of 2026-01-01T01:00:00Z is held back: 1 job to record first":          {Reason: cronjobreason.WaitRecord, Run: hours(1), Jobs: 1},
		`backfill "a": the run of 2026-01-01T01:00:00Z is not due`:                     {Reason: cronjobreason.WaitBackfill, Name: "a", Run: hours(1), Until: hours(1)},
		`backfill "a": the run of 2026-01-01T01:00:00Z is left to the schedule`:        {Reason: cronjobreason.WaitBackfill, Name: "a", Run: hours(1)},
	} {
		if got := w.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The text of a plan names each action with its reason, in the order of the writes.
func TestB4_PlanString(t *testing.T) {
	gone, old := cronjob.Reference{Name: "report-gone", UID: "gone"}, finished(child(hours(1)), job.ConditionComplete, hours(1.5))
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", SuccessfulJobsHistoryLimit: ptr[int32](0)})
	c.Status = cronjob.Status{
		Active: []cronjob.Reference{gone, ref(old)}, LastScheduleTime: hours(1), LastSuccessfulTime: hours(1.5),
	}

	older := finished(child(hours(-2)), job.ConditionComplete, hours(-1.5))
	s := snapshot(c, hours(2), old, older)
	s.Triggers = []cronjob.Trigger{{ID: "now"}, {ID: "later", Overlap: cronjob.Forbid}}
	s.Backfills = []cronjob.Backfill{between("past", -1, 0, ""), between("none", -1, -1, "")}

	plan := reconcile(t, s)

	want := `verify report-gone: active, and perhaps gone (C5)
delete report-29453640: more successful jobs than successfulJobsHistoryLimit (C2)
create report-29453880 for 2026-01-01T02:00:00Z: the run is due (C7)
create report-manual-now: it was asked for (Trigger)
backfill none: complete
status active=[report-gone] lastScheduleTime=2026-01-01T01:00:00Z lastSuccessfulTime=2026-01-01T01:30:00Z
event Normal SawCompletedJob: Saw completed job: report-29453820, condition: Complete
wait: 1 active job not among the children, looked up
wait: the next run is at 2026-01-01T03:00:00Z
wait: trigger "later" is held back: 2 active jobs
wait: backfill "past": the run of 2026-01-01T00:00:00Z is held back: 3 active jobs
again at 2026-01-01T03:00:00.1Z
`

	if got := plan.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
