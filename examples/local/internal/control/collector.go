package control

import (
	"context"
	"os"
	"time"

	"github.com/batchplan/batchplan/examples/local/internal/clock"
	"github.com/batchplan/batchplan/examples/local/internal/manifest"
	"github.com/batchplan/batchplan/examples/local/internal/patience"
	"github.com/batchplan/batchplan/examples/local/internal/pod"
	"github.com/batchplan/batchplan/examples/local/internal/store"
)

// Collector removes deleted jobs and CronJobs: it has their pods end, then removes
// these with their logs, then what they belonged to. It is what the garbage
// collector is to a cluster, and as little does it matter when it is killed: each
// pass does what is left to do.
type Collector struct {
	Store *store.Store
	Clock *clock.Clock
	// Stop is told of each deleted job: its loop has nothing to do any more.
	Stop func(jobUID string)
	// Changed is told that pods are to end.
	Changed func()
	// Warn is told what goes wrong for now.
	Warn func(text string)
	// Patience is for passes that fail for want of room.
	Patience patience.Patience

	woken chan struct{}
}

// NewCollector makes a collector.
func NewCollector(s *store.Store, c *clock.Clock) *Collector {
	return &Collector{Store: s, Clock: c, woken: make(chan struct{}, 1)}
}

// Wake asks for a pass soon.
func (c *Collector) Wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// pause is the time between two passes while something is about to end.
const pause = 50 * time.Millisecond

// Run makes passes until the context ends.
func (c *Collector) Run(ctx context.Context) error {
	for {
		left, err := c.Pass()
		delay, err := c.Patience.Try(err, time.Now(), c.Warn)
		if err != nil {
			return err
		}
		var again <-chan time.Time
		if left > 0 || delay > 0 {
			again = time.After(max(delay, pause))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-c.woken:
		case <-again:
		}
	}
}

// Pass does what can be done now, and returns the number of jobs that are left.
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

// collect brings a job nearer to its end; true means that it is gone. No pod is
// added to a deleted job, so those that are here are all.
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

// end brings a pod to its end and removes its folder; true means that both are done.
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
	return true, os.RemoveAll(string(folder))
}
