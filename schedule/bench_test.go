package schedule_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/schedule"
)

// everyday holds twenty common schedules.
var everyday = []string{
	"* * * * *", "*/5 * * * *", "*/15 * * * *", "0 * * * *", "30 * * * *",
	"0 */2 * * *", "0 */6 * * *", "0 0 * * *", "0 2 * * *", "30 3 * * *",
	"15 14 * * *", "0 9-17 * * 1-5", "*/10 8-18 * * 1-5", "0 9 * * 1", "30 6-16/4 * * 1-5",
	"0 0 * * 0", "0 4 * * 6", "0 0 1 * *", "0 6 1,15 * *", "0 0 1 1 *",
}

var benchZones = []string{"UTC", "Europe/Berlin"}

// starts returns instants spread over a year, so that a benchmark of Next does not measure a single
// answer.
func starts() []time.Time {
	var list []time.Time
	t := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 64 {
		list = append(list, t.Add(time.Duration(i)*(137*time.Hour+11*time.Minute+7*time.Second)))
	}
	return list
}

func robfig(t testing.TB, spec, zone string) cron.Schedule {
	t.Helper()
	s, err := theirs.Parse("TZ=" + zone + " " + spec)
	must.OK(t, err)
	return s
}

func nextLoop(next func(time.Time) time.Time) func(*testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		from := starts()
		for i := 0; b.Loop(); i++ {
			next(from[i%len(from)])
		}
	}
}

// BenchmarkNext runs robfig/cron beside this package, schedule by schedule.
func BenchmarkNext(b *testing.B) {
	for _, zone := range benchZones {
		for _, spec := range append(slices.Clone(everyday), "0 0 29 2 *") {
			s := mustParse(b, spec, schedule.WithTimeZone(zone))
			b.Run(fmt.Sprintf("%s/%s/batchplan", zone, spec), nextLoop(s.Next))
			b.Run(fmt.Sprintf("%s/%s/robfig", zone, spec), nextLoop(robfig(b, spec, zone).Next))
		}
	}
}

// BenchmarkTenYears measures Latest and Count for a day and for ten years. The cost of Latest does
// not depend on the span; the cost of Count depends only on the number of transitions.
func BenchmarkTenYears(b *testing.B) {
	now := time.Date(2036, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, zone := range benchZones {
		for _, spec := range []string{"*/5 * * * *", "30 6-16/4 * * 1-5", "0 0 1 * *"} {
			s := mustParse(b, spec, schedule.WithTimeZone(zone))
			for _, span := range []struct {
				name  string
				after time.Time
			}{{"day", now.AddDate(0, 0, -1)}, {"ten years", now.AddDate(-10, 0, 0)}} {
				b.Run(fmt.Sprintf("Latest/%s/%s/%s", zone, spec, span.name), loop(func() { s.Latest(span.after, now) }))
				b.Run(fmt.Sprintf("Count/%s/%s/%s", zone, spec, span.name), loop(func() { s.Count(span.after, now) }))
			}
		}
	}
}

// BenchmarkCombined compares two combined schedules with their main schedules
// alone.
func BenchmarkCombined(b *testing.B) {
	now := time.Date(2036, 2, 3, 4, 5, 6, 0, time.UTC)
	after := now.AddDate(-10, 0, 0)
	for _, zone := range benchZones {
		for _, c := range []struct {
			name string
			opts []schedule.Option
		}{
			{"alone", nil},
			{"combined", []schedule.Option{schedule.Also("0 12 * * 6"), schedule.Except("* * 24-26 12 *")}},
		} {
			s := mustParse(b, "0 9-17 * * 1-5", append(c.opts, schedule.WithTimeZone(zone))...)
			b.Run("Next/"+zone+"/"+c.name, nextLoop(s.Next))
			b.Run("Latest/"+zone+"/"+c.name, loop(func() { s.Latest(after, now) }))
			b.Run("Count/"+zone+"/"+c.name, loop(func() { s.Count(after, now) }))
		}
	}
}

func BenchmarkParse(b *testing.B) {
	shared := schedule.WithTimeZone("UTC")
	loc := locationOf(b, "Europe/Berlin")
	berlin := schedule.WithLocation(loc)
	run := func(name string, opt func() schedule.Option) {
		b.Run(name, loop(func() {
			if _, err := schedule.Parse("30 6-16/4 * * 1-5", opt()); err != nil {
				b.Fatal(err)
			}
		}))
	}
	run("UTC", func() schedule.Option { return shared })
	run("Europe/Berlin shared option", func() schedule.Option { return berlin })
	run("combined", func() schedule.Option { return schedule.Except("* * 24-26 12 *") })
	run("Europe/Berlin compiled each time", func() schedule.Option { return schedule.WithLocation(loc) })
}

// TestB1_NoAllocations: the methods that a round calls do not allocate.
func TestB1_NoAllocations(t *testing.T) {
	after := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	now := after.AddDate(10, 0, 0)

	for _, zone := range benchZones {
		for _, spec := range []string{"*/5 * * * *", "0 0 29 2 *", "@every 90s", "30 9 * * 1-5", "*/10 * 9 * * 1-5"} {
			opts := []schedule.Option{schedule.WithTimeZone(zone), schedule.WithSeconds(), schedule.NotBefore(after)}
			if combined := spec == "30 9 * * 1-5"; combined {
				opts = append(opts, schedule.Also("0 12 * * 6"), schedule.Except("* * 25 12 *"))
			}

			s := mustParse(t, spec, opts...)
			n := testing.AllocsPerRun(100, func() {
				s.Next(after)
				s.Prev(now)
				s.Latest(after, now)
				s.Count(after, now)
				for range s.Between(now, now.Add(time.Hour)) {
				}
				for range s.NextN(now, 3) {
				}
			})
			if n != 0 {
				t.Errorf("%q in %s: %v allocations", spec, zone, n)
			}
		}
	}
}

// loop returns a benchmark of a call.
func loop(call func()) func(*testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			call()
		}
	}
}
