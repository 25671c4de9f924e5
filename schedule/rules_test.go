package schedule_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// TestS1_Parses: different spellings of a schedule are equal.
func TestS1_Parses(t *testing.T) {
	for _, c := range []struct{ spec, same string }{
		{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
		{"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"}, {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
		{"0 9 ? * mon-FRI", "0 9 * * 1-5"}, {"0 0 1 jan,Jul ?", "0 0 1 1,7 *"},
		{"*/20 * * * *", "0,20,40 * * * *"}, {"5/25 * * * *", "5,30,55 * * * *"}, {"0 8-16/4 * * *", "0 8,12,16 * * *"},
		{"TZ=Europe/Berlin 0 9 * * *", "CRON_TZ=Europe/Berlin 0 9 * * *"}, {"TZ=UTC @every 1h", "@every 60m"},
		{"  0   9 * * *", "0 9 * * *"},
	} {
		if a, b := mustParse(t, c.spec), mustParse(t, c.same); !a.Equal(b) || !b.Equal(a) {
			t.Errorf("%q and %q differ", c.spec, c.same)
		}
	}
}

// TestS1_Equal: schedules are different if anything differs that can change the runs.
func TestS1_Equal(t *testing.T) {
	parse := func(spec string, opts ...schedule.Option) schedule.Schedule { return mustParse(t, spec, opts...) }
	zone, base := schedule.WithTimeZone, parse("0 9 * * *")
	for name, pair := range map[string][2]schedule.Schedule{
		"fields":            {base, parse("0 8 * * *")},
		"the day of week":   {base, parse("0 9 * * 1")},
		"zone":              {base, parse("0 9 * * *", zone("Europe/Berlin"))},
		"two zones":         {parse("0 9 * * *", zone("America/New_York")), parse("0 9 * * *", zone("Europe/Berlin"))},
		"names of one zone": {parse("0 9 * * *", zone("Asia/Kolkata")), parse("0 9 * * *", zone("Asia/Calcutta"))},
		"offset":            {base, parse("0 9 * * *", schedule.WithLocation(time.FixedZone("UTC", 3600)))},
		"gap":               {base, parse("0 9 * * *", schedule.RunSkippedAtGapEnd())},
		"overlap":           {base, parse("0 9 * * *", schedule.RunRepeatedFirst())},
		"preset":            {base, parse("0 9 * * *", schedule.Kubernetes(release.Newest()))},
		"all but one":       {base, parse("0 9 1-31 * *")}, // no star
		"intervals":         {parse("@every 1h"), parse("@every 2h")},
		"zero":              {base, {}},
	} {
		if pair[0].Equal(pair[1]) || pair[1].Equal(pair[0]) || !pair[0].Equal(pair[0]) || !pair[1].Equal(pair[1]) {
			t.Errorf("%s: %v and %v are taken for equal", name, pair[0], pair[1])
		}
	}
}

// TestS1_Rejects: errors name the field and the value.
func TestS1_Rejects(t *testing.T) {
	for _, c := range []struct{ spec, field, value string }{
		{"", "fields", ""}, {"   ", "fields", "   "}, {"* * * *", "fields", "* * * *"},
		{"0 0 12 * * *", "fields", "0 0 12 * * *"},
		{"60 * * * *", "minute", "60"}, {"* 24 * * *", "hour", "24"}, {"* * 0 * *", "day-of-month", "0"},
		{"* * 32 * *", "day-of-month", "32"}, {"* * * 13 *", "month", "13"}, {"0 0 * * 7", "day-of-week", "7"},
		{"*/0 * * * *", "minute", "*/0"}, {"5-1 * * * *", "minute", "5-1"}, {"-1 * * * *", "minute", "-1"},
		{"a * * * *", "minute", "a"}, {"* * * * mo", "day-of-week", "mo"}, {"1-2-3 * * * *", "minute", "1-2-3"},
		{"@never", "descriptor", "@never"}, {"@every", "descriptor", "@every"}, {"@every x", "descriptor", "@every x"},
		{"@every 1d", "descriptor", "@every 1d"},
		{"TZ=0", "zone", "0"}, {"TZ=", "zone", ""}, {"CRON_TZ=UTC", "zone", "UTC"},
		{"TZ=Mars/Base * * * * *", "zone", "Mars/Base"}, {"TZ=Local * * * * *", "zone", "Local"},
		{"TZ=../etc/passwd * * * * *", "zone", "../etc/passwd"},
		{"TZ=UTC TZ=UTC * * * * *", "fields", "TZ=UTC * * * * *"}, {" TZ=UTC * * * *", "minute", "TZ=UTC"},
	} {
		_, err := schedule.Parse(c.spec)
		var parse *schedule.ParseError
		if !errors.As(err, &parse) {
			t.Errorf("%q: got error %v", c.spec, err)
			continue
		}
		if parse.Field != c.field || parse.Value != c.value || parse.Spec != c.spec || errors.Unwrap(err) == nil {
			t.Errorf("%q: got field %q value %q: %v", c.spec, parse.Field, parse.Value, err)
		}
		if !strings.Contains(err.Error(), c.field) {
			t.Errorf("%q: %v does not name %q", c.spec, err, c.field)
		}
	}

	if _, err := schedule.Parse("0 9 * * *", schedule.WithTimeZone("Mars/Base")); err == nil {
		t.Error("unknown zone accepted")
	}
}

// TestS1_Every: intervals are whole seconds, at least one. robfig/cron counts from the argument of
// Next, this package from the anchor.
func TestS1_Every(t *testing.T) {
	anchor := schedule.WithAnchor(instant(t, "2026-01-01T00:07:30Z"))

	for _, c := range []struct {
		spec string
		opts []schedule.Option
		from string
		want string
	}{
		{"@every 1h", nil, "2026-01-01T10:20:00Z", "2026-01-01T11:00:00Z"},
		{"@every 1h", nil, "2026-01-01T11:00:00Z", "2026-01-01T12:00:00Z"},
		{"@every 1h", nil, "1969-12-31T22:30:00Z", "1969-12-31T23:00:00Z"},
		{"@every 1h", []schedule.Option{anchor}, "2026-01-01T10:20:00Z", "2026-01-01T11:07:30Z"},
		{"@every 1h", []schedule.Option{anchor}, "2025-12-31T10:00:00Z", "2025-12-31T10:07:30Z"},
		{"@every 1h", []schedule.Option{schedule.Kubernetes(release.Newest())}, "2026-01-01T10:20:00Z", "2026-01-01T11:20:00Z"},
		{"@every 1ns", nil, "2026-01-01T10:20:00Z", "2026-01-01T10:20:01Z"},
		{"@every -1s", nil, "2026-01-01T10:20:00Z", "2026-01-01T10:20:01Z"},
		{"@every 1s", nil, "2026-01-01T10:20:00.5Z", "2026-01-01T10:20:01Z"},
		{"@every 2500ms", nil, "2026-01-01T10:20:00Z", "2026-01-01T10:20:02Z"},
		{"@every 2562047h", nil, "2026-01-01T10:20:00Z", "2262-04-11T23:00:00Z"},
	} {
		got := mustParse(t, c.spec, c.opts...).Next(instant(t, c.from)).Format(time.RFC3339Nano)
		if got != c.want {
			t.Errorf("%q after %s: got %s, want %s", c.spec, c.from, got, c.want)
		}
	}
}

// TestS2_EitherDay: a day matches if either of the two day fields matches. If one of them is
// written with a star, only the other one decides. The range 1-31 is not a star.
func TestS2_EitherDay(t *testing.T) {
	for _, c := range []struct {
		spec string
		want int // runs in March 2026, which has 31 days and begins on a Sunday
	}{
		{"0 0 * * *", 31}, {"0 0 13 * *", 1}, {"0 0 * * 5", 4}, {"0 0 13 * 5", 4}, {"0 0 14 * 5", 5},
		{"0 0 ? * 5", 4}, {"0 0 */1 * 5", 4}, {"0 0 1-31 * 5", 31}, {"0 0 13 * 0-6", 31}, {"0 0 13,* * 5", 4},
		{"0 0 , * 5", 4}, {"0 0 13 * ,", 1},
	} {
		s := mustParse(t, c.spec)
		if got := s.Count(instant(t, "2026-02-28T23:59Z"), instant(t, "2026-03-31T23:59Z")); got != c.want {
			t.Errorf("%q: %d days, want %d", c.spec, got, c.want)
		}
	}
}

// TestS3_ZeroSchedule: the zero Schedule never runs, and its methods do not panic.
func TestS3_ZeroSchedule(t *testing.T) {
	var s schedule.Schedule
	now := instant(t, "2026-01-01T00:00Z")
	_, due := s.Latest(time.Time{}, now)
	if !s.Never() || due || !s.Next(now).IsZero() || !s.Prev(now).IsZero() || s.Count(time.Time{}, now) != 0 ||
		len(slices.Collect(s.NextN(now, 3))) > 0 || s.String() != "" || s.Location() != time.UTC || s.Describe() != "never" {
		t.Error("the zero schedule does something")
	}
	if found := s.Lint(schedule.Circumstances{}); len(found) != 1 || found[0].Kind != schedule.NeverRuns {
		t.Errorf("Lint: %v", found)
	}
}

// TestS5_ZoneOfTheSchedule: the default is UTC, a prefix overrides an option, and runs are in the
// zone.
func TestS5_ZoneOfTheSchedule(t *testing.T) {
	tokyo := schedule.WithLocation(locationOf(t, "Asia/Tokyo"))

	for _, c := range []struct {
		spec string
		opts []schedule.Option
		want string
	}{
		{"0 9 * * *", nil, "2026-01-02T09:00Z"},
		{"0 9 * * *", []schedule.Option{schedule.WithLocation(nil)}, "2026-01-02T09:00Z"},
		{"0 9 * * *", []schedule.Option{tokyo}, "2026-01-02T09:00+09:00"},
		{"0 9 * * *", []schedule.Option{schedule.WithTimeZone("Asia/Kolkata")}, "2026-01-02T09:00+05:30"},
		{"0 9 * * *", []schedule.Option{tokyo, schedule.WithTimeZone("Asia/Kolkata")}, "2026-01-02T09:00+05:30"},
		{"TZ=Asia/Kolkata 0 9 * * *", []schedule.Option{tokyo}, "2026-01-02T09:00+05:30"},
		{"TZ= 0 9 * * *", []schedule.Option{tokyo}, "2026-01-02T09:00Z"},
	} {
		for _, preset := range []bool{false, true} {
			opts := c.opts
			if preset {
				opts = append([]schedule.Option{schedule.Kubernetes(release.Newest())}, opts...)
			}
			checkRuns(t, mustParse(t, c.spec, opts...), "2026-01-01T18:00-05:00", []string{c.want})
		}
	}
}

// TestS5_LocationOfRuns: results are in the schedule's zone, for arguments in any zone.
func TestS5_LocationOfRuns(t *testing.T) {
	for _, opts := range [][]schedule.Option{nil, {schedule.Kubernetes(release.Newest())}} {
		s := mustParse(t, "0 9 * * *", append(opts, schedule.WithTimeZone("Asia/Tokyo"))...)
		now := instant(t, "2026-01-01T19:00-05:00")
		latest, _ := s.Latest(time.Time{}, now)
		for _, run := range []time.Time{s.Next(now), s.Prev(now), latest} {
			if run.Location().String() != "Asia/Tokyo" || run.Hour() != 9 {
				t.Errorf("got %v", run)
			}
		}
	}
}

// TestS4_IntervalsBesideALostDate: under Kubernetes, "@every" counts from the argument, even in a
// zone that has skipped a date.
func TestS4_IntervalsBesideALostDate(t *testing.T) {
	every := mustParse(t, "@every 90m", schedule.Kubernetes(release.Newest()), schedule.WithTimeZone("Pacific/Apia"))
	for _, from := range []string{"2005-06-01T00:10Z", "2011-12-29T00:10Z", "2017-06-01T00:10Z"} {
		if got := every.Next(instant(t, from)); !got.Equal(instant(t, from).Add(90 * time.Minute)) {
			t.Errorf("from %s: %v", from, got)
		}
	}
}

// TestS3_EdgesOfTime: any time is a valid argument.
func TestS3_EdgesOfTime(t *testing.T) {
	clocks := []time.Time{
		{}, time.Unix(math.MinInt64, 0), time.Unix(math.MaxInt64-62135596800, 999999999), // the limits of Time
		time.Unix(math.MaxInt64/2, 0), time.Unix(math.MinInt64/2, 0),
		instant(t, "0001-01-01T00:00:01Z"), instant(t, "1500-06-01T00:00Z"), instant(t, "1969-12-31T23:59:59.999Z"),
		instant(t, "2026-01-01T00:00Z"), instant(t, "9999-12-31T23:59:58Z"), instant(t, "9999-12-31T23:59:59.5Z"),
		instant(t, "9999-12-31T23:59:59Z").Add(time.Second),
	}

	for _, spec := range []string{"* * * * *", "0 0 29 2 *", "30 2 * * 0", "@every 1s", "@every 2562047h", "0 0 30 2 *"} {
		for _, zone := range []string{"UTC", "Europe/Berlin", "Pacific/Apia", "Africa/Casablanca", "Africa/Monrovia"} {
			for _, opts := range [][]schedule.Option{nil, {schedule.RunSkippedAtGapEnd(), schedule.RunRepeatedLast()}, {schedule.Kubernetes(release.Newest())}} {
				s := mustParse(t, spec, append(opts, schedule.WithTimeZone(zone), schedule.WithAnchor(clocks[len(spec)%len(clocks)]))...)
				for _, a := range clocks {
					checkEdge(t, s, a)
					for _, b := range clocks {
						n := s.Count(a, b)
						run, ok := s.Latest(a, b)
						if ok != (n > 0) || ok && (!run.After(a) || run.After(b)) {
							t.Errorf("%q in %s: (%v, %v]: count %d, latest %v %v", spec, zone, a, b, n, run, ok)
						}
					}
				}
			}
		}
	}
}

func checkEdge(t *testing.T, s schedule.Schedule, at time.Time) {
	t.Helper()
	if next := s.Next(at); !next.IsZero() && (!next.After(at) || next.UTC().Year() > 9999) {
		t.Errorf("%q: Next(%v) = %v", s, at, next)
	}
	if prev := s.Prev(at); !prev.IsZero() && (!prev.Before(at) || prev.UTC().Year() < 1) {
		t.Errorf("%q: Prev(%v) = %v", s, at, prev)
	}
}

// TestS3_FirstAndLastRun: runs are found from the first to the last supported year.
func TestS3_FirstAndLastRun(t *testing.T) {
	for _, c := range []struct{ spec, first, last string }{
		{"* * * * *", "0001-01-01T00:01Z", "9999-12-31T23:59Z"},
		{"* * * * * *", "0001-01-01T00:00:01Z", "9999-12-31T23:59:59Z"},
		{"0,59 59 23 * * *", "0001-01-01T23:59Z", "9999-12-31T23:59:59Z"},
		{"@every 1s", "0001-01-01T00:00:01Z", "9999-12-31T23:59:59Z"},
	} {
		for _, policy := range []dstPolicy{exact, gapEnd, first, last} {
			for _, zone := range []*time.Location{time.UTC, ruledZone(t, "XXX0YYY,J91/2,J300/3")} {
				s := mustParse(t, c.spec, append(policy.options(), schedule.WithSeconds(), schedule.WithLocation(zone))...)
				early, late := instant(t, c.first), instant(t, c.last)
				for name, c := range map[string]struct{ got, want time.Time }{
					"first run":                      {s.Next(time.Time{}), early},
					"first run after the first time": {s.Next(time.Unix(math.MinInt64, 0)), early},
					"last run":                       {s.Prev(time.Unix(math.MaxInt64/2, 0)), late},
					"last run, forwards":             {s.Next(late.Add(-1)), late},
					"after the last run":             {s.Next(late), time.Time{}},
				} {
					if !c.got.Equal(c.want) {
						t.Errorf("%q in %s, policy %d: %s: got %v, want %v", s, zone, policy, name, c.got.UTC(), c.want)
					}
				}
			}
		}
	}
}

// TestS4_SpanBorders: a run at the start of a span does not count, and a run at its end does.
func TestS4_SpanBorders(t *testing.T) {
	s := mustParse(t, "*/10 * * * *")
	for _, c := range []struct {
		after, until string
		want         int
	}{
		{"2026-01-01T00:00Z", "2026-01-01T00:10Z", 1}, {"2026-01-01T00:00Z", "2026-01-01T00:09:59.999Z", 0},
		{"2025-12-31T23:59:59.999Z", "2026-01-01T00:00Z", 1}, {"2026-01-01T00:00:00.001Z", "2026-01-01T00:10Z", 1},
		{"2026-01-01T00:10Z", "2026-01-01T00:10Z", 0}, {"2026-01-01T00:20Z", "2026-01-01T00:00Z", 0},
	} {
		after, until := instant(t, c.after), instant(t, c.until)
		n := 0
		for range s.Between(after, until) {
			n++
		}
		if got := s.Count(after, until); got != c.want || n != c.want {
			t.Errorf("(%s, %s]: count %d, between %d, want %d", c.after, c.until, got, n, c.want)
		}
	}
}
