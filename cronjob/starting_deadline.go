package cronjob

import (
	"math"
	"time"
)

// startingDeadline returns how late a run may start (C7, CI7): the smaller of
// startingDeadlineSeconds and the window of the catch-up options, plus the jitter. It returns false
// if there is no limit. A deadline longer than a time.Duration can hold, 292 years, is no limit.
func startingDeadline(spec *Spec, o *Options) (d time.Duration, ok bool) {
	d, ok = o.catchUpWindow()
	if seconds := spec.StartingDeadlineSeconds; seconds != nil && *seconds <= int64(math.MaxInt64/time.Second) {
		if own := time.Duration(*seconds) * time.Second; !ok || own < d {
			d, ok = own, true
		}
	}
	if ok && d > math.MaxInt64-o.Jitter {
		return 0, false
	}
	return d + o.Jitter, ok
}
