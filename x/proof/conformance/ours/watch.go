package ours

import (
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// Watch receives what the controllers have seen, decided and done. Several goroutines call it. A
// plan is valid only until the method returns.
type Watch interface {
	// Job receives a round of a job. A finished job still has rounds for its orphans.
	Job(*job.Snapshot, *job.Plan, job.Outcome)
	// Stale is called when a round of a job is postponed because the caches do not show the
	// controller's own writes yet (E6).
	Stale()
	// Orphan is called when a pod that no job handles any more loses its finalizer (J36).
	Orphan()
	// CronJob receives a round of a CronJob.
	CronJob(*cronjob.Snapshot, *cronjob.Plan, cronjob.Outcome)
	// TTL receives a result of [job.Expire]; fresh is set for the second look (T4).
	TTL(j *job.Job, now time.Time, fresh, expired bool, at time.Time)
}

// unwatched ignores everything.
type unwatched struct{}

func (unwatched) Job(*job.Snapshot, *job.Plan, job.Outcome)                 {}
func (unwatched) Stale()                                                    {}
func (unwatched) Orphan()                                                   {}
func (unwatched) CronJob(*cronjob.Snapshot, *cronjob.Plan, cronjob.Outcome) {}
func (unwatched) TTL(*job.Job, time.Time, bool, bool, time.Time)            {}
