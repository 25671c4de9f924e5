package cronjobtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/world"
)

// traits define how a story names a CronJob and its jobs, and what identifies a job.
var traits = life.Traits[cronjob.Child]{
	Object:   "CronJob",
	Child:    "job",
	Key:      nameOf,
	ID:       func(c *cronjob.Child) string { return c.Name + " " + string(c.UID) },
	Name:     nameOf,
	Describe: describe,
}

func nameOf(c *cronjob.Child) string { return c.Name }

// state returns the input of the checks of a write.
func (e *Env) state() *cronjobcheck.State {
	st := &cronjobcheck.State{
		CronJob:   &e.truth.Object,
		Options:   &e.options,
		Triggers:  e.triggers,
		Backfills: e.backfills,
	}
	for _, c := range e.truth.Children {
		st.AddNeighbour(c, e.Now())
	}
	return st
}

// look reads the store again, and compares it with what the store held before write w. If w is
// zero, nothing may have changed.
func (e *Env) look(w world.Write) {
	by := life.By(w)
	e.was = e.truth
	e.read()

	if old, is := &e.was.Object.Status, &e.truth.Object.Status; w.Verb != world.WriteStatus && !sameStatus(old, is) {
		e.life.Breaks("Store", "the status has changed%s: %s, it was %s", by, is, old)
	}

	for old, c := range e.truth.Against(e.was.Children) {
		switch {
		case c == nil:
			if w.Name != old.Name && old.DeletionTimestamp.IsZero() {
				e.life.Breaks("Store", "%s is gone%s", old.Name, by)
			}
		case old == nil && (w.Verb != world.Create || w.Name != c.Name):
			e.life.Breaks("Store", "a new job%s: %s", by, describe(c))
		case old == nil:
			e.life.IsNew(c.Name, c.UID)
			e.life.Note(e.history.Started(c.Name, c.ScheduledTime))
		case w.Name != c.Name && !sameJob(old, c), old.UID != c.UID:
			e.life.Breaks("Store", "a job has changed%s: %s, it was %s", by, describe(c), describe(old))
		}
	}
}

func (e *Env) read() {
	e.truth.Read(e.subject.Store.CronJob, e.subject.Store.Children)
	e.readRequests()
	e.watch.Note()
}

// sameJob compares the fields that the rules of a CronJob use.
func sameJob(a, b *cronjob.Child) bool {
	switch {
	case a.UID != b.UID,
		a.Finished != b.Finished,
		a.Foreign != b.Foreign,
		!a.ScheduledTime.Equal(b.ScheduledTime):
		return false
	}
	return a.DeletionTimestamp.IsZero() == b.DeletionTimestamp.IsZero()
}

// sameStatus compares statuses, with times in whole seconds.
func sameStatus(a, b *cronjob.Status) bool {
	sameTime := func(a, b time.Time) bool { return a.Unix() == b.Unix() }
	sameJob := func(a, b cronjob.Reference) bool { return a.UID == b.UID && a.Name == b.Name }
	return sameTime(a.LastScheduleTime, b.LastScheduleTime) &&
		sameTime(a.LastSuccessfulTime, b.LastSuccessfulTime) &&
		slices.EqualFunc(a.Active, b.Active, sameJob)
}

// describe returns a job in a few words.
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

// checkSnapshot compares a snapshot that claims to be Consistent with the store.
func (e *Env) checkSnapshot(s *cronjob.Snapshot) {
	if s.CronJob.UID != e.truth.Object.UID || !sameStatus(&s.CronJob.Status, &e.truth.Object.Status) {
		e.life.Breaks("Store", "the snapshot is Consistent, and shows the status %s; it is %s",
			s.CronJob.Status, e.truth.Object.Status)
	}

	// The status was compared above. The snapshot may lack Version and SpecChanged.
	is := e.truth.Object
	is.Status, is.Version, is.SpecChanged = s.CronJob.Status, s.CronJob.Version, s.CronJob.SpecChanged
	if text := life.Difference(&is, &s.CronJob); text != "" {
		e.life.Breaks("Store", "the snapshot is Consistent, and shows the CronJob otherwise than the store: %s", text)
	}

	for old, c := range e.truth.Against(life.Pointers(s.Children)) {
		switch {
		case c == nil:
			e.life.Breaks("Store", "the snapshot is Consistent, and shows %s, which is gone", old.Name)
		case old == nil:
			e.life.Breaks("Store", "the snapshot is Consistent, and lacks %s", c.Name)
		case !sameJob(old, c):
			e.life.Breaks("Store", "the snapshot is Consistent, and shows %s; it is %s", describe(old), describe(c))
		default:
			if text := life.Difference(c, old); text != "" {
				e.life.Breaks("Store", "the snapshot is Consistent, and shows %s otherwise than the store: %s",
					c.Name, text)
			}
		}
	}
}
