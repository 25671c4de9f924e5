package jobtest

import (
	"cmp"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// Test is a test of a backend with settings. TestBackend runs the zero Test.
type Test struct {
	// Specs generates the specs of the jobs; nil means the function Specs. If a backend does not
	// support a field, generate specs without that field.
	Specs *rapid.Generator[job.Spec]
}

// TestBackend creates random jobs on a store and tests the program that plans them. A random run of
// the test is called a life. Function open is called for each life, and must use an empty store.
// There are 100 lives, or the number in -rapid.checks. Each has about 30 events, or the number in
// -rapid.steps.
//
// The jobs, faults and rules are described in docs/testing.md.
func TestBackend(t testing.TB, open func(*Env) Subject) {
	t.Helper()
	Test{}.Run(t, open)
}

// Run runs the test.
func (c Test) Run(t testing.TB, open func(*Env) Subject) {
	t.Helper()
	specs := cmp.Or(c.Specs, jobgen.Specs())
	life.Check(t, func(l *life.Life) {
		e := newEnv(l, drawLimits(l.T))
		e.anySpec = c.Specs == nil
		e.subject = open(e)
		if e.subject.Close != nil {
			defer e.subject.Close()
		}

		e.drawGangs()
		if c := e.subject.Cache; c != nil {
			e.subject.Late = true
			e.watch = e.truth.Watch(life.Cache[job.Job, job.Pod]{
				Replace: c.Replace,
				Object:  c.SetJob,
				Child:   c.SetPod,
				Remove:  func(uid string) { c.RemovePod(job.UID(uid)) },
				Hides:   func(p *job.Pod) bool { return e.purged[p.UID] },
				Beside:  e.besides(c),
			})
		}

		e.program = e.newProgram()
		e.live(specs)
	})
}

func newEnv(l *life.Life, options job.Options) *Env {
	return &Env{
		life:    l,
		options: options,
		truth:   life.NewFamily[job.Job](l, &traits),
		planned: map[job.UID]bool{},
		ended:   map[job.UID]bool{},
		purged:  map[job.UID]bool{},
	}
}

// drawLimits draws the zero options, or options with small limits and without the gate
// JobManagedBy. A program need not follow them.
func drawLimits(t *rapid.T) job.Options {
	if !rapid.Bool().Draw(t, "limits") {
		return job.Options{}
	}
	return job.Options{
		MaxPodWrites: rapid.Int32Range(1, 2).Draw(t, "MaxPodWrites"),
		MaxUncounted: rapid.Int32Range(1, 2).Draw(t, "MaxUncounted"),
		Without:      release.GatesOf(release.JobManagedBy),
	}
}
