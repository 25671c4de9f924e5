package cronjob_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

func TestJitter(t *testing.T) {
	delays := map[time.Duration]bool{}
	for _, uid := range []job.UID{"a", "b", "c", "d", "e", "f", "g", "h"} {
		c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
		c.UID = uid
		s := snapshot(c, hours(0.5))
		s.Options.Jitter = 3 * time.Hour // cut to the hour between runs
		at := reconcile(t, s).Requeue.At.Add(-100 * time.Millisecond)
		delay := at.Sub(hours(1))
		if delay < 0 || delay >= time.Hour {
			t.Errorf("%s: delay %s", uid, delay)
		}
		delays[delay] = true
		s.Now = at.Add(-1)
		if got := created(t, reconcile(t, s)); !got.IsZero() {
			t.Errorf("%s: starts before its time", uid)
		}
		s.Now = at
		if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
			t.Errorf("%s: at its time got %s", uid, got)
		}
		s.Now = hours(2)
		if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
			t.Errorf("%s: the run before waits no longer, got %s", uid, got)
		}
	}
	if len(delays) != 8 {
		t.Errorf("%d delays for 8 UIDs", len(delays))
	}
}

// C7: a run that its jitter holds back is not late by it.
func TestJitter_ProlongsTheDeadline(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", StartingDeadlineSeconds: ptr[int64](60)}), hours(1.5))
	s.Options.Jitter = 30 * time.Minute
	if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
		t.Errorf("half an hour late, got %s", got)
	}
	s.Now = hours(1.5).Add(2 * time.Minute)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("later than deadline and jitter together, got %s", got)
	}
}

// A schedule that never runs has nothing to delay, whatever the jitter.
func TestJitter_WithoutAnyRun(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "0 0 30 2 *"}), hours(1))
	s.Options.Jitter = time.Hour
	if plan := reconcile(t, s); !plan.Requeue.At.IsZero() || len(plan.Create) > 0 {
		t.Errorf("got\n%s", plan.String())
	}
}
