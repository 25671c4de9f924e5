package jobtest

import (
	"context"
	"slices"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// Cache is the view of its job that a program has through a watch. The test plays the watch. It
// shows each object some time after it has changed, in any order, and may show several changes as
// one. A program with a Cache must read nothing from its store except through the Cache.
//
// The methods may be called while a write of a round is in flight, since events arrive at any time.
type Cache interface {
	// Replace shows the job and all its pods as they are now, and replaces everything that was
	// shown before. It is called after each start of the program, and for each new job.
	Replace(j job.Job, pods []job.Pod)
	// SetJob shows the job as it is now.
	SetJob(j job.Job)
	// SetPod shows a pod that is new or has changed.
	SetPod(p job.Pod)
	// RemovePod shows that a pod is gone.
	RemovePod(uid job.UID)
}

// Mirror is a Cache that keeps what it is shown. It is for testing a backend that has no cache of
// its own: snapshots are made from the Mirror.
type Mirror struct {
	Job    job.Job
	Pods   []job.Pod
	Groups jobgroup.Groups
}

// Replace stores the job and its pods.
func (m *Mirror) Replace(j job.Job, pods []job.Pod) { m.Job, m.Pods = j, slices.Clone(pods) }

// SetJob stores the job.
func (m *Mirror) SetJob(j job.Job) { m.Job = j }

// SetPod stores a pod.
func (m *Mirror) SetPod(p job.Pod) {
	m.RemovePod(p.UID)
	m.Pods = append(m.Pods, p)
}

// RemovePod forgets a pod.
func (m *Mirror) RemovePod(uid job.UID) {
	m.Pods = slices.DeleteFunc(m.Pods, func(p job.Pod) bool { return p.UID == uid })
}

// SetGroups stores the groups.
func (m *Mirror) SetGroups(g jobgroup.Groups) { m.Groups = g }

// Pod returns the pod of that UID, or nil.
func (m *Mirror) Pod(uid job.UID) *job.Pod {
	for i := range m.Pods {
		if m.Pods[i].UID == uid {
			return &m.Pods[i]
		}
	}
	return nil
}

// Snapshot returns the contents of the mirror as a snapshot. It is not Consistent.
func (m *Mirror) Snapshot() job.Snapshot {
	return job.Snapshot{Job: m.Job, Pods: slices.Clone(m.Pods), Groups: m.Groups}
}

// LateLoop is [Loop] for a program that sees its objects late: the program plans from a Mirror,
// which LateLoop returns as the Cache of the subject. Function backend must return the backend of a
// round, whose status writes are conditional on the version of the job seen.
func LateLoop(env *Env, backend func(seen job.Job) jobapply.Backend) (func(forget bool) Program, Cache) {
	m := &Mirror{}
	return Loop(env, m.look(backend)), m
}

func (m *Mirror) look(backend func(seen job.Job) jobapply.Backend) Look {
	return func(context.Context) (job.Snapshot, jobapply.Backend, error) {
		return m.Snapshot(), backend(m.Job), nil
	}
}
