package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job/release"
)

func TestC13_CI2_Creation(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "30 1 * * *", TimeZone: ptr("America/New_York"), JobTemplate: cronjob.JobTemplate{
		Labels: map[string]string{"app": "report"}, Annotations: map[string]string{"team": "a"},
	}})
	// If the clocks show an hour twice, a run in that hour has two jobs.
	for _, tc := range []struct{ now, name, run string }{
		{"2026-11-01T05:30:00Z", "report-29891850", "2026-11-01T01:30:00-04:00"},
		{"2026-11-01T06:30:00Z", "report-29891910", "2026-11-01T01:30:00-05:00"},
	} {
		made := reconcile(t, snapshot(c, at(tc.now))).Create[0]
		if made.Name != tc.name {
			t.Errorf("got %q, want %q", made.Name, tc.name)
		}
		if diff := cmp.Diff(map[string]string{"team": "a", cronjob.TimestampAnnotation: tc.run}, made.Annotations); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{"app": "report"}, made.Labels); diff != "" {
			t.Error(diff)
		}
		made.Labels["mine"] = "x" // this must not change the template

		for _, o := range []cronjob.Options{{Without: release.GatesOf(release.CronJobsScheduledAnnotation)}, {Marks: cronjob.Marks{TimeIn: cronjob.InLabel, TimeKey: "run"}}} {
			other := reconcile(t, in(snapshot(c, at(tc.now)), o)).Create[0]
			if other.Labels["run"] != "" != (o.Marks.TimeKey != "") || len(other.Annotations) > 1 {
				t.Errorf("labels %v, annotations %v", other.Labels, other.Annotations)
			}
		}
		inUTC := reconcile(t, in(snapshot(c, at(tc.now)), cronjob.Options{Marks: cronjob.Marks{UTC: true}})).Create[0]
		if got, want := inUTC.Annotations[cronjob.TimestampAnnotation], made.ScheduledTime.UTC().Format(time.RFC3339); got != want {
			t.Errorf("in UTC: %s, want %s", got, want)
		}
		c.Status.LastScheduleTime = made.ScheduledTime
	}
}

// C13: a zone in the schedule overrides timeZone. The run's annotation is still in timeZone, and an
// event reports that this is not supported.
func TestC13_ZoneInTheSchedule(t *testing.T) {
	for _, preset := range []bool{false, true} {
		c := newCronJob(cronjob.Spec{Schedule: "TZ=Asia/Tokyo 0 10 * * *", TimeZone: ptr("Europe/Berlin")})
		s := snapshot(c, hours(1)) // ten o'clock in Tokyo, two in Berlin
		if preset {
			s = kubernetes(s)
		}
		plan := reconcile(t, s)
		if got := created(t, plan); !got.Equal(hours(1)) {
			t.Fatalf("got %s", got)
		}
		if got, want := plan.Create[0].Annotations[cronjob.TimestampAnnotation], "2026-01-01T02:00:00+01:00"; got != want {
			t.Errorf("preset %t: annotation %s, want %s", preset, got, want)
		}
		if got := reasons(plan.Events); !slices.Equal(got, []string{"UnsupportedSchedule"}) {
			t.Errorf("preset %t: events %q", preset, got)
		}
	}
}
