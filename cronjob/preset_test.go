package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// C13: a schedule that names a zone itself wins over timeZone; the run's annotation is in
// that of timeZone all the same, and an event says that this is not supported.
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

// A suspended CronJob's schedule is not looked at.
func TestC6_ZoneInTheScheduleOfASuspendedCronJob(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "TZ=Asia/Tokyo 0 10 * * *", Suspend: ptr(true)})
	if got := reconcile(t, snapshot(c, hours(1))).Events; len(got) > 0 {
		t.Errorf("events %v", got)
	}
}

// With the preset "@every" counts from the run that was started, even if a deadline has
// moved it away from the runs that were missed before.
func TestC7_EveryAfterACreation(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@every 1h", StartingDeadlineSeconds: ptr[int64](5400)})
	s := kubernetes(snapshot(c, start.Add(5*time.Hour+20*time.Minute)))
	plan := reconcile(t, s)
	run := start.Add(4*time.Hour + 50*time.Minute)
	if got := created(t, plan); !got.Equal(run) {
		t.Fatalf("got %s", got)
	}
	if at := plan.Requeue.At; !at.Equal(run.Add(time.Hour + 100*time.Millisecond)) {
		t.Errorf("again at %s", at)
	}
}
