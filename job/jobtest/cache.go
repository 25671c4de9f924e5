package jobtest

import (
	"context"
	"slices"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// Cache is the view that a program behind a watch has of its job. The test is the watch: it
// shows each object some time after it has changed, in any order, and several changes as one.
// A program with a Cache must read nothing from its store except through the Cache.
//
// The methods may be called while a write of a round is in flight, since events arrive at any time.
type Cache interface {
	// Replace shows the job and all its pods as they are, and replaces all that was shown
	// before. It is called after each start of the program, and for each new job.
	Replace(j job.Job, pods []job.Pod)
	// SetJob shows the job as it is.
	SetJob(j job.Job)
	// SetPod shows a pod that is new or has changed.
	SetPod(p job.Pod)
	// RemovePod shows that a pod is gone.
	RemovePod(uid job.UID)
}

// Mirror is a Cache that keeps what it is shown. It serves to test a backend without its own cache:
// snapshots are taken from the Mirror.
type Mirror struct {
	Job    job.Job
	Pods   []job.Pod
	Groups jobgroup.Groups
}

// Replace takes over everything.
func (m *Mirror) Replace(j job.Job, pods []job.Pod) { m.Job, m.Pods = j, slices.Clone(pods) }

// SetJob takes the job over.
func (m *Mirror) SetJob(j job.Job) { m.Job = j }

// SetPod takes a pod over.
func (m *Mirror) SetPod(p job.Pod) {
	m.RemovePod(p.UID)
	m.Pods = append(m.Pods, p)
}

// RemovePod forgets a pod.
func (m *Mirror) RemovePod(uid job.UID) {
	m.Pods = slices.DeleteFunc(m.Pods, func(p job.Pod) bool { return p.UID == uid })
}

// SetGroups takes the groups over.
func (m *Mirror) SetGroups(g jobgroup.Groups) { m.Groups = g }

// Pod is the pod of that UID, or nil.
func (m *Mirror) Pod(uid job.UID) *job.Pod {
	for i := range m.Pods {
		if m.Pods[i].UID == uid {
			return &m.Pods[i]
		}
	}
	return nil
}

// Snapshot returns what the mirror shows now. It is not Consistent.
func (m *Mirror) Snapshot() job.Snapshot {
	return job.Snapshot{Job: m.Job, Pods: slices.Clone(m.Pods), Groups: m.Groups}
}

// LateLoop is [Loop] for a backend whose program sees its objects late: it plans from
// a Mirror, which it returns as the Cache of the subject. The function makes the backend of a
// round, whose status writes are on condition of the version of that job.
func LateLoop(env *Env, backend func(seen job.Job) jobapply.Backend) (func(forget bool) Program, Cache) {
	m := &Mirror{}
	return Loop(env, m.look(backend)), m
}

func (m *Mirror) look(backend func(seen job.Job) jobapply.Backend) Look {
	return func(context.Context) (job.Snapshot, jobapply.Backend, error) {
		return m.Snapshot(), backend(m.Job), nil
	}
}
