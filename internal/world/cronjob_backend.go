package world

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/job"
)

// Backend returns the world as an executor sees it. Each call is one read or write, which may have
// a fault. A search may use it directly, to make the writes of a plan one by one.
func (w *CronJob) Backend() cronjobapply.Backend { return cronBackend{w} }

// cronBackend refuses calls whose context has ended, like every client.
type cronBackend struct{ w *CronJob }

// write carries out one write, which may have a fault.
func (b cronBackend) write(ctx context.Context, verb Verb, name string, apply func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := b.w.Try(Write{verb, name}, apply)
	b.w.Commit()
	return err
}

func (b cronBackend) Get(ctx context.Context, name string) (cronjobapply.Job, error) {
	c, ok := b.w.Jobs[name]
	switch {
	case ctx.Err() != nil:
		return cronjobapply.Job{}, ctx.Err()
	case !ok:
		return cronjobapply.Job{}, cronjobapply.ErrGone
	}

	found := cronjobapply.Job{Reference: cronjob.Reference{UID: c.UID}}
	if !c.Foreign {
		found.Controller = b.w.CronJob.UID
	}
	return found, nil
}

func (b cronBackend) Delete(ctx context.Context, d cronjob.Deletion) error {
	return b.write(ctx, Delete, d.Name, func() error {
		c, ok := b.w.Jobs[d.Name]
		switch {
		case !ok || c.UID != d.UID:
			return cronjobapply.ErrGone
		case d.Foreground && b.w.Lag != nil:
			b.w.BeginRemoval(d.Name)
		default:
			delete(b.w.Jobs, d.Name)
		}
		return nil
	})
}

func (b cronBackend) Create(ctx context.Context, c cronjob.Creation) (made cronjobapply.Job, err error) {
	err = b.write(ctx, Create, c.Name, func() error {
		if _, ok := b.w.Jobs[c.Name]; ok {
			return cronjobapply.ErrExists
		}
		if b.w.Lag != nil {
			st := b.w.state()
			b.w.note(st.Create(&c))
		}
		b.w.note(b.w.history.Started(c.Name, c.ScheduledTime))

		b.w.ids++
		child := cronjob.Child{
			Name:              c.Name,
			UID:               job.UID("uid-" + strconv.Itoa(b.w.ids)),
			CreationTimestamp: b.w.Now,
			StartTime:         b.w.Now,
			ScheduledTime:     c.ScheduledTime,
			Backfilled:        c.Backfill != "",
		}
		b.w.Jobs[c.Name] = child
		made = cronjobapply.Job{Reference: cronjob.Reference{UID: child.UID}, CreationTimestamp: b.w.Now}
		return nil
	})
	return made, err
}

func (b cronBackend) WriteStatus(ctx context.Context, s cronjob.Status) error {
	return b.write(ctx, WriteStatus, "", func() error {
		if b.w.Lag != nil && !b.w.Lag.isCurrent(b.w) {
			return ErrConflict // the write is for the version that was read
		}
		st := b.w.state()
		b.w.note(st.Status(&s, b.w.history.HasStarted))

		s.Active = slices.Clone(s.Active)
		if b.w.Options.ActiveFromChildren {
			s.Active = nil
		}
		if b.w.Options.SuccessFromChildren {
			s.LastSuccessfulTime = time.Time{}
		}
		b.w.CronJob.Status = s
		return nil
	})
}
