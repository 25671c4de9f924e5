package cronjobtest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/job"
)

// live lets a CronJob live, with faults, and come to rest.
func (e *Env) live(spec cronjob.Spec) {
	e.life.StartAt(rapid.SampledFrom(Starts).Draw(e.life.T, "start"))
	c := cronjob.CronJob{Namespace: "default", Name: "c", UID: "cronjob-a", CreationTimestamp: e.life.Now(), Spec: spec}
	e.life.Tell("a user creates a CronJob: %s", specText(&spec))
	if text := optionsText(&e.options); text != "" {
		e.life.Tell("the options are: %s", text)
	}
	e.life.Must("create the CronJob", e.subject.Store.CreateCronJob(c))
	e.read()
	if len(e.truth.jobs) > 0 || e.truth.cronJob.UID != c.UID {
		e.life.Breaks("Store", "the CronJob was created, and is %s with %d jobs", e.truth.cronJob.UID, len(e.truth.jobs))
	}
	if text := life.Difference(&c, &cronjob.CronJob{
		Namespace: e.truth.cronJob.Namespace, Name: e.truth.cronJob.Name, UID: e.truth.cronJob.UID, CreationTimestamp: e.truth.cronJob.CreationTimestamp,
		Spec: e.truth.cronJob.Spec, Status: e.truth.cronJob.Status,
	}); text != "" {
		e.life.Breaks("Store", "the CronJob was created, and %s", text)
	}
	e.life.Stop()
	e.program.Run(false)
	e.program.Happened()
	e.life.T.Repeat(e.steps())
	e.comeToRest()
}

// steps are the things that can happen, of which the program is told; each stands as often as
// it is likely.
func (e *Env) steps() map[string]func(*rapid.T) {
	told := e.program.Tells
	wakeUp := func(*rapid.T) { e.program.WakeUp(e.life.Now().AddDate(0, 0, 40).Sub(e.life.Now())) }
	timePasses := func(t *rapid.T) {
		e.program.Pass(time.Duration(rapid.IntRange(1, 2000).Draw(t, "seconds")) * time.Second)
	}
	steps := map[string]func(*rapid.T){
		"a job": told(e.finish), "a job 2": told(e.finish), "a job 3": told(e.finish),
		"the time asked for": wakeUp, "the time asked for 2": wakeUp, "the time asked for 3": wakeUp,
		"time": timePasses, "clock": e.clockBack, "a user": told(e.user), "a user removes": told(e.remove),
		"restart": e.restart, "no change": func(*rapid.T) { e.program.Happened() },
	}
	if _, ok := e.subject.Store.(Requester); ok {
		steps["a request"] = func(*rapid.T) { // seen at once
			if e.request() {
				e.program.Happened()
			}
		}
	}
	if _, ok := e.subject.Store.(SharedStore); ok {
		steps["another owner"] = told(e.takeName)
	}
	if e.watch != nil {
		for _, name := range []string{"watch", "watch 2", "watch 3", "watch 4"} {
			steps[name] = func(*rapid.T) { e.program.Deliver() }
		}
	}
	return steps
}

// newProgram makes the program that lives.
func (e *Env) newProgram() *life.Program {
	return &life.Program{
		Life: e.life, Start: e.start, Busy: "CI9", Stuck: "CL4", SeesLate: e.subject.Late, Late: e.watch, CheckStall: e.checkStall,
		Before: func() { e.edited = false }, After: e.roundEnded,
	}
}

// roundEnded looks at what a round has left.
func (e *Env) roundEnded(failed bool) {
	if failed {
		e.aside = e.aside.failed(e.before)
	}
	e.before = e.aside
	e.look(nil)
}

// clockBack sets the clock back (CI14).
func (e *Env) clockBack(t *rapid.T) {
	e.program.SetBack(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour, 30 * time.Hour}).Draw(t, "back"))
}

// restart ends the program between two rounds. It may be down for days.
func (e *Env) restart(t *rapid.T) {
	if down := rapid.IntRange(0, 100).Draw(t, "hours down"); down > 0 {
		e.life.Tell("the program is ended, and is down for %d hours", down)
		e.program.MoveClock(e.life.Now().Add(time.Duration(down) * time.Hour))
	}
	e.program.StartAgain("is ended, and starts again")
	e.program.Happened()
}

// interfere lets a job end or a user act between two writes of a round.
func (e *Env) interfere() {
	var user func() bool
	if !e.subject.OneWriter {
		user = e.userMeanwhile
	}
	e.program.Interfere(e.finish, user)
}

// userMeanwhile lets a user edit the CronJob during a round. One edit may undo another.
func (e *Env) userMeanwhile() bool {
	if !e.user() {
		return false
	}
	e.respec = !reflect.DeepEqual(e.seen.Spec, e.truth.cronJob.Spec)
	e.edited = e.edited && !sameStatus(&e.seen.Status, &e.truth.cronJob.Status) || e.respec
	return true
}

// finish ends a job. It reports whether there was one.
func (e *Env) finish() bool {
	var running []cronjob.Child
	for _, c := range e.truth.jobs {
		if isLeft(&c) {
			running = append(running, c)
		}
	}
	if len(running) == 0 {
		return false
	}
	how := job.ConditionComplete
	c := running[e.life.Pick("job", len(running))]
	if !c.DeletionTimestamp.IsZero() {
		e.collect(c.Name)
		return true
	}
	if e.life.Pick("how", 3) == 2 {
		how = job.ConditionFailed
	}
	e.end(c, how)
	return true
}

// isLeft reports whether a job of the CronJob has not ended, or is still to go.
func isLeft(c *cronjob.Child) bool {
	return !c.Foreign && (c.Finished == "" || !c.DeletionTimestamp.IsZero())
}

// collect removes a job that is being deleted: its pods are gone.
func (e *Env) collect(name string) {
	e.life.Tell("%sthe pods of %s are gone, and so is the job", e.life.Meanwhile, name)
	e.life.Must("remove "+name, e.subject.Store.RemoveJob(name))
	e.read()
	if e.truth.job(name) != nil {
		e.life.Breaks("Store", "%s was removed, and is there", name)
	}
}

// end lets a job end.
func (e *Env) end(c cronjob.Child, how job.ConditionType) {
	c.Finished, c.FinishTime = how, e.life.Now()
	says := "fails"
	if how == job.ConditionComplete {
		c.CompletionTime, says = e.life.Now(), "completes"
	}
	e.life.Tell("%s%s %s", e.life.Meanwhile, c.Name, says)
	e.life.Must("update "+c.Name, e.subject.Store.UpdateJob(c))
	e.read()
	is := e.truth.job(c.Name)
	if is == nil {
		e.life.Breaks("Store", "%s has ended, and is gone", c.Name)
		return
	}
	if text := life.Difference(&c, is); text != "" {
		e.life.Breaks("Store", "%s was updated, and %s", c.Name, text)
	}
}

// user edits the CronJob.
func (e *Env) user() bool {
	spec := e.truth.cronJob.Spec
	says := ""
	switch n := e.life.Pick("edit", 6); {
	case n < 2:
		suspend := !*spec.Suspend
		spec.Suspend = &suspend
		says = map[bool]string{true: "suspends the CronJob", false: "resumes the CronJob"}[suspend]
	case n < 4 && !strings.HasPrefix(spec.Schedule, "@every") && len(e.truth.backfills) == 0: // a range may hold thousands of other runs
		spec.Schedule = crontabs[e.life.Pick("schedule", len(crontabs))]
		says = fmt.Sprintf("sets the schedule to %q", spec.Schedule)
	case n == 4 && len(e.truth.backfills) == 0:
		if spec.TimeZone == nil {
			spec.TimeZone = ptr("America/New_York")
			says = "sets the timeZone to America/New_York"
		} else {
			spec.TimeZone, says = nil, "leaves the timeZone out"
		}
	default:
		spec.ConcurrencyPolicy = policies[e.life.Pick("policy", len(policies))]
		says = fmt.Sprintf("sets the concurrencyPolicy to %s", spec.ConcurrencyPolicy)
	}
	if reflect.DeepEqual(spec, e.truth.cronJob.Spec) {
		return false
	}
	e.life.Tell("%sa user %s", e.life.Meanwhile, says)
	e.life.Must("update the spec", e.subject.Store.UpdateSpec(spec))
	e.read()
	if text := life.Difference(&spec, &e.truth.cronJob.Spec); text != "" {
		e.life.Breaks("Store", "the spec was updated, and %s", text)
	}
	return true
}

// remove lets a user remove a job. One whose run is recorded nowhere would be the loss of
// all that is known of it.
func (e *Env) remove() bool {
	var recorded []string
	for _, c := range e.truth.jobs {
		beside := c.ScheduledTime.IsZero() && len(e.truth.triggers) > 0
		if c.Foreign {
			continue
		}
		if !e.watch.HasSeen(c.Name) {
			continue // a watch that misses nothing would tell of it before it tells that it is gone
		}
		if !c.ScheduledTime.After(e.truth.cronJob.Status.LastScheduleTime) && !beside && !e.isAwaited(c.ScheduledTime) {
			recorded = append(recorded, c.Name)
		}
	}
	if len(recorded) == 0 {
		return false
	}
	name := recorded[e.life.Pick("job", len(recorded))]
	e.life.Tell("a user removes %s", name)
	e.life.Must("remove "+name, e.subject.Store.RemoveJob(name))
	e.read()
	if e.truth.job(name) != nil {
		e.life.Breaks("Store", "%s was removed, and is there", name)
	}
	return true
}

// checkStall plans from the store as it is: there must be nothing to do (CL4).
func (e *Env) checkStall() {
	if e.subject.Late && (e.watch == nil || !e.watch.HasSeenAll() || !e.program.Again.After(e.life.Now().Add(patience))) {
		return
	}
	s := cronjob.Snapshot{
		CronJob: e.truth.cronJob, Children: slices.Clone(e.truth.jobs), Now: e.life.Now(),
		Schedule: e.compiled(), Consistent: true, Options: e.options,
		Triggers: e.truth.triggers, Backfills: e.truth.backfills,
	}
	if o := &e.options; o.SkipOnResume || o.SkipOnEdit || o.SkipHeld || e.passesNames() {
		s.Memory = e.memory // what is set aside is nowhere else
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

// compiled is the schedule of the CronJob, as the program compiles it: it may do that with
// options of its own.
func (e *Env) compiled() cronjob.Compiled {
	now := cronjob.Compile(&e.truth.cronJob)
	if e.schedule.Source == now.Source && e.schedule.Zone == now.Zone {
		return e.schedule
	}
	return now
}

// patience is how long a program that sees its objects late may wait for its own writes to
// be seen, though they are (CI15): after a restart it does not know its last one.
const patience = 5 * time.Minute

// endAll lets all jobs complete, and those that follow them.
func (e *Env) endAll() {
	for range 400 {
		i := slices.IndexFunc(e.truth.jobs, func(c cronjob.Child) bool { return isLeft(&c) })
		if i < 0 {
			return
		}
		if c := e.truth.jobs[i]; !c.DeletionTimestamp.IsZero() {
			e.collect(c.Name)
		} else {
			e.end(c, job.ConditionComplete)
		}
		e.program.Settle()
	}
}

// comeToRest ends all faults and jobs, and expects the status to be true and the latest run
// to have started (CL1, CL2, CL3).
func (e *Env) comeToRest() {
	e.life.Tell("from here on nothing goes wrong, and all jobs complete")
	e.life.Quiet = true
	e.program.Settle()
	e.endAll()
	if e.subject.Late { // it may wait for writes that it is not sure to have seen
		e.program.Pass(patience)
		e.program.Settle()
		e.endAll()
	}
	for _, r := range e.truth.cronJob.Status.Active {
		if c := e.truth.job(r.Name); c == nil || c.Finished != "" {
			e.life.Breaks("CL2", "%s has ended, and is still active", r.Name)
		}
	}
	e.checkLatest()
	e.checkRequests()
	if !*e.truth.cronJob.Spec.Suspend && e.program.Again.IsZero() {
		e.life.Breaks("CL4", "the program waits for nothing, and the next run is due at %s", e.compiled().Schedule.Next(e.life.Now()))
	}
	e.life.Stop()
}

// checkLatest checks that the latest run has started, unless it is too late or set aside (CL1).
func (e *Env) checkLatest() {
	spec, o, status := &e.truth.cronJob.Spec, &e.options, &e.truth.cronJob.Status
	run, due := e.compiled().Schedule.Latest(e.truth.cronJob.CreationTimestamp, e.life.Now().Add(-o.Jitter))
	deadline, bounded := cronjobcheck.Deadline(spec, o)
	if !due || *spec.Suspend || bounded && e.life.Now().Sub(run) >= deadline {
		return
	}
	for r := run; !r.IsZero() && !r.After(e.life.Now()); r = e.compiled().Schedule.Next(r) {
		if c := e.truth.job(cronjob.JobName(e.truth.cronJob.Name, r)); c != nil && c.Foreign || e.passesNames() {
			return
		}
	}
	if run.After(e.aside.most) && status.LastScheduleTime.Before(run) {
		e.life.Breaks("CL1", "the run of %s is due, and the last recorded run is %s", run, status.LastScheduleTime)
	}
}
