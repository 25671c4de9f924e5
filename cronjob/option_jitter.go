package cronjob

import (
	"math/bits"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// jitter delays the runs of a CronJob ([Options].Jitter).
type jitter struct {
	limit    time.Duration
	seed     uint64
	schedule schedule.Schedule
}

func jitterOf(s *Snapshot) jitter {
	limit := s.Options.Jitter
	if limit == 0 || s.Options.Quirks.Has(cronjobquirk.Estimate) {
		return jitter{}
	}
	return jitter{limit, spread(s.CronJob.UID), s.Schedule.Schedule}
}

// startOf returns when a run may start: at its time, or later by its jitter. The delay
// is smaller than the distance to the next run, so runs never overtake each other.
func (j jitter) startOf(run time.Time) time.Time {
	limit := j.limit
	if limit == 0 {
		return run
	}
	if next := j.schedule.Next(run); !next.IsZero() {
		limit = min(limit, next.Sub(run))
	}
	return run.Add(time.Duration(j.seed % uint64(limit)))
}

// reach returns the time up to which runs may start. Usually that is argument now. If jitter still
// delays the latest run after argument base, it is the moment just before that run.
func (j jitter) reach(base, now time.Time) time.Time {
	if j.limit == 0 {
		return now
	}
	latest, ok := j.schedule.Latest(base, now)
	if ok && j.startOf(latest).After(now) {
		return latest.Add(-1)
	}
	return now
}

// spread returns a hash of a UID.
func spread(uid job.UID) uint64 {
	h := uint64(len(uid))
	for i := range len(uid) {
		h = bits.RotateLeft64(h^uint64(uid[i]), 23) * 0x9e3779b97f4a7c15
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}
