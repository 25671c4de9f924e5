package cronjob

import "time"

// timing says which runs of the schedule are due (C7).
type timing struct {
	// base is the time after which runs count; earliest is the same, raised by the
	// deadline.
	base, earliest time.Time
	// pick is the run to start, chosen from those in (earliest, now].
	pick
	// next is the first run that is not due. Zero means that there is none.
	next time.Time
	// quiet is true when no run came due since base.
	quiet bool
	// invalid is true when the reference gives the schedule up (estimateDue).
	invalid bool
}

// pick is the run that is due.
type pick struct {
	// due is the run to start, latest the last one that is due. Zero means none.
	due, latest time.Time
	// overdue is the number of runs to choose from.
	overdue int
}

// tooMany is the number of missed runs above which a warning is due (C8).
const tooMany = 100
