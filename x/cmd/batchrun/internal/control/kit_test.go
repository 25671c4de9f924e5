package control

import (
	"context"
	"encoding/json"
	"flag"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobtest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// kit does what users and the node do to a job in the store. The spec of a job comes from its
// manifest, which the test edits.
type kit struct {
	env      *jobtest.Env
	store    *store.Store
	uid      job.UID
	manifest *manifest.Job
	// conditions has the conditions of pods. The node reports no conditions, so the store has none,
	// and the kit adds them to what the loop reads.
	conditions map[job.UID][]job.PodCondition
}

// fewLives makes a test play 25 lives, because each write is synced to the disk. -rapid.checks sets
// another number.
func fewLives(t *testing.T) {
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		must.OK(t, checks.Value.Set("25"))
		t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) })
	}
}

// TestBackend runs random lives of jobs on the store. The test acts as the node.
func TestBackend(t *testing.T) {
	fewLives(t)
	dir := t.TempDir()
	s, err := store.Open(dir)
	must.OK(t, err)
	t.Cleanup(func() { _ = s.Close() })
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
		k := &kit{env: env, store: s, conditions: map[job.UID][]job.PodCondition{}}
		return jobtest.Subject{
			Store: k, Start: jobtest.Loop(env, k.look), OneWriter: true,
			Close: func() { _ = k.RemoveJob() },
		}
	})
}

func (k *kit) CreateJob(j job.Job) error {
	object := batchv1.Job{}
	object.Name, object.Namespace = j.Name, j.Namespace
	object.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicy(j.Spec.Template.RestartPolicy)
	object.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Command: []string{"true"}}}
	raw, err := json.Marshal(&object)
	if err != nil {
		return err
	}
	if k.manifest, err = manifest.Load(raw); err != nil {
		return err
	}
	k.manifest.Spec = j.Spec
	added, err := k.store.AddJob(store.Job{Namespace: j.Namespace, Name: j.Name, Created: j.CreationTimestamp, Manifest: raw})
	k.uid = added.UID
	return err
}

func (k *kit) RemoveJob() error { return k.store.RemoveJob(k.uid) }

func (k *kit) UpdateSpec(s job.Spec) error {
	k.manifest.Spec = s
	return nil
}

func (k *kit) Job() (job.Job, error) {
	stored, err := k.store.Job(k.uid)
	return job.Job{
		Namespace: stored.Namespace, Name: stored.Name, UID: stored.UID, CreationTimestamp: stored.Created,
		Spec: k.manifest.Spec, Status: stored.Status,
	}, err
}

func (k *kit) Pods() ([]job.Pod, error) {
	stored, err := k.store.Pods(k.uid)
	var pods []job.Pod
	for i := range stored {
		if !stored[i].Gone {
			pods = append(pods, stored[i].View())
		}
	}
	return k.withConditions(pods), err
}

func (k *kit) withConditions(pods []job.Pod) []job.Pod {
	for i := range pods {
		pods[i].Detail.Conditions = k.conditions[pods[i].UID]
	}
	return pods
}

// UpdatePod writes the state that a supervisor would report. It removes a deleted pod, as the node
// does.
func (k *kit) UpdatePod(p job.Pod) error {
	k.conditions[p.UID] = p.Detail.Conditions
	state := pod.State{Phase: p.Phase, Ready: p.Ready, ReadyTransition: p.Detail.ReadyTransition, Done: p.Phase >= job.PodSucceeded}
	for _, c := range p.Detail.Containers {
		state.Containers = append(state.Containers, pod.Container{Container: c})
	}
	if err := k.store.SetState(p.UID, state); err != nil {
		return err
	}
	if p.Deletion != nil {
		if _, err := k.store.DeletePod(p.UID, p.Deletion.GracePeriodSeconds, false, k.env.Now()); err != nil {
			return err
		}
	}
	if world.IsCollected(&p) {
		return k.store.Bury(p.UID)
	}
	return nil
}

// look reads a snapshot as the loop does. The conditions of the pods come from the test.
func (k *kit) look(context.Context) (job.Snapshot, jobapply.Backend, error) {
	stored, err := k.store.Job(k.uid)
	if err != nil {
		return job.Snapshot{}, nil, err
	}
	l := &Loop{Store: k.store, UID: k.uid, Manifest: k.manifest}
	pods, err := l.pods()
	b := &backend{store: k.store, uid: k.uid, manifest: k.manifest, now: k.env.Now(), changed: func() {}}
	s := l.snapshot(&stored, pods, time.Time{})
	k.withConditions(s.Pods)
	s.Memory = job.Memory{} // the kit's loop keeps the memory
	return s, b, err
}
