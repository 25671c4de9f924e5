package schedule

import (
	"strings"
	"time"
)

// interval is "@every d": the instants anchor + k*d for all integers k. The distance is elapsed
// time, so zones and daylight saving have no effect on it.
type interval struct {
	seconds int64
	anchor  int64
}

func (v interval) prev(unix int64) (int64, bool) {
	run := unix - floorMod(unix-v.anchor, v.seconds)
	return run, run > firstUnix
}

func (v interval) next(unix int64) (int64, bool) {
	run := unix - floorMod(unix-v.anchor, v.seconds) + v.seconds
	return run, run <= lastUnix
}

func (v interval) count(after, until int64) int64 {
	first, ok := v.next(after)
	if !ok || first > until {
		return 0
	}
	return (until-first)/v.seconds + 1
}

// floorMod returns x modulo n, which is never negative; n must be positive.
func floorMod(x, n int64) int64 {
	r := x % n
	if r < 0 {
		r += n
	}
	return r
}

// askedInterval returns the duration as written in "@every d", before rounding.
func askedInterval(spec string) (time.Duration, bool) {
	d, err := time.ParseDuration(strings.TrimPrefix(spec, everyPrefix))
	return d, err == nil
}

const everyPrefix = "@every "

func (s Schedule) isInterval() bool { return s.plan.every.seconds > 0 }
