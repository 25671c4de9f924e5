package cronjob

import (
	"math/bits"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// startOf is when a run may start: at its time, or later by its jitter. The delay
// is smaller than the distance to the next run, so runs never overtake each other.
func (p *Planner) startOf(run time.Time) time.Time {
	limit := p.snap.Options.Jitter
	if limit == 0 || p.snap.Options.Quirks.Has(cronjobquirk.Estimate) {
		return run
	}
	if next := p.snap.Schedule.Schedule.Next(run); !next.IsZero() {
		limit = min(limit, next.Sub(run))
	}
	return run.Add(time.Duration(spread(p.cj.UID) % uint64(limit)))
}

// reach is the time up to which runs may start: now, or just before the latest run
// if that still has to wait for its jitter.
func (p *Planner) reach() time.Time {
	now := p.snap.Now
	if p.snap.Options.Jitter == 0 {
		return now
	}
	latest, ok := p.snap.Schedule.Schedule.Latest(p.base, now)
	if ok && p.startOf(latest).After(now) {
		return latest.Add(-1)
	}
	return now
}

// spread turns a UID into a number that looks like chance and is always the same.
func spread(uid string) uint64 {
	h := uint64(len(uid))
	for i := range len(uid) {
		h = bits.RotateLeft64(h^uint64(uid[i]), 23) * 0x9e3779b97f4a7c15
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}
