package cronjobtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/kit/internal/life"
	"github.com/batchplan/batchplan/kit/world"
)

// truth is what the store held when the test looked last.
type truth struct {
	cronJob   cronjob.CronJob
	jobs      []cronjob.Child
	triggers  []cronjob.Trigger
	backfills []cronjob.Backfill
}

func (t *truth) job(name string) *cronjob.Child {
	i := slices.IndexFunc(t.jobs, func(c cronjob.Child) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &t.jobs[i]
}

// look reads the store again, and compares it with what it held before the write w; nil
// means that nobody has written.
func (e *Env) look(w *world.Write) {
	was := e.truth
	e.read()
	by := life.By(w)
	if w == nil {
		w = &world.Write{}
	}
	if w.Verb != world.WriteStatus && !sameStatus(&was.cronJob.Status, &e.truth.cronJob.Status) {
		e.life.Breaks("Store", "the status has changed%s: %s, it was %s", by, e.truth.cronJob.Status, was.cronJob.Status)
	}
	for i := range e.truth.jobs {
		c := &e.truth.jobs[i]
		old := was.job(c.Name)
		switch {
		case old == nil && (w.Verb != world.Create || w.Name != c.Name):
			e.life.Breaks("Store", "a new job%s: %s", by, describe(c))
		case old == nil:
			e.life.IsNew(c.Name, c.UID)
			e.life.Note(e.history.Started(c.Name, c.ScheduledTime))
		case w.Name != c.Name && !sameJob(old, c), old.UID != c.UID:
			e.life.Breaks("Store", "a job has changed%s: %s, it was %s", by, describe(c), describe(old))
		}
	}
	for i := range was.jobs {
		if c := &was.jobs[i]; e.truth.job(c.Name) == nil && w.Name != c.Name && c.DeletionTimestamp.IsZero() {
			e.life.Breaks("Store", "%s is gone%s", c.Name, by)
		}
	}
}

// read takes over what the store holds.
func (e *Env) read() {
	c, err := e.subject.Store.CronJob()
	e.life.Must("read the CronJob", err)
	jobs, err := e.subject.Store.Jobs()
	e.life.Must("read the jobs", err)
	life.Sort(e.order, jobs, func(c *cronjob.Child) string { return c.Name + " " + string(c.UID) })
	e.truth = truth{cronJob: c, jobs: jobs}
	for i := range jobs {
		e.life.Names(jobs[i].Name)
	}
	e.readRequests()
	e.watch.Note()
}

func sameJob(a, b *cronjob.Child) bool {
	return a.UID == b.UID && a.Finished == b.Finished && a.Foreign == b.Foreign && a.ScheduledTime.Equal(b.ScheduledTime) &&
		a.DeletionTimestamp.IsZero() == b.DeletionTimestamp.IsZero()
}

// sameStatus compares statuses, times by the second.
func sameStatus(a, b *cronjob.Status) bool {
	same := func(a, b time.Time) bool { return a.Unix() == b.Unix() }
	return same(a.LastScheduleTime, b.LastScheduleTime) && same(a.LastSuccessfulTime, b.LastSuccessfulTime) &&
		slices.EqualFunc(a.Active, b.Active, func(a, b cronjob.Reference) bool { return a.UID == b.UID && a.Name == b.Name })
}

// describe is a job in a few words.
func describe(c *cronjob.Child) string {
	text := c.Name
	if !c.ScheduledTime.IsZero() {
		text += " of " + c.ScheduledTime.UTC().Format(time.DateTime)
	}
	switch c.Finished {
	case "":
		text += ", running"
	default:
		text += ", " + strings.ToLower(string(c.Finished))
	}
	if !c.DeletionTimestamp.IsZero() {
		text += ", being deleted"
	}
	return fmt.Sprintf("%s (%s)", text, c.UID)
}
