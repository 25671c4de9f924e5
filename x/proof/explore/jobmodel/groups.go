package jobmodel

import (
	"context"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// groups holds the workload and the pod group of the job: 0 for none, or the size of the gang plus
// 1. Their names follow from the name of the job, so there is at most one of each.
type groups struct{ workload, group uint8 }

// The names of a workload, its template and a pod group.
var (
	workloadRef = jobgroup.Ref{Name: "w", UID: "w"}
	groupRef    = jobgroup.Ref{Name: "g", UID: "g"}
)

const template = "t"

// all returns the groups for a snapshot.
func (g groups) all() (all jobgroup.Groups) {
	if g.workload > 0 {
		templates := []jobgroup.Template{{Name: template, MinCount: int32(g.workload) - 1}}
		all.Workloads = []jobgroup.Workload{{Ref: workloadRef, Templates: templates}}
	}
	if g.group > 0 {
		all.PodGroups = []jobgroup.PodGroup{{Ref: groupRef, Workload: workloadRef.Name, MinCount: int32(g.group) - 1}}
	}
	return all
}

// WriteGroup notes a write to a workload or a pod group, and returns its UID.
func (p *player) WriteGroup(_ context.Context, g jobgroup.Write) (job.UID, error) {
	w := writeStep{verb: verbGroup, creates: g.UID == "", size: uint8(g.MinCount)}
	ref := groupRef
	if w.workload = g.Kind == jobgroup.KindWorkload; w.workload {
		ref = workloadRef
	}
	return ref.UID, p.play(w)
}

// writeGroup makes a write to the workload or the pod group. A creation fails if the object exists
// already, and a change of the size fails if there is nothing to change.
func (s *state) writeGroup(write writeStep) outcome {
	to := &s.groups.group
	if write.workload {
		to = &s.groups.workload
	}
	if isThere := *to > 0; isThere == write.creates {
		return outcomeFailed
	}
	*to = write.size + 1
	return outcomeDone
}

// seeGroups shows a controller the groups, and reports whether they had changed.
func (s *state) seeGroups(c int) bool {
	control := &s.control[c]
	if control.groups == s.groups {
		return false
	}
	control.groups, control.dirty = s.groups, true
	return true
}
