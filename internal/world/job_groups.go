package world

import (
	"errors"
	"fmt"
	"slices"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// ErrNameTaken is the error of a creation under the name of an existing object.
var ErrNameTaken = errors.New("the name is taken")

// writeGroup makes one write to a workload or a pod group. It copies the lists, since others keep the old ones.
func (w *Job) writeGroup(write jobgroup.Write) (job.UID, error) {
	g := &w.Groups
	g.Workloads, g.PodGroups = slices.Clone(g.Workloads), slices.Clone(g.PodGroups)
	ofName := func(ref jobgroup.Ref) bool { return ref.Name == write.Name }
	workload := slices.IndexFunc(g.Workloads, func(w jobgroup.Workload) bool { return ofName(w.Ref) })
	group := slices.IndexFunc(g.PodGroups, func(g jobgroup.PodGroup) bool { return ofName(g.Ref) })

	isWorkload := write.Kind == jobgroup.KindWorkload
	template := []jobgroup.Template{{Name: write.Template, MinCount: write.MinCount}}
	isTaken := group >= 0
	if isWorkload {
		isTaken = workload >= 0
	}

	switch {
	case write.UID == "" && isTaken:
		return "", ErrNameTaken
	case write.UID == "" && isWorkload:
		ref := w.newGroup(write.Name)
		g.Workloads = append(g.Workloads, jobgroup.Workload{Ref: ref, Templates: template})
		return ref.UID, nil
	case write.UID == "":
		ref := w.newGroup(write.Name)
		g.PodGroups = append(g.PodGroups, jobgroup.PodGroup{
			Ref:      ref,
			Workload: write.Workload.Name,
			MinCount: write.MinCount,
		})
		return ref.UID, nil
	case isWorkload && workload >= 0 && g.Workloads[workload].UID == write.UID:
		g.Workloads[workload].Templates = template
		return write.UID, nil
	case !isWorkload && group >= 0 && g.PodGroups[group].UID == write.UID:
		g.PodGroups[group].MinCount = write.MinCount
		return write.UID, nil
	}
	return "", errors.New("there is no such object")
}

// newGroup returns a reference to a new object, with a new UID.
func (w *Job) newGroup(name string) jobgroup.Ref {
	w.groups++
	return jobgroup.Ref{Name: name, UID: job.UID(fmt.Sprintf("group-%d", w.groups))}
}
