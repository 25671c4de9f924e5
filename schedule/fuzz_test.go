package schedule_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// FuzzParse: robfig's parser and ours accept and reject the same texts, and with the preset the
// next 50 runs are the same. Known differences: "Local" is refused, and if robfig's parser panics,
// ours returns an error.
func FuzzParse(f *testing.F) {
	for _, spec := range everyday {
		f.Add(spec, int64(1767225600))
	}
	f.Add("CRON_TZ=America/New_York 30 1 * * *", int64(1793422800))
	f.Add("TZ=Africa/Cairo 0 12 * * 5", int64(1776420000))
	f.Add("@every 1h30m", int64(0))
	f.Add("@every -1s", int64(0))
	f.Add("TZ=0", int64(0))
	f.Fuzz(func(t *testing.T, spec string, unix int64) {
		compareWithRobfig(t, spec, unix, cron.ParseStandard, schedule.Kubernetes(release.Newest()))
	})
}

// FuzzParseSeconds is FuzzParse with an optional field of seconds.
func FuzzParseSeconds(f *testing.F) {
	for i, seconds := range []string{"*", "*/10", "0,30", "59", "5-50/7", ",", "60", "", "@every"} {
		f.Add(seconds+" "+everyday[i], int64(1767225600))
	}
	f.Add("CRON_TZ=America/New_York 30 30 1 * * *", int64(1793422800))
	f.Add("0 0 0 1 1 * 2026", int64(0))
	f.Fuzz(func(t *testing.T, spec string, unix int64) {
		compareWithRobfig(t, spec, unix, theirs.Parse, schedule.Kubernetes(release.Newest()), schedule.WithSeconds())
	})
}

// FuzzFieldErrors: no error contains an error text of strconv, and each error names the field.
func FuzzFieldErrors(f *testing.F) {
	for _, field := range []string{"L", "15W", "5#2", "H/3", "sunday", "7", "1-2-3", "*/", "/", "-", "99999999999999999999", "1/99999999999999999999"} {
		f.Add(field)
	}
	f.Fuzz(func(t *testing.T, field string) {
		for _, spec := range []string{field + " * * * *", "* * * * " + field} {
			if _, err := schedule.Parse(spec); err != nil && strings.Contains(err.Error(), "strconv") {
				t.Errorf("%q: %v", spec, err)
			}
		}
	})
}

// FuzzSpecialDays: a schedule that parses without the option parses with it and has the same
// meaning. Any other schedule that the option accepts can be stored, described and linted, and its
// runs of four years can be counted.
func FuzzSpecialDays(f *testing.F) {
	for _, days := range []string{"L *", "L-3,15W *", "LW 5#2", "* friL,mon", "L-30W,L-31 5#6", "1,,L ,", "WL 5L#L", "l-3 FRI#+2", "*-0W ?-5#9"} {
		f.Add(days)
	}
	f.Fuzz(func(t *testing.T, days string) {
		dom, dow, _ := strings.Cut(days, " ")
		spec := "0 12 " + dom + " 2,4 " + dow
		plain, plainErr := schedule.Parse(spec)
		s, err := schedule.Parse(spec, schedule.WithSpecialDays())
		if plainErr == nil && (err != nil || !s.Equal(plain)) {
			t.Fatalf("%q: %v with the option", spec, err)
		}
		if err != nil {
			if strings.Contains(err.Error(), "strconv") {
				t.Fatal(err)
			}
			return
		}

		var read schedule.Schedule
		if data, err := json.Marshal(s); err != nil || json.Unmarshal(data, &read) != nil || !read.Equal(s) {
			t.Fatalf("%q: stored as %s, %v", spec, data, err)
		}
		if s.Describe() == "" || len(s.Lint(schedule.Circumstances{})) > 0 != (len(read.Lint(schedule.Circumstances{})) > 0) {
			t.Fatalf("%q: %q", spec, s.Describe())
		}
		begin := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
		n := 0
		for range s.Between(begin, begin.AddDate(4, 0, 0)) {
			n++
		}
		if got := s.Count(begin, begin.AddDate(4, 0, 0)); got != n || n > 0 && s.Never() {
			t.Fatalf("%q: %d runs, counted %d", spec, n, got)
		}
	})
}
