package cronworlds

import (
	"errors"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// controller is the state of the program that plans.
type controller struct {
	memory    cronjob.Memory
	concluded bool // a round has handed over a memory
	triggers  []cronjob.Trigger
	backfills []cronjob.Backfill
	compiled  map[string]cronjob.Compiled
	// wake is the time of the next plan; if it is zero, the controller waits for a change.
	wake time.Time
	// down is set while the program does not run.
	down    bool
	retries int
	// ending is set if the program ends after the current read or write.
	ending bool
}

var errCrash = errors.New("the program ends")

// round plans once and carries the plan out. A crash may end it anywhere.
func (w *world) round() {
	w.checkPace()
	defer func(began int) {
		if r := recover(); r == any(errCrash) {
			w.restart(began == w.changes)
		} else if r != nil {
			panic(r)
		}
	}(w.changes)

	w.wake = time.Time{}
	seen, children := w.objects.seen, w.lists.seen
	if w.consistent {
		seen, children = w.object, w.children()
	}

	p := w.plan(&seen, children)
	if len(p.Unexpected) > 0 && w.rereads && seen.version != w.version {
		seen = w.object
		w.say("reads the CronJob again")
		if !w.goesBack {
			w.objects.show(seen)
		}
		p = w.plan(&seen, children)
	}

	w.checkDeletions(&seen, children, p)

	var writes cronjob.Writes
	for _, ref := range p.Verify {
		writes.Verified = append(writes.Verified, cronjob.Reply{Result: w.look(ref)})
	}
	for i := range p.Delete {
		writes.Deleted = append(writes.Deleted, w.delete(&p.Delete[i], p, &writes))
	}
	if p.MayCreate(writes) {
		for i := range p.Create {
			writes.Created = append(writes.Created, w.create(&seen, &p.Create[i]))
		}
	}

	settlement := p.Settle(writes)
	end := settlement.Conclude(cronjob.Reply{Result: w.write(&seen, &settlement)})
	if w.tamper.end != nil {
		w.tamper.end(&end)
	}
	w.conclude(&seen, p, &writes, &end)

	for i := range children {
		w.shown[children[i].Name] = true
	}
}

func (w *world) plan(seen *object, children []cronjob.Child) *cronjob.Plan {
	s := cronjob.Snapshot{
		CronJob: seen.CronJob, Children: children, Now: w.now, Schedule: w.compile(seen),
		Memory: w.memory, Options: w.options, Consistent: w.consistent,
		Triggers: w.triggers, Backfills: w.backfills,
	}
	p, err := cronjob.Reconcile(s)
	if err != nil {
		w.fail("no plan", "%v", err)
	}
	if w.tamper.plan != nil {
		w.tamper.plan(&p)
	}
	if w.trace != nil {
		w.say("version %d of %d, %d children\n%s", seen.version, w.version, len(children), p.String())
	}
	return &p
}

func (w *world) compile(seen *object) cronjob.Compiled {
	key := seen.Spec.Schedule + " " + text(seen.Spec.TimeZone)
	c, ok := w.compiled[key]
	if !ok {
		c = cronjob.Compile(&seen.CronJob)
		w.compiled[key] = c
	}
	return c
}

// fault is what goes wrong with one read or write.
type fault int

const (
	works fault = iota
	fails       // it has no effect
	lost        // it has its effect, and the reply is lost
)

// fault decides what goes wrong. The program may also end before or after it.
func (w *world) fault() fault {
	if w.calm || w.faults == 0 || !w.chance(w.faults) {
		return works
	}
	switch w.n(4) {
	case 0:
		return fails
	case 1:
		return lost
	case 2:
		panic(errCrash)
	}
	w.ending = true
	return lost
}

// after is called after a read or write. It ends the program if the method fault has decided so.
func (w *world) after() {
	if w.ending {
		w.ending = false
		panic(errCrash)
	}
}

func (w *world) look(ref cronjob.Reference) cronjobreason.Result {
	defer w.after()
	j := w.find(ref.Name)
	switch {
	case w.fault() != works:
		return cronjobreason.ResultUnsuccessful
	case j == nil, ref.UID != "" && j.UID != ref.UID, ref.UID == "" && j.Foreign:
		return cronjobreason.ResultGone
	}
	return cronjobreason.ResultDone
}

func (w *world) delete(d *cronjob.Deletion, p *cronjob.Plan, writes *cronjob.Writes) cronjob.Effect {
	defer w.after()
	place := slices.IndexFunc(p.Verify, func(r cronjob.Reference) bool { return r.UID == d.UID })
	j := w.find(d.Name)
	if place >= 0 && writes.Verified[place].Result == cronjobreason.ResultGone {
		return cronjob.Effect{Result: cronjobreason.ResultGone}
	}
	f := w.fault()
	if f != fails && j != nil && j.UID == d.UID {
		w.doDelete(j, d)
	}
	switch {
	case f != works:
		return cronjob.Effect{Result: cronjobreason.ResultUnsuccessful, Error: "timeout"}
	case j == nil || j.UID != d.UID:
		return cronjob.Effect{Result: cronjobreason.ResultGone}
	}
	return cronjob.Effect{Result: cronjobreason.ResultDone}
}

// doDelete deletes a job. A finished job is gone immediately. A running job stays for a while if it
// is deleted in the foreground, or if the world happens to have a finalizer that holds it.
func (w *world) doDelete(j *aJob, d *cronjob.Deletion) {
	w.say("deletes %s: %s", d.Name, d.Reason)
	w.checkDeleted(j, d)
	held := j.Finished == ""
	if held && !d.Foreground {
		held = w.holds && w.chance(50)
	}
	switch {
	case !j.DeletionTimestamp.IsZero():
		return
	case held:
		w.hold(j)
	default:
		w.remove(d.Name)
	}
	w.changedJobs(true)
}

// hold marks a job as deleted, and keeps it for a while.
func (w *world) hold(j *aJob) {
	if !j.DeletionTimestamp.IsZero() {
		return // a second deletion changes nothing
	}
	most := 60
	if w.holds && !w.calm {
		most = pick(w.source, 60, 7200)
	}
	j.DeletionTimestamp, j.gone = w.now, w.now.Add(time.Duration(w.seconds(5, most))*time.Second)
}

func (w *world) create(seen *object, c *cronjob.Creation) cronjob.Effect {
	defer w.after()
	f, j := w.fault(), w.find(c.Name)
	if j == nil && f != fails {
		j = w.doCreate(seen, c)
		if f == works {
			return cronjob.Effect{
				Result:            cronjobreason.ResultDone,
				Job:               cronjob.Reference{Name: j.Name, UID: j.UID},
				CreationTimestamp: w.now,
			}
		}
	}
	switch {
	case f != works:
		return cronjob.Effect{Result: cronjobreason.ResultUnsuccessful, Error: "timeout"}
	case j.Foreign:
		return cronjob.Effect{Result: cronjobreason.ResultNameTaken}
	}
	return cronjob.Effect{
		Result:            cronjobreason.ResultAlreadyExists,
		Job:               cronjob.Reference{Name: j.Name, UID: j.UID},
		CreationTimestamp: j.CreationTimestamp,
	}
}

func (w *world) doCreate(seen *object, c *cronjob.Creation) *aJob {
	w.say("creates %s", c.Name)
	w.checkCreation(seen, c)
	j := aJob{by: bySchedule, ends: w.now.Add(w.duration())}
	j.Name, j.ScheduledTime, j.Backfilled, j.how = c.Name, c.ScheduledTime, c.Backfill != "", pick(w.source,
		job.ConditionComplete, job.ConditionComplete, job.ConditionComplete, job.ConditionFailed)
	switch {
	case c.Trigger != "":
		j.by = byTrigger
	case c.Backfill != "":
		j.by = byBackfill
	}
	made := w.add(j, w.now)
	w.noteCreation(made)
	w.changedJobs(true)
	return made
}

// write writes the status, if the CronJob still has the version that was read.
func (w *world) write(seen *object, s *cronjob.Settlement) cronjobreason.Result {
	if !s.Write {
		return cronjobreason.ResultNotTried
	}
	defer w.after()

	f := w.fault()
	if f == fails || seen.version != w.version {
		return cronjobreason.ResultUnsuccessful
	}

	w.checkStatus(&s.Status)
	before := w.Status.LastScheduleTime
	w.Status = s.Status
	if w.options.ActiveFromChildren {
		w.Status.Active = nil // this kind has no list of active jobs
	}
	if w.options.SuccessFromChildren {
		w.Status.LastSuccessfulTime = time.Time{}
	}

	if w.Status.LastScheduleTime.After(before) {
		w.progress++
	}
	w.say("writes the status: last %s, %d active", w.Status.LastScheduleTime.UTC().Format("02 15:04"),
		len(w.Status.Active))
	w.changedObject(true)

	if f == lost {
		return cronjobreason.ResultUnsuccessful
	}
	return cronjobreason.ResultDone
}

// conclude stores the memory and the progress of triggers and backfills, in one step.
func (w *world) conclude(seen *object, p *cronjob.Plan, writes *cronjob.Writes, end *cronjob.Conclusion) {
	w.memory, w.concluded = end.Memory, true
	w.noteConclusion(seen, p, writes, end)
	if len(end.Triggered)+len(end.Backfills) > 0 {
		w.changes++
		w.progress++
	}

	w.triggers = slices.DeleteFunc(slices.Clone(w.triggers),
		func(t cronjob.Trigger) bool { return slices.Contains(end.Triggered, t.ID) })
	for _, b := range end.Backfills {
		w.backfills = slices.DeleteFunc(slices.Clone(w.backfills),
			func(old cronjob.Backfill) bool { return old.ID == b.ID })
		if !b.IsComplete() {
			w.backfills = append(w.backfills, b)
		}
	}

	w.wake = end.Requeue.At
	if !w.wake.IsZero() {
		w.wake = value.Later(w.wake, w.now)
	}
	if !end.Retry {
		w.retries = 0
		return
	}

	at := w.now.Add(min(time.Second<<min(w.retries, 10), time.Minute))
	w.retries++
	if w.wake.IsZero() || at.Before(w.wake) {
		w.wake = at
	}
}

// restart starts the program again after a crash. The program lists all objects again, except
// sometimes after a round that has changed nothing.
func (w *world) restart(untouched bool) {
	w.say("crash")
	w.ending = false
	if !w.keeps || !w.concluded { // no round has handed a memory over yet
		w.memory, w.lossy = cronjob.Memory{}, true
	}
	if older := w.keeps && untouched && w.chance(50); !older {
		w.refresh()
	}
	w.retries = 0
	w.wake = w.now.Add(time.Duration(w.seconds(0, 30)) * time.Second)
}

// refresh lists the objects again.
func (w *world) refresh() {
	w.objects.show(w.object)
	w.lists.show(w.children())
}
