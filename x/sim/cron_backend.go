package sim

import (
	"context"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
)

// cronBackend is the API server as seen by the executor of a round of a CronJob.
type cronBackend struct {
	*worker
	engine  *engine
	cs      *cronState
	version int64
}

func (b *cronBackend) Get(_ context.Context, name string) (out cronjobapply.Job, err error) {
	err = b.engine.plane.call(b.worker, true, func() error {
		js := b.engine.children[name]
		if js == nil {
			return cronjobapply.ErrGone
		}
		out = reference(js)
		return nil
	})
	return out, err
}

func (b *cronBackend) Create(_ context.Context, c cronjob.Creation) (out cronjobapply.Job, err error) {
	err = b.engine.plane.call(b.worker, true, func() error {
		if b.engine.children[c.Name] != nil {
			return cronjobapply.ErrExists
		}
		out = reference(b.engine.startRun(b.cs, &c))
		return nil
	})
	return out, err
}

func (b *cronBackend) Delete(_ context.Context, d cronjob.Deletion) error {
	return b.engine.plane.call(b.worker, true, func() error {
		js := b.engine.children[d.Name]
		if js == nil || js.truth.UID != d.UID {
			return cronjobapply.ErrGone
		}
		b.engine.deleteJob(js, d.Foreground)
		return nil
	})
}

func (b *cronBackend) WriteStatus(_ context.Context, s cronjob.Status) error {
	return b.engine.plane.call(b.worker, true, func() error {
		cs := b.cs
		if cs.version != b.version {
			return errConflict
		}
		cs.truth.Status = s
		b.engine.cronChanged(cs)
		b.version = cs.version
		return nil
	})
}

// startRun creates the job of a run.
func (e *engine) startRun(cs *cronState, c *cronjob.Creation) *jobState {
	key := mix(cs.key ^ uint64(c.ScheduledTime.Unix()))
	js := e.createChild(cs, c, key)
	e.admission.submit(js)
	return js
}

func reference(js *jobState) cronjobapply.Job {
	return cronjobapply.Job{
		Reference: cronjob.Reference{
			Kind:       "Job",
			APIVersion: "batch/v1",
			Namespace:  js.truth.Namespace,
			Name:       js.truth.Name,
			UID:        js.truth.UID,
		},
		Controller:        js.cron.truth.UID,
		CreationTimestamp: js.truth.CreationTimestamp,
	}
}
