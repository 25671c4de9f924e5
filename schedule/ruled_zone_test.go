package schedule_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// ruledZone builds a zone that follows a yearly rule at all times.
func ruledZone(t *testing.T, rule string) *time.Location {
	t.Helper()
	return namedZone(t, "Test/Ruled", rule)
}

// namedZone builds a zone with a name. The rule has the syntax of the environment variable TZ; the
// zone is built in the file format of the zone database.
func namedZone(t *testing.T, name, rule string) *time.Location {
	t.Helper()
	header := func(types, chars uint32) []byte {
		b := append([]byte("TZif2"), make([]byte, 15)...)
		for _, n := range []uint32{0, 0, 0, 0, types, chars} {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		return b
	}
	oneType := []byte{0, 0, 0, 0, 0, 0, 'X', 'X', 'X', 0} // offset 0, "XXX"
	data := slices.Concat(header(1, 4), oneType, header(1, 4), oneType, []byte("\n"+rule+"\n"))
	loc, err := time.LoadLocationFromTZData(name, data)
	must.OK(t, err)
	return loc
}

// TestS3_AlwaysInTheGap: clocks go forward on the same date each year, so a time of that date never
// exists although the date does. The search ends nevertheless.
func TestS3_AlwaysInTheGap(t *testing.T) {
	zone := schedule.WithLocation(ruledZone(t, "XXX0YYY,J91/2,J300/3")) // 1 April, 27 October
	from := instant(t, "2026-01-01T00:00Z")

	for _, s := range []schedule.Schedule{
		mustParse(t, "30 2 1 4 *", zone),
		mustParse(t, "30 2 1 4 *", zone, schedule.Kubernetes(release.Newest())),
	} {
		start := time.Now()
		if got := s.Prev(from); got.Year() >= 1970 {
			t.Errorf("Prev: %v", got)
		}
		if got := s.Count(from, instant(t, "9999-12-31T00:00Z")); got != 0 {
			t.Errorf("Count: %d", got)
		}
		s.Next(from)
		if took := time.Since(start); took > time.Second {
			t.Errorf("took %v", took)
		}
	}

	if got := mustParse(t, "30 2 1 4 *", zone).Next(from); !got.IsZero() {
		t.Errorf("Next: %v", got)
	}

	checkRuns(t, mustParse(t, "30 2 1 4 *", zone, schedule.RunSkippedAtGapEnd()), "2026-01-01T00:00Z",
		[]string{"2026-04-01T03:00+01:00", "2027-04-01T03:00+01:00"})
	checkRuns(t, mustParse(t, "30 2 27 10 *", zone), "2026-10-01T00:00Z",
		[]string{"2026-10-27T02:30+01:00", "2026-10-27T02:30Z", "2027-10-27T02:30+01:00"})
}

// TestS4_ShortStretch: clocks go back two hours, and forward again after half an
// hour.
func TestS4_ShortStretch(t *testing.T) {
	loc := ruledZone(t, "XXX-2YYY0,J91/2,J91/0:30")
	zone := schedule.WithLocation(loc)
	after, until := instant(t, "2026-03-31T12:00Z").Unix(), instant(t, "2026-04-01T12:00Z").Unix()
	for _, spec := range []string{"*/10 * * * *", "15 0 * * *", "30 2 * * *", "0 1 * * *"} {
		for _, policy := range []dstPolicy{exact, gapEnd, first} {
			s := mustParse(t, spec, append(policy.options(), zone)...)
			if problem := compare(s, after, until, oracle(spec, loc, policy, after, until)); problem != "" {
				t.Errorf("%q, policy %d: %s", spec, policy, problem)
			}
		}
	}
}

// A rule with an offset of odd seconds moves the seconds of runs, even after the last listed
// transition.
func TestSeconds_RuleInSeconds(t *testing.T) {
	s := mustParse(t, "15 * * * * *", schedule.WithSeconds(), schedule.WithLocation(ruledZone(t, "XXX-0:00:20YYY,J91/2,J300/3")))
	if got := s.Next(instant(t, "2150-01-01T00:00Z")); got.Second() != 15 {
		t.Error(got)
	}
}

// TestS4_StretchesOutlastOverlaps checks what RunRepeatedFirst and RunRepeatedLast assume: in each
// zone, an offset lasts longer than the change of the clock that ends it.
func TestS4_StretchesOutlastOverlaps(t *testing.T) {
	for _, zone := range zonesOf(t) {
		began, offset := time.Time{}, 0
		for u := time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC); u.Year() < 2200; {
			_, now := u.In(zone.loc).Zone()
			if now != offset {
				change := time.Duration(now-offset) * time.Second
				if !began.IsZero() && u.Sub(began) <= change.Abs() {
					t.Errorf("%s: %v after %v", zone.name, u, began)
				}
				began, offset = u, now
			}

			_, ends := u.In(zone.loc).ZoneBounds()
			if ends.IsZero() {
				break
			}
			if !ends.After(u) {
				ends = u.AddDate(0, 0, 1)
			}
			u = ends
		}
	}
}

// TestS4_YearlyRuleHolds: from 2100 on, when transitions are no longer listed, the compiled rule
// shows the same clock as the zone itself, on both sides of every transition and at the edges of
// years, for 400 years. Each policy is checked where the rule begins.
func TestS4_YearlyRuleHolds(t *testing.T) {
	hourly := "0 * * * *"
	for _, name := range []string{"Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe",
		"Pacific/Chatham", "Africa/Cairo", "Asia/Gaza", "America/Nuuk", "Europe/Dublin", "Antarctica/Troll"} {
		loc := locationOf(t, name)

		var under [numPolicies]schedule.Schedule
		for policy := range numPolicies {
			under[policy] = mustParse(t, hourly, append(policy.options(), schedule.WithLocation(loc))...)
		}
		for year := 2095; year < 2505; year++ {
			for _, u := range turningPoints(loc, year) {
				after, until := u.Add(-26*time.Hour).Unix(), u.Add(26*time.Hour).Unix()
				if year > 2102 {
					after, until = u.Add(-3*time.Hour).Unix(), u.Add(3*time.Hour).Unix()
				}
				for policy := range numPolicies {
					if policy != exact && year != 2100 {
						continue
					}
					if problem := compare(under[policy], after, until, oracle(hourly, loc, policy, after, until)); problem != "" {
						t.Fatalf("%s around %v, policy %d: %s", name, u, policy, problem)
					}
				}
			}
		}
	}
}

// turningPoints returns the beginning and the transitions of a year.
func turningPoints(loc *time.Location, year int) []time.Time {
	points := []time.Time{time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}
	for u := points[0]; u.Year() == year; {
		_, ends := u.In(loc).ZoneBounds()
		if !ends.After(u) {
			break
		}
		u = ends.UTC()
		points = append(points, u)
	}
	return points
}
