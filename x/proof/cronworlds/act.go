package cronworlds

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// act lets users and others do something between two rounds.
func (w *world) act() {
	switch w.n(14) {
	case 1, 2:
		w.suspend(w.Spec.Suspend == nil || !*w.Spec.Suspend)
	case 3:
		w.edit()
	case 4, 5:
		w.ask()
	case 6:
		w.askRange()
	case 7:
		w.takeName()
	case 8:
		w.addByHand()
	case 9, 10:
		w.userDeletes()
	}
}

func (w *world) suspend(on bool) {
	w.say("suspend: %v", on)
	w.Spec.Suspend, w.SpecChanged = &on, w.now
	w.changedObject(false)
}

func (w *world) edit() {
	if w.n(3) > 0 { // rare, so that most worlds account for all their runs
		return
	}
	w.Spec.Schedule = pick(w.source, schedules...)
	w.Spec.TimeZone = nil
	if zone := pick(w.source, zones...); zone != "" {
		w.Spec.TimeZone = &zone
	}
	w.SpecChanged = w.now
	w.say("edit: %q in %s", w.Spec.Schedule, text(w.Spec.TimeZone))
	w.noteEdit()
	w.changedObject(false)
}

// ask asks for a job outside of the schedule.
func (w *world) ask() {
	w.asks++
	t := cronjob.Trigger{ID: fmt.Sprintf("t%d", w.asks), Overlap: pick(w.source, cronjob.Allow, cronjob.Forbid)}
	w.say("trigger %s, %s", t.ID, t.Overlap)
	w.triggers = append(slices.Clone(w.triggers), t)
	w.changes++
	w.progress++
	w.wake = w.now
}

// askRange asks for a backfill of at most forty runs.
func (w *world) askRange() {
	w.asks++
	m := w.matcher(&w.Spec)
	after := w.now.Add(-time.Duration(w.n(24*4)) * 15 * time.Minute)
	until := after.Add(time.Duration(w.seconds(0, 24*4)) * 15 * time.Minute)

	runs := m.between(after, until)
	if len(runs) > 40 {
		until, runs = runs[39], runs[:40]
	}

	b := cronjob.Backfill{
		ID:        fmt.Sprintf("b%d", w.asks),
		After:     after,
		Until:     until,
		Overlap:   pick(w.source, cronjob.Allow, cronjob.Forbid),
		MaxActive: pick[int32](w.source, 0, 2),
	}
	if len(runs) > 0 && w.chance(30) {
		b.Except = []time.Time{runs[w.n(len(runs))]}
	}

	w.say("backfill %s, %s: %s to %s, except %d", b.ID, b.Overlap, after.UTC().Format("02 15:04"),
		until.UTC().Format("02 15:04"), len(b.Except))
	w.noteAsk(b)

	if !b.IsComplete() {
		w.backfills = append(slices.Clone(w.backfills), b)
	}
	w.changes++
	w.progress++
	w.wake = w.now
}

// takeName creates a job of another owner with the name of the next run's job.
func (w *world) takeName() {
	run := w.matcher(&w.Spec).next(w.now)
	if w.find(runName(run)) != nil {
		return
	}
	w.say("another owner takes %s", runName(run))
	w.taken++
	w.wasTaken[runName(run)] = true
	w.add(aJob{Child: cronjob.Child{Name: runName(run)}, by: byOther}, w.now)
	w.changedJobs(false)
}

// addByHand creates a job of the CronJob, as kubectl create job --from does.
func (w *world) addByHand() {
	w.asks++
	j := aJob{
		Child: cronjob.Child{Name: fmt.Sprintf("by-hand-%d", w.asks)},
		by:    byHand,
		ends:  w.now.Add(w.duration()),
		how:   job.ConditionComplete,
	}
	w.say("a user creates %s", j.Name)
	w.add(j, w.now)
	w.changedJobs(false)
}

// userDeletes deletes a job that mayGo permits.
func (w *world) userDeletes() {
	var names []string
	for i := range w.jobs {
		if j := &w.jobs[i]; w.mayGo(j) {
			names = append(names, j.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	j := w.find(names[w.n(len(names))])
	w.say("a user deletes %s", j.Name)
	if foreground := w.chance(30); (foreground || w.holds) && j.Finished == "" {
		w.hold(j)
	} else {
		w.remove(j.Name)
	}
	w.changedJobs(false)
}

// mayGo reports whether a user may delete a job: its run must be recorded elsewhere, if it has one.
// Without such a record, nothing shows later that the run has started.
func (w *world) mayGo(j *aJob) bool {
	switch j.by {
	case byHand, byOther:
		return true
	case byTrigger:
		return !slices.ContainsFunc(w.triggers, func(t cronjob.Trigger) bool { return j.Name == "c-manual-"+t.ID })
	}
	return w.shown[j.Name] && !j.ScheduledTime.After(w.Status.LastScheduleTime) &&
		!slices.ContainsFunc(w.backfills, func(b cronjob.Backfill) bool {
			return j.ScheduledTime.After(b.After) && !j.ScheduledTime.After(b.Until)
		})
}

// duration draws how long a job takes.
func (w *world) duration() time.Duration {
	if w.calm {
		return time.Duration(w.seconds(5, 15)) * time.Second
	}
	return time.Duration(pick(w.source, 10, 50, 600, 3000, 20000)) * time.Second
}

// pass lets time pass: until the next event, for minutes, for hours, or for days in which the
// controller is down.
func (w *world) pass() {
	w.deliver()
	next, _ := w.firstEvent()
	if next.IsZero() {
		next = w.now.Add(time.Minute)
	}
	switch w.n(10) {
	case 0, 1, 2, 3, 4:
		w.until(value.Later(next, w.now))
	case 5, 6:
		w.until(w.now.Add(time.Duration(w.seconds(1, 5400)) * time.Second))
	case 7, 8:
		w.until(w.now.Add(time.Duration(w.seconds(1, 5)) * time.Hour))
	case 9:
		w.say("down")
		w.down = true
		w.until(w.now.Add(time.Duration(w.seconds(1, 50)) * time.Hour))
		w.down = false
		w.refresh()
		if !w.keeps {
			w.memory, w.lossy = cronjob.Memory{}, true
		}
		w.wake = w.now
	}
}

// end lets everything come to rest, with rounds only when conclusions ask for them, and checks that
// nothing is left to do.
func (w *world) end() {
	w.say("calm")
	w.calm = true
	for i := range w.jobs {
		if j := &w.jobs[i]; j.Finished == "" && j.ends.After(w.now.Add(20*time.Second)) {
			j.ends = w.now.Add(20 * time.Second)
		}
		if j := &w.jobs[i]; j.gone.After(w.now.Add(20 * time.Second)) {
			j.gone = w.now.Add(20 * time.Second)
		}
	}
	w.until(w.now.Add(2 * time.Hour))
	w.lag = [2]int{}
	w.until(w.beforeRun(w.now.Add(2 * time.Hour)))
	w.finishRanges()
	w.checkRest()
	if w.Spec.Suspend != nil && *w.Spec.Suspend {
		w.suspend(false)
	}
	// Let the clock pass the next three runs, and at least three hours: missed runs may have to be
	// made up.
	m := w.matcher(&w.Spec)
	w.until(w.beforeRun(value.Later(w.now.Add(3*time.Hour), m.next(m.next(m.next(w.now))))))
	w.checkRest()
	w.checkAccounts()
}

// finishRanges waits for backfills as long as some of their runs start in every hour. Runs of the
// schedule that were missed while the caches were late start first.
func (w *world) finishRanges() {
	started := func() (n int) {
		for _, all := range w.created {
			for _, by := range all {
				if by == byBackfill {
					n++
				}
			}
		}
		return n
	}
	isLeft := func(b cronjob.Backfill) bool { return !b.Until.After(w.now) }
	for before := -1; slices.ContainsFunc(w.backfills, isLeft) && started() > before; {
		before = started()
		w.until(w.beforeRun(w.now.Add(time.Hour)))
	}
}

// beforeRun returns a time just before the first run after t.
func (w *world) beforeRun(t time.Time) time.Time {
	return w.matcher(&w.Spec).next(t).Add(-5 * time.Millisecond)
}
