package schedule_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/schedule"
)

// classes groups schedules that Next answers in the same way.
var classes = []struct {
	name  string
	specs []string
}{
	{"everyday", everyday},
	{"each minute", []string{"* * * * *", "* 8-18 * * *", "* * * * 1-5"}},
	{"short steps", []string{"*/2 * * * *", "*/5 * * * *", "*/10 * * * *", "*/15 * * * *", "*/30 * * * *", "5/20 * * * *", "*/10 8-18 * * 1-5"}},
	{"hourly", []string{"0 * * * *", "30 * * * *", "59 * * * *", "0 */2 * * *", "0 */6 * * *", "0 */12 * * *"}},
	{"daily", []string{"0 0 * * *", "0 2 * * *", "30 3 * * *", "15 14 * * *", "0 6,18 * * *"}},
	{"weekly", []string{"0 9-17 * * 1-5", "30 6-16/4 * * 1-5", "0 9 * * 1", "0 0 * * 0", "0 4 * * 6"}},
	{"monthly", []string{"0 0 1 * *", "0 6 1,15 * *", "0 0 31 * *", "0 9 1-7 * 1", "*/5 * 1-15 * *"}},
	{"yearly", []string{"0 0 1 1 *", "0 12 24 12 *", "30 4 1 1,7 *", "*/15 * * 6-8 *"}},
	{"leap day", []string{"0 0 29 2 *"}},
	{"each second", []string{"* * * * * *"}},
	{"short steps of seconds", []string{"*/2 * * * * *", "*/5 * * * * *", "*/10 * * * * *", "*/15 * * * * *", "*/20 * * * * *", "*/30 * * * * *", "*/10 * 8-18 * * 1-5"}},
	{"seconds of a minute", []string{"30 * * * * *", "0,30 */5 * * * *", "15 30 * * * *", "59 59 */6 * * *"}},
	{"seconds of a day", []string{"30 0 0 * * *", "5 30 3 * * *", "0,30 0 9 * * 1-5", "30 0 6 1,15 * *"}},
	{"every", []string{"@every 10s", "@every 90s", "@every 1h30m"}},
}

// ratioZones are a zone without transitions, one with transitions only in the past, and one with
// two a year.
var ratioZones = []string{"UTC", "Asia/Kolkata", "Europe/Berlin"}

// BenchmarkRatio measures Next and robfig/cron in turns. For each class it reports the median
// times, and how many times slower robfig/cron is: the median and the minimum of the schedules.
func BenchmarkRatio(b *testing.B) {
	for _, zone := range ratioZones {
		for _, class := range classes {
			b.Run(zone+"/"+class.name, func(b *testing.B) {
				var ours, theirs, ratios []float64
				for b.Loop() {
					ours, theirs, ratios = nil, nil, nil
					for _, spec := range class.specs {
						x, y := timeNext(mustParse(b, spec, schedule.WithSeconds(), schedule.WithTimeZone(zone)).Next, robfig(b, spec, zone).Next)
						ours, theirs, ratios = append(ours, x), append(theirs, y), append(ratios, y/x)
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(ours), "ns/next")
				b.ReportMetric(median(theirs), "robfig-ns/next")
				b.ReportMetric(median(ratios), "times-faster")
				b.ReportMetric(slices.Min(ratios), "times-at-least")
			})
		}
	}
}

// BenchmarkBareNext compares robfig/cron with a function that only adds a second, on the schedules
// that robfig/cron answers fastest. No Next can be faster than this function.
func BenchmarkBareNext(b *testing.B) {
	bare := func(t time.Time) time.Time { return time.Unix(t.Unix()+1, 0).In(time.UTC) }
	for _, spec := range []string{"* * * * * *", "*/2 * * * * *"} {
		b.Run(spec, func(b *testing.B) {
			var x, y float64
			for b.Loop() {
				x, y = timeNext(bare, robfig(b, spec, "UTC").Next)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(x, "ns/next")
			b.ReportMetric(y, "robfig-ns/next")
			b.ReportMetric(y/x, "times-at-most")
		})
	}
}

// timeNext returns how long a call of each function takes, in nanoseconds: the shortest of several
// rounds, in which the functions run in turns.
func timeNext(ours, theirs func(time.Time) time.Time) (x, y float64) {
	from := starts()
	x, y = math.Inf(1), math.Inf(1)
	for range 300 {
		x, y = min(x, timeCalls(ours, from, 20)), min(y, timeCalls(theirs, from, 2))
	}
	return x, y
}

func timeCalls(next func(time.Time) time.Time, from []time.Time, calls int) float64 {
	began := time.Now()
	for range calls {
		for _, t := range from {
			next(t)
		}
	}
	return float64(time.Since(began).Nanoseconds()) / float64(calls*len(from))
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}
