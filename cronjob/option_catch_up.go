package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/schedule"
)

const (
	// inTime is the default window of CatchUpNone. Rounds are rarely later than that, and most
	// outages are longer.
	inTime = time.Minute
	// maxCatchUp is the default limit of CatchUpAll.
	maxCatchUp = 100
)

// catchUpWindow returns how late a run may start, and false if there is no limit.
func (o *Options) catchUpWindow() (window time.Duration, ok bool) {
	if o.CatchUp == CatchUpNone && o.CatchUpWindow == 0 {
		return inTime, true
	}
	return o.CatchUpWindow, o.CatchUpWindow > 0
}

// catchUpLimit returns the maximal number of overdue runs that CatchUpAll starts.
func (o *Options) catchUpLimit() int {
	if o.CatchUpLimit == 0 {
		return maxCatchUp
	}
	return int(o.CatchUpLimit)
}

// pickDue chooses which of the runs in (earliest, until] to start, according to the catch-up
// options.
func pickDue(s schedule.Schedule, earliest, until time.Time, o *Options) pick {
	latest, ok := s.Latest(earliest, until)
	if !ok {
		return pick{}
	}
	overdue := s.Count(earliest, until)
	if o.CatchUp != CatchUpAll || overdue == 1 {
		return pick{latest, latest, overdue}
	}

	limit := o.catchUpLimit()
	if overdue <= limit {
		return pick{s.Next(earliest), latest, overdue}
	}

	// This walk back happens only once: as soon as the first of these runs is recorded, the runs
	// before it count as missed.
	due := latest
	for range limit - 1 {
		due = s.Prev(due)
	}
	return pick{due, latest, limit}
}
