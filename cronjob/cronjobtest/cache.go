package cronjobtest

import (
	"context"
	"slices"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
)

// Cache is the view of the CronJob that a program with a watch has. The test plays the watch: it
// shows each object some time after it has changed, in any order, and several changes as one. A
// program with a Cache must plan only from the objects that were shown; its backend reads and
// writes the store itself.
//
// The methods may be called while a write of a round is in flight, since events arrive at any time.
type Cache interface {
	// Replace shows the CronJob and all its jobs as they are, and replaces all that was shown
	// before. It is called after each start of the program, and for each new CronJob.
	Replace(c cronjob.CronJob, children []cronjob.Child)
	// SetCronJob shows the CronJob as it is.
	SetCronJob(c cronjob.CronJob)
	// SetChild shows a job that is new or has changed.
	SetChild(c cronjob.Child)
	// RemoveChild shows that a job is gone.
	RemoveChild(name string)
}

// Mirror is a Cache that keeps the objects it is shown.
type Mirror struct {
	CronJob  cronjob.CronJob
	Children []cronjob.Child
}

// Replace replaces the CronJob and all jobs.
func (m *Mirror) Replace(c cronjob.CronJob, children []cronjob.Child) {
	m.CronJob, m.Children = c, slices.Clone(children)
}

// SetCronJob replaces the CronJob.
func (m *Mirror) SetCronJob(c cronjob.CronJob) { m.CronJob = c }

// SetChild adds or replaces a job.
func (m *Mirror) SetChild(c cronjob.Child) {
	m.RemoveChild(c.Name)
	m.Children = append(m.Children, c)
}

// RemoveChild removes a job.
func (m *Mirror) RemoveChild(name string) {
	m.Children = slices.DeleteFunc(m.Children, func(c cronjob.Child) bool { return c.Name == name })
}

// Snapshot returns the current objects. It is not Consistent.
func (m *Mirror) Snapshot() cronjob.Snapshot {
	return cronjob.Snapshot{CronJob: m.CronJob, Children: slices.Clone(m.Children)}
}

// LateLoop is [Loop] for a program that sees its objects late: the program plans from a Mirror,
// which LateLoop returns as the Cache of the subject. Function backend must return the backend of a
// round, whose status writes are conditional on the version of the CronJob seen.
func LateLoop(env *Env, backend func(seen cronjob.CronJob) cronjobapply.Backend) (func(forget bool) Program, Cache) {
	m := &Mirror{}
	return Loop(env, func(context.Context) (cronjob.Snapshot, cronjobapply.Backend, error) {
		return m.Snapshot(), backend(m.CronJob), nil
	}), m
}
