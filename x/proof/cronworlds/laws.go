package cronworlds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

func (w *world) checkEvent(e *job.Event) {
	w.say("%s %s: %s", e.Type, e.Reason, e.Message)
	switch e.Reason {
	case "MissSchedule":
		at, err := time.Parse(time.RFC1123Z, strings.TrimPrefix(e.Message, "Missed scheduled time to start a job: "))
		if err != nil {
			w.fail("C9", "%v", err)
		}
		w.missed[at.Unix()] = true
		if w.started[at.Unix()] {
			w.fail("C9 missed and started", "%s is called missed, and %s was started", at, runName(at))
		}
	case "UnexpectedJob":
		for name := range w.deleted {
			if strings.HasSuffix(e.Message, name) && w.find(name) != nil {
				w.fail("C3", "%s, which the controller itself has deleted", e.Message)
			}
		}
	}
}

// mostIdle is the number of rounds in a row that may ask for another round immediately, although
// they make no progress. Each job of another owner that takes a name allows one more.
const mostIdle = 3

// checkPace fails if rounds follow each other without progress (CL5).
func (w *world) checkPace() {
	w.rounds++
	if w.progress != w.book.seen || w.now.Sub(w.last) >= time.Second {
		w.quick = 0
	}
	w.quick, w.last, w.book.seen = w.quick+1, w.now, w.progress
	if limit := mostIdle + 1 + w.taken; w.quick > limit { // the last round need not ask for another
		w.fail(hotLoop, "%d rounds in a row, and nothing has got on", w.quick)
	}
	if w.rounds > 30000 {
		w.fail(hotLoop, "%d rounds", w.rounds)
	}
}

// checkCreation is called just before a job is created.
func (w *world) checkCreation(seen *object, c *cronjob.Creation) {
	switch {
	case c.Trigger != "":
		w.checkTriggered(c)
	case c.Backfill != "":
		w.checkBackfilled(seen, c)
	default:
		w.checkRun(seen, c)
		w.checkReplaced(seen, c)
	}
	if most := w.options.MaxActive; most > 0 {
		w.checkRoom(c, int(most), "MaxActive")
	}
}

// checkRoom is called just before a job is created. It checks that the limit has room for it.
func (w *world) checkRoom(c *cronjob.Creation, most int, what string) {
	// A job that Replace has deleted leaves the active list, unless the controller waits for its
	// pods.
	left := func(j *aJob) bool {
		return !j.DeletionTimestamp.IsZero() && w.Spec.ConcurrencyPolicy == cronjob.Replace &&
			!w.options.ReplaceWhenGone
	}
	if busy := w.busy(left); len(busy) >= most {
		w.fail("CI8 "+what, "%s starts beside %v", c.Name, busy)
	}
}

func (w *world) checkTriggered(c *cronjob.Creation) {
	if len(w.created[c.Name]) > 0 {
		w.fail("CI1 trigger", "%s is created a second time", c.Name)
	}
	for _, t := range w.triggers {
		if t.ID == c.Trigger && t.Overlap == cronjob.Forbid {
			w.checkRoom(c, 1, "Forbid")
		}
	}
}

func (w *world) checkBackfilled(seen *object, c *cronjob.Creation) {
	a, run := w.ranges[c.Backfill], c.ScheduledTime
	switch {
	case c.Name != runName(run) || !w.matcher(&seen.Spec).matches(run):
		w.fail("CI2", "%s is not a run: %s", c.Name, run)
	case !run.After(a.After), run.After(a.Until), run.After(w.now), slices.ContainsFunc(a.Except, run.Equal):
		w.fail("CI2", "%s is not asked for, or not due", c.Name)
	case len(w.created[c.Name]) > a.had[c.Name]:
		w.fail("CI1 backfill", "%s starts a second time since it was asked for", c.Name)
	}
	if a.Overlap == cronjob.Forbid {
		w.checkRoom(c, 1, "Forbid")
	} else if a.MaxActive > 0 {
		w.checkRoom(c, int(a.MaxActive), "Backfill.MaxActive")
	}
}

func (w *world) checkRun(seen *object, c *cronjob.Creation) {
	run, spec, m := c.ScheduledTime, &seen.Spec, w.matcher(&seen.Spec)
	limit, bounded := w.lateness(spec)
	switch {
	case c.Name != runName(run) || !m.matches(run):
		w.fail("CI2", "%s is not a run: %s", c.Name, run)
	case run.After(w.now), !run.After(w.CreationTimestamp):
		w.fail("CI2", "%s is not due", c.Name)
	case spec.Suspend != nil && *spec.Suspend:
		w.fail("CI10", "%s starts while suspended", c.Name)
	case len(w.created[c.Name]) > 0:
		w.fail("CI1", "%s starts again, after %v", c.Name, w.created[c.Name])
	case w.missed[run.Unix()]:
		w.fail("C9 missed and started", "%s starts after it was called missed", c.Name)
	case bounded && w.now.Sub(run) > limit:
		w.fail("CI7", "%s starts %s late", c.Name, w.now.Sub(run))
	}
	if next := m.next(run); w.options.CatchUp != cronjob.CatchUpAll && !next.Add(w.options.Jitter).After(w.now) {
		w.fail("CI6", "%s starts, although %s is due", c.Name, next)
	}
}

// lateness returns how late a run may start, and whether anything bounds that.
func (w *world) lateness(spec *cronjob.Spec) (limit time.Duration, bounded bool) {
	limit = w.options.CatchUpWindow
	if w.options.CatchUp == cronjob.CatchUpNone && limit == 0 {
		limit = time.Minute
	}
	bounded = limit > 0
	if d := spec.StartingDeadlineSeconds; d != nil {
		if own := time.Duration(*d) * time.Second; !bounded || own < limit {
			limit, bounded = own, true
		}
	}
	return limit + w.options.Jitter, bounded
}

// checkReplaced checks that a run of the schedule starts beside no other job if the policy is Forbid
// or Replace.
func (w *world) checkReplaced(seen *object, c *cronjob.Creation) {
	switch seen.Spec.ConcurrencyPolicy {
	case cronjob.Forbid:
		w.checkRoom(c, 1, "Forbid")
	case cronjob.Replace:
		busy := w.busy(func(j *aJob) bool {
			return j.by == byBackfill || !w.options.ReplaceWhenGone && !j.DeletionTimestamp.IsZero()
		})
		if len(busy) > 0 {
			w.fail("CI8 Replace", "%s starts beside %v", c.Name, busy)
		}
	}
}

// checkDeletions checks that the history loses its oldest jobs first, as far as the program sees
// them.
func (w *world) checkDeletions(seen *object, children []cronjob.Child, p *cronjob.Plan) {
	for i := range p.Delete {
		switch d := &p.Delete[i]; d.Reason {
		case cronjobreason.DeleteSuccessful:
			w.checkOldest(finished(children, job.ConditionComplete), seen.Spec.SuccessfulJobsHistoryLimit, d)
		case cronjobreason.DeleteFailed:
			w.checkOldest(finished(children, job.ConditionFailed), seen.Spec.FailedJobsHistoryLimit, d)
		case cronjobreason.DeleteReplaced:
			if seen.Spec.ConcurrencyPolicy != cronjob.Replace {
				w.fail("CI8", "%s is replaced", d.Name)
			}
		}
	}
}

func (w *world) checkOldest(list []cronjob.Child, limit *int32, d *cronjob.Deletion) {
	at := slices.IndexFunc(list, func(c cronjob.Child) bool { return c.UID == d.UID })
	if at < 0 || limit == nil || at >= len(list)-int(*limit) {
		w.fail("CI11", "%s is deleted, at place %d of %d finished jobs", d.Name, at, len(list))
	}
}

// checkDeleted is called just before a job is deleted.
func (w *world) checkDeleted(j *aJob, d *cronjob.Deletion) {
	w.deleted[d.Name] = true
	keep := w.options.KeepSuccessful
	if j.Finished == job.ConditionFailed {
		keep = w.options.KeepFailed
	}
	switch {
	case j.Foreign:
		w.fail("C1", "%s is foreign, and is deleted", d.Name)
	case d.Reason == cronjobreason.DeleteReplaced:
	case j.Finished == "":
		w.fail("CI11", "%s has not finished, and is deleted", d.Name)
	case d.Reason == cronjobreason.DeleteExpired && w.now.Sub(j.FinishTime) < keep:
		w.fail("CI11", "%s is deleted %s after its end", d.Name, w.now.Sub(j.FinishTime))
	}
}

// checkStatus is called just before a status is written.
func (w *world) checkStatus(s *cronjob.Status) {
	if s.LastScheduleTime.Before(w.Status.LastScheduleTime) {
		w.fail("CI4", "lastScheduleTime falls from %s to %s", w.Status.LastScheduleTime, s.LastScheduleTime)
	}
	if s.LastSuccessfulTime.Before(w.Status.LastSuccessfulTime) {
		w.fail("CI12", "lastSuccessfulTime falls from %s to %s", w.Status.LastSuccessfulTime, s.LastSuccessfulTime)
	}
	names := map[job.UID]bool{}
	for _, r := range s.Active {
		isOwn := w.known[r.UID] || w.options.ActiveFromChildren // with that option the list is made from the children
		if !isOwn || names[r.UID] {
			w.fail("CI5", "%s (%s) is in the active list", r.Name, r.UID)
		}
		names[r.UID] = true
	}
}

// checkRest checks that nothing is left to do.
func (w *world) checkRest() {
	switch {
	case len(w.triggers) > 0:
		w.fail("CL4 triggers", "%d are left", len(w.triggers))
	case len(w.Status.Active) > len(w.busy(func(*aJob) bool { return false })):
		w.fail("CL2", "active are %v", w.Status.Active)
	}
	for _, b := range w.backfills {
		if !b.Until.After(w.now) {
			w.fail("CL4 backfills", "%s has got to %s of %s", b.ID, b.After, b.Until)
		}
	}
	w.checkRanges()
	if w.options.CatchUp == cronjob.CatchUpAll && w.Spec.Suspend != nil && *w.Spec.Suspend {
		return // jobs of backfills stay while older runs may still be made up
	}
	w.checkHistory(job.ConditionComplete, w.Spec.SuccessfulJobsHistoryLimit, w.options.KeepSuccessful)
	w.checkHistory(job.ConditionFailed, w.Spec.FailedJobsHistoryLimit, w.options.KeepFailed)
}

// checkRanges checks that each run of a backfill has had a job.
func (w *world) checkRanges() {
	for _, a := range w.ranges {
		if a.edited {
			continue
		}
		for _, run := range w.matcher(&w.Spec).between(a.After, a.Until) {
			j := w.find(runName(run))
			switch {
			case run.After(w.now.Add(-time.Hour)), slices.ContainsFunc(a.Except, run.Equal), j != nil && j.Foreign:
				continue
			}
			if len(w.created[runName(run)]) == 0 && !w.wasTaken[runName(run)] {
				w.fail("CL4 backfills", "%s of %s never had a job", runName(run), a.ID)
			}
		}
	}
}

// checkHistory checks the limits of the history. Jobs that ended in the last ten minutes may stay.
func (w *world) checkHistory(how job.ConditionType, limit *int32, keep time.Duration) {
	n, old := 0, ""
	for _, c := range finished(w.children(), how) {
		if w.now.Sub(c.FinishTime) > 10*time.Minute {
			n++
			if keep > 0 && w.now.Sub(c.FinishTime) > keep+10*time.Minute {
				old = c.Name
			}
		}
	}
	if limit != nil && n > int(*limit) {
		w.fail("C2 history", "%d %s jobs are kept, and the limit is %d", n, how, *limit)
	}
	if old != "" {
		w.fail("C2 history", "%s is kept longer than %s", old, keep)
	}
}

// checkAccounts checks that each run that was due has started or was reported once.
func (w *world) checkAccounts() {
	if w.lossy || w.open {
		return
	}
	due := w.matcher(&w.Spec).between(w.base, w.now)
	if n := len(due); n > 0 && w.options.Jitter > 0 {
		due = w.settledRuns(due)
	}
	unstarted, byOthers := w.unstarted(due)
	if w.reported < len(unstarted)-w.undecided(due) || w.reported > len(unstarted)+byOthers {
		w.fail("C9 accounts", "%d runs were due, %d were reported, %d have had no job: %s", len(due), w.reported,
			len(unstarted), fmt.Sprint(unstarted[max(0, len(unstarted)-12):]))
	}
}

// unstarted returns the names of the runs that have had no job, and the number of runs whose only
// jobs are from a backfill. A run of the second kind may also be reported as unstarted.
func (w *world) unstarted(due []time.Time) (names []string, byOthers int) {
	for _, run := range due {
		switch by := w.created[runName(run)]; {
		case len(by) == 0:
			names = append(names, runName(run))
		case !slices.Contains(by, bySchedule):
			byOthers++
		}
	}
	return names, byOthers
}

// undecided returns 1 if another owner's job has the name of the last run: that run starts if the
// job goes before the next run is due.
func (w *world) undecided(due []time.Time) int {
	if len(due) == 0 || w.options.CatchUp == cronjob.CatchUpAll {
		return 0
	}
	name := runName(due[len(due)-1])
	if j := w.find(name); j == nil || !j.Foreign || len(w.created[name]) > 0 {
		return 0
	}
	return 1
}

// settledRuns leaves out a last run that may still wait for its jitter.
func (w *world) settledRuns(due []time.Time) []time.Time {
	last := due[len(due)-1]
	if len(w.created[runName(last)]) == 0 && w.now.Sub(last) <= w.options.Jitter {
		return due[:len(due)-1]
	}
	return due
}
