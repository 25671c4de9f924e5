package world

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// Lag shows the controller the CronJob and its jobs late, independently of each other, as caches
// do: never back in time, and never later than Most. With a Lag, the world also checks that each
// new job may run at the same time as the others.
type Lag struct {
	// Most is the longest time for which a write stays unseen.
	Most time.Duration
	// Draw chooses the number of the version that is seen next, with both bounds included.
	Draw func(from, to int) int

	versions      []version
	cronJob, jobs int  // the versions that the controller sees
	fresh         bool // the controller has since read the CronJob from the source of truth
}

// version is the state of the world after a write.
type version struct {
	since   time.Time
	cronJob cronjob.CronJob
	jobs    []cronjob.Child
}

// clone returns an independent lag. It draws as the original does.
func (l *Lag) clone() *Lag {
	if l == nil {
		return nil
	}
	c := *l
	c.versions = slices.Clip(l.versions)
	return &c
}

// Commit stores the state of the world after a write or another change. Lag may show it later.
func (w *CronJob) Commit() {
	if w.Lag != nil {
		w.Lag.versions = append(w.Lag.versions, version{w.Now, w.CronJob, w.Children()})
	}
}

// sameCronJob reports whether two versions of a CronJob are equal in the fields that change.
func sameCronJob(a, b *cronjob.CronJob) bool {
	switch {
	case *a.Spec.Suspend != *b.Spec.Suspend,
		!a.Status.LastScheduleTime.Equal(b.Status.LastScheduleTime),
		!a.Status.LastSuccessfulTime.Equal(b.Status.LastSuccessfulTime):
		return false
	}
	return slices.Equal(a.Status.Active, b.Status.Active)
}

// look returns what the controller sees: all changes that were made at least Most ago, and perhaps
// later ones.
func (l *Lag) look(w *CronJob) (cronjob.CronJob, []cronjob.Child) {
	w.Commit()
	l.fresh = false

	last := len(l.versions) - 1
	due := last
	for due > 0 && l.versions[due].since.Add(l.Most).After(w.Now) {
		due--
	}

	l.cronJob = l.Draw(max(due, l.cronJob), last)
	l.jobs = l.Draw(max(due, l.jobs), last)

	seen, jobs := l.versions[l.cronJob].cronJob, l.versions[l.jobs].jobs
	l.forget(min(l.cronJob, l.jobs))
	return seen, jobs
}

// forget drops the first n versions, which are never seen again.
func (l *Lag) forget(n int) {
	l.versions = slices.Clone(l.versions[n:])
	l.cronJob, l.jobs = l.cronJob-n, l.jobs-n
}

// catchUp shows everything, because a controller lists all objects when it starts.
func (l *Lag) catchUp(w *CronJob) {
	w.Commit()
	l.cronJob, l.jobs = len(l.versions)-1, len(l.versions)-1
}

// isCurrent reports whether the CronJob that was seen is the latest version.
func (l *Lag) isCurrent(w *CronJob) bool {
	return l.fresh || sameCronJob(&l.versions[l.cronJob].cronJob, &w.CronJob)
}
