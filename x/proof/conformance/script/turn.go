package script

import (
	"slices"
	"time"

	"pgregory.net/rapid"
)

// turns are the times at which the clocks of New York change.
var turns = []time.Time{time.Date(2000, 4, 2, 7, 0, 0, 0, time.UTC), time.Date(2000, 10, 29, 6, 0, 0, 0, time.UTC)}

// acrossTurns are schedules with runs near the change of the clocks, some at local times that are
// skipped or repeated.
var acrossTurns = []string{"*/5 * * * *", "* * * * *", "*/15 0-3 * * *", "0 * * * *", "30 * * * *"}

// drawTurn makes some scripts begin shortly before the clocks of their zone change, and returns how
// long before, or 0.
func drawTurn(t *rapid.T, s *Script) time.Duration {
	if rapid.IntRange(0, 7).Draw(t, "turn") < 6 {
		return 0
	}
	aheads := []time.Duration{20 * time.Minute, 40 * time.Minute, 210 * time.Minute}
	ahead, zone := rapid.SampledFrom(aheads).Draw(t, "ahead"), "America/New_York"
	s.Begin, s.CronJob.TimeZone = rapid.SampledFrom(turns).Draw(t, "clocks").Add(-ahead), &zone
	if rapid.IntRange(0, 3).Draw(t, "another schedule") > 0 {
		s.CronJob.Schedule, s.CronJob.Suspend = rapid.SampledFrom(acrossTurns).Draw(t, "schedule"), nil
	}
	return ahead
}

// acrossTurn makes a script wait until after the change of the clocks.
func acrossTurn(t *rapid.T, steps []Step, ahead time.Duration) []Step {
	if ahead == 0 {
		return steps
	}
	at := rapid.IntRange(0, len(steps)).Draw(t, "at")
	return slices.Insert(steps, at, Step{Op: "tick", Args: []string{(ahead * 3 / 4).String()}},
		Step{Op: "tick", Args: []string{"1h0m0s"}})
}

// withOutage stops the controllers of some scripts for hours, so that more runs are missed than
// Kubernetes counts.
func withOutage(t *rapid.T, steps []Step) []Step {
	if rapid.IntRange(0, 15).Draw(t, "outage") < 14 {
		return steps
	}
	at := rapid.IntRange(0, len(steps)).Draw(t, "at")
	return slices.Insert(steps, at, Step{Op: "stop-controllers"}, Step{Op: "tick", Args: []string{"13h"}},
		Step{Op: "restart-controllers"})
}
