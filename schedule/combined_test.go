package schedule_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

func TestCombined_Runs(t *testing.T) {
	for _, c := range []struct {
		name, main   string
		also, except []string
		zone         string
		from         string
		want         []string // the next runs
	}{
		{"two schedules", "0 9 * * 1-5", []string{"0 12 * * 6"}, nil, "UTC", "2026-01-01T12:00Z",
			[]string{"2026-01-02T09:00Z", "2026-01-03T12:00Z", "2026-01-05T09:00Z"}},
		{"a time that they share is one run", "0 0 * * *", []string{"@hourly", "0 */2 * * *"}, nil, "UTC", "2026-01-01T22:30Z",
			[]string{"2026-01-01T23:00Z", "2026-01-02T00:00Z", "2026-01-02T01:00Z"}},
		{"not on a holiday", "0 9 * * *", nil, []string{"* * 1 1 *", "* * 25,26 12 *"}, "UTC", "2025-12-24T12:00Z",
			[]string{"2025-12-27T09:00Z", "2025-12-28T09:00Z"}},
		{"what is added can be excluded", "0 9 * * *", []string{"0 12 * * *"}, []string{"* 12 * * *"}, "UTC", "2026-01-01T00:00Z",
			[]string{"2026-01-01T09:00Z", "2026-01-02T09:00Z"}},
		{"the 13th, unless it is a Friday", "0 0 13 * *", nil, []string{"* * * * 5"}, "UTC", "2026-01-14T00:00Z",
			[]string{"2026-04-13T00:00Z", "2026-05-13T00:00Z"}},
		{"the last day of the month", "0 0 28-31 * *", nil, []string{"* * 28-30 1,3,5,7,8,10,12 *", "* * 28-29 4,6,9,11 *"}, "UTC",
			"2027-01-31T12:00Z", []string{"2027-02-28T00:00Z", "2027-03-31T00:00Z", "2027-04-30T00:00Z"}},
		{"a rare schedule", "* * * * *", nil, []string{"* * * 1-11 *", "* * 1-30 12 *", "1-59 * * * *", "* 0-22 * * *"}, "UTC",
			"2026-01-01T00:00Z", []string{"2026-12-31T23:00Z", "2027-12-31T23:00Z"}},
		{"29 February on a Sunday", "0 0 29 2 *", nil, []string{"* * * * 1-6"}, "UTC", "2060-01-01T00:00Z",
			[]string{"2060-02-29T00:00Z", "2088-02-29T00:00Z", "2128-02-29T00:00Z"}},
		{"both times of a repeated hour", "0 2 * * *", []string{"30 2 * * *"}, []string{"* 3 * * *"}, "Europe/Berlin", "2026-10-24T12:00Z",
			[]string{"2026-10-25T02:00+02:00", "2026-10-25T02:30+02:00", "2026-10-25T02:00+01:00", "2026-10-25T02:30+01:00", "2026-10-26T02:00+01:00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkRuns(t, mustParse(t, c.main, schedule.WithTimeZone(c.zone), schedule.Also(c.also...), schedule.Except(c.except...)), c.from, c.want)
		})
	}
}

// TestCombined_SetAlgebra compares the runs of a combined schedule in a long span with the runs of
// its separate schedules. Without a policy for gaps and overlaps, combining wall-clock times is the
// same as combining runs.
func TestCombined_SetAlgebra(t *testing.T) {
	for _, c := range []struct {
		main, zone   string
		also, except []string
	}{
		{"30 1,2 * 3,10,11 0", "America/New_York", []string{"15 2 1-7 * *", "0 0 29 2 *"}, []string{"* * 1-7 3 *", "* 1 * 11 0"}},
		{"0 12 13 * *", "UTC", []string{"0 12 * 6 5"}, []string{"* * * * 5"}},
		{"0 0 29 2 *", "Pacific/Apia", []string{"0 12 30 12 *"}, []string{"* * 29 2 0-3"}},
	} {
		zone := schedule.WithTimeZone(c.zone)
		after, until := instant(t, "1890-01-01T00:00Z"), instant(t, "2390-01-01T00:00Z")

		runs := map[int64]bool{}
		for _, spec := range append([]string{c.main}, c.also...) {
			for run := range mustParse(t, spec, zone).Between(after, until) {
				runs[run.Unix()] = true
			}
		}
		for _, spec := range c.except {
			except := mustParse(t, spec, zone)
			for run := range runs {
				if u := time.Unix(run, 0); except.Next(u.Add(-1)).Equal(u) {
					delete(runs, run)
				}
			}
		}

		s := mustParse(t, c.main, zone, schedule.Also(c.also...), schedule.Except(c.except...))
		n := 0
		for run := range s.Between(after, until) {
			if n++; !runs[run.Unix()] {
				t.Fatalf("%q runs at %s", s, run)
			}
		}
		if got := s.Count(after, until); n != len(runs) || got != n {
			t.Errorf("%q: visited %d, counted %d, want %d", s, n, got, len(runs))
		}
	}
}

// TestCombined_CountCountsBetween counts all years (B1). The schedules run rarely, so that visiting
// all runs is fast enough.
func TestCombined_CountCountsBetween(t *testing.T) {
	after, until := time.Time{}, instant(t, "9999-12-31T23:59:59Z")
	for _, zone := range []string{"UTC", "Europe/Berlin"} {
		for policy := range numPolicies {
			opts := append(policy.options(), schedule.WithTimeZone(zone), schedule.Also("30 2 * 3,10 0"), schedule.Except("* * 1-24 * *"))
			s, n := mustParse(t, "0 0 29 2 *", opts...), 0
			for range s.Between(after, until) {
				n++
			}
			if got := s.Count(after, until); got != n || n == 0 {
				t.Errorf("%q in %s, policy %d: Count %d, visited %d", s, zone, policy, got, n)
			}
		}
	}
}

// TestCombined_S3_Never: a schedule that excludes everything is recognised immediately.
func TestCombined_S3_Never(t *testing.T) {
	for _, c := range []struct {
		main         string
		also, except []string
		never        bool
	}{
		{"0 9 * * *", nil, []string{"* * * * *"}, true},
		{"0 9 * * 1", []string{"0 9 * * 2"}, []string{"* 9 * * 1,2"}, true},
		{"0 0 29 2 *", nil, []string{"* * * 2 *"}, true},
		{"0 0 31 2 *", []string{"0 0 30 2 *"}, nil, true},
		{"0 0 31 2 *", []string{"0 0 29 2 *"}, nil, false},
		{"* * * * *", nil, []string{"* * * 1-11 *", "* * 1-30 * *", "* 0-22 * * *", "0-58 * * * *"}, false},
	} {
		checkNever(t, mustParse(t, c.main, schedule.Also(c.also...), schedule.Except(c.except...)), c.never)
	}
}

// checkNever checks that all methods agree whether the schedule has runs.
func checkNever(t *testing.T, s schedule.Schedule, never bool) {
	t.Helper()
	now := instant(t, "2026-01-01T00:00Z")
	_, due := s.Latest(time.Time{}, now)
	if s.Never() != never || s.Next(now).IsZero() != never || s.Prev(now).IsZero() != never || due == never {
		t.Errorf("%q: never %t, next %s, prev %s, due %t", s, s.Never(), s.Next(now), s.Prev(now), due)
	}
	between := false
	for range s.Between(time.Time{}, now) {
		between = true
		break
	}
	if n := s.Count(time.Time{}, now); n == 0 != never || between == never {
		t.Errorf("%q: %d runs, between %t", s, n, between)
	}
}

func TestCombined_Errors(t *testing.T) {
	for _, c := range []struct {
		main         string
		opt          schedule.Option
		spec, field  string
		value, cause string
	}{
		{"@daily", schedule.Also("TZ=UTC 0 9 * * *"), "TZ=UTC 0 9 * * *", "zone", "TZ=UTC 0 9 * * *", "zone of the main one"},
		{"@daily", schedule.Except("0 9 * * 7"), "0 9 * * 7", "day-of-week", "7", "write 0 or sun"},
		{"@daily", schedule.Also("@every 1h"), "@every 1h", "descriptor", "@every 1h", "wall clock"},
		{"@every 1h", schedule.Except("@daily"), "@every 1h", "descriptor", "@every 1h", "wall clock"},
	} {
		_, err := schedule.Parse(c.main, c.opt)
		var parse *schedule.ParseError
		if !errors.As(err, &parse) || parse.Spec != c.spec || parse.Field != c.field || parse.Value != c.value || !strings.Contains(err.Error(), c.cause) {
			t.Errorf("%q: %v", c.main, err)
		}
	}
}

func TestCombined_EqualStringDescribe(t *testing.T) {
	parse := func(also, except []string) schedule.Schedule {
		return mustParse(t, "0 9 * * mon", schedule.Also(also...), schedule.Except(except...))
	}

	plain, both := parse(nil, nil), parse([]string{"0 12 * * sat"}, []string{"* * 25 12 *"})
	if !both.Equal(parse([]string{"0 12 * * 6"}, []string{"* * 25 12 ?"})) {
		t.Error("the same is not equal")
	}

	for _, other := range []schedule.Schedule{plain, parse([]string{"0 12 * * 6"}, nil), parse(nil, []string{"* * 25 12 *"}), {}} {
		if both.Equal(other) || other.Equal(both) {
			t.Errorf("%q is equal to %q", both, other)
		}
	}
	if one := mustParse(t, "0 9 * * mon", schedule.Also("0 7 * * *"), schedule.Also("0 8 * * *")); !one.Equal(parse([]string{"0 7 * * *", "0 8 * * *"}, nil)) {
		t.Errorf("the options are in the order %q", one)
	}

	if got, want := both.String(), "0 9 * * mon also 0 12 * * sat except * * 25 12 *"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want := "at 09:00 on Mondays, also at 12:00 on Saturdays, except every minute on the 25th of December"
	if got := both.Describe(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := parse(nil, []string{"* * * * *"}).Describe(); got != "never (no time is left)" {
		t.Error(got)
	}
}

// TestCombined_OptionsKeepTheirSchedules: a later write to the list does not change the options.
func TestCombined_OptionsKeepTheirSchedules(t *testing.T) {
	also, except := []string{"0 12 * * *"}, []string{"* * 25 12 *"}
	options := []schedule.Option{schedule.Also(also...), schedule.Except(except...)}
	also[0], except[0] = "0 13 * * *", "* * 26 12 *"
	want := mustParse(t, "0 9 * * *", schedule.Also("0 12 * * *"), schedule.Except("* * 25 12 *"))
	if got := mustParse(t, "0 9 * * *", options...); !got.Equal(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCombined_Lint(t *testing.T) {
	for _, c := range []struct {
		main         string
		also, except []string
		want         []schedule.FindingKind
	}{
		{"0 9 * * *", []string{"0 12 * * 6"}, []string{"* * 25 12 *"}, nil},
		{"0 9 * * *", nil, []string{"* * * * *"}, []schedule.FindingKind{schedule.NeverRuns}},
		{"0 9 * * *", nil, []string{"* * 13 * 5"}, []schedule.FindingKind{schedule.EitherDay}},
		{"0 9 29 2 *", nil, nil, []schedule.FindingKind{schedule.RareDate}},
		{"0 9 29 2 *", []string{"0 9 1 3 *"}, nil, nil},
		{"0 9 1 1 *", nil, []string{"* * * * 0,6"}, []schedule.FindingKind{schedule.RareDate}},
		{"30 2 * * *", nil, nil, []schedule.FindingKind{schedule.SkippedTime, schedule.RepeatedTime}},
		{"30 2 * * *", nil, []string{"* * * 3,10 0"}, nil},
		{"30 2 * * *", []string{"30 * * * *"}, nil, nil},
	} {
		s := mustParse(t, c.main, schedule.WithTimeZone("Europe/Berlin"), schedule.Also(c.also...), schedule.Except(c.except...))
		if got := kindsOf(s.Lint(schedule.Circumstances{From: instant(t, "2026-02-01T00:00Z")})); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", s, got, c.want)
		}
	}
}

// TestCombined_LintNamesTheFirst: of several schedules that restrict both days, the first is named.
func TestCombined_LintNamesTheFirst(t *testing.T) {
	for main, want := range map[string]string{"0 9 1 * 1": "1st", "0 9 * * *": "2nd"} {
		s := mustParse(t, main, schedule.Also("0 9 2 * 2"), schedule.Except("0 9 3 * 3"))
		if found := s.Lint(schedule.Circumstances{}); len(found) != 1 || !strings.Contains(found[0].Message, want) {
			t.Errorf("%q: %v, want %s", s, found, want)
		}
	}
}

// Option Kubernetes has no effect: Kubernetes has no such schedules.
func TestCombined_Kubernetes(t *testing.T) {
	opts := []schedule.Option{schedule.WithTimeZone("America/Santiago"), schedule.Except("* * * * 1")}
	exact, preset := mustParse(t, "0 9 * * 6", opts...), mustParse(t, "0 9 * * 6", append(opts, schedule.Kubernetes(release.Newest()))...)
	from := instant(t, "2026-09-05T13:00Z")
	if a, b := exact.Next(from), preset.Next(from); !a.Equal(b) || !exact.Equal(preset) {
		t.Errorf("exact %s, preset %s", a, b)
	}
}
