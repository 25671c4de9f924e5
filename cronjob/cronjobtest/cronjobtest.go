package cronjobtest

import (
	"cmp"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/schedule"
)

// Test is a test of a backend, with what may be chosen. TestBackend is one with the zero
// values.
type Test struct {
	// Specs are the CronJobs; those of [Specs] if it is nil.
	Specs *rapid.Generator[cronjob.Spec]
	// Options are the options to plan with; those of [Options] if it is nil. A program that plans
	// with options of its own needs none.
	Options *rapid.Generator[cronjob.Options]
	// Schedule are the options to compile schedules with, by [Env.Compile]; none if it is nil.
	Schedule *rapid.Generator[[]schedule.Option]
	// Endings are how children end: Complete or Failed if it is nil. "Skipped" is kept as
	// successful, any other word as failed.
	Endings []cronjob.Ending
}

// TestBackend lets random CronJobs live on a store and tests the program that plans them. Open
// is called for each life, with an empty store. There are 100 lives, or as
// many as -rapid.checks says. About 30 things happen in each, or as many as -rapid.steps says.
func TestBackend(t testing.TB, open func(*Env) Subject) {
	t.Helper()
	Test{}.Run(t, open)
}

// Run runs the test.
func (c Test) Run(t testing.TB, open func(*Env) Subject) {
	t.Helper()
	specs, options := cmp.Or(c.Specs, cronjobgen.Specs()), cmp.Or(c.Options, cronjobgen.Options())
	life.Check(t, func(l *life.Life) {
		e := &Env{
			life:    l,
			options: options.Draw(l.T, "options"),
			endings: c.Endings,
			sources: map[source]cronjob.Compiled{},
			truth:   life.NewFamily[cronjob.CronJob](l, &traits),
		}
		if e.endings == nil {
			e.endings = []cronjob.Ending{cronjob.Complete, cronjob.Complete, cronjob.Failed}
		}
		if c.Schedule != nil {
			e.schedules = c.Schedule.Draw(l.T, "schedule options")
		}

		e.subject = open(e)
		if e.subject.Close != nil {
			defer e.subject.Close()
		}
		if c := e.subject.Cache; c != nil {
			e.subject.Late = true
			e.watch = e.truth.Watch(life.Cache[cronjob.CronJob, cronjob.Child]{
				Replace: c.Replace,
				Object:  c.SetCronJob,
				Child:   c.SetJob,
				Remove:  c.RemoveJob,
			})
		}

		e.program = e.newProgram()
		e.live(specs)
	})
}
