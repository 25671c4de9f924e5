package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobtest"
)

// TestRunner plays random lives of jobs on a service that purges tasks, lists them late, and has no
// conditional updates.
func TestRunner(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
		s := &service{env: env, tasks: map[string]Task{}, listed: map[string]Task{}, documents: map[string][]byte{}}
		return jobtest.Subject{Store: s, Start: s.start, Cache: s, Unconditional: true}
	})
}

// service is a Service in memory with its Documents. It is also the store of the test, and its
// Cache: Tasks returns the tasks as they were when the test last updated the cache.
type service struct {
	env       *jobtest.Env
	tasks     map[string]Task
	listed    map[string]Task
	created   int
	documents map[string][]byte
	uid       job.UID
	planned   bool // a plan is being carried out, whose writes go through the backend
}

func (s *service) start(forget bool) jobtest.Program {
	if forget {
		maps.DeleteFunc(s.documents, func(key string, _ []byte) bool { return strings.HasSuffix(key, "/memory") })
	}
	var r *Runner
	return func(ctx context.Context) (time.Time, error) {
		if r == nil || r.Job != s.uid {
			r = &Runner{Service: s, Documents: s, Job: s.uid, Poll: time.Minute, Now: s.env.Now, Options: s.env.Options(), around: s.around}
			r.Executor.Parallel = 1
		}
		s.planned = false
		next, err := r.Round(ctx)
		if poll := s.env.Now().Add(r.Poll); err == nil && s.isActive() && (next.IsZero() || next.After(poll)) {
			err = errors.New("a task has not ended, and nobody looks at it")
		}
		return next, err
	}
}

// isActive reports whether the list has shown a task of the job that has not ended.
func (s *service) isActive() bool {
	pods, _ := s.Pods()
	return slices.ContainsFunc(pods, func(p job.Pod) bool {
		_, listed := s.listed[string(p.UID)]
		return listed && p.Phase < job.PodSucceeded
	})
}

func (s *service) around(seen *job.Snapshot, plan *job.Plan, b jobapply.Backend) jobapply.Backend {
	s.env.Planned(seen, plan)
	s.planned = true
	return s.env.Backend(b)
}

// The service.

func (s *service) Start(_ context.Context, t Task) (string, error) {
	s.created++
	t.ID, t.Created = fmt.Sprint("task-", s.created), s.env.Now()
	s.tasks[t.ID] = t
	return t.ID, nil
}

func (s *service) Stop(_ context.Context, id string) error {
	t, ok := s.tasks[id]
	switch {
	case !ok:
		return ErrNoTask
	case t.State == Ended:
		return ErrEnded
	case t.StopBy.IsZero():
		t.StopBy = s.env.Now().Add(10 * time.Second)
		t.Grace = 10 * time.Second
		s.tasks[id] = t
	}
	return nil
}

func (s *service) Task(_ context.Context, id string) (Task, error) {
	t, ok := s.tasks[id]
	if !ok {
		return t, ErrNoTask
	}
	return t, nil
}

func (s *service) Tasks(_ context.Context, tag, value string) (all []Task, err error) {
	return with(s.listed, tag, value), nil
}

func with(tasks map[string]Task, tag, value string) (all []Task) {
	for _, id := range slices.Sorted(maps.Keys(tasks)) {
		if tasks[id].Tags[tag] == value {
			all = append(all, tasks[id])
		}
	}
	return all
}

// The documents.

func (s *service) Put(_ context.Context, key string, text []byte) error {
	write := func() error { s.documents[key] = text; return nil }
	if s.planned && !strings.HasSuffix(key, "/memory") {
		return write()
	}
	return s.env.Write("store "+key, write)
}

func (s *service) Delete(_ context.Context, key string) error {
	return s.env.Write("delete "+key, func() error { delete(s.documents, key); return nil })
}

func (s *service) List(_ context.Context, prefix string) (map[string][]byte, error) {
	found := maps.Clone(s.documents)
	maps.DeleteFunc(found, func(key string, _ []byte) bool { return !strings.HasPrefix(key, prefix) })
	return found, nil
}

// These methods do what users and the service itself do.

func (s *service) CreateJob(j job.Job) error {
	s.uid = j.UID
	return s.store(j)
}

func (s *service) RemoveJob() error {
	clear(s.documents)
	clear(s.tasks)
	return nil
}

func (s *service) UpdateSpec(spec job.Spec) error {
	return s.edit(func(j *job.Job) { j.Spec = spec })
}

func (s *service) DeleteJob(at time.Time) error {
	return s.edit(func(j *job.Job) { j.DeletionTimestamp = at })
}

func (s *service) edit(change func(*job.Job)) error {
	j, err := s.Job()
	j.Status = job.Status{}
	change(&j)
	return errors.Join(err, s.store(j))
}

func (s *service) store(j job.Job) (err error) {
	s.documents[string(j.UID)+"/job"], err = json.Marshal(&j)
	return err
}

func (s *service) Job() (job.Job, error) {
	j, _, _, err := (&Runner{Documents: s, Job: s.uid}).read(context.Background())
	return j, err
}

func (s *service) Pods() ([]job.Pod, error) {
	_, ledger, _, err := (&Runner{Documents: s, Job: s.uid}).read(context.Background())
	pods, _, _ := ledger.merge(with(s.tasks, jobTag, string(s.uid)))
	return pods, err
}

func (s *service) UpdatePod(p job.Pod) error {
	t := s.tasks[string(p.UID)]
	if t.Preempted = len(p.Detail.Conditions) > 0; len(p.Detail.Containers) > 0 {
		t.State, t.Since = Running, p.Detail.ReadyTransition
	}
	if p.Phase >= job.PodSucceeded {
		t.State, t.ExitCode = Ended, p.Detail.Containers[0].ExitCode
	}
	if p.Deletion != nil {
		t.StopBy, t.Grace = p.Deletion.Timestamp, time.Duration(p.Deletion.GracePeriodSeconds)*time.Second
	}
	s.tasks[t.ID] = t
	return nil
}

// Purge forgets a task that has ended.
func (s *service) Purge(uid job.UID) error {
	delete(s.tasks, string(uid))
	return nil
}

// What a list shows.

func (s *service) Replace(job.Job, []job.Pod) { s.listed = maps.Clone(s.tasks) }
func (s *service) SetJob(job.Job)             {} // jobs are read without a cache
func (s *service) SetPod(p job.Pod)           { s.RemovePod(p.UID) }

func (s *service) RemovePod(uid job.UID) {
	delete(s.listed, string(uid))
	if t, ok := s.tasks[string(uid)]; ok {
		s.listed[t.ID] = t
	}
}
