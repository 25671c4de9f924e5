package schedule_test

import (
	"strings"
	"testing"

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
