package cronworld

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
)

var errConflict = errors.New("the CronJob has changed since it was read")

// backend is the world as the executor sees it. Like every client, it refuses calls
// whose context has ended.
type backend struct{ *World }

// write carries out one write under the faults.
func (b backend) write(ctx context.Context, name string, apply func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := b.Write(name, apply)
	b.Commit()
	return err
}

func (b backend) Get(ctx context.Context, name string) (cronjobapply.Job, error) {
	c, ok := b.Jobs[name]
	switch {
	case ctx.Err() != nil:
		return cronjobapply.Job{}, ctx.Err()
	case !ok:
		return cronjobapply.Job{}, cronjobapply.ErrGone
	}
	found := cronjobapply.Job{Reference: cronjob.Reference{UID: c.UID}}
	if !c.Foreign {
		found.Controller = b.CronJob.UID
	}
	return found, nil
}

func (b backend) Delete(ctx context.Context, d cronjob.Deletion) error {
	return b.write(ctx, "delete "+d.Name, func() error {
		c, ok := b.Jobs[d.Name]
		switch {
		case !ok || c.UID != d.UID:
			return cronjobapply.ErrGone
		case d.Foreground && b.Lag != nil:
			c.DeletionTimestamp = b.Now // the job stays until its pods are gone
			b.Jobs[d.Name] = c
		default:
			delete(b.Jobs, d.Name)
		}
		return nil
	})
}

func (b backend) Create(ctx context.Context, c cronjob.Creation) (made cronjobapply.Job, err error) {
	err = b.write(ctx, "create "+c.Name, func() error {
		if _, ok := b.Jobs[c.Name]; ok {
			return cronjobapply.ErrExists
		}
		if b.Lag != nil {
			b.checkOverlap(&c)
		}
		b.count(&c)
		b.ids++
		child := cronjob.Child{
			Name: c.Name, UID: fmt.Sprintf("uid-%d", b.ids), CreationTimestamp: b.Now, StartTime: b.Now,
			ScheduledTime: c.ScheduledTime, Backfilled: c.Backfill != "",
		}
		b.Jobs[c.Name] = child
		made = cronjobapply.Job{Reference: cronjob.Reference{UID: child.UID}, CreationTimestamp: b.Now}
		return nil
	})
	return made, err
}

// count checks that no run and no trigger starts twice.
func (b backend) count(c *cronjob.Creation) {
	if c.ScheduledTime.IsZero() {
		if b.others[c.Name]++; b.others[c.Name] > 1 {
			b.fail("CI1", "%s was started %d times", c.Name, b.others[c.Name])
		}
		return
	}
	run := c.ScheduledTime.UTC()
	if b.runs[run]++; b.runs[run] > 1 {
		b.fail("CI1", "the run of %s was started %d times", run, b.runs[run])
	}
}

func (b backend) WriteStatus(ctx context.Context, s cronjob.Status) error {
	return b.write(ctx, "status", func() error {
		if b.Lag != nil && !b.Lag.isCurrent(b.World) {
			return errConflict // the write is on condition of the version that was read
		}
		b.checkStatus(&s)
		s.Active = slices.Clone(s.Active)
		b.CronJob.Status = s
		return nil
	})
}

// checkStatus checks a status before it replaces the old one.
func (b backend) checkStatus(s *cronjob.Status) {
	before := &b.CronJob.Status
	if s.LastScheduleTime.Before(before.LastScheduleTime) {
		b.fail("CI4", "lastScheduleTime goes back from %s to %s", before.LastScheduleTime, s.LastScheduleTime)
	}
	if s.LastSuccessfulTime.Before(before.LastSuccessfulTime) {
		b.fail("CI12", "lastSuccessfulTime goes back from %s to %s", before.LastSuccessfulTime, s.LastSuccessfulTime)
	}
	if run := s.LastScheduleTime.UTC(); !run.Equal(before.LastScheduleTime) && b.runs[run] == 0 {
		b.fail("CI4", "lastScheduleTime %s, and no such job was created", run)
	}
}
