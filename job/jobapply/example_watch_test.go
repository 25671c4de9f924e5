package jobapply_test

import (
	"context"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// server is the source of truth. Changes of the job and its pods show in the cache later.
type server struct {
	now     time.Time
	job     job.Job
	pods    map[job.UID]job.Pod
	created int
	news    []event
}

// grace is the time that a pod may take to end.
const grace = 30 * time.Second

// event is a change of a pod, as the watch reports it.
type event struct {
	pod  job.Pod
	gone bool
}

func (s *server) put(p job.Pod) {
	s.pods[p.UID] = p
	s.news = append(s.news, event{pod: p})
}

func (s *server) Create(_ context.Context, c job.Creation) (job.PodRef, error) {
	uid := job.UID(fmt.Sprint(s.created))
	s.created++
	p := c.Pod(c.NamePrefix+string(uid), uid, s.now)
	s.put(p)
	return job.PodRef{Name: p.Name, UID: uid}, nil
}

func (s *server) Delete(_ context.Context, d job.Deletion) error {
	p, ok := s.pods[d.UID]
	if !ok {
		return jobapply.ErrGone
	}
	p.Untracked = p.Untracked || d.UntrackFirst
	p.Deletion = &job.PodDeletion{Timestamp: s.now.Add(grace), GracePeriodSeconds: int64(grace / time.Second)}
	s.put(p)
	return nil
}

// end lets the time of grace pass: pods that are being deleted and have no finalizer are removed.
func (s *server) end() {
	for uid, p := range s.pods {
		if p.Deletion != nil && p.Untracked {
			delete(s.pods, uid)
			s.news = append(s.news, event{p, true})
		}
	}
}

func (s *server) Untrack(_ context.Context, u job.Untracking) error {
	p, ok := s.pods[u.UID]
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

// JobVersion is known from the reply to WriteStatus.
func (s *server) JobVersion() int64 { return s.job.Version }

// controller plans from a cache that is behind the server. Its tracker knows which of its own
// writes the cache does not show yet.
type controller struct {
	cached  job.Job
	pods    map[job.UID]*job.Pod
	tracker expectations.Tracker[job.UID]
	memory  job.Memory
}

// see brings the cache up to date with the job and the events of the pods, and lowers the tracker's
// expectations.
func (c *controller) see(s *server) {
	c.cached = s.job
	for _, e := range s.news {
		old, now := c.pods[e.pod.UID], &e.pod
		if e.gone {
			now = nil
		}
		c.tracker.Observe(c.cached.UID, old.Sight(), now.Sight())
		if c.pods[e.pod.UID] = now; e.gone {
			delete(c.pods, e.pod.UID)
		}
	}
	s.news = nil
}

// watched is the backend of a round: the server, and the record of the writes in flight.
type watched struct {
	*server
	record jobapply.Expectations
}

func (w watched) Expectations() jobapply.Expectations { return w.record }

func (c *controller) round(s *server, now time.Time) error {
	c.memory.Expectations, c.memory.Untracking = c.tracker.Snapshot(c.cached.UID)
	snapshot := job.Snapshot{Job: c.cached, Now: now, Memory: c.memory}
	for _, p := range c.pods {
		snapshot.Pods = append(snapshot.Pods, *p)
	}
	plan, err := job.Reconcile(snapshot)
	if err != nil {
		return err
	}
	fmt.Print(plan.String())
	backend := watched{s, c.tracker.Of(c.cached.UID, now)}
	conclusion, err := jobapply.Executor{Parallel: 1}.Apply(context.Background(), backend, &plan)
	c.memory = conclusion.Memory
	return err
}

// An adapter behind a watch: its cache shows a write some time after it was made. A round in
// between creates nothing twice. A deletion is seen when it begins, not when the pod has ended.
func Example_watch() {
	now, completions := time.Unix(0, 0), int32(2)
	s := &server{now: now, pods: map[job.UID]job.Pod{}, job: job.Job{Name: "render", UID: "job-1", Version: 1, Spec: job.Spec{Completions: &completions, Parallelism: &completions}}}
	job.Default(&s.job.Spec)
	c := &controller{cached: s.job, pods: map[job.UID]*job.Pod{}}

	round := func(what string) {
		fmt.Println("#", what)
		if err := c.round(s, now); err != nil {
			fmt.Println(err)
		}
	}
	suspend := func(is bool) {
		s.job.Spec.Suspend = &is
		s.job.Version++
	}

	round("the job is new")
	round("the cache still shows the job before that")
	c.cached = s.job
	round("it shows the status that was written, and no pod")
	c.see(s)
	round("it shows the pods")

	suspend(true)
	c.see(s)
	round("the job is suspended")
	suspend(false)
	c.cached = s.job
	round("it is resumed, and the cache shows no deletion")
	c.see(s)
	round("the cache shows that the pods are ending")

	s.end()
	for _, p := range s.pods {
		p.Phase = job.PodSucceeded
		s.put(p)
	}
	c.see(s)
	round("these pods are gone, and the others have succeeded")
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
	// # the job is suspended
	// delete render-0, finalizer first: the job is suspended (J28)
	// delete render-1, finalizer first: the job is suspended (J28)
	// wait: the job is suspended
	// # it is resumed, and the cache shows no deletion
	// wait: 2 active pods not finished
	// wait: own writes not seen yet, at most until 00:05:00
	// again at 00:05:00
	// # the cache shows that the pods are ending
	// create 2 pods: replaces a failed or terminating pod (J30)
	// wait: 2 active pods not finished
	// # these pods are gone, and the others have succeeded
	// untrack render-2: succeeded
	// untrack render-3: succeeded
	// active=0 ready=0 terminating=0 succeeded=2 failed=0 Suspended=False(JobResumed) SuccessCriteriaMet=True(CompletionsReached) Complete=True(CompletionsReached)
}
