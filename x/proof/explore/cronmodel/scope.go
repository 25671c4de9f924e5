// Package cronmodel is a CronJob with its jobs and its controller as a system to explore. It is
// built like package jobmodel, whose documentation explains more. It checks CI1, CI4, CI6 to CI8,
// CI12, CI15, CL1, CL2 and CL4.
package cronmodel

import (
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/schedule"
)

// Scope is a world of a CronJob that is small enough to be explored completely. The schedule
// is hourly unless the spec has another one.
type Scope struct {
	// Name identifies the scope in tests and documents. Covers describes what it is for.
	Name, Covers string
	Spec         cronjob.Spec
	Options      cronjob.Options
	// Schedule holds the options with which schedules are compiled.
	Schedule []schedule.Option
	// Runs is the number of hourly runs that can come due. The first is one hour after the start.
	// Times has other runs, as durations since the start.
	Runs  int
	Times []time.Duration
	// Jump is how far the clock jumps; 0 means two hours.
	Jump time.Duration
	// Late delays what the controller sees: the CronJob and its jobs are delivered one by one, but
	// all of them before the clock advances.
	Late bool
	// Grace keeps a job that a user deletes until its pods are gone.
	Grace bool
	// Failures lets jobs fail as well as complete.
	Failures bool
	// Budget limits how often faults, edits and ticks may happen.
	Budget Budget
	// Edits are the changes of the spec that users may make.
	Edits []func(*cronjob.Spec)
	// Overlap is the concurrency policy of triggers. Backfill is the backfill that users request.
	Overlap  cronjob.ConcurrencyPolicy
	Backfill cronjob.Backfill
	// Must names the rules that the search has to exercise.
	Must []string
}

// Rest is the greatest allowed number of steps from any state of a scope to rest, if nothing goes
// wrong in these steps.
const Rest = 60

// Budget limits how often each thing may happen in total.
type Budget struct {
	// Fails are writes that fail (F3), Lost are lost replies (F4), and Crashes are crashes between
	// writes (F1).
	Fails, Lost, Crashes uint8
	// Delays are status writes that seem to fail. They take effect later, unless the CronJob
	// changes first.
	Delays uint8
	// Deletes are users' deletions of jobs that the status has recorded. A controller that sees its
	// objects late must have seen the job before, or it would get no event about the deletion.
	// Taken are jobs of other owners that have the name of the next run.
	Deletes, Taken uint8
	// Edits, Triggers and Backfills are actions of users.
	Edits, Triggers, Backfills uint8
	// Ticks advance the clock: to the next requeue, or half an hour. Jumps advance it by
	// two hours, and Backs turn it back by one.
	Ticks, Jumps, Backs uint8
}

// start is the time at which a CronJob is created.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func clock(seconds uint32) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// seconds returns a time in the model's form, rounded up.
func seconds(t time.Time) uint32 {
	return uint32(max((t.Sub(start)+time.Second-1)/time.Second, 0))
}
