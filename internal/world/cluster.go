package world

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
)

// Cluster is many jobs on one clock. The caller acts on the jobs themselves, and calls Settle and
// Advance. Each job has its own faults, late views and options.
type Cluster struct {
	now  time.Time
	jobs map[string]*member
}

type member struct {
	*Job
	seen  [3]int // the versions that the controller was last called for
	again time.Time
}

// NewCluster returns an empty cluster, at the time [Start].
func NewCluster() *Cluster {
	return &Cluster{now: Start, jobs: make(map[string]*member)}
}

// Now returns the time in the cluster.
func (c *Cluster) Now() time.Time { return c.now }

// AddJob adds a job with this spec, completed by Default. Its name must be new.
func (c *Cluster) AddJob(name string, spec job.Spec) *Job {
	if c.jobs[name] != nil {
		panic("world: a job " + name + " exists")
	}

	w := NewJob(spec)
	w.Now, w.Job.Name, w.Job.UID, w.Job.CreationTimestamp = c.now, name, job.UID("job-"+name), c.now
	w.tally.job = w.Job.UID
	w.DeliverAll()

	c.jobs[name] = &member{Job: w, again: c.now}
	return w
}

// RemoveJob removes a job and its pods.
func (c *Cluster) RemoveJob(name string) { delete(c.jobs, name) }

// Job returns the job with this name, or nil.
func (c *Cluster) Job(name string) *Job {
	if m := c.jobs[name]; m != nil {
		return m.Job
	}
	return nil
}

// Jobs returns all jobs, in the order of their names.
func (c *Cluster) Jobs() []*Job {
	all := make([]*Job, 0, len(c.jobs))
	for _, name := range slices.Sorted(maps.Keys(c.jobs)) {
		all = append(all, c.jobs[name].Job)
	}
	return all
}

// Advance moves the clock, forwards or back. It calls no controller: see Settle.
func (c *Cluster) Advance(to time.Time) {
	c.now = to
	for _, m := range c.jobs {
		m.Now = to
	}
}

// Next returns the earliest time at which a controller wants to be called even if nothing happens.
// Zero means that all controllers wait only for changes.
func (c *Cluster) Next() (next time.Time) {
	for _, m := range c.jobs {
		if at := m.again; !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// manyRounds is how often one call of Settle may call a job.
const manyRounds = 1000

// Settle runs rounds for each job that has changed or whose time has come, until none is due, in the
// order of their names. A retry is made after the next change of the clock.
func (c *Cluster) Settle() error {
	for range manyRounds {
		called := false
		for _, name := range slices.Sorted(maps.Keys(c.jobs)) {
			due, err := c.jobs[name].call(c.now)
			if err != nil {
				return fmt.Errorf("job %s: %w", name, err)
			}
			called = called || due
		}

		if !called {
			return nil
		}
	}
	return errors.New("the controllers ask for one round after the other")
}

// call runs a round of the job if one is due.
func (m *member) call(now time.Time) (due bool, err error) {
	is := [3]int{m.version, m.revision, m.shown}
	if m.Stale {
		is[0], is[1] = 0, 0 // the controller is called when it is shown something
	}

	if is == m.seen && (m.again.IsZero() || m.again.After(now)) {
		return false, nil
	}

	m.seen = is
	if _, err := m.Round(); err != nil {
		return true, err
	}
	m.again = m.Requeue.At
	if later := now.Add(time.Second); m.Retry && (m.again.IsZero() || m.again.After(later)) {
		m.again = later
	}
	return true, nil
}

// Err returns the first violated invariant, in the order of the names of the jobs.
func (c *Cluster) Err() error {
	for _, name := range slices.Sorted(maps.Keys(c.jobs)) {
		if err := c.jobs[name].Err(); err != nil {
			return fmt.Errorf("job %s: %w", name, err)
		}
	}
	return nil
}
