package cronjobtest

import (
	"reflect"
	"sync"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// Env is the environment of one life, that is, of one random run of the test. A program reads its
// clock, sends its writes through it, and shows it each plan.
type Env struct {
	life    *life.Life
	subject Subject
	program *life.Program

	truth     life.Family[cronjob.CronJob, cronjob.Child] // the store when the test read it last
	was       life.Family[cronjob.CronJob, cronjob.Child] // the same before the last write or round
	history   cronjobcheck.History
	options   cronjob.Options
	schedules []schedule.Option
	endings   []cronjob.Ending
	watch     *life.Late
	edited    bool             // the CronJob has changed since the program looked
	respec    bool             // the spec has changed since then
	seen      cronjob.CronJob  // as the program saw it last
	schedule  cronjob.Compiled // as the program compiled it last
	compiles  job.UID          // the CronJob for which it was compiled
	memory    cronjob.Memory   // after the last plan, without its writes
	before    aside            // set aside before the round
	aside     aside            // set aside after it
	pending   *pending         // the plan of the round that is under way; nil for none
	due       life.Due         // when a round is due according to the last plan and its calls

	compiling sync.Mutex // guards sources: a program may compile in any goroutine
	sources   map[source]cronjob.Compiled

	triggers  []cronjob.Trigger  // in the store, read with truth
	backfills []cronjob.Backfill // the same
	requests  int                // how many triggers and backfills there were
	requested []cronjob.Trigger  // all triggers
}

// Now returns the time in this life.
func (e *Env) Now() time.Time { return e.life.Now() }

// Options returns the options to plan with. In half of the lives they are the zero value. A program
// with its own options need not call Options.
func (e *Env) Options() cronjob.Options { return e.options }

// Compile compiles the schedule of a CronJob with the schedule options of this life. Field Schedule
// of [Test] generates them; without it there are none. A program with its own schedule options need
// not call Compile.
func (e *Env) Compile(c *cronjob.CronJob) cronjob.Compiled {
	key := source{c.Spec.Schedule, value.Of(c.Spec.TimeZone), c.CreationTimestamp}
	e.compiling.Lock()
	defer e.compiling.Unlock()
	compiled, ok := e.sources[key]
	if !ok {
		compiled = cronjob.Compile(c, e.schedules...)
		e.sources[key] = compiled
	}
	return compiled
}

// source is the input from which a schedule is compiled.
type source struct {
	schedule, zone string
	created        time.Time
}

// Logf adds a line to the story.
func (e *Env) Logf(format string, args ...any) { e.life.Tell(format, args...) }

// Planned shows the test what the program has planned, before anything is written.
func (e *Env) Planned(s *cronjob.Snapshot, p *cronjob.Plan) {
	e.life.Writing.Lock()
	defer e.life.Writing.Unlock()

	e.options, e.edited = s.Options, !e.watch.HasSeen(life.ObjectKey)
	e.seen, e.schedule, e.compiles = s.CronJob, s.Schedule, s.CronJob.UID
	e.memory = p.Conclude(cronjob.Outcome{}).Memory
	e.before, e.aside = e.aside, e.aside.planned(s)
	e.respec = e.edited && !reflect.DeepEqual(e.seen.Spec, e.truth.Object.Spec)
	e.pending = life.NewPending[cronjob.Plan, answer](e.life, p)

	e.life.TellPlan("", p.String())
	e.life.CheckClock(s.Now)
	e.life.Note(cronjobcheck.Plan(s, p))
	if s.Consistent {
		e.checkSnapshot(s)
	}
}

// Write makes a write of the program that does not go through a backend, such as storing its
// memory. The write can fail, its reply can be lost, or the program can end before it.
func (e *Env) Write(what string, write func() error) error { return e.life.Write(what, write) }

// Backend wraps the program's backend for the executor. It makes writes fail, and checks each write
// before and after it is made.
func (e *Env) Backend(b cronjobapply.Backend) cronjobapply.Backend { return &checked{e, b} }

// compiled returns the schedule of the CronJob as the program compiles it, perhaps with its own
// options.
func (e *Env) compiled() cronjob.Compiled {
	now := e.Compile(&e.truth.Object)
	if e.compiles == e.truth.Object.UID && e.schedule.Source == now.Source && e.schedule.Zone == now.Zone {
		return e.schedule
	}
	return now
}
