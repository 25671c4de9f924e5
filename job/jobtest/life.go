package jobtest

import (
	"context"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// live creates one or two jobs of the same name, one after the other. For a while, users act and
// faults happen. Then the job must come to rest, or it is removed and leaves orphans.
func (e *Env) live(specs *rapid.Generator[job.Spec]) {
	e.program.Run(false)
	for n := range rapid.IntRange(1, 2).Draw(e.life.T, "jobs") {
		e.create(specs.Draw(e.life.T, "spec"), n)
		e.program.Happened()
		e.life.T.Repeat(e.steps())
		if e.mayOrphan() {
			e.leaveOrphans()
		} else {
			e.comeToRest()
		}
		e.remove()
	}
}

func (e *Env) create(spec job.Spec, n int) {
	j := job.Job{
		Namespace:         "default",
		Name:              "j",
		UID:               job.UID("job-" + string(rune('a'+n))),
		CreationTimestamp: e.life.Now(),
		Spec:              spec,
	}
	if e.name != "" {
		j.Name, j.UID = e.name, job.UID(fmt.Sprint("job-", e.name, n+1))
	}
	if e.anySpec && len(e.planned) > 0 && e.options.Without.Has(release.JobManagedBy) {
		// The program plans without the gate: for it, this is a job like any other (J3).
		other := "example.com/other"
		spec.ManagedBy, j.Spec.ManagedBy = &other, &other
	}

	e.drawScheduling(&spec)
	j.Spec.Scheduling = spec.Scheduling

	e.life.Tell("a user creates job %s: %s", j.UID, specText(&spec))
	e.life.Must("create the job", e.subject.Store.CreateJob(j))
	if e.all == nil {
		e.life.Begins("job", &spec)
		e.before = e.truth.Seen()
	}
	e.history = jobcheck.History{MaxParallelism: *spec.Parallelism, Late: e.subject.Late}
	e.read()
	e.watch.List()

	want := e.truth.Object
	want.Name, want.CreationTimestamp, want.Spec, want.Status = j.Name, j.CreationTimestamp, spec, job.Status{}
	if want.Namespace != "" { // a store may have no namespaces
		want.Namespace = j.Namespace
	}
	e.truth.IsNew(want.UID, e.truth.Children, &want)
	e.happened()
}

func (e *Env) remove() {
	e.life.Tell("a user removes job %s with its pods", e.truth.Object.UID)
	e.life.Must("remove the job", e.subject.Store.RemoveJob())
	e.unknown()
	e.groups = jobgroup.Groups{}
	if e.truth.Object, e.truth.Children = (job.Job{}), nil; e.all == nil {
		e.program.Again = time.Time{}
	}
}

func (e *Env) newProgram() *life.Program {
	return &life.Program{
		Life:       e.life,
		Start:      e.start,
		Busy:       "L6",
		Stuck:      "L9",
		SeesLate:   e.subject.Late,
		Late:       e.watch,
		CheckStall: e.checkStall,
		Before:     func() { e.edited, e.shows = false, e.watch.Shows() },
		After: func(failed bool) {
			e.look(world.Write{}, "")
			e.purgeAfter(failed)
		},
		Due: func() life.Due {
			e.conclude()
			return e.due
		},
	}
}

// start starts the program. The watch shows it everything again.
func (e *Env) start(forget bool) func(context.Context) (time.Time, error) {
	program := e.subject.Start(forget)
	e.unknown()
	e.history.Restarted = e.history.Restarted || forget
	e.watch.List()
	return program
}

// checkStall checks that there is nothing to do (L9).
func (e *Env) checkStall() {
	if e.subject.Late && e.watch == nil || !e.watch.HasSeenAll() {
		return
	}
	if e.gone && e.program.Again.IsZero() {
		e.checkOrphans()
	}
	if !e.gone {
		e.checkIdle()
	}
}

// checkIdle checks that a plan from the current store has nothing to do (L9). A program that is
// going to plan again may wait for reasons that the store does not show: a failed write, or a
// backoff that it remembers.
func (e *Env) checkIdle() {
	comesAgain := !e.program.Again.IsZero()
	if comesAgain && (e.memory == nil || e.due.Retry) {
		return
	}

	s := job.Snapshot{
		Job:        e.truth.Object,
		Pods:       e.truth.Values(),
		Now:        e.life.Now(),
		Groups:     e.groups,
		Consistent: true,
		Options:    e.options,
	}
	if comesAgain {
		s.Memory = *e.memory
	}
	plan, err := job.Reconcile(s)
	if err != nil {
		e.life.Breaks("Store", "the store holds what no plan can be made from: %v", err)
		return
	}

	// The removal of a finalizer that must wait for the end of the job does not count.
	r := plan.Record(job.Writes{Claimed: job.Reply{Result: jobreason.ResultDone}})
	claimed := len(plan.Adopt) + len(plan.Release) + len(plan.Groups)
	touched := claimed + len(plan.Delete) + len(plan.Create) + len(r.Untrack)
	if r.Write || touched > 0 {
		todo := life.Indent(plan.String())
		if r.Write {
			todo += fmt.Sprintf("\n    status: %s", r.Status)
		}
		e.life.Breaks("L9", "%s, and there is something to do:\n%s", e.idles(), todo)
	}
}

// idles describes how the program waits.
func (e *Env) idles() string {
	waits := "for nothing but changes"
	if again := e.program.Again; !again.IsZero() {
		waits = fmt.Sprintf("until %s", again.UTC().Format(time.DateTime))
	}
	return fmt.Sprintf("the program waits %s%s", waits, e.of())
}

// comeToRest ends all faults, lets every pod succeed, and expects the end of the job.
func (e *Env) comeToRest() {
	e.life.Tell("from here on nothing goes wrong, and all pods succeed")
	e.life.Quiet = true
	defer func() { e.life.Quiet = false }()

	if spec := e.truth.Object.Spec; *spec.Suspend || *spec.Parallelism == 0 {
		off, parallelism := false, max(*spec.Parallelism, 1)
		spec.Suspend, spec.Parallelism = &off, &parallelism
		e.edit(fmt.Sprintf("resumes %s, with parallelism %d", e.the(), parallelism), spec)
	}

	e.program.Settle()
	late := e.life.Now().AddDate(0, 0, 2) // a program that polls makes many steps
	for n := 0; !e.isOver(); n++ {
		if n > 200 && (n > 5000 || e.life.Now().After(late)) {
			e.life.Breaks("L1", "%s does not end", e.the())
		}

		e.life.Stop()
		switch p := e.somePod(); {
		case p != nil:
			e.podStep(p, "succeeds", func(p *job.Pod) bool {
				return world.RunPod(p, e.life.Now()) || world.FinishPod(p, e.life.Now(), exitCode(p))
			})
			e.program.Settle()
		case !e.program.Again.IsZero() && e.program.Again.Before(e.life.Now().AddDate(1, 0, 0)):
			e.program.Pass(e.program.Again.Sub(e.life.Now()))
		default:
			e.life.Breaks("L9", "%s has not ended, no pod runs, and the program waits for nothing but changes", e.the())
		}
	}
	e.checkRest()
}

// exitCode returns the exit code of a pod that ends. A pod that is being deleted is killed.
func exitCode(p *job.Pod) int32 {
	if p.Deletion != nil {
		return 137
	}
	return 0
}

// isOver reports whether the job has ended, or is being deleted and has no pod left that runs.
func (e *Env) isOver() bool {
	if e.truth.Object.Status.Finished() != "" {
		return true
	}
	return !e.truth.Object.DeletionTimestamp.IsZero() && e.somePod() == nil
}

// somePod returns the first pod of the job that has not ended; nil for none.
func (e *Env) somePod() *job.Pod { return value.At(e.truth.Those(isLeft), 0) }

func isLeft(p *job.Pod) bool { return p.Phase < job.PodSucceeded && p.Owner != jobpod.Foreign }

// checkRest checks what is left when the job has ended: L2, L4 and L5.
func (e *Env) checkRest() {
	for p := e.somePod(); p != nil; p = e.somePod() { // pods whose deletion did not delay the end
		e.podStep(p, "ends", func(p *job.Pod) bool { return world.FinishPod(p, e.life.Now(), 137) })
	}
	e.program.Settle()
	e.program.Settle() // for rounds that waited for those pods

	writes := e.life.Writes
	e.program.Round()

	for _, p := range e.truth.Children {
		if !p.Untracked && p.Owner <= jobpod.OwnedUnmatched {
			e.life.Breaks("L4", "the job is over, and %s keeps its finalizer", p.Name)
		}
	}
	if u := e.truth.Object.Status.UncountedTerminatedPods; u != nil && len(u.Succeeded)+len(u.Failed) > 0 {
		e.life.Breaks("L5", "the job is over, and UIDs stay uncounted: %v", *u)
	}
	if e.life.Writes > writes {
		e.life.Breaks("L2", "the job is over, and the program writes on")
	}

	e.life.Stop()
}
