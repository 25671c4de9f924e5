package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// Which run is due: exactly, and by the estimate of Kubernetes (quirk Estimate). The cases include
// CJ1 to CJ5, M8 and M10.
func TestC7_CI6_LatestDue(t *testing.T) {
	for _, tc := range []struct {
		name, schedule, created, now string
		exact, theirs                string // the due run; empty means none
		deadline                     *int64
	}{
		{"none is due", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T00:50:00Z", "", "", nil},
		{"one is due", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:00:00Z", "2026-01-01T01:00:00Z", "2026-01-01T01:00:00Z", nil},
		{"a second early", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T00:59:59Z", "", "", nil},
		{"the latest of many (M8)", "@hourly", "2026-01-01T00:10:00Z", "2026-02-01T00:30:00Z", "2026-02-01T00:00:00Z", "2026-02-01T00:00:00Z", nil},
		{"CJ1", "*/5 9 * * *", "2026-01-02T08:00:00Z", "2026-01-02T20:00:00Z", "2026-01-02T09:55:00Z", "", nil},
		{"CJ2", "0 9,10 * * 1", "2026-01-01T00:00:00Z", "2026-01-08T00:00:00Z", "2026-01-05T10:00:00Z", "", nil},
		{"CJ3 (M10)", "30 6-16/4 * * 1-5", "2026-01-02T05:58:30Z", "2026-01-05T04:00:00Z", "2026-01-02T14:30:00Z", "", nil},
		{"CJ4", "* * * * *", "0001-01-01T00:00:01Z", "2026-01-02T20:00:30Z", "2026-01-02T20:00:00Z", "2026-01-02T20:00:00Z", nil},
		{"CJ5", "0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-03-01T00:00:00Z", "2104-02-29T00:00:00Z", "", nil},
		{"CI7 in time", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:00:59Z", "2026-01-01T01:00:00Z", "2026-01-01T01:00:00Z", ptr[int64](60)},
		{"CI7 too late", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:01:00Z", "", "", ptr[int64](60)},
		{"CI7 zero is never in time", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:00:00Z", "", "", ptr[int64](0)},
		{"CI7 longer than any time", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:30:00Z", "2026-01-01T01:00:00Z", "2026-01-01T01:00:00Z", ptr[int64](1 << 62)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: tc.schedule, StartingDeadlineSeconds: tc.deadline})
			c.CreationTimestamp = at(tc.created)

			for mode, want := range map[string]string{"exact": tc.exact, "theirs": tc.theirs} {
				s := snapshot(c, at(tc.now))
				if mode == "theirs" {
					s = kubernetes(s)
				}

				got, wanted := created(t, reconcile(t, s)), time.Time{}
				if want != "" {
					wanted = at(want)
				}
				if !got.Equal(wanted) {
					t.Errorf("%s: got %s, want %s", mode, got, wanted)
				}
			}
		})
	}
}

func TestC7_CI9_Requeue(t *testing.T) {
	for _, tc := range []struct{ name, schedule, created, now, want string }{
		{"before the first run", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T00:50:00Z", "2026-01-01T01:00:00.1Z"},
		{"with a run due", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:00:00Z", "2026-01-01T02:00:00.1Z"},
		{"a second before the next run", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:59:59Z", "2026-01-01T02:00:00.1Z"},
		{"CJ1, 13h0m0.1s", "*/5 9 * * *", "2026-01-02T08:00:00Z", "2026-01-02T20:00:00Z", "2026-01-03T09:00:00.1Z"},
	} {
		c := newCronJob(cronjob.Spec{Schedule: tc.schedule})
		c.CreationTimestamp = at(tc.created)
		s := snapshot(c, at(tc.now))
		for _, s := range []cronjob.Snapshot{s, kubernetes(s)} {
			plan, end := play(t, s)
			if !plan.Requeue.At.Equal(at(tc.want)) || !end.Requeue.At.Equal(at(tc.want)) {
				t.Errorf("%s: got %s, and %s after the round, want %s", tc.name, plan.Requeue.At, end.Requeue.At, tc.want)
			}
		}
		plan, end := play(t, in(s, cronjob.Options{Punctual: true}))
		if !plan.Requeue.At.Equal(plan.NextRun) || !end.Requeue.At.Equal(at(tc.want).Add(-100*time.Millisecond)) {
			t.Errorf("%s, punctual: got %s, and %s after the round", tc.name, plan.Requeue.At, end.Requeue.At)
		}
	}
}

// The exact count and the estimate of the preset warn from the same number of missed runs on.
func TestC8_TooManyMissedTimes(t *testing.T) {
	for minutes, want := range map[int]bool{99: false, 100: false, 101: true, 102: true, 10_000: true, 50_000_000: true} {
		s := snapshot(newCronJob(cronjob.Spec{Schedule: "* * * * *"}), start.Add(time.Duration(minutes)*time.Minute))
		plan := reconcile(t, s)
		if plan.Missed.Count != minutes-1 || len(plan.Create) != 1 || len(plan.Missed.Runs) != 10 {
			t.Errorf("%d missed: %s", minutes, plan.String())
		}
		for mode, plan := range map[string]cronjob.Plan{"exact": plan, "theirs": reconcile(t, kubernetes(s))} {
			if got := slices.Contains(reasons(plan.Events), "TooManyMissedTimes"); got != want {
				t.Errorf("%d missed, %s: warned %t", minutes, mode, got)
			}
		}
	}
}

// With the preset, "@every" counts from the run that was started. Because of a deadline, the time
// from earlier runs to that run may not be a multiple of the interval.
func TestC7_EveryAfterACreation(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@every 1h", StartingDeadlineSeconds: ptr[int64](5400)})
	plan := reconcile(t, kubernetes(snapshot(c, start.Add(5*time.Hour+20*time.Minute))))
	run := start.Add(4*time.Hour + 50*time.Minute)
	if got := created(t, plan); !got.Equal(run) || !plan.Requeue.At.Equal(run.Add(time.Hour+100*time.Millisecond)) {
		t.Fatalf("got %s, again at %s", got, plan.Requeue.At)
	}
}

func TestCI14_ClockGoesBack(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(5))
	s.CronJob.Status.LastScheduleTime = hours(10)
	plan := reconcile(t, s)
	if len(plan.Create) > 0 || len(plan.Notes) != 1 || !plan.Requeue.At.Equal(hours(11).Add(100*time.Millisecond)) {
		t.Error(plan.String())
	}
}

// A new schedule takes effect only once it is compiled.
func TestC17_EditedSchedule(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(0.1))
	s.CronJob.Spec.Schedule = "30 * * * *"
	if _, err := cronjob.Reconcile(s); !slices.Equal(fields(err), []string{"schedule"}) {
		t.Errorf("an old schedule is accepted: %v", err)
	}
	s.Schedule = cronjob.Compile(&s.CronJob)
	if plan := reconcile(t, s); !plan.Requeue.At.Equal(hours(0.5).Add(100 * time.Millisecond)) {
		t.Error(plan.String())
	}
}

// TestB1_OutagesOfIrregularSchedules tries outages of a day that begin at many times within eight
// weeks. After each one, the planner starts the latest missed run. Kubernetes only estimates when
// that run was due, and often starts nothing.
func TestB1_OutagesOfIrregularSchedules(t *testing.T) {
	for _, tc := range []struct {
		schedule    string
		atLeast, at int // percent of the outages after which Kubernetes starts nothing
	}{
		{"30 6-16/4 * * 1-5", 45, 55},
		{"*/15 8-18 * * 1-5", 50, 65},
		{"*/5 14 * * *", 90, 99},
		{"0 * * * *", 0, 0},
	} {
		s := snapshot(newCronJob(cronjob.Spec{Schedule: tc.schedule}), start)
		theirs := kubernetes(s)
		missed, lost := 0, 0

		for down := start; down.Before(start.AddDate(0, 0, 56)); down = down.Add(67 * time.Minute) {
			up := down.Add(24 * time.Hour)
			s.CronJob.CreationTimestamp, theirs.CronJob.CreationTimestamp = down, down
			s.Now, theirs.Now = up, up

			latest, ok := s.Schedule.Schedule.Latest(down, up)
			if !ok {
				continue
			}
			missed++
			if got := created(t, reconcile(t, s)); !got.Equal(latest) {
				t.Fatalf("%s from %s: got %s, want %s", tc.schedule, down, got, latest)
			}

			switch got := created(t, reconcile(t, theirs)); {
			case got.IsZero():
				lost++
			case !got.Equal(latest):
				t.Fatalf("%s from %s: the reference is never wrong, only silent: %s", tc.schedule, down, got)
			}
		}

		percent := 100 * lost / missed
		t.Logf("%s: %d outages, the reference starts nothing after %d%%", tc.schedule, missed, percent)
		if percent < tc.atLeast || percent > tc.at {
			t.Errorf("%s: %d%%, want %d to %d", tc.schedule, percent, tc.atLeast, tc.at)
		}
	}
}

// C7, CJ5: the estimate of Kubernetes searches only the next five years for a rare date.
func TestC7_EstimateOfRareDates(t *testing.T) {
	for _, tc := range []struct {
		name, created, now string
		deadline           *int64
		invalid            bool
		again              time.Time
	}{
		{"the second run is out of reach", "2096-02-28T00:00:00Z", "2096-03-01T00:00:00Z", nil, true, time.Time{}},
		{"so is the first", "2096-03-01T00:00:00Z", "2096-03-02T00:00:00Z", nil, true, time.Time{}},
		{"the deadline brings it into reach", "2096-03-01T00:00:00Z", "2103-01-01T00:00:00Z", ptr[int64](60), false, at("2104-02-29T00:00:00.1Z")},
	} {
		c := newCronJob(cronjob.Spec{Schedule: "0 0 29 2 *", StartingDeadlineSeconds: tc.deadline})
		c.CreationTimestamp = at(tc.created)
		plan := reconcile(t, kubernetes(snapshot(c, at(tc.now))))
		if got := slices.Contains(reasons(plan.Events), "InvalidSchedule"); got != tc.invalid || len(plan.Create) > 0 || plan.Missed.TooLate || !plan.Requeue.At.Equal(tc.again) {
			t.Errorf("%s: %s", tc.name, plan.String())
		}
	}
}

// CI9: if ok is true, the wait is not 0, because several work queues treat 0 as "never".
func TestCI9_RequeueAfter(t *testing.T) {
	for _, tc := range []struct {
		name string
		at   time.Time
		want time.Duration
		ok   bool
	}{
		{"never", time.Time{}, 0, false},
		{"later", hours(1), time.Hour, true},
		{"at once", hours(0), 1, true},
		{"the time has passed", hours(-1), 1, true},
	} {
		if d, ok := (cronjob.Requeue{At: tc.at}).After(start); d != tc.want || ok != tc.ok {
			t.Errorf("%s: got %d, %t", tc.name, d, ok)
		}
	}
}

// TestC7_CreatedAfterItsLastRun: a CronJob restored from a backup was created after its
// lastScheduleTime. The runs in between are missed, and the latest starts.
func TestC7_CreatedAfterItsLastRun(t *testing.T) {
	for _, tc := range []struct {
		name          string
		created, last float64 // hours
		want          float64
		missed        int
	}{
		{"created after the latest run", 4.9, 2, 4, 1},
		{"created with the last run", 2, 2, 4, 1},
		{"created between two runs", 3.5, 2, 4, 1},
		{"without a status", 3.5, 0, 4, 0},
	} {
		s := hourly(cronjob.Spec{}, hours(4.95))
		s.CronJob.CreationTimestamp = hours(tc.created)
		if tc.last != 0 {
			s.CronJob.Status.LastScheduleTime = hours(tc.last)
		}

		for mode, s := range map[string]cronjob.Snapshot{"exact": s, "theirs": kubernetes(s)} {
			plan := reconcile(t, s)
			if got := created(t, plan); !got.Equal(hours(tc.want)) || plan.Missed.Count != tc.missed {
				t.Errorf("%s, %s: started %s, %d missed", tc.name, mode, got, plan.Missed.Count)
			}
		}
	}
}
