package cronjobtest

import (
	"fmt"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// SharedStore is a Store in which others have jobs as well. One of theirs can have the name of a
// run, which then cannot start (C14).
type SharedStore interface {
	// AddJob stores a job of another owner: it is Foreign, and Jobs returns it.
	AddJob(c cronjob.Child) error
}

// takeName lets another owner create a job under the name of a run that comes soon.
func (e *Env) takeName() bool {
	if e.life.Pick("takes a name", 3) > 0 {
		return false
	}
	run := e.life.Now()
	for range 1 + e.life.Pick("runs ahead", 3) {
		run = e.compiled().Schedule.Next(run)
	}
	name := cronjob.JobName(e.truth.cronJob.Name, run)
	if run.IsZero() || e.truth.job(name) != nil {
		return false
	}
	e.foreign++
	c := cronjob.Child{Name: name, UID: job.UID(fmt.Sprint("foreign-", e.foreign)), Foreign: true, CreationTimestamp: e.life.Now()}
	e.life.Tell("%sanother owner creates a job %s, the name of the run of %s", e.life.Meanwhile, name, clock(run))
	e.life.Must("add "+name, e.subject.Store.(SharedStore).AddJob(c))
	e.read()
	if is := e.truth.job(name); is == nil || !is.Foreign || is.UID != c.UID {
		e.life.Breaks("Store", "%s was added for another owner, and is not there as such", name)
	}
	return true
}

// passesNames reports whether the program may have passed runs whose names are taken. Only its
// memory knows of these.
func (e *Env) passesNames() bool {
	return e.options.CatchUp == cronjob.CatchUpAll && e.foreign > 0
}
