package kittest

import (
	"context"
	"time"
)

// Slip is a small mistake in the times of a loop. The zero value is no mistake.
type Slip struct {
	Name string
	// Story is a part of the message with which the kit reports the mistake.
	Story string

	now    func(time.Time) time.Time
	end    func(now, again time.Time, err error) (time.Time, error)
	sleeps bool // the loop ignores changes before the time that it has asked for
}

// Clock returns the time by the planner's clock.
func (s *Slip) Clock(now time.Time) time.Time {
	if s.now == nil {
		return now
	}
	return s.now(now)
}

// Program returns a program with the mistake.
func (s *Slip) Program(
	now func() time.Time, round func(context.Context) (time.Time, error),
) func(context.Context) (time.Time, error) {
	var next time.Time
	return func(ctx context.Context) (time.Time, error) {
		if s.sleeps && next.After(now()) {
			return next, nil
		}

		again, err := round(ctx)
		if s.end != nil {
			again, err = s.end(now(), again, err)
		}
		next = again
		return again, err
	}
}

// Slips returns the mistakes. Arguments stall and busy are the rules that a late loop and an early
// loop break.
func Slips(stall, busy string) []Slip {
	waits := stall + ": the program waits "
	asks := busy + ": each round asks for another one within a second"
	clock := "Store: the snapshot is of"

	return []Slip{
		{Name: "each wake-up is 300 days late", Story: waits + "until",
			end: later(func(_, again time.Time) time.Time { return again.Add(300 * day) })},
		{Name: "each wake-up is 30 s late", Story: waits + "until",
			end: later(func(_, again time.Time) time.Time { return again.Add(30 * time.Second) })},
		{Name: "wake-ups are rounded up to five minutes", Story: waits + "until",
			end: later(func(_, again time.Time) time.Time {
				return again.Add(5*time.Minute - 1).Truncate(5 * time.Minute)
			})},
		{Name: "milliseconds are taken for seconds", Story: waits + "until",
			end: later(func(now, again time.Time) time.Time { return now.Add(1000 * again.Sub(now)) })},
		{Name: "seconds are taken for milliseconds", Story: asks,
			end: later(func(now, again time.Time) time.Time { return now.Add(again.Sub(now) / 1000) })},
		{Name: "a wake-up is stored in seconds and read in milliseconds", Story: asks,
			end: later(func(_, again time.Time) time.Time { return time.UnixMilli(again.Unix()) })},
		{Name: "wake-ups are lost", Story: waits + "for nothing but changes",
			end: func(time.Time, time.Time, error) (time.Time, error) { return time.Time{}, nil }},
		{Name: "changes are not looked at before the next wake-up", Story: stall + ": the program waits", sleeps: true},
		{Name: "a failed write is slept over", Story: waits + "until", end: sleepsOver(300 * day)},
		{Name: "a failed write is repeated after five minutes", Story: waits + "until",
			end: sleepsOver(5 * time.Minute)},
		{Name: "the clock is a day ahead", Story: clock, now: ahead(day)},
		{Name: "the clock is 30 s ahead", Story: clock, now: ahead(30 * time.Second)},
		{Name: "the clock is 30 s behind", Story: clock, now: ahead(-30 * time.Second)},
		{Name: "the clock takes seconds for milliseconds", Story: clock,
			now: func(t time.Time) time.Time { return time.UnixMilli(t.Unix()) }},
	}
}

const day = 24 * time.Hour

func ahead(by time.Duration) func(time.Time) time.Time {
	return func(t time.Time) time.Time { return t.Add(by) }
}

// later changes the times at which a loop asks to be called.
func later(change func(now, again time.Time) time.Time) func(now, again time.Time, err error) (time.Time, error) {
	return func(now, again time.Time, err error) (time.Time, error) {
		if !again.IsZero() {
			again = change(now, again)
		}
		return again, err
	}
}

// sleepsOver makes a loop pause after an error, and hides the error.
func sleepsOver(pause time.Duration) func(now, again time.Time, err error) (time.Time, error) {
	return func(now, again time.Time, err error) (time.Time, error) {
		if err != nil {
			return now.Add(pause), nil
		}
		return again, nil
	}
}
