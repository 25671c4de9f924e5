package cronjob

import (
	"math"
	"time"
)

// window is the time in which a run may start: from its time, delayed by jitter, to its deadline.
type window struct {
	jitter
	// deadline is how late a run may start, if bounded is true.
	deadline time.Duration
	bounded  bool
}

// windowOf returns the window of the CronJob's runs (C7, CI7). The deadline is the smaller of
// startingDeadlineSeconds and the window of the catch-up options, plus the jitter. A deadline longer
// than a time.Duration can hold, 292 years, is no limit.
func windowOf(s *Snapshot) window {
	o, seconds := &s.Options, s.CronJob.Spec.StartingDeadlineSeconds
	d, ok := o.catchUpWindow()
	if seconds != nil && *seconds <= int64(math.MaxInt64/time.Second) {
		if own := time.Duration(*seconds) * time.Second; !ok || own < d {
			d, ok = own, true
		}
	}

	w := window{jitter: jitterOf(s)}
	if ok && d <= math.MaxInt64-o.Jitter {
		w.deadline, w.bounded = d+o.Jitter, true
	}
	return w
}

// closed returns the time up to which runs cannot start: base, or a later time because of the
// deadline.
func (w *window) closed(base, now time.Time) time.Time {
	if !w.bounded {
		return base
	}
	return later(base, now.Add(-w.deadline))
}
