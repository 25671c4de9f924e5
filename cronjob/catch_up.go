package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/internal/enum"
)

// CatchUp says which runs start when several were missed.
type CatchUp uint8

// The ways to catch up.
const (
	// CatchUpLatest starts the latest of them (C7).
	CatchUpLatest CatchUp = iota
	// CatchUpNone starts none: a run starts in time, which is within
	// Options.CatchUpWindow, or not at all.
	CatchUpNone
	// CatchUpAll starts all of them, one a round and the oldest first, within
	// Options.CatchUpWindow and up to Options.CatchUpLimit. With Forbid the runs wait
	// in line for each other.
	CatchUpAll
)

const catchUps = "latest|none|all"

// String returns the way in a word.
func (c CatchUp) String() string { return enum.String(catchUps, int(c), "CatchUp") }

const (
	// inTime is the window of CatchUpNone: longer than a wake-up takes, shorter than
	// an outage.
	inTime = time.Minute
	// maxCatchUp is the limit of CatchUpAll where none is given.
	maxCatchUp = 100
)

// catchUpWindow is how late a run may start; ok is false when there is no bound.
func (o *Options) catchUpWindow() (window time.Duration, ok bool) {
	if o.CatchUp == CatchUpNone && o.CatchUpWindow == 0 {
		return inTime, true
	}
	return o.CatchUpWindow, o.CatchUpWindow > 0
}

// pickDue chooses among the runs in (earliest, until].
func (p *Planner) pickDue(until time.Time) {
	s, o := p.snap.Schedule.Schedule, &p.snap.Options
	latest, ok := s.Latest(p.earliest, until)
	if !ok {
		return
	}
	p.due, p.latest = latest, latest
	p.overdue = s.Count(p.earliest, until)
	if o.CatchUp != CatchUpAll || p.overdue == 1 {
		return
	}
	limit := int(o.CatchUpLimit)
	if limit == 0 {
		limit = maxCatchUp
	}
	if p.overdue <= limit {
		p.due = s.Next(p.earliest)
		return
	}
	// Those that are over the limit count as missed once the first one is recorded,
	// so the walk back is taken only once.
	p.overdue = limit
	for range limit - 1 {
		p.due = s.Prev(p.due)
	}
}
