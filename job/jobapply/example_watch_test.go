package jobapply_test

import (
	"context"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// server holds the truth. It has a watch on the pods, which tells of each change later, and so
// has the job.
type server struct {
	now  time.Time
	job  job.Job
	pods map[job.UID]job.Pod
	news []event
}

// event is what the watch tells of a pod.
type event struct {
	pod  job.Pod
	gone bool
}

func (s *server) put(p job.Pod) {
	s.pods[p.UID] = p
	s.news = append(s.news, event{pod: p})
}

func (s *server) Create(_ context.Context, c job.Creation) (job.PodRef, error) {
	uid := job.UID(fmt.Sprint(len(s.pods)))
	p := c.Pod(c.NamePrefix+string(uid), uid, s.now)
	s.put(p)
	return job.PodRef{Name: p.Name, UID: uid}, nil
}

func (s *server) Delete(_ context.Context, d job.Deletion) error {
	p, ok := s.pods[d.UID]
	if !ok {
		return jobapply.ErrGone
	}
	delete(s.pods, d.UID)
	s.news = append(s.news, event{p, true})
	return nil
}

func (s *server) Untrack(_ context.Context, ref job.PodRef) error {
	p, ok := s.pods[ref.UID]
	if !ok {
		return jobapply.ErrGone
	}
	p.Untracked = true
	s.put(p)
	return nil
}

func (s *server) WriteStatus(_ context.Context, status job.Status) error {
	s.job.Status = status
	s.job.Version++
	return nil
}

func (s *server) Adopt(context.Context, job.PodRef) error   { return nil }
func (s *server) Release(context.Context, job.PodRef) error { return nil }

// controller plans from a cache that is behind the server. Its tracker knows which of its own
// writes the cache does not show yet.
type controller struct {
	cached  job.Job
	pods    map[job.UID]job.Pod
	tracker expectations.Tracker[job.UID]
	memory  job.Memory
}

// see takes events into the cache, and off the tracker's list.
func (c *controller) see(events ...event) {
	for _, e := range events {
		uid, key := e.pod.UID, c.cached.UID
		if _, known := c.pods[uid]; !known && !e.gone {
			c.tracker.CreationObserved(key)
		}
		if e.pod.Untracked || e.gone {
			c.tracker.UntrackObserved(key, uid)
		}
		if c.pods[uid] = e.pod; e.gone {
			delete(c.pods, uid)
			c.tracker.DeletionObserved(key)
		}
	}
}

func (c *controller) round(s *server, now time.Time) error {
	c.memory.Expectations, c.memory.Untracking = c.tracker.Snapshot(c.cached.UID)
	snapshot := job.Snapshot{Job: c.cached, Now: now, Memory: c.memory}
	for _, p := range c.pods {
		snapshot.Pods = append(snapshot.Pods, p)
	}
	plan, err := job.Reconcile(snapshot)
	if err != nil {
		return err
	}
	fmt.Print(plan.String())
	executor := jobapply.Executor{Parallel: 1, Expectations: c.tracker.Of(c.cached.UID, now)}
	conclusion, err := executor.Apply(context.Background(), s, &plan)
	c.memory = conclusion.Memory
	c.memory.Written = s.job.Version // the reply to the last write has it
	return err
}

// An adapter behind a watch: its cache shows a write some time after it was made. A round
// between the two creates nothing twice.
func Example_watch() {
	now, completions := time.Unix(0, 0), int32(2)
	s := &server{now: now, pods: map[job.UID]job.Pod{}, job: job.Job{Name: "render", UID: "job-1", Version: 1, Spec: job.Spec{Completions: &completions, Parallelism: &completions}}}
	job.Default(&s.job.Spec)
	c := &controller{cached: s.job, pods: map[job.UID]job.Pod{}}

	round := func(what string) {
		fmt.Println("#", what)
		if err := c.round(s, now); err != nil {
			fmt.Println(err)
		}
	}
	round("the job is new")
	round("the cache still shows the job before that")
	c.cached = s.job
	round("it shows the status that was written, and no pod")
	c.cached = s.job
	c.see(s.news...)
	round("it shows the pods")
	for _, p := range s.pods {
		p.Phase = job.PodSucceeded
		c.see(event{pod: p})
		s.pods[p.UID] = p
	}
	c.cached = s.job
	round("both have succeeded")
	fmt.Println(s.job.Status)
	// Output:
	// # the job is new
	// create 2 pods: fewer pods are active than wanted (J30)
	// wait: 2 active pods not finished
	// # the cache still shows the job before that
	// wait: the status that was written last is not seen yet
	// # it shows the status that was written, and no pod
	// wait: own writes not seen yet, at most until 00:05:00
	// again at 00:05:00
	// # it shows the pods
	// wait: 2 active pods not finished
	// # both have succeeded
	// untrack render-0: succeeded
	// untrack render-1: succeeded
	// active=0 ready=0 terminating=0 succeeded=2 failed=0 SuccessCriteriaMet=True(CompletionsReached) Complete=True(CompletionsReached)
}
