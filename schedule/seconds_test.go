package schedule_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/schedule"
)

// These are chosen cases of S4; TestS4_BruteForce has random ones.
func TestSeconds_Runs(t *testing.T) {
	gapEnd, first, last := schedule.RunSkippedAtGapEnd(), schedule.RunRepeatedFirst(), schedule.RunRepeatedLast()

	for _, c := range []struct {
		name, spec, zone string
		opt              schedule.Option
		from             string
		want             []string
	}{
		{"a rhythm goes on across minutes", "*/20 * * * * *", "UTC", nil, "2026-01-01T23:59:30Z",
			[]string{"2026-01-01T23:59:40Z", "2026-01-02T00:00:00Z", "2026-01-02T00:00:20Z"}},
		{"an uneven step begins again", "*/25 * * * * *", "UTC", nil, "2026-01-01T00:00:25.5Z", []string{"2026-01-01T00:00:50Z", "2026-01-01T00:01:00Z"}},
		{"one second of a day", "30 0 9 * * 1-5", "Europe/Berlin", nil, "2026-01-02T09:00+01:00",
			[]string{"2026-01-02T09:00:30+01:00", "2026-01-05T09:00:30+01:00"}},
		{"the last second of a year", "59 59 23 31 12 *", "UTC", nil, "2026-06-01T00:00Z", []string{"2026-12-31T23:59:59Z", "2027-12-31T23:59:59Z"}},
		{"29 February", "1 0 0 29 2 *", "UTC", nil, "2096-02-29T00:00:01Z", []string{"2104-02-29T00:00:01Z"}},
		{"five fields", "30 9 * * *", "UTC", nil, "2026-01-01T00:00Z", []string{"2026-01-01T09:30Z"}},
		{"a descriptor", "@hourly", "UTC", nil, "2026-01-01T00:00Z", []string{"2026-01-01T01:00Z"}},
		{"clocks go forward", "30 59 1,2 * * *", "Europe/Berlin", nil, "2026-03-29T01:00+01:00",
			[]string{"2026-03-29T01:59:30+01:00", "2026-03-30T01:59:30+02:00", "2026-03-30T02:59:30+02:00"}},
		{"clocks go forward, run at the end of the gap", "30 59 2 * * *", "Europe/Berlin", gapEnd, "2026-03-29T01:00+01:00",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:59:30+02:00"}},
		{"a skipped run and the next second", "*/30 * * * * *", "Europe/Berlin", gapEnd, "2026-03-29T01:59:30+01:00",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-29T03:00:30+02:00"}},
		{"clocks go back", "30 59 2 * * *", "Europe/Berlin", nil, "2026-10-25T00:00+02:00",
			[]string{"2026-10-25T02:59:30+02:00", "2026-10-25T02:59:30+01:00", "2026-10-26T02:59:30+01:00"}},
		{"clocks go back, first", "*/30 59 2 * * *", "Europe/Berlin", first, "2026-10-25T00:00+02:00",
			[]string{"2026-10-25T02:59:00+02:00", "2026-10-25T02:59:30+02:00", "2026-10-26T02:59:00+01:00"}},
		{"clocks go back, last", "*/30 59 2 * * *", "Europe/Berlin", last, "2026-10-25T00:00+02:00",
			[]string{"2026-10-25T02:59:00+01:00", "2026-10-25T02:59:30+01:00", "2026-10-26T02:59:00+01:00"}},
		{"an offset of odd seconds", "*/20 * * * * *", "Africa/Monrovia", nil, "1950-01-01T00:00Z",
			[]string{"1950-01-01T00:00:10Z", "1950-01-01T00:00:30Z", "1950-01-01T00:00:50Z"}}, // 44 minutes and 30 seconds behind
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := []schedule.Option{schedule.WithSeconds(), schedule.WithTimeZone(c.zone)}
			if c.opt != nil {
				opts = append(opts, c.opt)
			}

			want, after := instants(t, c.want), instant(t, c.from)
			if problem := compare(mustParse(t, c.spec, opts...), after.Unix(), want[len(want)-1], want); problem != "" {
				t.Errorf("want %v: %s", c.want, problem)
			}
			if got := mustParse(t, c.spec, opts...).Next(after); got.Unix() != want[0] {
				t.Errorf("Next: got %v, want %v", got, c.want[0])
			}
		})
	}
}

// TestSeconds_RulesOfOddSeconds: a yearly rule can have offsets or changes that are not at whole
// minutes.
func TestSeconds_RulesOfOddSeconds(t *testing.T) {
	for _, c := range []struct{ rule, from, want string }{
		{"XXX0:00:10YYY0:00:10,J91/2,J300/3", "2026-01-15T00:00Z", "2026-01-15T00:00:10Z"},
		{"XXX0:00:10YYY0:00:10,J91/2,J300/3", "2026-07-15T00:00:10Z", "2026-07-15T00:00:30Z"},
		{"XXX0YYY-1,J91/2:00:30,J300/3", "2026-04-01T02:00:20Z", "2026-04-01T02:00:40Z"},
		{"XXX0YYY-1,J91/2:00:30,J300/3", "2026-07-15T00:00Z", "2026-07-15T00:00:20Z"},
	} {
		s := mustParse(t, "*/20 * * * * *", schedule.WithSeconds(), schedule.WithLocation(ruledZone(t, c.rule)))
		if got := s.Next(instant(t, c.from)); !got.Equal(instant(t, c.want)) {
			t.Errorf("%s: after %s comes %v, want %s", c.rule, c.from, got.UTC(), c.want)
		}
	}
	s := mustParse(t, "*/20 * * * * *", schedule.WithSeconds(), schedule.WithLocation(time.FixedZone("", -61)))
	if got := s.Next(instant(t, "2026-07-15T00:00Z")); got.UTC().Second() != 1 {
		t.Errorf("61 seconds behind: %v", got.UTC())
	}
}

// TestSeconds_CountOfYears: a count is exact, even for a long span.
func TestSeconds_CountOfYears(t *testing.T) {
	for _, c := range []struct {
		spec         string
		after, until string
		want         int
	}{
		{"* * * * * *", "2026-01-01T00:00Z", "2027-01-01T00:00Z", 365 * 86400},
		{"*/10 * * * * *", "2000-01-01T00:00Z", "2400-01-01T00:00Z", 146097 * 8640},
		{"0,30 0 9 * * 1-5", "2026-02-28T00:00Z", "2026-04-01T00:00Z", 44},
	} {
		s := mustParse(t, c.spec, schedule.WithSeconds(), schedule.WithTimeZone("Europe/Berlin"))
		if got := s.Count(instant(t, c.after), instant(t, c.until)); got != c.want {
			t.Errorf("%q: %d, want %d", c.spec, got, c.want)
		}
	}
}

func TestSeconds_Equal(t *testing.T) {
	parse := func(spec string) schedule.Schedule { return mustParse(t, spec, schedule.WithSeconds()) }
	if !parse("0 30 9 * * *").Equal(mustParse(t, "30 9 * * *")) {
		t.Error("a second of 0 is not the schedule without seconds")
	}
	if !parse("*/30 30 9 * * *").Equal(parse("0,30 30 9 * * *")) {
		t.Error("the same seconds are not equal")
	}
	if parse("30 30 9 * * *").Equal(parse("30 9 * * *")) || parse("30 30 9 * * *").Equal(parse("31 30 9 * * *")) {
		t.Error("other seconds are equal")
	}
	if got := parse("  */30 30 9 * * mon").String(); got != "  */30 30 9 * * mon" {
		t.Errorf("got %q", got)
	}
}

func TestSeconds_Errors(t *testing.T) {
	seconds := []schedule.Option{schedule.WithSeconds()}
	for _, c := range []struct {
		spec               string
		opts               []schedule.Option
		field, value, want string
	}{
		{"60 * * * * *", seconds, "second", "60", "must be from 0 to 59"},
		{"1,5-70 * * * * *", seconds, "second", "1,5-70", `"5-70": must be from 0 to 59`},
		{"*/0 * * * * *", seconds, "second", "*/0", "the step after the slash"},
		{"H * * * * *", seconds, "second", "H", "a value from 0 to 59"},
		{"0 60 * * * *", seconds, "minute", "60", "must be from 0 to 59"},
		{"0 0 0 * * 7", seconds, "day-of-week", "7", "Sunday is 0"},
		{"60 * * * *", seconds, "minute", "60", "must be from 0 to 59"},
		{"* * * *", seconds, "fields", "* * * *", "or 6 with the second before them, found 4"},
		{"0 0 0 1 1 * 2026", seconds, "fields", "0 0 0 1 1 * 2026", "found 7"},
		{"0 0 0 1 1 *", nil, "fields", "0 0 0 1 1 *", "found 6"},
		{"*/10 * * * * *", append(seconds, schedule.Except("* * 25 12 *")), "second", "*/10", "seconds cannot be combined"},
		{"5 * * * * *", append(seconds, schedule.Also("@daily")), "second", "5", "seconds cannot be combined"},
		{"* * * * *", append(seconds, schedule.Also("5 0 9 * * *")), "fields", "5 0 9 * * *", "want 5 fields"},
	} {
		_, err := schedule.Parse(c.spec, c.opts...)
		var parse *schedule.ParseError
		if !errors.As(err, &parse) || parse.Field != c.field || parse.Value != c.value || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.spec, err)
		}
	}
	// A field of seconds with only 0 is the same as none.
	s := mustParse(t, "0 0 9 * * *", schedule.WithSeconds(), schedule.Except("* * 25 12 *"))
	if !s.Equal(mustParse(t, "0 9 * * *", schedule.Except("* * 25 12 *"))) {
		t.Errorf("got %q", s)
	}
}

func TestSeconds_Describe(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"* * * * * *", "every second"}, {"*/10 * * * * *", "every 10 seconds"}, {"*/30 * * * * *", "every 30 seconds"},
		{"*/10 * * * * 1-5", "every 10 seconds on weekdays"},
		{"*/10 * 8-18 * * 1-5", "every 10 seconds from 08:00:00 to 18:59:50 on weekdays"},
		{"0 */5 * * * *", "every 5 minutes"},
		{"0-10 * * * * *", "at 0 to 10 seconds past every minute"}, {"0-28/7 * * * * *", "at every 7th second from 0 to 28 of every minute"},
		{"0,7,14,21 * * * * *", "at 0, 7, 14 and 21 seconds past every minute"}, {"30 * * * * *", "at 30 seconds past every minute"}, {"1 * * * * *", "at 1 second past every minute"},
		{"*/7 * * * * 1", "at every 7th second from 0 to 56 of every minute on Mondays"},
		{"30 * * 1 * *", "at 30 seconds past every minute on the 1st of every month"},
		{"*/10 */15 * * * *", "every 10 seconds within the minute, every 15 minutes"},
		{"30 */15 8-18 * * 1-5", "at 30 seconds past the minute, every 15 minutes from 08:00 to 18:45 on weekdays"},
		{"5,7 0 * * * *", "at 5 and 7 seconds past the minute, every hour"},
		{"30 0 9 * * *", "at 09:00:30 every day"}, {"0,30 0 9 * * 1-5", "at 09:00:00 and 09:00:30 on weekdays"},
		{", * * * * *", "never (no such time of day)"}, {"5 0 0 31 2 *", "never (no such date)"},
	} {
		if got := mustParse(t, c.spec, schedule.WithSeconds()).Describe(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.spec, got, c.want)
		}
	}
}

func TestSeconds_Lint(t *testing.T) {
	for _, c := range []struct {
		spec        string
		nameSeconds bool
		want        []schedule.FindingKind
		text        string
	}{
		{"*/10 * * * * *", false, []schedule.FindingKind{schedule.NameCollision}, "several times a minute"},
		{"*/10 * * * * *", true, nil, ""},
		{"0 * 3 * * *", true, []schedule.FindingKind{schedule.EachMinute}, "60 times"}, {"0 0 3 * * *", true, nil, ""}, {"30 * * * * *", true, nil, ""},
		{"* 30 * * * *", true, []schedule.FindingKind{schedule.EachMinute}, "60 times in each of its minutes"}, {"* 0-29 * * * *", true, nil, ""},
		{"30 * * * * *", false, nil, ""},
		{"*/7 * * * * *", true, []schedule.FindingKind{schedule.UnevenStep}, `second "*/7" is uneven: from 56 to the next 0 it is 4, not 7`},
		{"*/7 0 * * * *", true, nil, ""}, // the next minute does not match
		{"*/7 0,59 * * * *", true, []schedule.FindingKind{schedule.UnevenStep}, "from 56 to the next 0"}, {"*/7 0,58 * * * *", true, nil, ""},
		{"15 30 2 * * *", false, []schedule.FindingKind{schedule.SkippedTime, schedule.RepeatedTime}, "02:30:15 on 2026-03-29 does not exist"},
	} {
		s := mustParse(t, c.spec, schedule.WithSeconds(), schedule.WithTimeZone("Europe/Berlin"))
		found := s.Lint(schedule.Circumstances{From: instant(t, "2026-02-01T00:00Z"), NameSeconds: c.nameSeconds})
		if !slices.Equal(kindsOf(found), c.want) || c.text != "" && !strings.Contains(found[0].Message, c.text) {
			t.Errorf("%q: got %v, want %v with %q", c.spec, found, c.want, c.text)
		}
	}
}

func TestSeconds_DistinctMinutes(t *testing.T) {
	for _, c := range []struct {
		spec string
		opt  schedule.Option
		want bool
	}{
		{"* * * * *", schedule.WithSeconds(), true}, {"30 * * * * *", schedule.WithSeconds(), true},
		{"0,30 0 9 * * *", schedule.WithSeconds(), false}, {"30 30 2 * * *", schedule.RunSkippedAtGapEnd(), false},
		{"30 30 2 * * *", schedule.RunAfterAnchor(), false}, {"30 2 * * *", schedule.RunAfterAnchor(), true},
		{"@every 59s", schedule.WithSeconds(), false}, {"@every 1m", schedule.WithSeconds(), true},
	} {
		if got := mustParse(t, c.spec, schedule.WithSeconds(), c.opt).DistinctMinutes(); got != c.want {
			t.Errorf("%q: %v", c.spec, got)
		}
	}
	if !(schedule.Schedule{}).DistinctMinutes() {
		t.Error("the zero schedule has runs")
	}
}
