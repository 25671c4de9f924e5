package cronjobtest

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/world"
)

func ptr[T any](v T) *T { return &v }

// Schedules are what [Specs] chooses from: frequent and rare ones, some with gaps.
var Schedules = []string{
	"*/7 * * * *", "@hourly", "0 9,17 * * 1-5", "*/20 14 * * *", "30 6-16/4 * * 1-5", "@daily", "@every 90m", "0 0 1 * *",
}

// crontabs are the schedules that users change between.
var crontabs = []string{"*/7 * * * *", "@hourly", "0 9,17 * * 1-5", "30 6-16/4 * * 1-5", "30 1 * * *"}

// Starts are the times at which lives begin: some before a change of the clocks in New York.
var Starts = []time.Time{
	world.Start, world.Start,
	time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC),
	time.Date(2026, 10, 31, 12, 0, 0, 0, time.UTC),
}

var policies = []cronjob.ConcurrencyPolicy{cronjob.Allow, cronjob.Forbid, cronjob.Replace}

// Specs generates specs with their defaults, in two zones.
func Specs() *rapid.Generator[cronjob.Spec] { return rapid.Custom(drawSpec) }

func drawSpec(t *rapid.T) cronjob.Spec {
	spec := cronjob.Spec{
		Schedule:          rapid.SampledFrom(Schedules).Draw(t, "schedule"),
		ConcurrencyPolicy: rapid.SampledFrom(policies).Draw(t, "policy"),
	}
	if rapid.Bool().Draw(t, "in a zone") {
		spec.TimeZone = ptr("America/New_York")
	}
	if rapid.Bool().Draw(t, "with a deadline") {
		spec.StartingDeadlineSeconds = ptr(rapid.Int64Range(0, 7200).Draw(t, "deadline"))
	}
	if rapid.Bool().Draw(t, "with limits") {
		spec.SuccessfulJobsHistoryLimit = ptr(rapid.Int32Range(0, 2).Draw(t, "successful"))
		spec.FailedJobsHistoryLimit = ptr(rapid.Int32Range(0, 2).Draw(t, "failed"))
	}
	cronjob.Default(&spec)
	return spec
}

// specText is a spec in a line.
func specText(s *cronjob.Spec) string {
	parts := []string{fmt.Sprintf("%q", s.Schedule), string(s.ConcurrencyPolicy)}
	if s.TimeZone != nil {
		parts = append(parts, "in "+*s.TimeZone)
	}
	if s.StartingDeadlineSeconds != nil {
		parts = append(parts, fmt.Sprintf("startingDeadlineSeconds %d", *s.StartingDeadlineSeconds))
	}
	if s.SuccessfulJobsHistoryLimit != nil && s.FailedJobsHistoryLimit != nil {
		parts = append(parts, fmt.Sprintf("keeps %d and %d", *s.SuccessfulJobsHistoryLimit, *s.FailedJobsHistoryLimit))
	}
	if s.Suspend != nil && *s.Suspend {
		parts = append(parts, "suspended")
	}
	return strings.Join(parts, ", ")
}
