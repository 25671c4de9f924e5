package schedule_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// A CronJob controller needs to know which run is due, how many were missed, and when to look
// again.
func Example() {
	s, err := schedule.Parse("30 6-16/4 * * 1-5", schedule.WithTimeZone("Europe/Berlin"))
	if err != nil {
		fmt.Println(err)
		return
	}
	lastRun := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	now := time.Date(2026, 1, 5, 4, 0, 0, 0, time.UTC)

	due, ok := s.Latest(lastRun, now)
	fmt.Println("due:", due, ok)
	fmt.Println("missed:", s.Count(lastRun, now))
	fmt.Println("next:", s.Next(now))
	// Output:
	// due: 2026-01-02 14:30:00 +0100 CET true
	// missed: 4
	// next: 2026-01-05 06:30:00 +0100 CET
}

func ExampleParse_error() {
	_, err := schedule.Parse("0 0 * * 7")
	fmt.Println(err)

	var parse *schedule.ParseError
	if errors.As(err, &parse) {
		fmt.Println(parse.Field, parse.Value)
	}
	// Output:
	// schedule "0 0 * * 7": day-of-week "7": Sunday is 0; write 0 or sun
	// day-of-week 7
}

func ExampleSchedule_Between() {
	s, _ := schedule.Parse("0 2 * * *", schedule.WithTimeZone("Europe/Berlin"))
	from := time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC)
	for run := range s.Between(from, from.AddDate(0, 0, 2)) {
		fmt.Println(run) // clocks go back on the 25th
	}
	// Output:
	// 2026-10-25 02:00:00 +0200 CEST
	// 2026-10-25 02:00:00 +0100 CET
	// 2026-10-26 02:00:00 +0100 CET
}

func ExampleRunRepeatedFirst() {
	s, _ := schedule.Parse("0 2 * * *", schedule.WithTimeZone("Europe/Berlin"), schedule.RunRepeatedFirst())
	for run := range s.NextN(time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC), 2) {
		fmt.Println(run)
	}
	// Output:
	// 2026-10-25 02:00:00 +0200 CEST
	// 2026-10-26 02:00:00 +0100 CET
}

// The schedule runs on working days at nine and on Saturdays at noon, but not on three days in
// December.
func ExampleAlso() {
	s, err := schedule.Parse("0 9 * * 1-5", schedule.WithTimeZone("Europe/Berlin"),
		schedule.Also("0 12 * * 6"), schedule.Except("* * 24-26 12 *"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for run := range s.NextN(time.Date(2026, 12, 23, 0, 0, 0, 0, time.UTC), 3) {
		fmt.Println(run.Format(time.RFC1123))
	}
	fmt.Println(s.Count(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)), "runs in 2026")
	// Output:
	// Wed, 23 Dec 2026 09:00:00 CET
	// Mon, 28 Dec 2026 09:00:00 CET
	// Tue, 29 Dec 2026 09:00:00 CET
	// 310 runs in 2026
}

// The schedule runs every twenty seconds for a minute from nine on, on three days.
func ExampleWithSeconds() {
	s, err := schedule.Parse("*/20 0 9 * * *", schedule.WithSeconds(), schedule.WithTimeZone("Europe/Berlin"),
		schedule.NotBefore(time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC)), schedule.NotAfter(time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Describe())
	now := time.Date(2026, 3, 29, 7, 0, 30, 0, time.UTC)
	for run := range s.NextN(now, 2) {
		fmt.Println("next:", run)
	}
	for run := range s.PrevN(now, 3) {
		fmt.Println("previous:", run)
	}
	fmt.Println(s.Count(time.Time{}, now), "before,", s.Count(now, now.AddDate(1, 0, 0)), "left")
	// Output:
	// at 09:00:00, 09:00:20 and 09:00:40 every day, not before 01:00 on 2026-03-28, not after 02:00 on 2026-03-31
	// next: 2026-03-29 09:00:40 +0200 CEST
	// next: 2026-03-30 09:00:00 +0200 CEST
	// previous: 2026-03-29 09:00:20 +0200 CEST
	// previous: 2026-03-29 09:00:00 +0200 CEST
	// previous: 2026-03-28 09:00:40 +0100 CET
	// 5 before, 4 left
}

// The schedule runs on the last working day of each month, and on the second Friday.
func ExampleWithSpecialDays() {
	s, err := schedule.Parse("0 9 LW * fri#2", schedule.WithSpecialDays())
	if err != nil {
		fmt.Println(err)
		return
	}
	for run := range s.NextN(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 3) {
		fmt.Println(run.Format(time.RFC1123))
	}
	// Output:
	// Fri, 08 May 2026 09:00:00 UTC
	// Fri, 29 May 2026 09:00:00 UTC
	// Fri, 12 Jun 2026 09:00:00 UTC
}

// One compiled zone serves many schedules.
func ExampleWithLocation() {
	berlin, _ := time.LoadLocation("Europe/Berlin")
	inBerlin := schedule.WithLocation(berlin)
	for _, spec := range []string{"0 9 * * 1-5", "0 0 1 * *"} {
		s, _ := schedule.Parse(spec, inBerlin)
		fmt.Println(s.Next(time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)))
	}
	// Output:
	// 2026-01-05 09:00:00 +0100 CET
	// 2026-02-01 00:00:00 +0100 CET
}

func ExampleKubernetes() {
	from := time.Date(2026, 9, 5, 13, 0, 0, 0, time.UTC)
	zone := schedule.WithTimeZone("America/Santiago")
	exact, _ := schedule.Parse("0 9 * * 6", zone)
	preset, _ := schedule.Parse("0 9 * * 6", zone, schedule.Kubernetes(release.Newest()))
	fmt.Println(exact.Next(from).Format(time.RFC1123))
	fmt.Println(preset.Next(from).Format(time.RFC1123))
	// Output:
	// Sat, 12 Sep 2026 09:00:00 -03
	// Sun, 06 Sep 2026 09:00:00 -03
}

func ExampleSchedule_Describe() {
	s, _ := schedule.Parse("*/15 8-18 * * 1-5")
	fmt.Println(s.Describe())
	// Output: every 15 minutes from 08:00 to 18:45 on weekdays
}

func ExampleSchedule_Lint() {
	s, _ := schedule.Parse("30 2 13 * 5", schedule.WithTimeZone("America/New_York"))
	for _, finding := range s.Lint(schedule.Circumstances{From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}) {
		fmt.Println(finding)
	}
	// Output:
	// EitherDay: day-of-month and day-of-week are both restricted, so a day that matches either runs: at 02:30 on the 13th of every month and on Fridays
	// SkippedTime: 02:30 on 2033-03-13 does not exist in America/New_York, where clocks go from 02:00 to 03:00: no run for it
}

// nextSchedule returns the due run and the next one. It replaces getNextSchedule of the kubebuilder
// tutorial, which walks from run to run and gives up after 100 missed runs. When a job was created,
// record its run as lastRun in the status. If lastRun were computed from the existing jobs, a run
// would be due again once its job is deleted, for example by ttlSecondsAfterFinished (kruise#792,
// #862).
func nextSchedule(s schedule.Schedule, created, lastRun time.Time, deadline time.Duration, now time.Time) (due, next time.Time, missed int) {
	from := created
	if lastRun.After(from) {
		from = lastRun
	}
	if deadline > 0 && now.Add(-deadline).After(from) {
		from = now.Add(-deadline)
	}
	if run, ok := s.Latest(from, now); ok {
		due, missed = run, s.Count(from, now)-1
	}
	return due, s.Next(now), missed
}

// After five years without a controller, the latest run is due, and all others are counted.
func ExampleSchedule_Latest() {
	s, err := schedule.Parse("*/10 * * * *", schedule.WithTimeZone("Europe/Berlin"))
	if err != nil {
		fmt.Println(err)
		return
	}
	created := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	due, next, missed := nextSchedule(s, created, created, 0, time.Date(2026, 1, 1, 0, 5, 0, 0, time.UTC))
	fmt.Println(due.Format(time.RFC3339), next.Format(time.RFC3339), missed)
	// The run was recorded, and its job is gone: nothing is due.
	due, _, _ = nextSchedule(s, created, due, 0, time.Date(2026, 1, 1, 0, 6, 0, 0, time.UTC))
	fmt.Println(due.IsZero())
	// Output:
	// 2026-01-01T01:00:00+01:00 2026-01-01T01:10:00+01:00 262943
	// true
}
