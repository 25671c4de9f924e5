package ours

import (
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// Watch receives what the controllers have seen, decided and done, by several
// goroutines. A plan is valid only until the method returns.
type Watch interface {
	// Job is a round of a job; one that has finished is planned for its orphans.
	Job(*job.Snapshot, *job.Plan, job.Outcome)
	// Stale is a round of a job that was put off: own writes were not seen yet (E6).
	Stale()
	// Orphan is a finalizer that no job removes any more (J36).
	Orphan()
	// CronJob is a round of a CronJob.
	CronJob(*cronjob.Snapshot, *cronjob.Plan, cronjob.Outcome)
	// TTL is what [job.Expire] says of a job; fresh is the second look (T4).
	TTL(j *job.Job, now time.Time, fresh, expired bool, at time.Time)
}

// unwatched receives everything and keeps nothing.
type unwatched struct{}

func (unwatched) Job(*job.Snapshot, *job.Plan, job.Outcome)                 {}
func (unwatched) Stale()                                                    {}
func (unwatched) Orphan()                                                   {}
func (unwatched) CronJob(*cronjob.Snapshot, *cronjob.Plan, cronjob.Outcome) {}
func (unwatched) TTL(*job.Job, time.Time, bool, bool, time.Time)            {}
