package cronjob_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

func TestC6_CI10_NothingStarts(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*cronjob.CronJob)
		events []string
		wait   cronjobreason.Wait
	}{
		{"deleted", func(c *cronjob.CronJob) { c.DeletionTimestamp = start }, nil, cronjobreason.WaitDeleted},
		{"suspended", func(c *cronjob.CronJob) { c.Spec.Suspend = ptr(true) }, nil, cronjobreason.WaitSuspended},
		{"unknown zone", func(c *cronjob.CronJob) { c.Spec.TimeZone = ptr("Mars/Base") }, []string{"UnknownTimeZone"}, cronjobreason.WaitNoSchedule},
		{"unknown zone beside a zone in the schedule", func(c *cronjob.CronJob) {
			c.Spec.TimeZone, c.Spec.Schedule = ptr("Mars/Base"), "TZ=Asia/Tokyo @hourly"
		}, []string{"UnknownTimeZone"}, cronjobreason.WaitNoSchedule},
		{"zone of the machine", func(c *cronjob.CronJob) { c.Spec.TimeZone = ptr("Local") }, []string{"UnknownTimeZone"}, cronjobreason.WaitNoSchedule},
		{"zone outside of the folder", func(c *cronjob.CronJob) { c.Spec.TimeZone = ptr("../x") }, []string{"UnknownTimeZone"}, cronjobreason.WaitNoSchedule},
		{"suspended, in an unknown zone", func(c *cronjob.CronJob) {
			c.Spec.Suspend, c.Spec.TimeZone = ptr(true), ptr("Mars/Base")
		}, []string{"UnknownTimeZone"}, cronjobreason.WaitNoSchedule},
		{"suspended, and unparseable", func(c *cronjob.CronJob) {
			c.Spec.Suspend, c.Spec.Schedule = ptr(true), "soon"
		}, nil, cronjobreason.WaitSuspended},
		{"deleted, in an unknown zone", func(c *cronjob.CronJob) {
			c.DeletionTimestamp, c.Spec.TimeZone = start, ptr("Mars/Base")
		}, nil, cronjobreason.WaitDeleted},
		{"unparseable", func(c *cronjob.CronJob) { c.Spec.Schedule = "soon" }, []string{"UnparseableSchedule"}, cronjobreason.WaitNoSchedule},
		{"never", func(c *cronjob.CronJob) { c.Spec.Schedule = "0 0 31 2 *" }, []string{"InvalidSchedule"}, cronjobreason.WaitNever},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
			tc.change(&c)

			plan := reconcile(t, snapshot(c, start.Add(5*time.Hour)))
			if len(plan.Create) > 0 || !plan.Requeue.At.IsZero() || len(plan.Waits) != 1 || plan.Waits[0].Reason != tc.wait {
				t.Error(plan.String())
			}
			if got := reasons(plan.Events); !slices.Equal(got, tc.events) {
				t.Errorf("events %q, want %q", got, tc.events)
			}
			for _, e := range plan.Events {
				if advises := strings.Contains(e.Message, "; correct the name"); advises != (e.Reason == "UnknownTimeZone") {
					t.Errorf("%s: %s", e.Reason, e.Message)
				}
				// Importing time/tzdata adds no other zones.
				if advises := strings.Contains(e.Message, "time/tzdata"); advises != strings.Contains(e.Message, "Mars/Base") {
					t.Errorf("%s: %s", e.Reason, e.Message)
				}
			}
		})
	}
}

// A suspended CronJob's schedule is not checked.
func TestC6_ZoneInTheScheduleOfASuspendedCronJob(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "TZ=Asia/Tokyo 0 10 * * *", Suspend: ptr(true)})
	if got := reconcile(t, snapshot(c, hours(1))).Events; len(got) > 0 {
		t.Errorf("events %v", got)
	}
}
