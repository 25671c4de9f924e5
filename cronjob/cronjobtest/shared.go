package cronjobtest

import (
	"fmt"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// SharedStore is a Store that also holds jobs of other owners. Such a job can have the name of a
// run, which then cannot start (C14).
type SharedStore interface {
	// AddChild stores a job of another owner: it is Foreign, and Children returns it.
	AddChild(c cronjob.Child) error
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

	name := e.options.Naming.JobName(e.truth.Object.Name, run)
	if run.IsZero() || e.truth.Child(name) != nil {
		return false
	}
	return e.addForeign(name, "the name of the run of "+clock(run))
}

// takeOver adds another owner's job with the name of a job that is about to be created or deleted.
// An existing job of that name is removed first.
func (e *Env) takeOver(name string) bool {
	is := e.truth.Child(name)
	if is != nil && is.Foreign {
		return false
	}
	if is != nil {
		e.removeJob("a user removes "+name, name)
	}
	return e.addForeign(name, "the same name")
}

func (e *Env) addForeign(name, says string) bool {
	e.program.Taken++
	e.life.Abandons()
	c := cronjob.Child{
		Name:              name,
		UID:               job.UID(fmt.Sprint("foreign-", e.program.Taken)),
		Foreign:           true,
		CreationTimestamp: e.life.Now(),
	}
	e.life.Tell("%sanother owner creates a job %s, %s", e.life.Meanwhile, name, says)
	e.life.Must("add "+name, e.subject.Store.(SharedStore).AddChild(c))
	e.read()

	if is := e.truth.Child(name); is == nil || !is.Foreign || is.UID != c.UID {
		e.life.Breaks("Store", "%s was added for another owner, and is not there as such", name)
	}
	return true
}

// passesNames reports whether the program may have skipped runs whose names are taken. Only the
// memory of the program records such runs.
func (e *Env) passesNames() bool {
	return e.options.CatchUp == cronjob.CatchUpAll && e.program.Taken > 0
}

// removeJob removes a job by a client other than the program.
func (e *Env) removeJob(says, name string) {
	e.life.Tell("%s%s", e.life.Meanwhile, says)
	e.life.Must("remove "+name, e.subject.Store.RemoveChild(name))
	e.read()
	if e.truth.Child(name) != nil {
		e.life.Breaks("Store", "%s was removed, and is there", name)
	}
}
