package script

import (
	"slices"
	"time"

	"pgregory.net/rapid"
)

// drawTurn lets some scripts begin hours before the clocks of their zone change.
func drawTurn(t *rapid.T, s *Script) {
	turns := map[int]time.Time{
		14: time.Date(2000, 4, 2, 3, 30, 0, 0, time.UTC),
		15: time.Date(2000, 10, 29, 3, 30, 0, 0, time.UTC),
	}
	if begin, ok := turns[rapid.IntRange(0, 15).Draw(t, "turn")]; ok {
		zone := "America/New_York"
		s.Begin, s.CronJob.TimeZone = begin, &zone
	}
}

// withOutage lets some scripts have no controllers for hours, in which more runs
// are missed than Kubernetes counts.
func withOutage(t *rapid.T, steps []Step) []Step {
	if rapid.IntRange(0, 15).Draw(t, "outage") < 14 {
		return steps
	}
	at := rapid.IntRange(0, len(steps)).Draw(t, "at")
	return slices.Insert(steps, at, Step{Op: "stopall"}, Step{Op: "wait", Args: []string{"13h"}}, Step{Op: "restartall"})
}
