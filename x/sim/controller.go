package sim

import (
	"iter"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// controller takes objects from its work queue, and its workers plan them. If calls take no time, a
// round happens immediately. Otherwise each round is a coroutine, which continues when its call has
// returned.
type controller struct {
	engine *engine
	round  func(w *worker, id int32)
	// limit is how many rounds may run concurrently.
	limit int
	ready fifo[int32]
	all   []*worker
	idle  []*worker
	// starts counts the starts of the controller.
	starts uint32
	// These buckets limit the rate of calls, and the rate of repeated rounds of CronJobs.
	calls, retries bucket
}

// worker plans one object at a time.
type worker struct {
	of          *controller
	id          int32
	planner     job.Planner
	cronPlanner cronjob.Planner
	jobBackend  jobBackend
	// seen is the snapshot of a job's round for World.Watch, and cronSeen the snapshot of a
	// CronJob's round.
	seen     job.Snapshot
	cronSeen cronjob.Snapshot
	// conclusion is the conclusion of the latest round of a job.
	conclusion     job.Conclusion
	cronConclusion cronjob.Conclusion
	cronBackend    cronBackend
	// aborted is set when the controller stops.
	aborted bool

	// The round calls yield to wait until a time, while the engine plays other events. The engine
	// calls resume to continue the round, and stop to end it.
	yield  func(int64) bool
	resume func() (int64, bool)
	stop   func()
}

func (c *controller) push(id int32) { c.ready.push(id) }

// work starts a round, if an object is due and a worker is free. It reports whether it did.
func (c *controller) work() bool {
	if c.ready.len() == 0 || c.engine.plane.downs > 0 {
		return false
	}
	w := c.take()
	if w == nil {
		return false
	}
	id := c.ready.pop()

	if !c.engine.plane.waits {
		c.round(w, id)
		c.idle = append(c.idle, w)
		return true
	}

	w.resume, w.stop = iter.Pull(func(yield func(int64) bool) {
		w.yield = yield
		c.round(w, id)
	})
	c.resume(w.id)
	return true
}

// take returns a worker that is free, or nil.
func (c *controller) take() *worker {
	if n := len(c.idle); n > 0 {
		w := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return w
	}
	if len(c.all) == c.limit {
		return nil
	}

	w := &worker{of: c, id: int32(len(c.all))}
	c.all = append(c.all, w)
	return w
}

// resume continues a round until its next call, or to its end.
func (c *controller) resume(id int32) {
	w := c.all[id]
	at, more := w.resume()
	if more {
		c.engine.at(at, evResume, id, c.number())
		return
	}
	w.resume, w.stop = nil, nil
	c.idle = append(c.idle, w)
}

// number identifies the controller and its latest start in events.
func (c *controller) number() uint32 {
	if c == &c.engine.jobController {
		return c.starts << 1
	}
	return c.starts<<1 | 1
}

// pause waits for d; false means that the controller is stopping.
func (w *worker) pause(d int64) bool {
	if w.aborted {
		return false
	}
	if d <= 0 {
		return true
	}
	if !w.yield(w.of.engine.now + d) {
		w.aborted = true
		return false
	}
	return true
}

// abort ends all unfinished rounds, and empties the queue.
func (c *controller) abort() {
	for _, w := range c.all {
		if w.stop != nil {
			w.stop()
		}
	}
	c.all, c.idle, c.ready = nil, nil, fifo[int32]{}
	c.starts++
}

// retryAt returns when a round is repeated after so many failures in a row. As in the default work
// queue, the delays are 5 ms, 10 ms, ... 1000 s. After a burst of a hundred, there are at most ten
// retries a second.
func (c *controller) retryAt(failures int) int64 {
	policy := backoff.Policy{Base: 5 * time.Millisecond, Factor: 2, Max: 1000 * time.Second}
	now := c.engine.now
	return max(now+int64(policy.Delay(failures)), c.retries.take(now, 10, 100))
}
