package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// maxSpeed is about one day of the clock per second.
const maxSpeed = 100_000

func (o *runOptions) checkTime() error {
	if !(o.speed > 0 && o.speed <= maxSpeed) {
		return fmt.Errorf("--speed: %v: must be above 0 and at most %d", o.speed, maxSpeed)
	}
	if o.runs < 0 {
		return fmt.Errorf("--runs: %d: must not be negative", o.runs)
	}
	return nil
}

// startClock continues the clock of a state folder. If --until is given, it also returns that time
// on this clock.
func (o *runOptions) startClock(s *store.Store, crons bool) (*clock.Clock, time.Time, error) {
	c, seen, err := s.Clock()
	if err != nil {
		return nil, time.Time{}, err
	}
	span, virtual := c.Start(time.Now(), seen, o.speed)
	until, err := o.untilTime(span.Virtual, crons)
	if err == nil && virtual {
		err = s.AddSpan(span)
	}
	return c, until, err
}

func (o *runOptions) untilTime(now time.Time, crons bool) (time.Time, error) {
	if !crons && (o.until != "" || o.runs > 0) {
		return time.Time{}, errors.New("--until and --runs are for CronJobs, and no CronJob is to run")
	}
	if o.until == "" {
		return time.Time{}, nil
	}
	t, err := parseTime(o.until, now)
	if err != nil {
		return t, fmt.Errorf("--until: %w", err)
	}
	if t.Before(now) {
		return t, fmt.Errorf("--until: %q: is in the past; the clock of the state folder shows %s", o.until,
			now.Local().Format(time.RFC3339))
	}
	return t, nil
}

// parseTime parses a time, or a duration from now. A time without a zone is local.
func parseTime(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime,
		"2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q: must be a time such as 2026-01-31T18:00 or a duration such as 36h", text)
}

// timeOf returns the time of a state folder for commands that only read it. For a
// virtual clock this is the last stored time.
func timeOf(s *store.Store) (time.Time, error) {
	_, seen, err := s.Clock()
	if now := time.Now(); seen.Before(now) {
		return now, err
	}
	return seen, err
}
