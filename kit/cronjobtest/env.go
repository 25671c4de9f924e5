package cronjobtest

import (
	"sync"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kit/cronjobcheck"
	"github.com/batchplan/batchplan/kit/internal/life"
	"github.com/batchplan/batchplan/schedule"
)

// Env is the environment of one life. A program reads its clock, sends its writes through
// it, and shows it each plan.
type Env struct {
	life    *life.Life
	subject Subject
	program *life.Program

	truth     life.Family[cronjob.CronJob, cronjob.Child] // what the store held when the test looked last
	history   cronjobcheck.History
	options   cronjob.Options
	schedules []schedule.Option
	endings   []cronjob.Ending
	watch     *life.Late
	edited    bool             // the CronJob has changed since the program looked
	respec    bool             // its spec has
	seen      cronjob.CronJob  // as the program has looked at it
	schedule  cronjob.Compiled // as the program has compiled it
	compiles  job.UID          // the CronJob that it was compiled for
	memory    cronjob.Memory   // as the last plan alone leaves it
	before    aside            // what was set aside before the round
	aside     aside            // what is set aside with it

	compiling sync.Mutex // guards sources: a program may compile in any goroutine
	sources   map[source]cronjob.Compiled

	triggers  []cronjob.Trigger  // that the store holds, with the truth
	backfills []cronjob.Backfill // the same
	requests  int                // how many triggers and backfills there were
	requested []cronjob.Trigger  // all triggers
	foreign   int                // how many jobs of other owners there were
}
