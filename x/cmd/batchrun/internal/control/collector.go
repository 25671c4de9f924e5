package control

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/patience"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// Collector removes deleted jobs and CronJobs, as the garbage collector of a cluster does. It ends
// their pods, then removes the pods with their logs, and then the jobs and CronJobs. It may be
// killed at any time, since the next pass continues the work.
type Collector struct {
	Store *store.Store
	Clock *clock.Clock
	// Stop is called for each deleted job, to stop its loop.
	Stop func(jobUID job.UID)
	// Changed is called when pods have to end.
	Changed func()
	// Warn is called with errors that are retried.
	Warn func(text string)
	// Patience limits how long passes that fail are retried, for example on a full disk.
	Patience patience.Patience

	woken chan struct{}
}

// NewCollector returns a collector.
func NewCollector(s *store.Store, c *clock.Clock) *Collector {
	return &Collector{Store: s, Clock: c, woken: make(chan struct{}, 1)}
}

// Wake requests a pass soon.
func (c *Collector) Wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// pause is the time between two passes while pods are ending.
const pause = 50 * time.Millisecond

// Run runs passes until the context ends.
func (c *Collector) Run(ctx context.Context) error {
	return c.Patience.Repeat(ctx, c.woken, c.Warn, func() (rest time.Duration, err error) {
		left, err := c.Pass()
		if left > 0 || err != nil {
			rest = pause
		}
		return rest, err
	})
}

// Pass does the work that is possible now, and returns the number of jobs that are left.
func (c *Collector) Pass() (left int, err error) {
	jobs, err := c.Store.DeletedJobs()
	if err != nil {
		return 0, err
	}
	for i := range jobs {
		c.Stop(jobs[i].UID)
		done, err := c.collect(&jobs[i])
		if err != nil {
			return left, err
		}
		if !done {
			left++
		}
	}
	return left, c.Store.RemoveDeletedCronJobs()
}

// collect takes the next step to remove a job. It returns true if the job is gone. A deleted job
// gets no new pods, so the store has all of its pods.
func (c *Collector) collect(j *store.Job) (bool, error) {
	pods, err := c.Store.Pods(j.UID)
	if err != nil {
		return false, err
	}
	ended := true
	for i := range pods {
		done, err := c.end(j, &pods[i])
		if err != nil {
			return false, err
		}
		ended = ended && done
	}
	if !ended {
		return false, nil
	}
	return true, c.Store.RemoveJob(j.UID)
}

// end ends a pod and removes its folder. It returns true once both are done.
func (c *Collector) end(j *store.Job, p *store.Pod) (bool, error) {
	folder := pod.Folder(c.Store.PodFolder(p.UID))
	if !p.Finished() {
		if !p.Deleted.IsZero() {
			return false, nil
		}

		m, err := manifest.Load(j.Manifest)
		if err != nil {
			return false, err
		}
		now, err := Now(c.Store, c.Clock)
		if err != nil {
			return false, err
		}
		defer c.Changed()
		_, err = c.Store.DeletePod(p.UID, manifest.GraceSeconds(&m.Object), false, now)
		return false, err
	}

	over, err := folder.Reap()
	if err == nil && !over {
		err = folder.Enforce(time.Now())
	}
	if err != nil || !over {
		return false, err
	}
	return true, folder.Remove()
}
