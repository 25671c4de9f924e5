package world

import (
	"errors"
	"slices"

	"github.com/batchplan/batchplan/job"
)

// ErrNameTaken is the error of a creation under a name that an object has.
var ErrNameTaken = errors.New("the name is taken")

// writeGroup makes one write to a workload or a pod group. The lists are made anew: others keep
// the old ones.
func (w *Job) writeGroup(write job.GroupWrite) (job.UID, error) {
	g := &w.Groups
	g.Workloads, g.PodGroups = slices.Clone(g.Workloads), slices.Clone(g.PodGroups)
	ofName := func(ref job.GroupRef) bool { return ref.Name == write.Name }
	workload := slices.IndexFunc(g.Workloads, func(w job.Workload) bool { return ofName(w.GroupRef) })
	group := slices.IndexFunc(g.PodGroups, func(g job.PodGroup) bool { return ofName(g.GroupRef) })

	isWorkload := write.Kind == job.KindWorkload
	template := []job.GroupTemplate{{Name: write.Template, MinCount: write.MinCount}}
	isTaken := group >= 0
	if isWorkload {
		isTaken = workload >= 0
	}

	switch {
	case write.UID == "" && isTaken:
		return "", ErrNameTaken
	case write.UID == "" && isWorkload:
		ref := job.GroupRef{Name: write.Name, UID: job.UID("uid of " + write.Name)}
		g.Workloads = append(g.Workloads, job.Workload{GroupRef: ref, Templates: template})
		return ref.UID, nil
	case write.UID == "":
		ref := job.GroupRef{Name: write.Name, UID: job.UID("uid of " + write.Name)}
		g.PodGroups = append(g.PodGroups, job.PodGroup{
			GroupRef: ref,
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
