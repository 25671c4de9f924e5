package schedulers

import (
	"slices"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"
	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	"github.com/batchplan/batchplan/schedule"
)

func at(t *testing.T, zone, text string) time.Time {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	when, err := time.ParseInLocation("2006-01-02 15:04", text, loc)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// cases are schedules that robfig/cron, and everything that uses it, gets wrong when the clocks
// change.
var cases = []struct {
	name, spec, zone, from string
	// want is the next run. theirs is the next run by robfig/cron v3.0.1.
	want, theirs string
}{
	{"a Sunday for a Saturday", "0 9 * * 6", "America/Santiago", "2026-09-05 09:00", "2026-09-12 09:00", "2026-09-06 09:00"},
	{"a week is left out", "0 12 * * 5", "Africa/Cairo", "2026-04-17 12:00", "2026-04-24 12:00", "2026-05-01 12:00"},
	{"a day is left out", "0 3 * * *", "Australia/Lord_Howe", "2026-10-03 12:00", "2026-10-04 03:00", "2026-10-05 03:00"},
	{"a run at a time of no schedule", "45 2 * * *", "Pacific/Chatham", "2026-09-26 02:45", "2026-09-28 02:45", "2026-09-27 03:45"},
}

func TestRobfig(t *testing.T) {
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			from := at(t, tc.zone, tc.from)
			theirs, err := cron.ParseStandard("CRON_TZ=" + tc.zone + " " + tc.spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := theirs.Next(from); !got.Equal(at(t, tc.zone, tc.theirs)) {
				t.Errorf("robfig/cron finds %s, and was to find %s", got, tc.theirs)
			}

			c := cron.New()
			id, err := addToRobfig(c, tc.spec, tc.zone, func() {})
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Entry(id).Schedule.Next(from); !got.Equal(at(t, tc.zone, tc.want)) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}

	if _, err := addToRobfig(cron.New(), "0 0 * * 7", "UTC", func() {}); err == nil {
		t.Error("a weekday 7 was accepted")
	}
}

// TestRiver: River can run a job at an interval. An interval of 24 hours is an hour off after the
// clocks change.
func TestRiver(t *testing.T) {
	const zone = "America/New_York"
	from := at(t, zone, "2026-03-07 09:00")
	if got := river.PeriodicInterval(24 * time.Hour).Next(from); !got.Equal(at(t, zone, "2026-03-08 10:00")) {
		t.Errorf("River's interval finds %s", got)
	}
	ours, err := schedule.Parse("0 9 * * *", schedule.WithTimeZone(zone))
	if err != nil {
		t.Fatal(err)
	}
	var periodic river.PeriodicSchedule = ours
	if got := periodic.Next(from); !got.Equal(at(t, zone, "2026-03-08 09:00")) {
		t.Errorf("got %s", got)
	}
	job, err := periodicJob("0 9 * * *", zone, func() (river.JobArgs, *river.InsertOpts) { return nil, nil })
	if job == nil || err != nil {
		t.Errorf("got %v, error %v", job, err)
	}
	if _, err := periodicJob("0 9 * * *", "Local", nil); err == nil {
		t.Error("the zone of the machine was accepted")
	}
}

func TestGocron(t *testing.T) {
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			from := at(t, tc.zone, tc.from)
			s, err := gocron.NewScheduler(gocron.WithLocation(from.Location()), gocron.WithClock(clockwork.NewFakeClockAt(from)))
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Shutdown(); err != nil {
					t.Error(err)
				}
			}()

			theirs, err := s.NewJob(gocron.CronJob(tc.spec, false), gocron.NewTask(func() {}))
			if err != nil {
				t.Fatal(err)
			}
			ours, err := addToGocron(s, tc.spec, func() {})
			if err != nil {
				t.Fatal(err)
			}

			s.Start()
			for job, want := range map[gocron.Job]string{theirs: tc.theirs, ours: tc.want} {
				if got, err := job.NextRun(); err != nil || !got.Equal(at(t, tc.zone, want)) {
					t.Errorf("got %s, error %v, want %s", got, err, want)
				}
			}
			for _, crontab := range []string{"0 0 * * 7", "0 0 31 2 *"} {
				if _, err := addToGocron(s, crontab, func() {}); err == nil {
					t.Errorf("%q was accepted", crontab)
				}
			}
		})
	}
}

// TestGocron_OnceADay: on the two days of 2026 on which Berlin's clocks change, 02:30 does not
// exist, or comes twice. If it comes twice, gocron skips the second time, unless it was started in
// between.
func TestGocron_OnceADay(t *testing.T) {
	for _, tc := range []struct {
		name    string
		from    string
		options []schedule.Option
		want    []string // the runs of that day
	}{
		{"without options, 02:30 is left out", "2026-03-29T00:00:00+01:00", nil, nil},
		{"once a day, it is moved", "2026-03-29T00:00:00+01:00", onceADay, []string{"03:00 +0200"}},
		{"without options, gocron leaves the second out", "2026-10-25T00:00:00+02:00", nil, []string{"02:30 +0200"}},
		{"once a day, the first runs", "2026-10-25T00:00:00+02:00", onceADay, []string{"02:30 +0200"}},
		{"without options, after a restart it runs again", "2026-10-25T02:45:00+02:00", nil, []string{"02:30 +0100"}},
		{"once a day, not after a restart", "2026-10-25T02:45:00+02:00", onceADay, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			berlin, err := time.LoadLocation("Europe/Berlin")
			if err != nil {
				t.Fatal(err)
			}
			from, err := time.Parse(time.RFC3339, tc.from)
			if err != nil {
				t.Fatal(err)
			}

			s, err := gocron.NewScheduler(gocron.WithLocation(berlin), gocron.WithClock(clockwork.NewFakeClockAt(from.In(berlin))))
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Shutdown(); err != nil {
					t.Error(err)
				}
			}()

			job, err := addToGocron(s, "30 2 * * *", func() {}, tc.options...)
			if err != nil {
				t.Fatal(err)
			}
			s.Start()
			next, err := job.NextRuns(3)
			if err != nil {
				t.Fatal(err)
			}

			var got []string
			for _, run := range next {
				if run.Format(time.DateOnly) == from.Format(time.DateOnly) {
					got = append(got, run.Format("15:04 -0700"))
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
