package cronjob_test

import (
	"math"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

func TestJitter(t *testing.T) {
	delays := map[time.Duration]bool{}
	for _, uid := range []job.UID{"a", "b", "c", "d", "e", "f", "g", "h"} {
		s := in(hourly(cronjob.Spec{}, hours(0.5)), cronjob.Options{Jitter: 3 * time.Hour}) // cut to the hour between runs
		s.CronJob.UID = uid

		at := reconcile(t, s).Requeue.At.Add(-100 * time.Millisecond)
		delay := at.Sub(hours(1))
		if delay < 0 || delay >= time.Hour {
			t.Errorf("%s: delay %s", uid, delay)
		}
		delays[delay] = true

		for _, tc := range []struct {
			name      string
			now, want time.Time
		}{
			{"before its time nothing starts", at.Add(-1), time.Time{}},
			{"at its time it starts", at, hours(1)},
			{"the run before waits no longer", hours(2), hours(1)},
		} {
			s.Now = tc.now
			if got := created(t, reconcile(t, s)); !got.Equal(tc.want) {
				t.Errorf("%s: %s: got %s", uid, tc.name, got)
			}
		}
	}

	if len(delays) != 8 {
		t.Errorf("%d delays for 8 UIDs", len(delays))
	}
}

// C7: jitter does not make a run too late.
func TestJitter_ProlongsTheDeadline(t *testing.T) {
	s := in(hourly(cronjob.Spec{StartingDeadlineSeconds: ptr[int64](60)}, hours(1.5)), cronjob.Options{Jitter: 30 * time.Minute})
	if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
		t.Errorf("half an hour late, got %s", got)
	}
	s.Now = hours(1.5).Add(2 * time.Minute)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("later than deadline and jitter together, got %s", got)
	}
}

// CI7: if the sum of deadline and jitter is too long for a Duration, there is no limit.
func TestCI7_DeadlineAndJitterWithoutBound(t *testing.T) {
	s := in(hourly(cronjob.Spec{}, hours(300)), cronjob.Options{CatchUpWindow: math.MaxInt64, Jitter: 1})
	if got := created(t, reconcile(t, s)); !got.Equal(hours(300)) {
		t.Errorf("got %s", got)
	}
}

// Jitter has no effect on a schedule that never runs.
func TestJitter_WithoutAnyRun(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "0 0 30 2 *"}), hours(1))
	s.Options.Jitter = time.Hour
	if plan := reconcile(t, s); !plan.Requeue.At.IsZero() || len(plan.Create) > 0 {
		t.Errorf("got\n%s", plan.String())
	}
}

// C7: the delay of a CronJob is always the same, even after an update of the program.
func TestJitter_SpreadIsTheSameEachTime(t *testing.T) {
	for uid, want := range map[job.UID]uint64{
		"":                                     0,
		"a":                                    0x5a0978a740144ade,
		"4f0c2f52-6a0e-4d3c-9a55-0b5b3a3a7f10": 0x890d5839757ec0b0,
	} {
		if got := cronjob.Spread(uid); got != want {
			t.Errorf("%q: got %#x, want %#x", uid, got, want)
		}
	}
}
