package control

import (
	"context"
	"errors"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// cronWrites are the writes of a round of a CronJob.
type cronWrites interface {
	cronjobapply.Backend
	// conclude ends the round.
	conclude(end *cronjob.Conclusion) error
}

// cronBackend carries out the plans of one CronJob on the store.
type cronBackend struct {
	store    *store.Store
	now      time.Time
	cronJob  *store.CronJob
	manifest *manifest.CronJob
	// wrote is true after a write. deleted is true after a write that gives the collector work.
	wrote, deleted bool
}

// Get reads a job by its name. If a job is being deleted, Get reports it as gone, as in a cluster,
// where a job is gone before its pods are.
func (b *cronBackend) Get(_ context.Context, name string) (cronjobapply.Job, error) {
	j, err := b.store.FindJob(b.cronJob.Namespace + "/" + name)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && !j.Deleted.IsZero():
		return cronjobapply.Job{}, cronjobapply.ErrGone
	case err != nil:
		return cronjobapply.Job{}, err
	}
	return jobOf(&j), nil
}

// Create stores the job. The store refuses a second job of the same name, so that no run starts
// twice.
func (b *cronBackend) Create(_ context.Context, c cronjob.Creation) (cronjobapply.Job, error) {
	object, err := b.manifest.Job(&c, b.cronJob.UID)
	if err != nil {
		return cronjobapply.Job{}, err
	}
	j, err := b.store.AddJob(store.Job{
		Namespace: b.cronJob.Namespace, Name: c.Name, Created: b.now, Manifest: object,
		CronJob: b.cronJob.UID, ScheduledTime: c.ScheduledTime,
	})
	if errors.Is(err, store.ErrExists) {
		return cronjobapply.Job{}, cronjobapply.ErrExists
	}
	if err != nil {
		return cronjobapply.Job{}, err
	}
	b.wrote = true
	return jobOf(&j), nil
}

// Delete marks the job, and the collector ends its pods and removes it. d.Foreground is never set,
// because this program does not use the option ReplaceWhenGone.
func (b *cronBackend) Delete(_ context.Context, d cronjob.Deletion) error {
	found, err := b.store.DeleteJob(d.UID, b.now)
	if err != nil {
		return err
	}
	if !found {
		return cronjobapply.ErrGone
	}
	b.wrote, b.deleted = true, true
	return nil
}

// WriteStatus writes the status. No other process writes it, so the write needs no condition.
func (b *cronBackend) WriteStatus(_ context.Context, s cronjob.Status) error {
	b.wrote = true
	return b.store.SetCronJobStatus(b.cronJob.UID, s)
}

func (b *cronBackend) conclude(end *cronjob.Conclusion) error {
	return b.store.ConcludeCronJob(b.cronJob.UID, end, b.now)
}

func jobOf(j *store.Job) cronjobapply.Job {
	return cronjobapply.Job{
		Reference:  cronjob.Reference{Namespace: j.Namespace, Name: j.Name, UID: j.UID},
		Controller: j.CronJob, CreationTimestamp: j.Created,
	}
}
