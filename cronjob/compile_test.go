package cronjob_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/schedule"
)

// A time that two schedules share is one run; what is taken out does not run, and
// does not count as missed.
func TestCompile_SeveralSchedules(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "0 */2 * * *"})
	s := snapshot(c, hours(6.5))
	s.Schedule = cronjob.Compile(&c, schedule.Also("0 */3 * * *"), schedule.Except("* 4 * * *"))
	s.Options.CatchUp = cronjob.CatchUpAll
	if got, want := starts(t, s, 5), []float64{2, 3, 6}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	s.Schedule = cronjob.Compile(&c, schedule.Also("0 0 * * 7"))
	if s.Schedule.Problem != "UnparseableSchedule" || !strings.Contains(s.Schedule.Message, "0 0 * * 7") {
		t.Errorf("%+v", s.Schedule)
	}
}

// S1: "@every" counts from the creation of the CronJob, to the second.
func TestCompile_EveryCountsFromTheCreation(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@every 7h"})
	c.CreationTimestamp = at("2026-01-01T01:02:03Z")
	s := snapshot(c, at("2026-01-01T20:00:00Z"))
	if got, want := created(t, reconcile(t, s)), at("2026-01-01T15:02:03Z"); !got.Equal(want) {
		t.Errorf("got %s, want %s", got, want)
	}
	// An option counts from elsewhere.
	c.CreationTimestamp = time.Time{}
	c.Status.LastScheduleTime = start
	if got := created(t, reconcile(t, snapshot(c, at("2026-01-01T20:00:00Z")))); got.Equal(at("2026-01-01T15:02:03Z")) {
		t.Errorf("without a creation time got %s", got)
	}
}

// The message is about the schedule that the user wrote.
func TestC6_UnknownTimeZoneQuotesTheSchedule(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "30 6 * * *", TimeZone: ptr("Mars/Base")})
	compiled := cronjob.Compile(&c)
	if m := compiled.Message; !strings.Contains(m, `"30 6 * * *"`) || !strings.Contains(m, `"Mars/Base"`) || strings.Contains(m, "@daily") {
		t.Error(m)
	}
}
