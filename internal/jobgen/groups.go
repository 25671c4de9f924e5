package jobgen

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// DrawWorld draws a world with a job. One in four has Options.Gangs: a gang of the job's size, a
// gang of a fixed size, or a group that is not a gang. Some of these jobs find existing groups.
func DrawWorld(t *rapid.T) *world.Job {
	w := world.NewJob(Specs().Draw(t, "spec"))
	if rapid.IntRange(0, 3).Draw(t, "gangs") == 0 {
		w.Options.Gangs = true
		w.Job.Spec.Scheduling = DrawScheduling(t)
		w.Groups = drawGroups(t)
		w.DeliverAll()
	}
	return w
}

// DrawScheduling draws how the pods of a job are scheduled: as a gang of the size that follows from
// the job, as a gang of a fixed size, or one by one.
func DrawScheduling(t *rapid.T) *jobgroup.Scheduling {
	gang := new(jobgroup.Gang)
	if rapid.Bool().Draw(t, "minCount?") {
		gang.MinCount = ptr(rapid.Int32Range(1, 3).Draw(t, "minCount"))
	}
	asked := &jobgroup.Scheduling{SchedulingPolicy: &jobgroup.SchedulingPolicy{Gang: gang}}
	return rapid.SampledFrom([]*jobgroup.Scheduling{asked, nil}).Draw(t, "scheduling")
}

// drawGroups draws the groups that exist when the job is created.
func drawGroups(t *rapid.T) jobgroup.Groups {
	size := rapid.Int32Range(0, 3).Draw(t, "template")
	return GroupsBefore(rapid.IntRange(0, GroupCases-1).Draw(t, "there is"), size)
}

// GroupCases is the number of cases of [GroupsBefore]. Most have no groups.
const GroupCases = 10

// GroupsBefore returns the groups that exist before the first round of a job, in one of several
// cases. Argument size is the size of their gangs; 0 means the policy basic.
func GroupsBefore(which int, size int32) (g jobgroup.Groups) {
	ref := func(name string) jobgroup.Ref { return jobgroup.Ref{Name: name, UID: job.UID("uid-" + name)} }
	template := jobgroup.Template{Name: "t", MinCount: size}
	workload := jobgroup.Workload{Ref: ref("w"), Templates: []jobgroup.Template{template}}
	group := jobgroup.PodGroup{Ref: ref("g"), Workload: "w", MinCount: size}

	switch which {
	case 0: // the template of the pods names a group
		g.Preset = true
	case 1: // a controller has its own workload for its jobs
		g.Controlled = true
	case 2: // a controller has its own workload, and leaves the group to this one
		workload.Foreign = true
		g = jobgroup.Groups{Controlled: true, Template: ptr("t"), Workloads: []jobgroup.Workload{workload}}
	case 3: // an earlier job of this name
		workload.Foreign, group.Foreign = true, true
		g = jobgroup.Groups{Workloads: []jobgroup.Workload{workload}, PodGroups: []jobgroup.PodGroup{group}}
	case 4: // a backup is restored
		g = jobgroup.Groups{Workloads: []jobgroup.Workload{workload}, PodGroups: []jobgroup.PodGroup{group}}
	case 5: // a backup is restored without the group
		g.Workloads = []jobgroup.Workload{workload}
	}
	return g
}

// meddleWithGroups changes the workloads and pod groups of a job, as another client does. It copies
// the lists, since others keep the old ones.
func meddleWithGroups(t *rapid.T, w *world.Job) {
	g := &w.Groups
	acts := []string{"no group", "nothing", "two groups", "size", "template"}
	switch rapid.SampledFrom(acts).Draw(t, "meddle with groups") {
	case "no group":
		g.PodGroups = nil
		w.History().Ungrouped = true
	case "nothing":
		g.Workloads, g.PodGroups = nil, nil
		w.History().Ungrouped = true
	case "two groups":
		if len(g.PodGroups) == 1 {
			second := g.PodGroups[0]
			second.Name, second.UID = "second", "uid-second"
			g.PodGroups = append(slices.Clip(g.PodGroups), second)
		}
	case "size":
		if g.PodGroups = slices.Clone(g.PodGroups); len(g.PodGroups) > 0 {
			g.PodGroups[0].MinCount = rapid.Int32Range(1, 4).Draw(t, "size of the group")
		}
	case "template":
		if g.Workloads = slices.Clone(g.Workloads); len(g.Workloads) > 0 {
			size := rapid.Int32Range(1, 4).Draw(t, "size of the template")
			g.Workloads[0].Templates = []jobgroup.Template{{Name: g.Workloads[0].Templates[0].Name, MinCount: size}}
		}
	}
}
