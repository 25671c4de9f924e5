package ours

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobtest"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// TestCronJobBackend plays random lives of CronJobs behind the registry of Kubernetes, with the
// backend that users get: once in a program that reads its own writes, and once in a program behind
// a watch.
func TestCronJobBackend(t *testing.T) {
	t.Run("live", func(t *testing.T) {
		cronjobtest.TestBackend(t, func(env *cronjobtest.Env) cronjobtest.Subject {
			s := newCronJobStore(env)
			return cronjobtest.Subject{Store: s, Start: cronjobtest.Loop(env, s.look)}
		})
	})
	t.Run("late", func(t *testing.T) {
		cronjobtest.TestBackend(t, func(env *cronjobtest.Env) cronjobtest.Subject {
			s := newCronJobStore(env)
			start, cache := cronjobtest.LateLoop(env, s.backend)
			return cronjobtest.Subject{Store: s, Start: start, Cache: cache}
		})
	})
}

// cronJobStore is a CronJob with its jobs on a server.
type cronJobStore struct {
	*server.Server
	env  *cronjobtest.Env
	name string
	seen map[int64]*batchv1.CronJob // each version that was read
	// leaving holds the times at which jobs were deleted, by the clock of the life.
	leaving map[job.UID]time.Time
}

func newCronJobStore(env *cronjobtest.Env) *cronJobStore {
	return &cronJobStore{
		Server: server.New(), env: env, seen: map[int64]*batchv1.CronJob{}, leaving: map[job.UID]time.Time{},
	}
}

func (s *cronJobStore) tick() { setClock(s.Server, s.env.Now()) }

func (s *cronJobStore) look(context.Context) (cronjob.Snapshot, cronjobapply.Backend, error) {
	c, err := s.CronJob()
	if err != nil {
		return cronjob.Snapshot{}, nil, err
	}
	jobs, err := s.Children()
	return cronjob.Snapshot{CronJob: c, Children: jobs, Consistent: true}, s.backend(c), err
}

// backend returns the backend of one round, which has seen a version of the CronJob.
func (s *cronJobStore) backend(seen cronjob.CronJob) cronjobapply.Backend {
	s.tick()
	return backend.NewCronJob(s.Client(), s.seen[seen.Version])
}

func (s *cronJobStore) CreateCronJob(c cronjob.CronJob) error {
	s.tick()
	s.name = c.Name
	o := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: c.Name}}
	o.Spec = cronSpecOf(c.Spec)
	return s.Create(o)
}

// cronSpecOf converts a spec of the planner to the spec of an object, by way of JSON.
func cronSpecOf(s cronjob.Spec) (out batchv1.CronJobSpec) {
	data, err := json.Marshal(s)
	must(err)
	must(json.Unmarshal(data, &out))
	out.JobTemplate.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "main", Image: image}},
	}
	return out
}

func (s *cronJobStore) CronJob() (cronjob.CronJob, error) {
	o := server.Get[*batchv1.CronJob](s.Server, namespace, s.name)
	if o == nil {
		return cronjob.CronJob{}, errors.New("there is no CronJob")
	}
	c := convert.CronJob(o)
	s.seen[c.Version] = o
	return c, nil
}

func (s *cronJobStore) UpdateSpec(spec cronjob.Spec) error {
	s.tick()
	return server.Change(s.Server, namespace, s.name, func(o *batchv1.CronJob) { o.Spec = cronSpecOf(spec) })
}

func (s *cronJobStore) RemoveCronJob() error {
	s.tick()
	background := metav1.DeletePropagationBackground
	err := s.Delete(server.CronJobs, namespace, s.name, metav1.DeleteOptions{PropagationPolicy: &background})
	for _, o := range server.List[*batchv1.Job](s.Server) {
		server.Overwrite(s.Server, namespace, o.Name, func(o *batchv1.Job) { o.Finalizers = nil })
	}
	s.Collect()
	return err
}

func (s *cronJobStore) Children() (jobs []cronjob.Child, err error) {
	c, err := s.CronJob()
	if err != nil {
		return nil, err
	}
	options := s.env.Options()
	for _, o := range server.List[*batchv1.Job](s.Server) {
		child := convert.ChildOf(&c, o, backend.ControllerOf(o), &options)
		convert.Ending(o, &child)
		child.StartTime = time.Time{} // the controller of jobs sets it, which here only ends jobs
		if !child.DeletionTimestamp.IsZero() {
			if s.leaving[child.UID].IsZero() {
				s.leaving[child.UID] = s.env.Now()
			}
			child.DeletionTimestamp = s.leaving[child.UID]
		}
		jobs = append(jobs, child)
	}
	return jobs, nil
}

// UpdateChild acts as the controller of jobs, which ends a job, or as a user who deletes a job
// whose pods take a while to end.
func (s *cronJobStore) UpdateChild(c cronjob.Child) error {
	s.tick()
	if !c.DeletionTimestamp.IsZero() {
		foreground := metav1.DeletePropagationForeground
		return s.Delete(server.Jobs, namespace, c.Name, metav1.DeleteOptions{PropagationPolicy: &foreground})
	}

	criterion := batchv1.JobFailureTarget
	if c.Finished == cronjob.Complete {
		criterion = batchv1.JobSuccessCriteriaMet
	}
	return server.ChangeStatus(s.Server, namespace, c.Name, func(o *batchv1.Job) {
		at, none := metav1.NewTime(c.FinishTime), int32(0)
		o.Status = batchv1.JobStatus{
			StartTime: &at, Terminating: &none, Ready: &none, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
		}
		if !c.CompletionTime.IsZero() {
			completed := metav1.NewTime(c.CompletionTime)
			o.Status.CompletionTime, o.Status.Succeeded = &completed, 1
		}
		for _, kind := range []batchv1.JobConditionType{criterion, batchv1.JobConditionType(c.Finished)} {
			o.Status.Conditions = append(o.Status.Conditions, batchv1.JobCondition{
				Type: kind, Status: corev1.ConditionTrue, LastProbeTime: at, LastTransitionTime: at,
			})
		}
	})
}

// RemoveChild removes a job, as the garbage collector does in the end.
func (s *cronJobStore) RemoveChild(name string) error {
	s.tick()
	o := server.Get[*batchv1.Job](s.Server, namespace, name)
	if o.DeletionTimestamp != nil {
		return server.Change(s.Server, namespace, name, func(o *batchv1.Job) { o.Finalizers = nil })
	}
	background := metav1.DeletePropagationBackground
	return s.Delete(server.Jobs, namespace, name, metav1.DeleteOptions{PropagationPolicy: &background})
}

// AddChild stores a job without an owner.
func (s *cronJobStore) AddChild(c cronjob.Child) error {
	s.tick()
	o := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: c.Name}}
	o.Spec = cronSpecOf(cronjob.Spec{}).JobTemplate.Spec
	if err := s.Create(o); err != nil {
		return err
	}
	server.Overwrite(s.Server, namespace, c.Name, func(o *batchv1.Job) { o.UID = types.UID(c.UID) })
	return nil
}
