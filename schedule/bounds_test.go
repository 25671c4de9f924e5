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

func TestBounds_Runs(t *testing.T) {
	begin, end := "2026-01-01T10:00Z", "2026-01-01T12:00Z"

	for _, c := range []struct {
		name, spec string
		begin, end string // empty means none
		want       []string
	}{
		{"both ends are inside", "0 * * * *", begin, end, []string{"2026-01-01T10:00Z", "2026-01-01T11:00Z", "2026-01-01T12:00Z"}},
		{"fractions of a second are outside", "0 * * * *", "2026-01-01T10:00:00.001Z", "2026-01-01T11:59:59.999Z", []string{"2026-01-01T11:00Z"}},
		{"an interval keeps its anchor", "@every 50m", begin, end, []string{"2026-01-01T10:00Z", "2026-01-01T10:50Z", "2026-01-01T11:40Z"}},
		{"seconds", "*/40 59 * * * *", begin, end, []string{"2026-01-01T10:59:00Z", "2026-01-01T10:59:40Z", "2026-01-01T11:59:00Z", "2026-01-01T11:59:40Z"}},
		{"one run", "0 11 * * *", begin, end, []string{"2026-01-01T11:00Z"}},
		{"one instant", "0 11 * * *", "2026-01-01T11:00Z", "2026-01-01T11:00Z", []string{"2026-01-01T11:00Z"}},
		{"no run", "0 13 * * *", begin, end, nil},
		{"no time", "0 13 * * *", "2026-01-01T13:00:00.2Z", "2026-01-01T13:00:00.3Z", nil},
		{"an end alone", "0 0 1 1 *", "", "0003-06-01T00:00Z", []string{"0002-01-01T00:00Z", "0003-01-01T00:00Z"}},
		{"a start alone", "0 0 1 1 *", "9998-06-01T00:00Z", "", []string{"9999-01-01T00:00Z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := []schedule.Option{schedule.WithSeconds(), schedule.WithAnchor(instant(t, begin))}
			if c.begin != "" {
				opts = append(opts, schedule.NotBefore(instant(t, c.begin)))
			}
			if c.end != "" {
				opts = append(opts, schedule.NotAfter(instant(t, c.end)))
			}

			s := mustParse(t, c.spec, opts...)
			want, first, last := instants(t, c.want), time.Time{}, instant(t, "9999-12-31T23:59:59Z")
			if problem := compare(s, first.Unix(), last.Unix(), want); problem != "" {
				t.Errorf("want %v: %s", c.want, problem)
			}

			var got []int64
			for run := range s.NextN(first, 10) {
				got = append(got, run.Unix())
			}
			if !slices.Equal(got, want) || s.Never() != (len(want) == 0) {
				t.Errorf("NextN: got %v, want %v, never %v", got, want, s.Never())
			}
		})
	}
}

// TestBounds_Preset: both bounds apply to the preset as well.
func TestBounds_Preset(t *testing.T) {
	s := mustParse(t, "0 * * * *", schedule.Kubernetes(release.Newest()), schedule.NotBefore(instant(t, "2026-01-01T10:00Z")), schedule.NotAfter(instant(t, "2026-01-01T11:30Z")))
	for from, want := range map[string]string{
		"2020-01-01T00:00Z": "2026-01-01T10:00Z", "2026-01-01T10:00Z": "2026-01-01T11:00Z", "2026-01-01T11:00Z": "", "2026-02-01T00:00Z": "",
	} {
		got := s.Next(instant(t, from))
		if want == "" && !got.IsZero() || want != "" && !got.Equal(instant(t, want)) {
			t.Errorf("Next(%s) = %v, want %q", from, got, want)
		}
	}
}

func TestBounds_EqualDescribeLint(t *testing.T) {
	begin, end := schedule.NotBefore(instant(t, "2026-07-01T08:00:00Z")), schedule.NotAfter(instant(t, "2026-07-31T21:59:59Z"))
	zone := schedule.WithTimeZone("Europe/Berlin")
	s := mustParse(t, "0 9 * * *", zone, begin, end)
	if !s.Equal(mustParse(t, "0 9 * * *", zone, end, begin)) || s.Equal(mustParse(t, "0 9 * * *", zone, begin)) || s.Equal(mustParse(t, "0 9 * * *", zone, end)) {
		t.Error("Equal does not follow the bounds")
	}
	for spec, want := range map[string]string{
		"0 9 * * *":          "at 09:00 every day, not before 10:00 on 2026-07-01, not after 23:59:59 on 2026-07-31",
		"*/10 * * * * *":     "every 10 seconds, not before 10:00 on 2026-07-01, not after 23:59:59 on 2026-07-31",
		"@every 90m":         "every 90 minutes, not before 10:00 on 2026-07-01, not after 23:59:59 on 2026-07-31",
		"0 9 1 1 *":          "never (no time is left)",
		"0 9 31 2 *":         "never (no such date)",
		"0 9 * * * not five": "",
	} {
		if s, err := schedule.Parse(spec, zone, begin, end, schedule.WithSeconds()); err == nil && s.Describe() != want || err != nil && want != "" {
			t.Errorf("%q: got %q, %v", spec, s.Describe(), err)
		}
	}
	found := mustParse(t, "0 9 1 1 *", begin, end).Lint(schedule.Circumstances{})
	want := `"0 9 1 1 *" has no run, not before 08:00 on 2026-07-01, not after 21:59:59 on 2026-07-31: it never runs`
	if len(found) != 1 || found[0].Kind != schedule.NeverRuns || found[0].Message != want {
		t.Errorf("Lint: %v", found)
	}
	// The clocks change outside of the bounds.
	if found := mustParse(t, "30 2 * * *", zone, begin, end).Lint(schedule.Circumstances{From: instant(t, "2026-01-01T00:00Z")}); found != nil {
		t.Errorf("Lint: %v", found)
	}
}

// TestBounds_S3_OutsideOfTheYears: all bounds beyond the supported years have the same effect.
func TestBounds_S3_OutsideOfTheYears(t *testing.T) {
	year := func(n int) time.Time { return time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC) }
	late, early := mustParse(t, "@daily", schedule.NotBefore(year(12000))), mustParse(t, "0 0 29 2 *", schedule.NotAfter(year(4)))
	if !late.Never() || !late.Equal(mustParse(t, "@daily", schedule.NotBefore(year(13000)))) {
		t.Errorf("not before the year 12000: %s", late.Describe())
	}
	if !early.Never() || !mustParse(t, "@daily", schedule.NotAfter(year(-1))).Equal(mustParse(t, "@daily", schedule.NotAfter(year(-2)))) {
		t.Errorf("not after the first days of the year 4: %s", early.Describe())
	}
	if every := mustParse(t, "@every 7h", schedule.WithAnchor(year(-1))); !every.Equal(mustParse(t, "@every 7h", schedule.WithAnchor(year(-2)))) {
		t.Errorf("anchored before the year 1: %v", every.Next(year(2026)))
	}
	if open := mustParse(t, "@yearly", schedule.NotBefore(year(-1)), schedule.NotAfter(year(12000))); !open.Equal(mustParse(t, "@yearly")) {
		t.Errorf("bounds around all years: %s", open.Describe())
	}
}

func TestBounds_Error(t *testing.T) {
	at := instant(t, "2026-07-01T00:00Z")
	_, err := schedule.Parse("@daily", schedule.NotBefore(at), schedule.NotAfter(at.Add(-1)))
	var parse *schedule.ParseError
	if !errors.As(err, &parse) || parse.Field != "bounds" || !strings.Contains(err.Error(), "2026-07-01T00:00:00Z to 2026-06-30T23:59:59.999999999Z") {
		t.Errorf("got %v", err)
	}
}

// TestRunAfterAnchor: the run after the anchor comes once, and counts like any other.
func TestRunAfterAnchor(t *testing.T) {
	for _, c := range []struct {
		name, spec, anchor string
		opts               []schedule.Option
		want               []string // the first three runs after the anchor
		count              int      // the number of runs in the day after the anchor
	}{
		{"between two runs", "0 * * * *", "2026-01-01T10:20:30Z", nil, []string{"2026-01-01T10:20:31Z", "2026-01-01T11:00:00Z", "2026-01-01T12:00:00Z"}, 25},
		{"at a run", "0 * * * *", "2026-01-01T09:59:59Z", nil, []string{"2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z", "2026-01-01T12:00:00Z"}, 24},
		{"an interval", "@every 90m", "2026-01-01T10:20:30Z", nil, []string{"2026-01-01T10:20:31Z", "2026-01-01T11:50:30Z", "2026-01-01T13:20:30Z"}, 17},
		{"seconds", "*/20 * * * * *", "2026-01-01T10:20:30Z", nil, []string{"2026-01-01T10:20:31Z", "2026-01-01T10:20:40Z", "2026-01-01T10:21:00Z"}, 4321},
		{"the preset", "0 * * * *", "2026-01-01T10:20:30Z", []schedule.Option{schedule.Kubernetes(release.Newest())}, []string{"2026-01-01T10:20:31Z", "2026-01-01T11:00:00Z", "2026-01-01T12:00:00Z"}, 25},
		{"outside of the bounds", "0 * * * *", "2026-01-01T10:20:30Z", []schedule.Option{schedule.NotBefore(instant(t, "2026-01-01T11:30Z"))},
			[]string{"2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z", "2026-01-01T14:00:00Z"}, 23},
		{"outside of the bounds of the preset", "0 * * * *", "2026-01-01T10:20:30Z",
			[]schedule.Option{schedule.Kubernetes(release.Newest()), schedule.NotBefore(instant(t, "2026-01-01T11:30Z"))},
			[]string{"2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z", "2026-01-01T14:00:00Z"}, 23},
		{"at the last instant of the bounds", "0 0 1 1 *", "2026-01-01T10:20:30Z", []schedule.Option{schedule.NotAfter(instant(t, "2026-01-01T10:20:31Z"))},
			[]string{"2026-01-01T10:20:31Z"}, 1},
		{"beside other schedules", ", * * * *", "2026-01-01T10:20:30Z", []schedule.Option{schedule.Also("0 12 * * *")},
			[]string{"2026-01-01T10:20:31Z", "2026-01-01T12:00:00Z", "2026-01-02T12:00:00Z"}, 2},
		{"never", "0 0 31 2 *", "2026-01-01T10:20:30Z", nil, nil, 0},
		{"never, the preset", "0 0 31 2 *", "2026-01-01T10:20:30Z", []schedule.Option{schedule.Kubernetes(release.Newest())}, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			anchor := instant(t, c.anchor)
			opts := append(c.opts, schedule.WithSeconds(), schedule.WithAnchor(anchor), schedule.RunAfterAnchor())
			s := mustParse(t, c.spec, opts...)

			var got []string
			for run := range s.NextN(anchor, 3) {
				got = append(got, run.Format(time.RFC3339))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}

			if n := s.Count(anchor, anchor.AddDate(0, 0, 1)); n != c.count {
				t.Errorf("Count: %d, want %d", n, c.count)
			}
			if first := s.Next(anchor); len(got) > 0 && s.Count(anchor, first) != 1 {
				t.Errorf("Count does not find %v", first)
			}
			if len(got) > 1 && !s.Prev(s.Next(s.Next(anchor))).Equal(s.Next(anchor)) {
				t.Errorf("Prev does not find %v", s.Next(anchor))
			}
			if plain := mustParse(t, c.spec, append(c.opts, schedule.WithSeconds(), schedule.WithAnchor(anchor))...); s.Equal(plain) {
				t.Error("Equal overlooks the run")
			}
			after := append(c.opts, schedule.WithSeconds(), schedule.WithAnchor(anchor.Add(time.Second)), schedule.RunAfterAnchor())
			if s.Equal(mustParse(t, c.spec, after...)) {
				t.Error("Equal overlooks the time of the run")
			}
		})
	}

	s := mustParse(t, "0 * * * *", schedule.WithAnchor(instant(t, "2026-01-01T10:20:30Z")), schedule.RunAfterAnchor())
	if got, want := s.Describe(), "every hour, and at 10:20:31 on 2026-01-01"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
