// Package jobset runs sets of jobs with a shared limit of restarts. It shows how a parent of jobs
// works without a planner: the name of a job follows from the status of its set, and the name is a
// lock. So the controller needs no memory of its own writes, and its caches may lag for any time.
package jobset

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/job"
)

// Set is a set of jobs that run at the same time. When one of them fails, all are deleted and start
// again, at most Limit times.
type Set struct {
	Name   string
	UID    job.UID
	Jobs   []string
	Limit  int
	Status Status
	// Version changes with each write.
	Version int
}

// Status is the progress of a set.
type Status struct {
	// Restarts is the number of the current attempt, from 0.
	Restarts int
	// Succeeded are the jobs that have succeeded in this attempt. They never run again, even if
	// deleted.
	Succeeded []string
	// Finished is Complete or Failed once the set has ended.
	Finished job.ConditionType
}

// Job is a job of the set, as a cache shows it.
type Job struct {
	Name     string // in Set.Jobs
	Attempt  int
	Finished job.ConditionType
}

// Backend reads and writes a set and its jobs.
type Backend interface {
	cronjobapply.Children
	// Read reads the set from the source of truth, not from a cache.
	Read(ctx context.Context) (Set, error)
	// WriteStatus replaces the status of the set, if the set still has that version.
	WriteStatus(ctx context.Context, s Status, version int) error
}

// ErrLeft is the error of a round that waits until jobs are gone.
var ErrLeft = errors.New("jobs are still there")

// ErrTaken is the error of a round that finds the name of a job taken by another owner.
var ErrTaken = errors.New("the name of a job is taken")

// Round does what is due. The jobs were read before the round, and may come from a late cache.
// After an error, begin another round after a growing delay. Never run two rounds of one set
// concurrently.
func Round(ctx context.Context, b Backend, jobs []Job) error {
	set, err := b.Read(ctx) // a late set would begin an earlier attempt again
	if err != nil {
		return err
	}

	// The status is written first, since the rest follows from it. If a failed job were deleted
	// before, its failure could be lost in a crash.
	if next := set.next(jobs); !reflect.DeepEqual(next, set.Status) {
		if err := b.WriteStatus(ctx, next, set.Version); err != nil {
			return fmt.Errorf("write status: %w", err)
		}
		set.Status = next
	}

	missing := slices.DeleteFunc(slices.Clone(set.Jobs), func(name string) bool { return set.shows(jobs, name) })
	switch {
	case set.Status.Finished == job.ConditionComplete, len(missing) == 0 && set.Status.Finished == "":
		return nil
	case set.Status.Finished == job.ConditionFailed:
		return set.remove(ctx, b, set.Status.Restarts, set.unended(jobs))
	case set.Status.Restarts > 0:
		if err := set.remove(ctx, b, set.Status.Restarts-1, set.Jobs); err != nil {
			return err
		}
	}
	return set.create(ctx, b, missing)
}

// next returns the status that follows from the jobs. An attempt fails once: jobs that fail
// together, or that are seen again after the status was written, count as one failure.
func (s *Set) next(jobs []Job) Status {
	next, failed := s.Status, false
	for _, j := range jobs {

		switch {
		case next.Finished != "" || j.Attempt != next.Restarts:
		case j.Finished == job.ConditionFailed:
			failed = true
		case j.Finished == job.ConditionComplete && !slices.Contains(next.Succeeded, j.Name):
			next.Succeeded = append(slices.Clip(next.Succeeded), j.Name)
		}
	}
	switch {
	case failed && next.Restarts < s.Limit:
		return Status{Restarts: next.Restarts + 1}
	case failed:
		next.Finished = job.ConditionFailed
	case len(next.Succeeded) == len(s.Jobs):
		next.Finished = job.ConditionComplete
	}
	return next
}

// shows reports whether a job of this attempt has succeeded or is listed.
func (s *Set) shows(jobs []Job, name string) bool {
	return slices.Contains(s.Status.Succeeded, name) ||
		slices.ContainsFunc(jobs, func(j Job) bool { return j.Name == name && j.Attempt == s.Status.Restarts })
}

// unended returns the jobs of this attempt that may still run.
func (s *Set) unended(jobs []Job) []string {
	return slices.DeleteFunc(slices.Clone(s.Jobs), func(name string) bool {
		return slices.ContainsFunc(jobs, func(j Job) bool {
			return j.Name == name && j.Attempt == s.Status.Restarts && j.Finished != ""
		})
	})
}

// jobName returns the name of a job in an attempt. A second creation of the same job, after a lost
// reply or by a late cache, fails because the name is taken.
func (s *Set) jobName(attempt int, name string) string {
	return fmt.Sprintf("%s-%d-%s", s.Name, attempt, name)
}

// create creates jobs of this attempt.
func (s *Set) create(ctx context.Context, b Backend, names []string) error {
	var errs []error
	for _, name := range names {
		name = s.jobName(s.Status.Restarts, name)
		_, err := b.Create(ctx, cronjob.Creation{Name: name})
		if errors.Is(err, cronjobapply.ErrExists) {
			found, unread := b.Get(ctx, name)
			if err = unread; err == nil && found.Controller != s.UID {
				err = fmt.Errorf("%w: %s", ErrTaken, name)
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// remove deletes jobs of an attempt, and returns an error until they are gone. It reads each job by
// name, since a list from the cache may lack new jobs.
func (s *Set) remove(ctx context.Context, b Backend, attempt int, names []string) error {
	var errs []error
	for _, name := range names {
		found, err := b.Get(ctx, s.jobName(attempt, name))
		if errors.Is(err, cronjobapply.ErrGone) || err == nil && found.Controller != s.UID {
			continue
		}
		if err == nil {
			err = b.Delete(ctx, cronjob.Deletion{Reference: found.Reference, Foreground: true})
		}
		if err == nil {
			err = ErrLeft
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
