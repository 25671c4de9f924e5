package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// Cluster is many jobs and CronJobs on one clock. The jobs of a CronJob are jobs of the
// cluster: they have pods and a controller, and the CronJob learns how they end.
//
// The caller acts on the jobs and CronJobs themselves, and calls Settle and Advance. Each has
// its own faults, late views and options.
type Cluster struct {
	now   time.Time
	jobs  map[string]*member
	crons map[string]*cronMember
}

type member struct {
	*Job
	seen  [3]int // the versions that the controller was last called for
	again time.Time
	owner string // the CronJob, if there is one
}

type cronMember struct {
	*CronJob
	template job.Spec
	seen     cronView
	again    time.Time
}

// cronView is the state of a CronJob. When it changes, the CronJob's controller is called.
type cronView struct {
	cronJob             cronjob.CronJob
	jobs                map[string]cronjob.Child
	triggers, backfills int
}

// NewCluster returns an empty cluster, at the time [Start].
func NewCluster() *Cluster {
	return &Cluster{now: Start, jobs: make(map[string]*member), crons: make(map[string]*cronMember)}
}

// Now returns the time in the cluster.
func (c *Cluster) Now() time.Time { return c.now }

// AddJob adds a job with this spec, completed by Default. Its name must be new.
func (c *Cluster) AddJob(name string, spec job.Spec) *Job {
	return c.addJob(name, job.UID("job-"+name), spec, "").Job
}

func (c *Cluster) addJob(name string, uid job.UID, spec job.Spec, owner string) *member {
	if c.jobs[name] != nil {
		panic("world: a job " + name + " exists")
	}

	w := NewJob(spec)
	w.Now, w.Job.Name, w.Job.UID, w.Job.CreationTimestamp = c.now, name, uid, c.now
	w.tally.job = uid
	w.DeliverAll()

	m := &member{Job: w, again: c.now, owner: owner}
	c.jobs[name] = m
	return m
}

// AddCronJob adds a CronJob, whose spec must have its defaults, and whose jobs have the spec
// of the template. Its name must be new.
func (c *Cluster) AddCronJob(name string, spec cronjob.Spec, template job.Spec, options cronjob.Options) *CronJob {
	if c.crons[name] != nil {
		panic("world: a CronJob " + name + " exists")
	}

	w := NewCronJob(cronjob.CronJob{
		Namespace:         "default",
		Name:              name,
		UID:               job.UID("cronjob-" + name),
		CreationTimestamp: c.now,
		Spec:              spec,
	}, options)
	w.Now = c.now
	c.crons[name] = &cronMember{CronJob: w, template: template, again: c.now}
	return w
}

// RemoveJob removes a job and its pods.
func (c *Cluster) RemoveJob(name string) {
	if m := c.jobs[name]; m != nil && m.owner != "" {
		delete(c.crons[m.owner].Jobs, name)
	}
	delete(c.jobs, name)
}

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
	for _, m := range c.crons {
		m.Now = to
	}
}

// Next returns the earliest time at which a controller wants to be called even if nothing happens.
// Zero means that all controllers wait only for changes.
func (c *Cluster) Next() (next time.Time) {
	earlier := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}

	for _, m := range c.jobs {
		earlier(m.again)
	}
	for _, m := range c.crons {
		earlier(m.again)
	}
	return next
}

// manyRounds is how often one call of Settle may call a job or CronJob.
const manyRounds = 1000

// Settle runs rounds for each job and CronJob that has changed or whose time has come, until none
// is due: CronJobs before jobs, each in the order of their names. A retry is made after the next
// change of the clock.
func (c *Cluster) Settle(ctx context.Context) error {
	for range manyRounds {
		called := false
		for _, name := range slices.Sorted(maps.Keys(c.crons)) {
			due, err := c.callCronJob(ctx, c.crons[name])
			if err != nil {
				return fmt.Errorf("CronJob %s: %w", name, err)
			}
			called = called || due
		}

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
	m.again = again(now, m.Requeue.At, m.Retry)
	return true, nil
}

// again returns when a controller must be called even without a change.
func again(now, at time.Time, retry bool) time.Time {
	if later := now.Add(time.Second); retry && (at.IsZero() || at.After(later)) {
		return later
	}
	return at
}

// callCronJob runs a round of the CronJob if one is due, and adds the jobs that it has created.
func (c *Cluster) callCronJob(ctx context.Context, m *cronMember) (due bool, err error) {
	c.tell(m)
	if is := m.view(); m.again.IsZero() || m.again.After(c.now) {
		if reflect.DeepEqual(is, m.seen) {
			return false, nil
		}
	}
	m.seen = m.view()

	m.Commit()
	plan, err := cronjob.Reconcile(m.Snapshot())
	if err != nil {
		return true, err
	}

	_, _ = m.CarryOut(ctx, &plan) // an error is an injected fault, and asks for a retry
	m.again = again(c.now, m.Requeue.At, m.Retry)
	c.follow(m)
	return true, nil
}

func (m *cronMember) view() cronView {
	return cronView{m.CronJob.CronJob, maps.Clone(m.Jobs), len(m.Triggers), len(m.Backfills)}
}

// tell reports to a CronJob what happened to its jobs.
func (c *Cluster) tell(m *cronMember) {
	for name, child := range m.Jobs {
		j := c.jobs[name]
		if j == nil || child.Foreign {
			continue
		}
		if !child.DeletionTimestamp.IsZero() && len(j.Pods) == 0 {
			c.RemoveJob(name)
			continue
		}

		s := &j.Job.Job.Status
		child.StartTime, child.CompletionTime = s.StartTime, s.CompletionTime
		if how := s.Finished(); how != "" && child.Finished == "" {
			child.Finished, child.FinishTime = how, s.Condition(how).LastTransitionTime
		}
		m.Jobs[name] = child
	}
}

// follow adds the jobs that a CronJob has created, and removes those that it has deleted.
func (c *Cluster) follow(m *cronMember) {
	name := m.CronJob.CronJob.Name
	for _, child := range m.Children() {
		if c.jobs[child.Name] == nil && !child.Foreign {
			c.addJob(child.Name, child.UID, m.template, name)
		}
	}

	for at, j := range c.jobs {
		child, there := m.Jobs[at]
		switch {
		case j.owner != name:
		case !there:
			delete(c.jobs, at)
		case !child.DeletionTimestamp.IsZero(): // the job stays until its pods are gone
			j.DeleteJob()
			for _, p := range slices.Clone(j.Pods) {
				j.Delete(p)
			}
		}
	}
}

// Err returns the first violated invariant of a job or, if there is none, of a CronJob. It checks
// both in the order of their names.
func (c *Cluster) Err() error {
	for _, name := range slices.Sorted(maps.Keys(c.jobs)) {
		if err := c.jobs[name].Err(); err != nil {
			return fmt.Errorf("job %s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.crons)) {
		if err := c.crons[name].Err(); err != nil {
			return fmt.Errorf("CronJob %s: %w", name, err)
		}
	}
	return nil
}
