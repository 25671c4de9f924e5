package ours

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/examples/kubernetes/backend"
)

// cronBackend is that of examples/kubernetes.
type cronBackend struct {
	*backend.CronJob
	options Options
	written *batchv1.CronJob
}

func (c *cronJobs) newBackend(object *batchv1.CronJob) *cronBackend {
	b := &cronBackend{CronJob: backend.NewCronJob(c.client, object), options: c.options}
	b.Wrote = func(o *batchv1.CronJob) { b.written = o }
	return b
}

// Delete fails for a job that is gone if the quirks are asked for: theirs tells of it as a
// failure, and tries again.
func (b *cronBackend) Delete(ctx context.Context, d cronjob.Deletion) error {
	if b.options.LiveReads && d.Reason == cronjob.DeleteReplaced {
		if _, err := b.Get(ctx, d.Name); err != nil {
			return err
		}
	}
	err := b.CronJob.Delete(ctx, d)
	if errors.Is(err, cronjobapply.ErrGone) && b.options.CronJob.Quirks != 0 {
		return fmt.Errorf("jobs.batch %q not found", d.Name)
	}
	return err
}
