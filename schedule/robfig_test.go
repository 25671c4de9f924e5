package schedule_test

import (
	"errors"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// offsetStays reports whether the zone has no transition in the span, and an offset of whole
// minutes: robfig/cron truncates to minutes of UTC, which is wrong for the odd seconds of offsets
// before 1972.
func offsetStays(loc *time.Location, from, to time.Time) bool {
	_, a := from.In(loc).Zone()
	_, b := to.In(loc).Zone()
	_, ends := from.In(loc).ZoneBounds()
	return a == b && a%60 == 0 && (ends.IsZero() || ends.After(to))
}

// losesDate reports whether the zone skips half a day or more in the years after t in which
// robfig/cron searches. Then robfig/cron may never return.
func losesDate(loc *time.Location, t time.Time) bool {
	for u := t; u.Before(t.AddDate(6, 1, 0)); {
		_, before := u.In(loc).Zone()
		_, ends := u.In(loc).ZoneBounds()
		if ends.IsZero() {
			return false
		}
		if !ends.After(u) {
			ends = u.AddDate(0, 0, 1)
		}
		if _, after := ends.In(loc).Zone(); after-before >= 12*3600 {
			return true
		}
		u = ends
	}
	return false
}

// TestS4_RobfigAgreesAwayFromTransitions: both packages agree where there is no transition.
func TestS4_RobfigAgreesAwayFromTransitions(t *testing.T) {
	zones := zonesOf(t)
	r := rand.New(rand.NewSource(11))
	cases := 20 * oracleCases(t)
	compared := 0 // the month before counts too, because robfig/cron goes back to the beginning of the month
	for range cases {
		zone := zones[r.Intn(len(zones))]
		spec := withSeconds(r, randomSpec(r))
		from := time.Unix(r.Int63n(6e9)-1e9, r.Int63n(1e9))
		run := mustParse(t, spec, zone.option, schedule.WithSeconds()).Next(from)
		if run.IsZero() || run.Year() > from.Year()+4 || !offsetStays(zone.loc, from.AddDate(0, 0, -32), run.AddDate(0, 0, 2)) {
			continue
		}
		compared++
		checkRobfig(t, spec, zone, from, run)
	}
	if compared < cases/10 {
		t.Fatalf("only %d of %d cases compared", compared, cases)
	}
	t.Logf("%d cases compared", compared)
}

// withSeconds adds a field of seconds to every other spec, by chance.
func withSeconds(r *rand.Rand, spec string) string {
	if r.Intn(2) == 0 {
		spec = randomSeconds(r) + " " + spec
	}
	return spec
}

// checkRobfig compares the next run of a schedule with robfig's.
func checkRobfig(t *testing.T, spec string, zone testZone, from, got time.Time) {
	t.Helper()
	parsed, err := theirs.Parse(spec)
	must.OK(t, err)
	if want := parsed.Next(from.In(zone.loc)); !got.Equal(want) && want.Unix() <= borders[len(borders)-1] {
		t.Fatalf("%q in %s after %v: got %v, robfig %v", spec, zone.name, from, got, want)
	}
}

// TestS4_PresetIsRobfig: the preset gives robfig's answers everywhere, even around transitions.
func TestS4_PresetIsRobfig(t *testing.T) {
	zones := zonesOf(t)
	r := rand.New(rand.NewSource(12))
	differ := 0
	for range oracleCases(t) {
		zone := zones[r.Intn(len(zones))]
		spec := withSeconds(r, randomSpec(r))
		plain := mustParse(t, spec, zone.option, schedule.WithSeconds())
		s := mustParse(t, spec, zone.option, schedule.WithSeconds(), schedule.Kubernetes(release.Newest()))
		after, _ := randomSpan(r, zone.loc, 3*86400)
		from := time.Unix(after, 0)
		if losesDate(zone.loc, from) || strings.HasPrefix(spec, ", ") { // robfig would look at each second of five years
			continue
		}
		run := s.Next(from)
		checkRobfig(t, spec, zone, from, run)
		if !plain.Next(from).Equal(run) {
			differ++
		}
	}
	t.Logf("exact answers differ in %d cases", differ)
}

// TestS4_PresetAfterALostDate: after a zone has skipped a date, the preset gives robfig's answers
// again, even if they differ from the exact ones.
func TestS4_PresetAfterALostDate(t *testing.T) {
	r := rand.New(rand.NewSource(15))
	for name, before := range map[string]string{"Asia/Manila": "1844-12-01T00:00Z", "Antarctica/McMurdo": "1955-12-01T00:00Z"} {
		zone := testZone{name, locationOf(t, name), schedule.WithTimeZone(name)}
		_, from := instant(t, before).In(zone.loc).ZoneBounds()
		differ := 0
		for range 200 {
			spec := withSeconds(r, randomSpec(r))
			if strings.HasPrefix(spec, ", ") {
				continue
			}
			run := mustParse(t, spec, zone.option, schedule.WithSeconds(), schedule.Kubernetes(release.Newest())).Next(from)
			checkRobfig(t, spec, zone, from, run)
			if !mustParse(t, spec, zone.option, schedule.WithSeconds()).Next(from).Equal(run) {
				differ++
			}
		}
		if differ == 0 {
			t.Errorf("%s: the exact answers are the same", name)
		}
	}
}

// TestS4_PresetFindsImpossibleDates: if a month begins without a midnight, robfig/cron can have a
// run for a date that does not exist.
func TestS4_PresetFindsImpossibleDates(t *testing.T) {
	for _, c := range []struct{ zone, from, want string }{
		{"Asia/Taipei", "1950-01-01T00:00Z", "1952-03-31T00:00+09:00"},
		{"ROC", "1950-01-01T00:00Z", "1952-03-31T00:00+09:00"},
		{"Asia/Tbilisi", "1955-01-01T00:00Z", "1957-03-31T00:00+04:00"},
	} {
		s := mustParse(t, "0 0 31 2 *", schedule.Kubernetes(release.Newest()), schedule.WithTimeZone(c.zone))
		if got := s.Next(instant(t, c.from)); !got.Equal(instant(t, c.want)) {
			t.Errorf("%s: got %v, want %v", c.zone, got, c.want)
		}
		if _, due := s.Latest(time.Time{}, instant(t, "2026-01-01T00:00Z")); due || !s.Never() {
			t.Errorf("%s: an exact answer follows the reference", c.zone)
		}
	}
	for _, spec := range []string{"0 , * * *", ", 0 * * *", "0 0 , * *", "0 0 * , *", "0 0 * * ,"} {
		s := mustParse(t, spec, schedule.Kubernetes(release.Newest()))
		if got := s.Next(instant(t, "2026-01-01T00:00Z")); !got.IsZero() {
			t.Errorf("%q: got %v", spec, got)
		}
	}
}

// TestS4_PresetIsRobfigForImpossibleDates compares the preset with robfig/cron in all zones and in
// all years of the database.
func TestS4_PresetIsRobfigForImpossibleDates(t *testing.T) {
	zones := zonesOf(t)
	r := rand.New(rand.NewSource(13))
	runs := 0
	for range oracleCases(t) {
		zone := zones[r.Intn(len(zones))]
		spec := randomField(r, 0, 59) + " " + randomField(r, 0, 23) + " " + pick(r, "31 2", "30-31 2", "31 4,6,9,11", "30 2", "31 2,11") + " *"
		from := time.Date(1850+r.Intn(200), time.Month(1+r.Intn(12)), 1, 0, 0, 0, 0, time.UTC)
		if losesDate(zone.loc, from) {
			continue
		}
		run := mustParse(t, spec, zone.option, schedule.Kubernetes(release.Newest())).Next(from)
		checkRobfig(t, spec, zone, from, run)
		if !run.IsZero() {
			runs++
		}
	}
	if runs == 0 {
		t.Error("the reference runs on no impossible date")
	}
	t.Logf("the reference runs on an impossible date in %d cases", runs)
}

// compareWithRobfig parses a text with both packages, and compares the next 50 runs after a time.
func compareWithRobfig(t *testing.T, spec string, unix int64, parse func(string) (cron.Schedule, error), opts ...schedule.Option) {
	s, err := schedule.Parse(spec, opts...)
	theirs, theirErr := withoutPanic(parse, spec)

	if strings.HasPrefix(spec, "TZ=Local ") || strings.HasPrefix(spec, "CRON_TZ=Local ") {
		if err == nil {
			t.Fatalf("%q: accepted", spec)
		}
		return
	}

	if (err == nil) != (theirErr == nil) {
		t.Fatalf("%q: %v, robfig: %v", spec, err, theirErr)
	}
	if err != nil || s.Never() {
		return
	}

	at := time.Unix(min(max(unix, -62135596800), 250000000000), 0).UTC()
	for range 50 {
		if losesDate(s.Location(), at) {
			return
		}

		got, want := s.Next(at), theirs.Next(at)
		if want.Year() > 9999 {
			want = time.Time{}
		}
		if !got.Equal(want) {
			t.Fatalf("%q after %v: got %v, robfig %v", spec, at, got, want)
		}
		if at = got; at.IsZero() {
			return
		}
	}
}

func withoutPanic(parse func(string) (cron.Schedule, error), spec string) (s cron.Schedule, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("panic")
		}
	}()
	return parse(spec)
}
