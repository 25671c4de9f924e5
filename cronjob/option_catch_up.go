package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/schedule"
)

const (
	// inTime is the window of CatchUpNone: longer than a wake-up takes, shorter than
	// an outage.
	inTime = time.Minute
	// maxCatchUp is the limit of CatchUpAll where none is given.
	maxCatchUp = 100
)

// catchUpWindow returns how late a run may start. It reports false if nothing bounds it.
func (o *Options) catchUpWindow() (window time.Duration, ok bool) {
	if o.CatchUp == CatchUpNone && o.CatchUpWindow == 0 {
		return inTime, true
	}
	return o.CatchUpWindow, o.CatchUpWindow > 0
}

// catchUpLimit returns how many runs CatchUpAll makes up at most.
func (o *Options) catchUpLimit() int {
	if o.CatchUpLimit == 0 {
		return maxCatchUp
	}
	return int(o.CatchUpLimit)
}

// pickDue chooses among the runs in (earliest, until].
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

	// The runs over the limit count as missed once the first one is recorded, so this
	// walk back happens only once.
	due := latest
	for range limit - 1 {
		due = s.Prev(due)
	}
	return pick{due, latest, limit}
}
