package jobtest

import (
	"time"

	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Env is the environment of one life, that is, of one random run of the test. A program reads its
// clock, sends its writes through it, and shows it each plan. It is safe for concurrent use. But
// concurrent writes come in a different order each time, so a seed would not repeat a life. In
// tests, use executors with Parallel 1.
type Env struct {
	life    *life.Life
	options job.Options
	subject Subject
	program *life.Program
	watch   *life.Late // nil for a program that reads its store

	truth    life.Family[job.Job, job.Pod] // what the store held when the test read it last
	was      life.Family[job.Job, job.Pod] // the same before the last write or round
	before   int                           // how many pods the life had seen before this job
	history  jobcheck.History
	planned  map[job.UID]bool // the jobs that were planned
	ended    map[job.UID]bool // the pods whose end a snapshot has shown
	purged   map[job.UID]bool // the pods that the backend of a Purger has removed
	seen     job.Spec         // the spec in the last snapshot
	edited   bool             // the job has changed since the program looked
	shows    int              // the number of things that the watch had shown when the round began
	orphans  int              // the number of pods that other clients have created
	adopting bool             // a user deletes the job when the next pod is about to be adopted
	gone     bool             // the job was removed, and its pods are still there
	pending  *pending         // the plan of the round that is under way; nil for none
	groups   jobgroup.Groups  // the groups of a GroupStore, when the test read them last
	due      life.Due         // when a round is due, by the last plan and its writes
	memory   *job.Memory      // the memory after the last plan and its writes; nil if the program was started since
	anySpec  bool             // the backend takes jobs with any field

	// These fields are set for a job of a queue.
	name    string
	changed func()
	all     []*Env // the environments of all jobs
}

// Now returns the time in this life.
func (e *Env) Now() time.Time { return e.life.Now() }

// Options returns the options to plan with. Some lives have small limits, so that one round cannot
// do everything. A program with options of its own need not call Options.
func (e *Env) Options() job.Options { return e.options }

// Planned shows a plan to the test before anything is written. The test checks the plan and its
// snapshot, and adds them to the story.
func (e *Env) Planned(s *job.Snapshot, p *job.Plan) {
	e.life.Writing.Lock()
	defer e.life.Writing.Unlock()

	e.options, e.edited = s.Options, !e.watch.HasSeen(life.ObjectKey)
	if !s.Options.IsZero() {
		e.life.Abandons() // a script and the page have no options
	}
	e.seen = s.Job.Spec

	e.pending = life.NewPending[job.Plan, error](e.life, p)
	e.life.TellPlan(e.of(), p.String())
	e.life.Note(jobcheck.Plan(s, p))

	e.life.CheckClock(s.Now)
	e.checkSnapshot(s)
	e.checkWaits(s, p)
	e.noteEnds(s)
}

// Write makes a write of the program that does not go through a backend, such as storing its
// memory. The write can fail or lose its reply, or the program can end before it.
func (e *Env) Write(what string, write func() error) error { return e.life.Write(what, write) }

// Backend wraps the program's backend for an executor. It lets writes fail, and checks each write
// and its effect.
func (e *Env) Backend(b jobapply.Backend) jobapply.Backend { return &checked{e, b} }

// Logf adds a line to the story.
func (e *Env) Logf(format string, args ...any) { e.life.Tell(format, args...) }

// checkWaits reports expectations that are never lowered (E1): the plan waits for writes of the
// program although the snapshot shows all of these writes.
func (e *Env) checkWaits(s *job.Snapshot, p *job.Plan) {
	for _, w := range p.Waits {
		waits := w.Reason == jobreason.WaitExpectations && !w.Until.IsZero()
		if !waits || len(s.Pods) < len(e.truth.Children) {
			continue
		}
		for i := range s.Pods {
			if t := e.pod(s.Pods[i].UID); t == nil || !samePod(t, &s.Pods[i]) {
				return
			}
		}

		e.life.Breaks("E1", "the plan waits for own writes to be seen, and the snapshot shows all of them: "+
			"expectations are to be lowered when they are seen")
	}
}

// the returns the words that a story uses for the job.
func (e *Env) the() string {
	if e.name != "" {
		return "job " + e.name
	}
	return "the job"
}

// happened notifies a queue that something has happened to the job.
func (e *Env) happened() {
	if e.changed != nil {
		e.changed()
	}
}

// one picks the job for the next event.
func (e *Env) one() *Env {
	if e.all == nil {
		return e
	}
	return e.all[e.life.Pick("job", len(e.all))]
}

// of returns words that say to which of several jobs something in a story belongs.
func (e *Env) of() string {
	if e.name == "" {
		return ""
	}
	return " of job " + e.name
}
