package ours

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobtest"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// TestJobBackend plays random lives of jobs behind the registry of Kubernetes, with the backend
// that users get: once in a program that reads its own writes, and once in a program behind a
// watch.
func TestJobBackend(t *testing.T) {
	test := jobtest.Test{Specs: rapid.Map(jobtest.Specs(), complete)}
	t.Run("live", func(t *testing.T) {
		test.Run(t, func(env *jobtest.Env) jobtest.Subject {
			s := newJobStore(env)
			return jobtest.Subject{Store: s, Start: jobtest.Loop(env, s.look)}
		})
	})
	t.Run("late", func(t *testing.T) {
		test.Run(t, func(env *jobtest.Env) jobtest.Subject {
			s := newJobStore(env)
			start, cache := jobtest.LateLoop(env, s.backend)
			return jobtest.Subject{Store: s, Start: start, Cache: cache}
		})
	})
}

// complete fills in what a server requires of a template.
func complete(s job.Spec) job.Spec {
	if s.Template.RestartPolicy == "" {
		s.Template.RestartPolicy = job.RestartNever
	}
	s.Template.Containers, s.Template.InitContainers = []string{"main"}, nil
	return s
}

const (
	namespace = "default"
	image     = "i"
)

// jobStore is a job with its pods on a server. The registry sets times of deletion by the machine's
// clock. The field leaving holds the deletions by the clock of the life.
type jobStore struct {
	*server.Server
	env     *jobtest.Env
	current job.Job                     // as it was created
	seen    map[int64]*batchv1.Job      // each version that was read
	leaving map[job.UID]job.PodDeletion // of pods
}

func newJobStore(env *jobtest.Env) *jobStore {
	return &jobStore{
		Server: server.New(), env: env, seen: map[int64]*batchv1.Job{}, leaving: map[job.UID]job.PodDeletion{},
	}
}

func (s *jobStore) tick() { setClock(s.Server, s.env.Now()) }

func setClock(s *server.Server, now time.Time) { s.Skew = time.Until(now) }

func (s *jobStore) look(context.Context) (job.Snapshot, jobapply.Backend, error) {
	j, err := s.Job()
	if err != nil {
		j = s.current
	}
	pods, _ := s.Pods()
	b := s.backend(j)
	if err != nil {
		j = job.Job{}
	}
	return job.Snapshot{Job: j, Pods: pods, Consistent: true}, b, nil
}

// backend returns the backend of one round, which has seen a version of the job.
func (s *jobStore) backend(seen job.Job) jobapply.Backend {
	s.tick()
	return backend.NewJob(s.Client(), s.seen[seen.Version])
}

func (s *jobStore) CreateJob(j job.Job) error {
	s.tick()
	o := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: j.Name}}
	o.Spec = specOf(j.Spec)
	if err := s.Create(o); err != nil {
		return err
	}
	s.current = job.Job{}
	created, err := s.Job()
	s.current = created
	return err
}

// specOf converts a spec of the planner to the spec of an object, by way of JSON.
func specOf(s job.Spec) (out batchv1.JobSpec) {
	data, err := json.Marshal(s)
	must(err)
	must(json.Unmarshal(data, &out))
	for i := range out.Template.Spec.Containers {
		out.Template.Spec.Containers[i].Image = image
	}
	return out
}

func (s *jobStore) object() *batchv1.Job {
	for _, o := range server.List[*batchv1.Job](s.Server) {
		return o
	}
	return nil
}

func (s *jobStore) Job() (job.Job, error) {
	o := s.object()
	if o == nil {
		return job.Job{}, errors.New("there is no job")
	}
	j := convert.Job(o)
	s.seen[j.Version] = o
	j.Spec.Selector = nil // set by the registry; convert.Pod has already used it
	if !j.DeletionTimestamp.IsZero() {
		j.DeletionTimestamp = s.current.DeletionTimestamp
	}
	return j, nil
}

func (s *jobStore) UpdateSpec(spec job.Spec) error {
	s.tick()
	return server.Change(s.Server, namespace, s.current.Name, func(o *batchv1.Job) {
		next := specOf(spec)
		next.Selector, next.Template = o.Spec.Selector, o.Spec.Template
		next.ManualSelector = o.Spec.ManualSelector
		o.Spec = next
	})
}

func (s *jobStore) DeleteJob(at time.Time) error {
	s.tick()
	s.current.DeletionTimestamp = at
	return s.deleteJob(metav1.DeletePropagationForeground)
}

func (s *jobStore) deleteJob(policy metav1.DeletionPropagation) error {
	return s.Delete(server.Jobs, namespace, s.current.Name, metav1.DeleteOptions{PropagationPolicy: &policy})
}

// RemoveJobOnly removes the job as a deletion in the background does, before the garbage collector
// deletes the pods.
func (s *jobStore) RemoveJobOnly() error { return s.deleteJob(metav1.DeletePropagationBackground) }

func (s *jobStore) RemoveJob() (err error) {
	release := func(o metav1.Object) { o.SetFinalizers(nil) }
	for _, o := range server.List[*corev1.Pod](s.Server) {
		server.Overwrite(s.Server, namespace, o.Name, func(o *corev1.Pod) { release(o) })
		err = errors.Join(err, s.Delete(server.Pods, namespace, o.Name, immediately()))
	}
	if o := s.object(); o != nil {
		server.Overwrite(s.Server, namespace, o.Name, func(o *batchv1.Job) { release(o) })
		err = errors.Join(err, s.deleteJob(metav1.DeletePropagationBackground))
	}
	return err
}

func immediately() metav1.DeleteOptions {
	none := int64(0)
	return metav1.DeleteOptions{GracePeriodSeconds: &none}
}

func (s *jobStore) Pods() (pods []job.Pod, err error) {
	of := s.current
	if o := s.object(); o != nil {
		of = convert.Job(o)
	}

	for _, o := range server.List[*corev1.Pod](s.Server) {
		p := convert.Pod(&of, o)
		p.Detail.Conditions = slices.DeleteFunc(p.Detail.Conditions, func(c job.PodCondition) bool {
			return c.Type == string(corev1.PodReady) // the fields Ready and ReadyTransition hold this condition
		})

		if p.Deletion != nil {
			if _, known := s.leaving[p.UID]; !known {
				grace := time.Duration(p.Deletion.GracePeriodSeconds) * time.Second
				s.leaving[p.UID] = job.PodDeletion{
					Timestamp: s.env.Now().Add(grace), GracePeriodSeconds: p.Deletion.GracePeriodSeconds,
				}
			}
			deletion := s.leaving[p.UID]
			p.Deletion = &deletion
		}

		pods = append(pods, p)
	}
	return pods, nil
}

// UpdatePod acts as the kubelet, which also removes a deleted pod that has ended.
func (s *jobStore) UpdatePod(p job.Pod) error {
	s.tick()
	server.Overwrite(s.Server, namespace, p.Name, func(o *corev1.Pod) { report(o, &p) })
	if p.Deletion == nil {
		return nil
	}
	s.leaving[p.UID] = *p.Deletion
	grace := int64(p.Deletion.GracePeriodSeconds)
	if p.Phase != job.PodRunning {
		grace = 0
	}
	return s.Delete(server.Pods, namespace, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &grace})
}

// report puts a kubelet's report about a pod into the pod's object.
func report(o *corev1.Pod, p *job.Pod) {
	if p.Assigned {
		o.Spec.NodeName = "node"
	}
	o.Status.Phase = corev1.PodPhase(p.Phase.String())
	o.Status.Conditions = nil
	o.Status.ContainerStatuses = nil
	if p.Detail == nil {
		return
	}

	for _, c := range p.Detail.Conditions {
		o.Status.Conditions = append(o.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodConditionType(c.Type), Status: corev1.ConditionStatus(c.Status),
		})
	}
	if at := p.Detail.ReadyTransition; !at.IsZero() {
		ready := corev1.ConditionFalse
		if p.Ready {
			ready = corev1.ConditionTrue
		}
		o.Status.Conditions = append(o.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(at),
		})
	}
	for _, c := range p.Detail.Containers {
		o.Status.ContainerStatuses = append(o.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: image, ImageID: image, RestartCount: c.Restarts, State: stateOf(&c),
		})
	}
}

func stateOf(c *jobpod.Container) (s corev1.ContainerState) {
	switch c.State {
	case jobpod.Waiting:
		s.Waiting = &corev1.ContainerStateWaiting{}
	case jobpod.Running:
		s.Running = &corev1.ContainerStateRunning{}
	case jobpod.Terminated:
		s.Terminated = &corev1.ContainerStateTerminated{ExitCode: c.ExitCode, FinishedAt: metav1.NewTime(c.FinishedAt)}
	}
	return s
}

// AddPod stores a pod that the selector of the job matches.
func (s *jobStore) AddPod(p job.Pod) error {
	s.tick()
	template := s.object().Spec.Template.DeepCopy()
	o := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: p.Name, Labels: template.Labels},
		Spec:       template.Spec,
	}
	if i := p.Index.Int32(); i >= 0 {
		o.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(int(i))}
	}
	if !p.Untracked {
		o.Finalizers = []string{job.Finalizer}
	}
	if err := s.Create(o); err != nil {
		return err
	}
	server.Overwrite(s.Server, namespace, p.Name, func(o *corev1.Pod) { o.UID = types.UID(p.UID) })
	return nil
}

// Relabel changes a pod's labels so that the selector of the job matches or no longer does.
func (s *jobStore) Relabel(pod job.UID, matches bool) error {
	s.tick()
	all := server.List[*corev1.Pod](s.Server)
	i := slices.IndexFunc(all, func(o *corev1.Pod) bool { return o.UID == types.UID(pod) })
	return server.Change(s.Server, namespace, all[i].Name, func(o *corev1.Pod) {
		o.Labels = maps.Clone(o.Labels)
		o.Labels[batchv1.ControllerUidLabel] = "another"
		if matches {
			o.Labels[batchv1.ControllerUidLabel] = string(s.current.UID)
		}
	})
}
