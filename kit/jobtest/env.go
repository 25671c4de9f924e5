package jobtest

import (
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kit/internal/life"
	"github.com/batchplan/batchplan/kit/jobcheck"
)

// Env is the environment of one life. A program reads its clock, sends its writes through
// it, and shows it each plan. It is safe for concurrent use, but writes that run at
// once come in another order each time, and then a seed repeats nothing: let executors have
// Parallel 1 in tests.
type Env struct {
	life    *life.Life
	options job.Options
	subject Subject
	program *life.Program
	watch   *life.Late // nil for a program that reads its store

	truth   life.Family[job.Job, job.Pod] // what the store held when the test looked last
	history jobcheck.History
	planned map[job.UID]bool // of those that were planned
	seen    job.Spec         // of the last snapshot
	edited  bool             // the job has changed since the program looked
	shows   int              // how often the watch has shown something when the round began
	orphans int              // how many pods other clients have created
	gone    bool             // the job was removed, and its pods are there

	// For one of the jobs of a queue:
	name     string
	changed  func()
	all      []*Env // of all jobs
	troubled bool   // a write for the job has failed, and no plan was made for it since then
}

// the is what a story calls the job.
func (e *Env) the() string {
	if e.name != "" {
		return "job " + e.name
	}
	return "the job"
}

// happened tells a queue that something has happened to the job.
func (e *Env) happened() {
	if e.changed != nil {
		e.changed()
	}
}

// one is the job that something happens to: one of all.
func (e *Env) one() *Env {
	if e.all == nil {
		return e
	}
	return e.all[e.life.Pick("job", len(e.all))]
}

// of says of which job the story tells, if there are several.
func (e *Env) of() string {
	if e.name == "" {
		return ""
	}
	return " of job " + e.name
}
