package cronjob_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/schedule"
)

// A report runs each half hour of the working day. The controller was down from Friday noon until
// Monday morning. Then the latest missed run starts.
func ExampleReconcile() {
	c := cronjob.CronJob{Namespace: "default", Name: "report", UID: "cj-1", Spec: cronjob.Spec{
		Schedule: "*/30 9-17 * * 1-5", TimeZone: ptr("Europe/Berlin"), ConcurrencyPolicy: cronjob.Forbid,
	}}
	cronjob.Default(&c.Spec)
	c.Status.LastScheduleTime = time.Date(2026, 1, 2, 11, 0, 0, 0, time.UTC)

	plan, err := cronjob.Reconcile(cronjob.Snapshot{
		CronJob:  c,
		Now:      time.Date(2026, 1, 5, 7, 0, 0, 0, time.UTC),
		Schedule: cronjob.Compile(&c),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan.String())
	// Output:
	// create report-29456190 for 2026-01-02T16:30:00Z: the run is the latest of those that were missed (C7)
	// missed 10 runs, the latest at 2026-01-02T16:00:00Z
	// wait: the next run is at 2026-01-05T08:00:00Z
	// again at 2026-01-05T08:00:00.1Z
}

// A backfill requests the reports of the first days of the year, from before the CronJob was
// created. They run one at a time.
func ExampleBackfill() {
	c := cronjob.CronJob{Name: "report", UID: "cj-1", Spec: cronjob.Spec{Schedule: "0 6 * * *"}}
	cronjob.Default(&c.Spec)
	c.CreationTimestamp = time.Date(2026, 1, 8, 12, 0, 0, 0, time.UTC)
	snapshot := cronjob.Snapshot{
		CronJob: c, Now: time.Date(2026, 1, 8, 12, 30, 0, 0, time.UTC), Schedule: cronjob.Compile(&c),
		Backfills: []cronjob.Backfill{{
			ID: "new-year", After: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC),
			Overlap: cronjob.Forbid,
		}},
	}
	for len(snapshot.Backfills) > 0 {
		plan, err := cronjob.Reconcile(snapshot)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(plan.String())
		// All writes succeed, and the job ends and is deleted before the next round.
		end := plan.Conclude(cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{Result: cronjobreason.ResultDone}}}, Settled: cronjob.Reply{Result: cronjobreason.ResultDone}})
		snapshot.Backfills = slices.DeleteFunc(end.Backfills, func(b cronjob.Backfill) bool { return b.IsComplete() })
	}
	// Output:
	// create report-29454120 for 2026-01-01T06:00:00Z: the run was asked for (Backfill)
	// wait: the next run is at 2026-01-09T06:00:00Z
	// wait: backfill "new-year": the run of 2026-01-02T06:00:00Z is held back: 1 active job
	// again at 2026-01-09T06:00:00.1Z
	// create report-29455560 for 2026-01-02T06:00:00Z: the run was asked for (Backfill)
	// wait: the next run is at 2026-01-09T06:00:00Z
	// again at 2026-01-09T06:00:00.1Z
}

// Several schedules with exceptions are one schedule: a time that they share runs once.
func ExampleCompile() {
	c := cronjob.CronJob{Name: "report", UID: "cj-1", Spec: cronjob.Spec{Schedule: "0 9 * * 1-5", TimeZone: ptr("Europe/Berlin")}}
	cronjob.Default(&c.Spec)
	c.CreationTimestamp = time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)
	plan, err := cronjob.Reconcile(cronjob.Snapshot{
		CronJob: c, Now: c.CreationTimestamp, Schedule: cronjob.Compile(&c, schedule.Also("0 12 * * 6"), schedule.Except("* * 24-26 12 *")),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan.String())
	// Output:
	// wait: the next run is at 2026-12-28T08:00:00Z
	// again at 2026-12-28T08:00:00.1Z
}

// The status depends on the results of the writes.
func ExamplePlan_Settle() {
	c := cronjob.CronJob{Name: "report", UID: "cj-1", Spec: cronjob.Spec{Schedule: "@hourly"}}
	cronjob.Default(&c.Spec)
	c.CreationTimestamp = time.Date(2026, 1, 1, 8, 30, 0, 0, time.UTC)
	plan, err := cronjob.Reconcile(cronjob.Snapshot{
		CronJob: c, Now: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC), Schedule: cronjob.Compile(&c),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, result := range []cronjobreason.Result{cronjobreason.ResultDone, cronjobreason.ResultUnsuccessful} {
		settlement := plan.Settle(cronjob.Writes{
			Created: []cronjob.Effect{{Result: result, Job: cronjob.Reference{UID: "job-1"}}},
		})
		fmt.Println(settlement.Write, settlement.Status)
	}
	// Output:
	// true active=[report-29454300] lastScheduleTime=2026-01-01T09:00:00Z
	// false active=[]
}

// A user requests a report between two runs of the schedule. The ID is part of the job's name, so
// requesting it twice is harmless.
func ExampleTrigger() {
	c := cronjob.CronJob{Name: "report", UID: "cj-1", Spec: cronjob.Spec{Schedule: "@hourly"}}
	cronjob.Default(&c.Spec)
	c.CreationTimestamp = time.Date(2026, 1, 1, 8, 30, 0, 0, time.UTC)
	snapshot := cronjob.Snapshot{
		CronJob: c, Now: time.Date(2026, 1, 1, 8, 45, 0, 0, time.UTC), Schedule: cronjob.Compile(&c),
		Triggers: []cronjob.Trigger{{ID: "ticket-17"}},
	}
	plan, err := cronjob.Reconcile(snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan.String())
	end := plan.Conclude(cronjob.Outcome{
		Writes:  cronjob.Writes{Created: []cronjob.Effect{{Result: cronjobreason.ResultDone, Job: cronjob.Reference{UID: "job-1"}}}},
		Settled: cronjob.Reply{Result: cronjobreason.ResultDone},
	})
	fmt.Println("completed:", end.Triggered)
	// Output:
	// create report-manual-ticket-17: it was asked for (Trigger)
	// wait: the next run is at 2026-01-01T09:00:00Z
	// again at 2026-01-01T09:00:00.1Z
	// completed: [ticket-17]
}
