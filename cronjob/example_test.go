package cronjob_test

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// A report runs each half hour of the working day. The controller was down from
// Friday noon until Monday morning: what now?
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

// What really happened decides about the status.
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
	for _, result := range []cronjob.Result{cronjob.Done, cronjob.Unsuccessful} {
		outcome := cronjob.Outcome{Created: []cronjob.Effect{{Result: result, Job: cronjob.Reference{UID: "job-1"}}}}
		settlement := plan.Settle(outcome)
		fmt.Println(settlement.Write, settlement.Status)
	}
	// Output:
	// true active=[report-29454300] lastScheduleTime=2026-01-01T09:00:00Z
	// false active=[]
}
