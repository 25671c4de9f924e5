package cronworlds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// owner names the creator of a job.
type owner string

const (
	bySchedule owner = "schedule"
	byTrigger  owner = "trigger"
	byBackfill owner = "backfill"
	byHand     owner = "hand"    // owned by the CronJob, but not counted as active
	byOther    owner = "foreign" // owned by another
)

type aJob struct {
	cronjob.Child
	by owner
	// ends is when the job ends, and how is its result. gone is when the pods of a job that is
	// being deleted are gone.
	ends, gone time.Time
	how        job.ConditionType
}

// isBusy reports whether the controller has created the job, and it has not ended.
func (j *aJob) isBusy() bool {
	switch j.by {
	case bySchedule, byTrigger, byBackfill:
		return j.Finished == ""
	}
	return false
}

// object is the CronJob's object and its version.
type object struct {
	cronjob.CronJob
	version int
}

// cluster holds the CronJob and the jobs as they are, and two caches that show them late.
type cluster struct {
	object
	jobs []aJob
	uids int
	// changes counts all changes. progress leaves out status writes that record no further run,
	// since a controller could write these without end.
	changes, progress int

	objects cache[object]
	lists   cache[[]cronjob.Child]
}

// cache shows the versions of something, each after a delay.
type cache[T any] struct {
	seen  T
	queue []delivery[T]
}

type delivery[T any] struct {
	at    time.Time
	value T
	// own is set if the controller has written this version.
	own bool
}

func (c *cache[T]) push(v T, at time.Time, own bool) {
	if n := len(c.queue); n > 0 {
		at = value.Later(at, c.queue[n-1].at)
	}
	c.queue = append(c.queue, delivery[T]{at, v, own})
}

// deliver shows the versions that are due. It reports whether there were any, and whether someone
// other than the controller wrote one of them.
func (c *cache[T]) deliver(now time.Time) (moved, news bool) {
	for len(c.queue) > 0 && !c.queue[0].at.After(now) {
		moved, news = true, news || !c.queue[0].own
		c.seen, c.queue = c.queue[0].value, c.queue[1:]
	}
	return moved, news
}

// show shows the newest version now.
func (c *cache[T]) show(value T) { c.seen, c.queue = value, nil }

// first returns the time at which the next version shows, or zero.
func (c *cache[T]) first() time.Time {
	if len(c.queue) == 0 {
		return time.Time{}
	}
	return c.queue[0].at
}

// children returns the jobs as a list shows them.
func (c *cluster) children() []cronjob.Child {
	list := make([]cronjob.Child, len(c.jobs))
	for i := range c.jobs {
		list[i] = c.jobs[i].Child
	}
	return list
}

func (c *cluster) find(name string) *aJob {
	for i := range c.jobs {
		if c.jobs[i].Name == name {
			return &c.jobs[i]
		}
	}
	return nil
}

func (c *cluster) add(j aJob, now time.Time) *aJob {
	c.uids++
	j.UID = job.UID(fmt.Sprintf("uid-%d", c.uids))
	j.CreationTimestamp, j.StartTime = now, now
	j.Foreign = j.by == byOther
	c.jobs = append(c.jobs, j)
	return &c.jobs[len(c.jobs)-1]
}

func (c *cluster) remove(name string) {
	c.jobs = slices.DeleteFunc(slices.Clone(c.jobs), func(j aJob) bool { return j.Name == name })
}

// busy returns the names of the busy jobs. It leaves out the jobs that the function accepts, and
// the jobs that have been terminating for the TerminatingTimeout.
func (w *world) busy(except func(*aJob) bool) (names []string) {
	limit := w.options.TerminatingTimeout
	for i := range w.jobs {
		j := &w.jobs[i]
		isStuck := limit > 0 && !j.DeletionTimestamp.IsZero() && w.now.Sub(j.DeletionTimestamp) >= limit
		if j.isBusy() && !isStuck && !except(j) {
			names = append(names, j.Name)
		}
	}
	return names
}

// finished returns the CronJob's own jobs that ended in this way, the oldest first.
func finished(children []cronjob.Child, how job.ConditionType) (list []cronjob.Child) {
	for _, c := range children {
		if c.Finished == how && !c.Foreign {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b cronjob.Child) int {
		if n := a.StartTime.Compare(b.StartTime); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// runName returns the name that a run's job must have.
func runName(run time.Time) string { return fmt.Sprintf("c-%d", run.Unix()/60) }
