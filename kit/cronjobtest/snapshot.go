package cronjobtest

import (
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/kit/internal/life"
)

// checkSnapshot compares a snapshot that says that it is Consistent with the store.
func (e *Env) checkSnapshot(s *cronjob.Snapshot) {
	if s.CronJob.UID != e.truth.cronJob.UID || !sameStatus(&s.CronJob.Status, &e.truth.cronJob.Status) {
		e.life.Breaks("Store", "the snapshot is Consistent, and shows the status %s; it is %s", s.CronJob.Status, e.truth.cronJob.Status)
	}
	if text := life.Difference(&e.truth.cronJob.Spec, &s.CronJob.Spec); text != "" {
		e.life.Breaks("Store", "the snapshot is Consistent, and shows the spec otherwise than the store: %s", text)
	}
	seen := truth{jobs: s.Children}
	for i := range e.truth.jobs {
		c := &e.truth.jobs[i]
		switch old := seen.job(c.Name); {
		case old == nil:
			e.life.Breaks("Store", "the snapshot is Consistent, and lacks %s", c.Name)
		case !sameJob(old, c):
			e.life.Breaks("Store", "the snapshot is Consistent, and shows %s; it is %s", describe(old), describe(c))
		default:
			if text := life.Difference(c, old); text != "" {
				e.life.Breaks("Store", "the snapshot is Consistent, and shows %s otherwise than the store: %s", c.Name, text)
			}
		}
	}
	for i := range s.Children {
		if e.truth.job(s.Children[i].Name) == nil {
			e.life.Breaks("Store", "the snapshot is Consistent, and shows %s, which is gone", s.Children[i].Name)
		}
	}
}
