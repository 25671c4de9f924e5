package cronjobtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// live creates one or two CronJobs of the same name, one after the other. For a while, users act
// and faults happen. Then the faults stop, and the CronJob must come to rest.
func (e *Env) live(specs *rapid.Generator[cronjob.Spec]) {
	e.life.StartAt(rapid.SampledFrom(cronjobgen.Starts).Draw(e.life.T, "start"))
	if text := optionsText(&e.options); text != "" {
		e.life.Tell("the options are: %s", text)
	}
	e.program.Run(false)
	for n := range 1 + rapid.IntRange(0, 2).Draw(e.life.T, "one more CronJob")/2 {
		e.create(specs.Draw(e.life.T, "spec"), n)
		e.program.Happened()
		e.life.T.Repeat(e.steps())
		e.comeToRest()
		e.removeAll()
	}
}

func (e *Env) create(spec cronjob.Spec, n int) {
	c := cronjob.CronJob{
		Namespace:         "default",
		Name:              "c",
		UID:               job.UID("cronjob-" + string(rune('a'+n))),
		CreationTimestamp: e.life.Now(),
		Spec:              spec,
	}
	e.life.Tell("a user creates CronJob %s: %s", c.UID, specText(&spec))
	e.life.Must("create the CronJob", e.subject.Store.CreateCronJob(c))
	e.history, e.aside, e.before = cronjobcheck.History{}, aside{}, aside{}
	e.requests, e.requested = 0, nil
	if e.life.Now().Equal(world.Start) && e.options.IsZero() && e.schedules == nil {
		e.life.Begins("cronjob", &spec) // stories always begin so, and write options differently
	} else {
		e.life.Abandons()
	}
	e.read()
	e.watch.List()

	want := e.truth.Object
	want.Name, want.CreationTimestamp, want.Spec, want.Status = c.Name, c.CreationTimestamp, spec, cronjob.Status{}
	if want.Namespace != "" { // a store may have no namespaces
		want.Namespace = c.Namespace
	}
	e.truth.IsNew(want.UID, e.truth.Those(func(c *cronjob.Child) bool { return !c.Foreign }), &want)
}

// removeAll removes the CronJob with its jobs.
func (e *Env) removeAll() {
	e.life.Tell("a user removes CronJob %s with its jobs", e.truth.Object.UID)
	e.life.Must("remove the CronJob", e.subject.Store.RemoveCronJob())
	e.program.Again, e.pending, e.due = time.Time{}, nil, life.Due{}
}

// steps returns the things that can happen. More likely ones are added more often.
func (e *Env) steps() life.Steps {
	drawTime := func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(1, 2000).Draw(t, "seconds")) * time.Second
	}
	steps := e.program.Steps(drawTime, time.Second, time.Minute, time.Hour, 30*time.Hour)

	told := e.program.Tells
	steps.Add(3, "a job", told(e.finish))
	steps.Add(3, "the time asked for", func(*rapid.T) { e.program.WakeUp(40 * 24 * time.Hour) })
	steps.Add(1, "a user", told(e.user))
	steps.Add(1, "a user removes", told(e.remove))
	steps.Add(1, "restart", e.restart)

	if _, ok := e.subject.Store.(Requester); ok {
		steps.Add(1, "a request", func(*rapid.T) { // seen immediately
			if e.request() {
				e.program.Happened()
			}
		})
	}
	if _, ok := e.subject.Store.(SharedStore); ok {
		steps.Add(1, "another owner", told(e.takeName))
	}
	return steps
}

func (e *Env) newProgram() *life.Program {
	p := &life.Program{
		Life:       e.life,
		Start:      e.start,
		Busy:       "CL5",
		Stuck:      "CL4",
		SeesLate:   e.subject.Late,
		Late:       e.watch,
		CheckStall: e.checkStall,
		Before:     func() { e.edited = false },
		After:      e.roundEnded,
		Due: func() life.Due {
			e.conclude()
			return e.due
		},
	}
	if e.subject.Late {
		p.Patience = patience
	}
	return p
}

// start starts the program. A program with a cache lists everything again.
func (e *Env) start(forget bool) func(context.Context) (time.Time, error) {
	program := e.subject.Start(forget)
	e.pending, e.due = nil, life.Due{}
	if forget {
		e.aside = aside{most: e.aside.most}
		e.before = e.aside
	}
	e.watch.List()
	return program
}

// roundEnded checks the store after a round.
func (e *Env) roundEnded(failed bool) {
	if failed {
		e.aside = e.aside.failed(e.before)
	}
	e.before = e.aside
	e.look(world.Write{})
}

// restart ends the program between two rounds. It may be down for days.
func (e *Env) restart(t *rapid.T) {
	if down := rapid.IntRange(0, 100).Draw(t, "hours down"); down > 0 {
		e.life.Tell("the program is ended, and is down for %s", value.Count(down, "hour"))
		e.program.MoveClock(e.life.Now().Add(time.Duration(down) * time.Hour))
	}
	e.program.Restart()
}

// interfere lets a job end, another owner take the name that is about to be written, or a user
// act between two writes of a round.
func (e *Env) interfere(w world.Write, run time.Time) {
	var user func() bool
	if !e.subject.OneWriter {
		user = e.userMeanwhile
	}

	others := e.finish
	_, isShared := e.subject.Store.(SharedStore)
	writesName := w.Verb == world.Delete || w.Verb == world.Create && !run.IsZero()
	if isShared && writesName {
		others = func() bool {
			if e.life.Pick("takes the name", 2) == 0 {
				return e.finish()
			}
			return e.takeOver(w.Name)
		}
	}

	e.program.Interfere(others, user)
}

// userMeanwhile lets a user edit the CronJob during a round. One edit may undo another.
func (e *Env) userMeanwhile() bool {
	if !e.user() {
		return false
	}
	e.respec = !reflect.DeepEqual(e.seen.Spec, e.truth.Object.Spec)
	e.edited = e.edited && !sameStatus(&e.seen.Status, &e.truth.Object.Status) || e.respec
	return true
}

// finish ends a job. It reports whether there was one.
func (e *Env) finish() bool {
	c := e.truth.Pick(isLeft)
	if c == nil {
		return false
	}
	if !c.DeletionTimestamp.IsZero() {
		e.removeJob(podsAreGone(c), c.Name)
		return true
	}
	e.end(*c, e.endings[e.life.Pick("how", len(e.endings))])
	return true
}

// podsAreGone explains the end of a job that is being deleted.
func podsAreGone(c *cronjob.Child) string {
	return "the pods of " + c.Name + " are gone, and so is the job"
}

// isLeft reports whether a job of the CronJob has not ended, or is being deleted.
func isLeft(c *cronjob.Child) bool {
	return !c.Foreign && (c.Finished == "" || !c.DeletionTimestamp.IsZero())
}

func (e *Env) end(c cronjob.Child, how cronjob.Ending) {
	c.Finished, c.FinishTime, c.KeptAs = how, e.life.Now(), world.KeptAs(how)
	says := "ends: " + string(how)
	switch how {
	case cronjob.Complete:
		c.CompletionTime, says = e.life.Now(), "completes"
	case cronjob.Failed:
		says = "fails"
	}
	switch how {
	case cronjob.Complete:
		e.life.Does("complete", runOf(&c))
	case cronjob.Failed:
		e.life.Does("fail", runOf(&c))
	default:
		e.life.Abandons()
	}
	e.update(c, says, "has ended")
}

// runOf returns the name of a job in a story: its run.
func runOf(c *cronjob.Child) string { return c.ScheduledTime.UTC().Format(time.RFC3339) }

// update stores a change of a job that the program did not make.
func (e *Env) update(c cronjob.Child, says, what string) {
	err := e.subject.Store.UpdateChild(c)
	if !c.DeletionTimestamp.IsZero() && errors.Is(err, errors.ErrUnsupported) {
		e.removeJob("a user removes "+c.Name, c.Name)
		return
	}

	e.life.Tell("%s%s %s", e.life.Meanwhile, c.Name, says)
	e.life.Must("update "+c.Name, err)
	e.read()
	is := e.truth.Child(c.Name)
	if is == nil {
		e.life.Breaks("Store", "%s %s, and is gone", c.Name, what)
		return
	}
	e.life.Kept(c.Name+" was updated", &c, is)
}

// crontabs are the schedules from which users choose.
var crontabs = []string{"*/7 * * * *", "0 * * * *", "0 9,17 * * 1-5", "30 6-16/4 * * 1-5", "30 1 * * *"}

// user edits the CronJob.
func (e *Env) user() bool {
	spec := e.truth.Object.Spec
	says := ""
	mayReschedule := len(e.backfills) == 0 // a range may hold thousands of other runs
	switch n := e.life.Pick("edit", 6); {
	case n < 2:
		suspend := !value.Of(spec.Suspend)
		spec.Suspend = &suspend
		says = map[bool]string{true: "suspends the CronJob", false: "resumes the CronJob"}[suspend]
	case n < 4 && mayReschedule && !strings.HasPrefix(spec.Schedule, "@every"):
		crontab := crontabs[e.life.Pick("schedule", len(crontabs))]
		if len(strings.Fields(spec.Schedule)) == 6 {
			crontab = cronjobgen.Seconds[e.life.Pick("seconds", len(cronjobgen.Seconds))] + " " + crontab
		}
		spec.Schedule = crontab
		says = fmt.Sprintf("sets the schedule to %q", spec.Schedule)
	case n == 4 && mayReschedule:
		if spec.TimeZone == nil {
			spec.TimeZone = value.To("America/New_York")
			says = "sets the timeZone to America/New_York"
		} else {
			spec.TimeZone, says = nil, "leaves the timeZone out"
		}
	default:
		spec.ConcurrencyPolicy = cronjobgen.Policies[e.life.Pick("policy", len(cronjobgen.Policies))]
		says = fmt.Sprintf("sets the concurrencyPolicy to %s", spec.ConcurrencyPolicy)
	}
	if reflect.DeepEqual(spec, e.truth.Object.Spec) {
		return false
	}

	e.life.Tell("%sa user %s", e.life.Meanwhile, says)
	e.life.Edits(&e.truth.Object.Spec, &spec)
	e.life.Must("update the spec", e.subject.Store.UpdateSpec(spec))
	e.read()
	e.life.Kept("the spec was updated", &spec, &e.truth.Object.Spec)
	return true
}

// remove lets a user remove a job. A job whose run is recorded nowhere else stays: only this job
// shows that the run has started.
func (e *Env) remove() bool {
	recorded := e.truth.Pick(func(c *cronjob.Child) bool {
		if c.Foreign || !e.watch.HasSeen(c.Name) { // a real watch shows a job before its removal
			return false
		}
		beside := c.ScheduledTime.IsZero() && len(e.triggers) > 0
		isRecorded := !c.ScheduledTime.After(e.truth.Object.Status.LastScheduleTime)
		return isRecorded && !beside && !e.isAwaited(c.ScheduledTime)
	})

	switch {
	case recorded == nil:
		return false
	case isRunning(recorded) && e.life.Pick("its pods take a while", 2) == 1:
		c := *recorded
		c.DeletionTimestamp = e.life.Now()
		e.life.Abandons() // in a story, a deleted job is gone immediately
		e.update(c, "is deleted by a user, and its pods take a while to end", "was deleted")
	default:
		e.life.Does("delete", runOf(recorded))
		e.removeJob("a user removes "+recorded.Name, recorded.Name)
	}
	return true
}

// isRunning reports whether a job has neither ended nor been deleted.
func isRunning(c *cronjob.Child) bool { return c.Finished == "" && c.DeletionTimestamp.IsZero() }

// checkStall plans from the store as it is: there must be nothing to do (CL4).
func (e *Env) checkStall() {
	if e.subject.Late {
		seenAll := e.watch != nil && e.watch.HasSeenAll()
		if !seenAll || !e.program.Again.After(e.life.Now().Add(patience)) {
			return
		}
	}

	s := cronjob.Snapshot{
		CronJob:    e.truth.Object,
		Children:   e.truth.Values(),
		Now:        e.life.Now(),
		Schedule:   e.compiled(),
		Consistent: true,
		Options:    e.options,
		Triggers:   e.triggers,
		Backfills:  e.backfills,
	}
	o := &e.options
	setsAside := o.SkipOnResume || o.SkipOnEdit || o.SkipHeld
	if setsAside || e.passesNames() {
		s.Memory = e.memory // what is set aside is recorded nowhere else
	}
	plan, err := cronjob.Reconcile(s)
	if err != nil {
		e.life.Breaks("Store", "the store holds what no plan can be made from: %v", err)
		return
	}

	settled := plan.Settle(cronjob.Writes{})
	if !settled.Write && len(plan.Create)+len(plan.Delete)+len(plan.Verify) == 0 {
		return
	}
	todo := life.Indent(plan.String())
	if settled.Write {
		todo += fmt.Sprintf("\n    status: %s", settled.Status)
	}
	e.life.Breaks("CL4", "the program waits, and there is something to do:\n%s", todo)
}

// patience limits how long a program that sees its objects late may wait for its own writes
// although they were shown (CI15): after a restart it does not know its last write.
const patience = 5 * time.Minute

// endAll lets all jobs complete, including those that are created meanwhile.
func (e *Env) endAll() {
	for range 400 {
		c := value.At(e.truth.Those(isLeft), 0)
		if c == nil {
			return
		}
		if !c.DeletionTimestamp.IsZero() {
			e.removeJob(podsAreGone(c), c.Name)
		} else {
			e.end(*c, cronjob.Complete)
		}
		e.program.Settle()
	}
}

// comeToRest ends all faults and jobs. Then the active list must have no ended job (CL2), and the
// latest run must have started (CL1, CL3).
func (e *Env) comeToRest() {
	e.life.Tell("from here on nothing goes wrong, and all jobs complete")
	e.life.Quiet = true
	e.program.Settle()
	e.endAll()
	if e.subject.Late { // it may wait for writes that it cannot be sure to have seen
		e.program.Pass(patience)
		e.program.Settle()
		e.endAll()
	}

	for _, r := range e.truth.Object.Status.Active {
		if c := e.truth.Child(r.Name); c == nil || c.Finished != "" {
			e.life.Breaks("CL2", "%s has ended, and is still active", r.Name)
		}
	}

	e.checkLatest()
	e.checkRequests()

	// If the clock was set back, the program may have dealt with the next runs already.
	next := e.compiled().Schedule.Next(latest(e.life.Farthest(), e.truth.Object.Status.LastScheduleTime))
	if !value.Of(e.truth.Object.Spec.Suspend) && e.program.Again.IsZero() && !next.IsZero() {
		e.life.Breaks("CL4", "the program waits for nothing, and the next run is due at %s", next)
	}

	e.life.Stop()
}

// checkLatest checks that the latest run has started, unless it is too late or set aside (CL1).
func (e *Env) checkLatest() {
	spec, o, status := &e.truth.Object.Spec, &e.options, &e.truth.Object.Status
	run, due := e.compiled().Schedule.Latest(e.truth.Object.CreationTimestamp, e.life.Now().Add(-o.Jitter))
	deadline, bounded := cronjobcheck.Deadline(spec, o)
	isLate := bounded && e.life.Now().Sub(run) >= deadline
	if !due || isLate || value.Of(spec.Suspend) {
		return
	}

	for r := run; !r.IsZero() && !r.After(e.life.Now()); r = e.compiled().Schedule.Next(r) {
		c := e.truth.Child(e.options.Naming.JobName(e.truth.Object.Name, r))
		if c != nil && c.Foreign || e.passesNames() {
			return
		}
	}

	if run.After(e.aside.most) && status.LastScheduleTime.Before(run) && !e.mayPause() {
		e.life.Breaks("CL1", "the run of %s is due, and the last recorded run is %s", run, status.LastScheduleTime)
	}
}
