package jobtest_test

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobtest"
)

// watcher is the third backend of the tutorial: it handles the events of a watch, and relies on its
// expectations.
type watcher struct {
	*store
	bug     bug
	clock   func(time.Time) time.Time // nil for the clock of the life
	seen    jobtest.Mirror
	memory  job.Memory
	tracker expectations.Tracker[job.UID]
}

func (w *watcher) start(forget bool) jobtest.Program {
	if forget {
		w.memory = job.Memory{}
	}
	return w.round
}

func (w *watcher) round(ctx context.Context) (time.Time, error) {
	s := w.seen.Snapshot()
	uid := s.Job.UID
	s.Now, s.Options = w.env.Now(), w.env.Options()
	if w.clock != nil {
		s.Now = w.clock(s.Now)
	}

	if w.memory.JobUID == uid {
		s.Memory = w.memory
	}
	s.Memory.JobUID = uid
	s.Memory.Expectations, s.Memory.Untracking = w.tracker.Snapshot(uid)

	switch w.bug {
	case notExpected:
		s.Memory.Expectations = expectations.Counts{}
	case removalForgotten:
		s.Memory.Untracking = expectations.UIDs{}
	case endForgotten:
		s.Memory.Finished = false
	}

	plan, err := job.Reconcile(s)
	if err != nil {
		return time.Time{}, err
	}

	w.env.Planned(&s, &plan)
	b := expecting{&backend{w.store, int(s.Job.Version)}, w.tracker.Of(uid, s.Now)}
	end, err := jobapply.Executor{Parallel: 1}.Apply(ctx, w.env.Backend(b), &plan)
	w.memory = end.Memory
	return end.Requeue.At, err
}

// expecting is a backend with a record of its writes. It does not return the version after a status
// write.
type expecting struct {
	jobapply.Backend
	record jobapply.Expectations
}

func (e expecting) Expectations() jobapply.Expectations { return e.record }

// The methods below handle the events of the watch.

func (w *watcher) Replace(j job.Job, pods []job.Pod) {
	w.tracker.Forget(j.UID) // a fresh list shows all own writes
	w.seen.Replace(j, pods)
}

func (w *watcher) SetJob(j job.Job) { w.seen.SetJob(j) }

func (w *watcher) SetPod(p job.Pod) {
	uid := w.seen.Job.UID
	if w.bug != neverObserved {
		w.tracker.Observe(uid, w.seen.Pod(p.UID).Sight(), p.Sight())
	}
	w.seen.SetPod(p)
}

func (w *watcher) RemovePod(pod job.UID) {
	uid := w.seen.Job.UID
	if w.bug != neverObserved {
		w.tracker.Observe(uid, w.seen.Pod(pod).Sight(), nil)
	}
	if w.bug != goneStayInCache {
		w.seen.RemovePod(pod)
	}
}
