package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

func TestC9_MissSchedule(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", StartingDeadlineSeconds: ptr[int64](60)})
	s := snapshot(c, start.Add(2*time.Hour+5*time.Minute))
	plan := reconcile(t, s)
	if got := reasons(plan.Events); !slices.Equal(got, []string{"MissSchedule"}) || plan.Missed.Count != 2 || !plan.Missed.TooLate {
		t.Error(plan.String())
	}
	s.Memory = plan.Conclude(cronjob.Outcome{}).Memory
	if !s.Memory.Kept().Counted.Equal(hours(2)) {
		t.Errorf("counted up to %v, want the latest missed run", s.Memory.Kept().Counted)
	}
	if plan := reconcile(t, s); len(plan.Events) > 0 || plan.Missed.Count != 2 {
		t.Errorf("once a run: %s", plan.String())
	}
	s.Now = s.Now.Add(time.Hour)
	if plan := reconcile(t, s); len(plan.Events) != 1 {
		t.Errorf("the next run, too: %s", plan.String())
	}
	if plan := reconcile(t, kubernetes(s)); len(plan.Events) > 0 {
		t.Errorf("the reference never says so: %s", plan.String())
	}
}

// A counter adds up what the metrics say: each missed run counts once, though a run that is
// held makes each round look back over the same ones.
func TestMetrics_MissedCountsOnce(t *testing.T) {
	running := child(hours(1))
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(running)}, LastScheduleTime: hours(1)}
	s := snapshot(c, start, running)
	for _, tc := range []struct {
		now       float64
		seen, new int
	}{{4.1, 2, 2}, {4.2, 2, 0}, {4.9, 2, 0}, {5, 3, 1}, {7.5, 5, 2}} {
		s.Now = hours(tc.now)
		plan := reconcile(t, s)
		end := plan.Conclude(cronjob.Outcome{})
		if plan.Missed.Count != tc.seen || end.Metrics.Missed != tc.new {
			t.Errorf("at %v: %d missed, %d of them new; want %d and %d", tc.now, plan.Missed.Count, end.Metrics.Missed, tc.seen, tc.new)
		}
		s.Memory = end.Memory
	}
}
