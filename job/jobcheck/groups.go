package jobcheck

import (
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// checkGroups checks the workloads and pod groups of a plan: JI28, JI29 and JI30.
func checkGroups(f *found, s *job.Snapshot, p *job.Plan) {
	if !s.Options.Gangs && len(p.Groups) > 0 {
		f.add("JI29", "%s %s is written without Options.Gangs", p.Groups[0].Kind, p.Groups[0].Name)
	}

	exists := make(map[jobgroup.Ref]bool)
	for _, g := range s.Groups.PodGroups {
		exists[g.Ref] = true
	}

	for i := range p.Groups {
		g := &p.Groups[i]
		if g.UID == "" {
			checkNewGroup(f, s, g)
			exists[g.Ref] = g.Kind == jobgroup.KindPodGroup
		}
		if want := sizeOf(s, g); g.MinCount != want {
			f.add("JI30", "%s gets minCount %d, want %d", g.Name, g.MinCount, want)
		}
	}

	own := onlyGroup(&s.Groups, s.Options.Gangs)
	for i := range p.Create {
		switch c := &p.Create[i]; {
		case c.Group != p.Create[0].Group:
			f.add("JI28", "pods of one round are in the groups %q and %q", p.Create[0].Group.Name, c.Group.Name)
		case c.Group.Name != "" && !exists[c.Group]:
			f.add("JI28", "a pod is in the group %s, which does not exist", c.Group.Name)
		case c.Group.Name == "" && own != "":
			f.add("JI28", "a pod is in no group, and the job has %s", own)
		}
	}
}

// checkNewGroup checks that a job gets no second workload or pod group, and none once it has run.
func checkNewGroup(f *found, s *job.Snapshot, g *jobgroup.Write) {
	if !s.Job.Status.StartTime.IsZero() || s.Job.Status.Succeeded+s.Job.Status.Failed > 0 {
		f.add("JI29", "a job that has run gets the %s %s", g.Kind, g.Name)
	}

	if g.Kind == jobgroup.KindWorkload {
		for _, w := range s.Groups.Workloads {
			if !w.Foreign {
				f.add("JI29", "a job gets the Workload %s, and has %s", g.Name, w.Name)
			}
		}
		return
	}

	for _, group := range s.Groups.PodGroups {
		if !group.Foreign && group.Workload == g.Workload.Name {
			f.add("JI29", "a job gets the PodGroup %s, and has %s", g.Name, group.Name)
		}
	}
}

// sizeOf returns the size that a write should set. It is the size that the job asks for, or the
// size in the template of the job's controller. A gang stays a gang, and the policy basic stays
// basic.
func sizeOf(s *job.Snapshot, g *jobgroup.Write) int32 {
	asked := askedSize(s)
	if s.Groups.Controlled {
		asked = 0
	}

	// An existing group gets the size that the job asks for, even if its template has another size.
	for _, group := range s.Groups.PodGroups {
		if group.Ref == g.Ref && !s.Groups.Controlled {
			if group.MinCount == 0 {
				asked = 0
			}
			return asked
		}
	}

	for _, w := range s.Groups.Workloads {
		if w.Foreign && !s.Groups.Controlled {
			continue
		}
		for _, t := range w.Templates {
			switch {
			case t.Name != g.Template:
			case s.Groups.Controlled, t.MinCount == 0, asked == 0:
				return t.MinCount
			default:
				return asked
			}
		}
	}
	return asked
}

// askedSize returns the size of the gang that a job asks for, 0 if it asks for none.
func askedSize(s *job.Snapshot) int32 {
	scheduling := s.Job.Spec.Scheduling
	if scheduling == nil || scheduling.SchedulingPolicy == nil || scheduling.SchedulingPolicy.Gang == nil {
		return 0
	}
	if size := scheduling.SchedulingPolicy.Gang.MinCount; size != nil {
		return max(*size, 1)
	}
	return max(value.Of(s.Job.Spec.Parallelism), 1)
}

// Group checks the creation of a workload or a pod group under a name that is free (JI29).
func (st *State) Group(g *jobgroup.Write) []Violation {
	var f found
	if g.UID != "" {
		return nil
	}

	for _, w := range st.Groups.Workloads {
		if g.Kind == jobgroup.KindWorkload && !w.Foreign {
			f.add("JI29", "the Workload %s is created beside %s", g.Name, w.Name)
		}
	}
	for _, group := range st.Groups.PodGroups {
		if g.Kind == jobgroup.KindPodGroup && !group.Foreign && group.Workload == g.Workload.Name {
			f.add("JI29", "the PodGroup %s is created beside %s", g.Name, group.Name)
		}
	}
	return f
}

// member checks the pod group of a new pod. The group must exist. If the job has exactly one group,
// the pod must be in it (JI28). A controller that sees its objects late may not see the group.
func (st *State) member(c *job.Creation) (f found) {
	exists := false
	for _, g := range st.Groups.PodGroups {
		exists = exists || g.Ref == c.Group
	}

	mayMissRemoval := st.History.Late && st.History.Ungrouped
	if c.Group.Name != "" && !exists && !mayMissRemoval {
		f.add("JI28", "a pod is created in the group %s of UID %q, which does not exist", c.Group.Name, c.Group.UID)
	}

	own := onlyGroup(&st.Groups, st.Options.Gangs)
	if own != "" && c.Group.Name == "" && !st.History.Late {
		f.add("JI28", "a pod is created beside its group %s", own)
	}
	return f
}

// onlyGroup returns the name of the job's pod group. It is empty if there is no pod group, if there
// are several, or if the pod group is not for the job's pods.
func onlyGroup(g *jobgroup.Groups, gangs bool) (name string) {
	isLeftWithout := g.Controlled && g.Template == nil
	if !gangs || g.Preset || isLeftWithout {
		return ""
	}

	workload := ""
	for _, w := range g.Workloads {
		if w.Foreign != g.Controlled {
			continue
		}
		if workload != "" {
			return ""
		}
		workload = w.Name
	}

	for _, group := range g.PodGroups {
		if group.Foreign || group.Workload != workload {
			continue
		}
		if name != "" {
			return ""
		}
		name = group.Name
	}
	return name
}
