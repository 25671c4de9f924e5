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

// writeGroup makes one write to a workload or a pod group.
func (w *Job) writeGroup(write jobgroup.Write) (job.UID, error) {
	fresh := job.UID(fmt.Sprintf("group-%d", w.groups+1))
	groups, uid, err := ChangeGroups(w.Groups, write, fresh)
	if err != nil {
		return "", err
	}
	if uid == fresh {
		w.groups++
	}
	w.Groups = groups
	return uid, nil
}

// ChangeGroups returns the groups after one write to a workload or a pod group, and the UID of that
// object. If the write creates the object, it gets the UID in argument fresh. ChangeGroups copies
// the lists that it changes.
func ChangeGroups(g jobgroup.Groups, write jobgroup.Write, fresh job.UID) (jobgroup.Groups, job.UID, error) {
	g.Workloads, g.PodGroups = slices.Clone(g.Workloads), slices.Clone(g.PodGroups)
	ofName := func(ref jobgroup.Ref) bool { return ref.Name == write.Name }
	workload := slices.IndexFunc(g.Workloads, func(w jobgroup.Workload) bool { return ofName(w.Ref) })
	group := slices.IndexFunc(g.PodGroups, func(g jobgroup.PodGroup) bool { return ofName(g.Ref) })

	isWorkload := write.Kind == jobgroup.KindWorkload
	template := []jobgroup.Template{{Name: write.Template, MinCount: write.MinCount}}
	created := jobgroup.Ref{Name: write.Name, UID: fresh}
	isTaken := group >= 0
	if isWorkload {
		isTaken = workload >= 0
	}

	switch {
	case write.UID == "" && isTaken:
		return g, "", ErrNameTaken
	case write.UID == "" && isWorkload:
		g.Workloads = append(g.Workloads, jobgroup.Workload{Ref: created, Templates: template})
		return g, fresh, nil
	case write.UID == "":
		g.PodGroups = append(g.PodGroups, jobgroup.PodGroup{
			Ref:      created,
			Workload: write.Workload.Name,
			MinCount: write.MinCount,
		})
		return g, fresh, nil
	case isWorkload && workload >= 0 && g.Workloads[workload].UID == write.UID:
		g.Workloads[workload].Templates = template
		return g, write.UID, nil
	case !isWorkload && group >= 0 && g.PodGroups[group].UID == write.UID:
		g.PodGroups[group].MinCount = write.MinCount
		return g, write.UID, nil
	}
	return g, "", errors.New("there is no such object")
}
