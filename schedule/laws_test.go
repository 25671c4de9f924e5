package schedule_test

import (
	"math"
	"math/rand"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// subject is a random schedule in a random zone, under any policy. Some are
// intervals or combined schedules, some have seconds or bounds.
type subject struct {
	schedule.Schedule
	zone testZone
}

func drawSubject(t *rapid.T, zones []testZone) subject {
	zone := rapid.SampledFrom(zones).Draw(t, "zone")
	policy := rapid.SampledFrom([]dstPolicy{exact, exact, exact, gapEnd, first, last}).Draw(t, "policy")
	r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "spec seed")))
	spec, opts := randomSpec(r), append(policy.options(), zone.option)

	switch rapid.IntRange(0, 9).Draw(t, "interval or combined") {
	case 0:
		spec = "@every " + time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "every")).String()
	case 1, 2:
		opts = append(opts, schedule.Also(randomSpecs(r)...), schedule.Except(randomSpecs(r)...))
	case 6:
		spec, opts = withSpecial(r, spec), append(opts, schedule.WithSpecialDays())
	case 3, 4, 5:
		spec, opts = randomSeconds(r)+" "+spec, append(opts, schedule.WithSeconds())
	}

	if rapid.IntRange(0, 4).Draw(t, "single") == 0 {
		opts = append(opts, schedule.WithAnchor(drawInstant(t, zone.loc, "anchor")), schedule.RunAfterAnchor())
	}
	if rapid.IntRange(0, 4).Draw(t, "bounds") == 0 {
		begin := drawInstant(t, zone.loc, "begin")
		end := begin.Add(time.Duration(rapid.Int64Range(0, 9e18).Draw(t, "length")))
		opts = append(opts, schedule.NotBefore(begin), schedule.NotAfter(end))
	}

	s, err := schedule.Parse(spec, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%q in %s, policy %d", s, zone.name, policy)
	return subject{s, zone}
}

// drawInstant draws an instant. It is often within a day of a transition of the zone, or of one of
// the times in variable borders.
func drawInstant(t *rapid.T, loc *time.Location, label string) time.Time {
	u := time.Unix(rapid.Int64Range(-5e9, 2e10).Draw(t, label), rapid.Int64Range(0, 999999999).Draw(t, label+" ns"))
	if rapid.Bool().Draw(t, label+" near transition") {
		if _, ends := u.In(loc).ZoneBounds(); !ends.IsZero() {
			u = ends.Add(time.Duration(rapid.Int64Range(-9e13, 9e13).Draw(t, label+" distance")))
		}
	} else if rapid.IntRange(0, 3).Draw(t, label+" near border") == 0 {
		border := time.Unix(rapid.SampledFrom(borders).Draw(t, label+" border"), 0)
		u = border.Add(time.Duration(rapid.Int64Range(-9e13, 9e13).Draw(t, label+" distance")))
	}
	return u
}

func checkLaw(t *testing.T, law func(t *rapid.T, s subject, from time.Time)) {
	zones := zonesOf(t)
	rapid.Check(t, func(t *rapid.T) {
		s := drawSubject(t, zones)
		law(t, s, drawInstant(t, s.zone.loc, "from"))
	})
}

func TestN1_NextIsLater(t *testing.T) {
	checkLaw(t, func(t *rapid.T, s subject, from time.Time) {
		if run := s.Next(from); !run.IsZero() && !run.After(from) {
			t.Fatalf("Next(%v) = %v", from, run)
		}
	})
}

// TestN2_NextIsTheFirstMatch: the clock matches at Next, but at no minute or second before it. The
// search stops after a few days.
func TestN2_NextIsTheFirstMatch(t *testing.T) {
	zones := zonesOf(t)
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "spec seed")))
		spec := randomSpec(r)
		if rapid.Bool().Draw(t, "seconds") {
			spec = randomSeconds(r) + " " + spec
		}
		if rapid.IntRange(0, 3).Draw(t, "special") == 0 {
			spec = withSpecial(r, spec)
		}
		s := mustParse(t, spec, zone.option, schedule.WithSeconds(), schedule.WithSpecialDays())
		from := drawInstant(t, zone.loc, "from")
		until := from.Unix() + 2*86400
		if hasSeconds(spec) || stepOf(zone.loc, from.Unix(), until) == 1 {
			until = from.Unix() + 3600
		}
		want := oracle(spec, zone.loc, exact, max(from.Unix(), borders[0]), min(until, borders[len(borders)-1]))
		got := s.Next(from)
		if len(want) > 0 && got.Unix() != want[0] || len(want) == 0 && !got.IsZero() && got.Unix() <= until {
			t.Fatalf("%q in %s: Next(%v) = %v, want the first of %v", spec, zone.name, from, got, want)
		}
	})
}

func TestN3_NextStaysUntilItComes(t *testing.T) {
	checkLaw(t, func(t *rapid.T, s subject, from time.Time) {
		run := s.Next(from)
		if run.IsZero() {
			return
		}
		between := from.Add(time.Duration(rapid.Int64Range(0, int64(run.Sub(from))-1).Draw(t, "later")))
		if got := s.Next(between); !got.Equal(run) {
			t.Fatalf("Next(%v) = %v, but Next(%v) = %v", from, run, between, got)
		}
	})
}

func TestN4_NextIsMonotone(t *testing.T) {
	checkLaw(t, func(t *rapid.T, s subject, from time.Time) {
		later := from.Add(time.Duration(rapid.Int64Range(0, 1e16).Draw(t, "later")))
		a, b := s.Next(from), s.Next(later)
		if !b.IsZero() && (a.IsZero() || a.After(b)) {
			t.Fatalf("Next(%v) = %v after Next(%v) = %v", from, a, later, b)
		}
	})
}

// TestN5_Impossible: every schedule without a run is recognised immediately.
func TestN5_Impossible(t *testing.T) {
	for _, spec := range []string{"0 0 30 2 *", "0 0 31 2 *", "* * 31 4,6,9,11 *", "0 0 30-31 2 ?", ", * * * *", "0 , * * *", "0 0 , * *", "0 0 * , *",
		", * * * * *", "* , * * * *", "30 0 0 31 2 *"} {
		for _, opts := range [][]schedule.Option{nil, {schedule.Kubernetes(release.Newest())}, {schedule.WithTimeZone("Europe/Berlin")}} {
			checkNever(t, mustParse(t, spec, append(opts, schedule.WithSeconds())...), true)
		}
	}
	for _, spec := range []string{"0 0 29 2 *", "0 0 30 2 1", "0 0 31 1-2 *"} {
		checkNever(t, mustParse(t, spec), false)
	}
}

func TestN6_LocationOfTheArgument(t *testing.T) {
	zones := zonesOf(t)
	checkLaw(t, func(t *rapid.T, s subject, from time.Time) {
		elsewhere := from.In(rapid.SampledFrom(zones).Draw(t, "elsewhere").loc)
		if a, b := s.Next(from.UTC()), s.Next(elsewhere); a != b {
			t.Fatalf("Next(%v) = %v, Next(%v) = %v", from.UTC(), a, elsewhere, b)
		}
		if a, b := s.Prev(from.UTC()), s.Prev(elsewhere); a != b {
			t.Fatalf("Prev(%v) = %v, Prev(%v) = %v", from.UTC(), a, elsewhere, b)
		}
	})
}

// TestN7_Intervals: for any anchor, the next run is at most one interval away, and runs are one
// interval apart.
func TestN7_Intervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(1, 1e6).Draw(t, "seconds")) * time.Second
		anchor := time.Unix(rapid.Int64Range(-5e9, 5e9).Draw(t, "anchor"), 0)
		from := drawInstant(t, time.UTC, "from")
		s := mustParse(t, "@every "+d.String(), schedule.WithAnchor(anchor))
		run := s.Next(from)
		if from.Add(2*d).Year() > 9999 {
			return
		}
		if wait := run.Sub(from); wait <= 0 || from.Year() > 0 && wait > d {
			t.Fatalf("every %v: Next(%v) = %v", d, from, run)
		}
		if (run.Unix()-anchor.Unix())%int64(d/time.Second) != 0 || s.Next(run).Sub(run) != d {
			t.Fatalf("every %v from %v: Next(%v) = %v", d, anchor, from, run)
		}
	})
}

// TestB1_PrevUndoesNext: Prev is the inverse of Next, and Next of Prev.
func TestB1_PrevUndoesNext(t *testing.T) {
	checkLaw(t, func(t *rapid.T, s subject, from time.Time) {
		run := s.Next(from)
		if run.IsZero() {
			return
		}
		if next := s.Next(run); !next.IsZero() && !s.Prev(next).Equal(run) {
			t.Fatalf("%v, next %v, back to %v", run, next, s.Prev(next))
		}
		if prev := s.Prev(run); !prev.IsZero() && !s.Next(prev).Equal(run) {
			t.Fatalf("%v, before it %v, forward to %v", run, prev, s.Next(prev))
		}
		if prev := s.Prev(run); !prev.IsZero() && prev.After(from) {
			t.Fatalf("%v between %v and Next %v", prev, from, run)
		}
	})
}

func TestB1_CountIsAdditive(t *testing.T) {
	checkLaw(t, func(t *rapid.T, s subject, a time.Time) {
		reach := rapid.SampledFrom([]int64{1e13, 1e15, 1e17, 9e18}).Draw(t, "reach")
		b := a.Add(time.Duration(rapid.Int64Range(0, reach).Draw(t, "b")))
		c := b.Add(time.Duration(rapid.Int64Range(0, reach).Draw(t, "c")))
		if whole := s.Count(a, c); whole == math.MaxInt {
			t.Skip("too many runs for an int of 32 bits")
		} else if whole != s.Count(a, b)+s.Count(b, c) {
			t.Fatalf("%v %v %v: %d is not %d + %d", a, b, c, s.Count(a, c), s.Count(a, b), s.Count(b, c))
		}
	})
}

// TestB1_CountCountsBetween: the count of thousands of years is the number of runs visited. The
// schedules run rarely, so that visiting all runs is fast enough.
func TestB1_CountCountsBetween(t *testing.T) {
	after, until := time.Time{}, instant(t, "9999-12-31T23:59:59Z")
	if testing.Short() {
		after = instant(t, "9000-01-01T00:00Z")
	}

	for _, c := range []struct{ spec, zone string }{
		{"30 2 * 3,10 0", "Europe/Berlin"}, {"30 1 1-7 11 ?", "America/New_York"},
		{"0 0 29 2 *", "America/Santiago"}, {"15 2 1-7 4,10 *", "Australia/Lord_Howe"},
		{"30 30 2 * 3 0", "Europe/Berlin"}, {"0,59 59 23 31 12 *", "Pacific/Apia"},
	} {
		for policy := range numPolicies {
			s := mustParse(t, c.spec, append(policy.options(), schedule.WithSeconds(), schedule.WithTimeZone(c.zone))...)

			n := 0
			for range s.Between(after, until) {
				n++
			}
			if got := s.Count(after, until); got != n {
				t.Errorf("%q in %s, policy %d: Count %d, visited %d", c.spec, c.zone, policy, got, n)
			}

			for _, u := range append(slices.Clip(borders), instant(t, "2026-01-01T00:00Z").Unix(), instant(t, "2901-01-01T00:00Z").Unix()) {
				if at := time.Unix(u, 0); !testing.Short() && s.Count(after, at)+s.Count(at, until) != n {
					t.Errorf("%q in %s, policy %d: Count %d + %d about %v, want %d", c.spec, c.zone, policy,
						s.Count(after, at), s.Count(at, until), at.UTC(), n)
				}
			}
		}
	}
}

// TestB1_LatestIsPrev: Latest returns the last run that is not after now, unless that run is
// outside of the span.
func TestB1_LatestIsPrev(t *testing.T) {
	checkLaw(t, func(t *rapid.T, s subject, now time.Time) {
		after := now.Add(-time.Duration(rapid.Int64Range(0, 1e16).Draw(t, "age")))
		run, ok := s.Latest(after, now)
		prev := s.Prev(now.Add(1))
		if want := !prev.IsZero() && prev.After(after); ok != want || ok && !run.Equal(prev) {
			t.Fatalf("Latest(%v, %v) = %v %v, Prev = %v", after, now, run, ok, prev)
		}
		if ok != (s.Count(after, now) > 0) {
			t.Fatalf("Latest %v, but Count %d", ok, s.Count(after, now))
		}
	})
}
