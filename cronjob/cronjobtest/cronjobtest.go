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

// Test is a test of a backend with some choices. TestBackend runs the zero Test.
type Test struct {
	// Specs generates the CronJobs' specs; nil means the function Specs.
	Specs *rapid.Generator[cronjob.Spec]
	// Options generates the options to plan with; nil means the function Options. It does not matter for a
	// program that plans with its own options.
	Options *rapid.Generator[cronjob.Options]
	// Schedule generates the options with which Env.Compile compiles schedules; nil means none.
	Schedule *rapid.Generator[[]schedule.Option]
	// Endings lists how children can end; nil means Complete and Failed. For the history limits, a
	// child that ended as "Skipped" counts as successful, and a child that ended with any other
	// word counts as failed.
	Endings []cronjob.Ending
}

// TestBackend creates random CronJobs on a store and tests the program that plans them. Function
// open is called for each life and must use an empty store. There are 100 lives, or the number in
// -rapid.checks. About 30 things happen in each, or the number in -rapid.steps.
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
				Child:   c.SetChild,
				Remove:  c.RemoveChild,
			})
		}

		e.program = e.newProgram()
		e.live(specs)
	})
}
