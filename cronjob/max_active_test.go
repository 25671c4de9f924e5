package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// "At most N jobs at the same time" counts the jobs of triggers.
func TestMaxActive_Triggers(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1))
	s.Options.MaxActive = 2
	s.Triggers = []cronjob.Trigger{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	plan := reconcile(t, s)
	var names []string
	for _, c := range plan.Create {
		names = append(names, c.Name)
	}
	if want := []string{cronjob.JobName("report", hours(1)), "report-manual-a"}; !slices.Equal(names, want) {
		t.Fatalf("got %q, want %q", names, want)
	}
	waits := 0
	for _, w := range plan.Waits {
		if w.Reason == cronjob.WaitTrigger {
			waits++
		}
	}
	if waits != 2 {
		t.Error(plan.String())
	}
}

// A run does not count what it replaces against MaxActive, but what it spares.
func TestMaxActive_Replace(t *testing.T) {
	run, asked := child(hours(1)), child(hours(-5))
	asked.Backfilled = true
	for _, tc := range []struct {
		name  string
		other cronjob.Child
		limit int32
		want  time.Time
	}{{"replaced", run, 1, hours(2)}, {"spared", asked, 1, time.Time{}}, {"room for both", asked, 2, hours(2)}} {
		c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace})
		c.Status = cronjob.Status{Active: []cronjob.Reference{ref(tc.other)}, LastScheduleTime: hours(1)}
		s := snapshot(c, hours(2), tc.other)
		s.Options.MaxActive = tc.limit
		if got := created(t, reconcile(t, s)); !got.Equal(tc.want) {
			t.Errorf("%s: got %s", tc.name, got)
		}
	}
}
