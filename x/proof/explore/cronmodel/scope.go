// Package cronmodel is a CronJob with its jobs and its controller as a system to explore.
// It is built as package jobmodel is, whose documentation says more, and checks CI1, CI4, CI6 to
// CI8, CI12, CI15, CL1, CL2 and CL4.
package cronmodel

import (
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/schedule"
)

// Scope is a world of a CronJob that is small enough to be explored completely. The schedule
// is hourly unless the spec has another one.
type Scope struct {
	// Name is what the tests and the documentation call it, and Covers says what it is
	// for.
	Name, Covers string
	Spec         cronjob.Spec
	Options      cronjob.Options
	// Schedule are the options to compile schedules with.
	Schedule []schedule.Option
	// Runs is the number of runs that can come due, from the first hour on. Other runs are given by
	// their Times since the start.
	Runs  int
	Times []time.Duration
	// Jump is by how much the clock jumps; 0 means two hours.
	Jump time.Duration
	// Late shows the controller the CronJob and each of its jobs some time later, but
	// everything before the clock advances.
	Late bool
	// Grace keeps a job that a user deletes until its pods are gone.
	Grace bool
	// Failures lets jobs fail as well as complete.
	Failures bool
	// Budget is how often it may happen.
	Budget Budget
	// Edits are the changes of the spec that users may make.
	Edits []func(*cronjob.Spec)
	// Overlap is the policy of triggers, and Backfill what users ask for: its first runs.
	Overlap  cronjob.ConcurrencyPolicy
	Backfill cronjob.Backfill
	// Rest is the most calm steps to rest from any state; 0 leaves that check out.
	Rest int
	// Must are rules that the search has to exercise.
	Must []string
}

// Budget limits what may happen in all.
type Budget struct {
	// Fails, Lost and Crashes are the faults F3, F4 and F1 of writes.
	Fails, Lost, Crashes uint8
	// Delays are status writes that seem to fail and take effect later, if the CronJob is still
	// the same by then.
	Delays uint8
	// Deletes are deletions of jobs that the status has recorded, by users; a controller that sees
	// its objects late has seen the job, or else no event would tell of the deletion. Taken are
	// the jobs of others that take the name of the next run.
	Deletes, Taken uint8
	// Edits, Triggers and Backfills are what users ask for.
	Edits, Triggers, Backfills uint8
	// Ticks advance the clock: to the next requeue, or half an hour. Jumps advance it by
	// two hours, and Backs turn it back by one.
	Ticks, Jumps, Backs uint8
}

// start is the time at which a CronJob is created.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func clock(seconds uint32) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// seconds is the model's form of a time, rounded up.
func seconds(t time.Time) uint32 {
	return uint32(max((t.Sub(start)+time.Second-1)/time.Second, 0))
}
