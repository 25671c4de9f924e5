package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// planGroups plans the creations and new sizes of the job's workload and pod group (J44, J45). It
// returns the group that new pods name, or the zero Ref if there is none.
func planGroups(plan *Plan, s *Snapshot, c *census) (jobgroup.Ref, error) {
	notes := (*noteList)(&plan.Notes)
	ignored := func(why string) {
		scheduling := s.Job.Spec.Scheduling
		if scheduling == nil {
			return
		}
		text, err := json.Marshal(scheduling)
		if err != nil {
			text = []byte(err.Error()) // a raw part that is not JSON
		}
		notes.add("job.spec.scheduling", value.Short(string(text)), "is not followed"+why)
	}

	switch g := &s.Groups; {
	case !s.Options.Gangs:
		ignored(" without Options.Gangs: no gang is made of the pods")
		return jobgroup.Ref{}, nil
	case g.Preset:
		return jobgroup.Ref{}, nil // the template names a group that exists already
	case !g.Controlled:
		return planOwnGroup(plan, s, c)
	case g.Template != nil:
		return planLentGroup(plan, s, c), nil
	}
	ignored(": the job's controller leaves no pod group to it")
	return jobgroup.Ref{}, nil
}

// planOwnGroup plans the workload and the pod group of a job that nobody controls.
func planOwnGroup(plan *Plan, s *Snapshot, c *census) (jobgroup.Ref, error) {
	size := s.Job.Spec.gangSize()
	if most := value.Of(s.Job.Spec.Completions); 0 < most && most < size {
		(*noteList)(&plan.Notes).add("job.spec.completions", strconv.Itoa(int(most)),
			fmt.Sprintf("is below the size of the gang, %d, which never starts", size))
	}

	// Take the existing workload, or plan a new one.
	var own []jobgroup.Workload
	for _, w := range s.Groups.Workloads {
		if !w.Foreign {
			own = append(own, w)
		}
	}

	var workload jobgroup.Workload
	switch {
	case len(own) > 1:
		plan.goWithoutGroup("snapshot.groups.workloads", strconv.Itoa(len(own))+" of the job")
		return jobgroup.Ref{}, nil
	case len(own) == 1 && len(own[0].Templates) != 1:
		return jobgroup.Ref{}, invalid("groups.workloads", own[0].Name,
			fmt.Sprintf("must have exactly one template, has %d", len(own[0].Templates)))
	case len(own) == 1:
		workload = own[0]
		plan.resize(jobgroup.KindWorkload, workload.Ref, workload.Templates[0], size)
	case !isNew(&s.Job, c):
		if size > 0 {
			plan.goWithoutGroup("snapshot.groups.workloads", "none of the job, which has run already")
		}
		return jobgroup.Ref{}, nil
	default:
		template := jobgroup.Template{Name: s.Job.Name + "-pgt-0", MinCount: size}
		workload = jobgroup.Workload{
			Ref:       jobgroup.Ref{Name: workloadName(&s.Job)},
			Templates: []jobgroup.Template{template},
		}
		plan.Groups = append(plan.Groups, jobgroup.Write{
			Kind:     jobgroup.KindWorkload,
			Ref:      workload.Ref,
			Template: template.Name,
			MinCount: size,
			Reason:   jobgroup.ReasonNew,
		})
	}

	// A new group is made from the template with its new size. The size of an existing one follows
	// the spec.
	template := workload.Templates[0]
	if template.MinCount > 0 && size > 0 {
		template.MinCount = size
	}
	return planPodGroup(plan, s, c, workload.Ref, template, size), nil
}

// planLentGroup plans the pod group of a job whose controller has the workload and leaves the pod
// group to the job. The group follows the controller's template.
func planLentGroup(plan *Plan, s *Snapshot, c *census) jobgroup.Ref {
	name := *s.Groups.Template
	if len(s.Groups.Workloads) == 0 {
		plan.goWithoutGroup("snapshot.groups.workloads", "none of the job's controller")
		return jobgroup.Ref{}
	}

	workload := slices.MinFunc(s.Groups.Workloads, func(a, b jobgroup.Workload) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	at := slices.IndexFunc(workload.Templates, func(t jobgroup.Template) bool { return name == "" || t.Name == name })
	if at < 0 {
		plan.goWithoutGroup("snapshot.groups.template", strconv.Quote(name)+" is not in the workload "+workload.Name)
		return jobgroup.Ref{}
	}
	template := workload.Templates[at]
	return planPodGroup(plan, s, c, jobgroup.Ref{Name: workload.Name}, template, template.MinCount)
}

// planPodGroup plans the pod group that is made from a template. If the group exists and is a gang,
// it gets the given size.
func planPodGroup(
	plan *Plan, s *Snapshot, c *census, workload jobgroup.Ref, template jobgroup.Template, size int32,
) jobgroup.Ref {
	var own []jobgroup.PodGroup
	for _, g := range s.Groups.PodGroups {
		if !g.Foreign && g.Workload == workload.Name {
			own = append(own, g)
		}
	}

	switch {
	case len(own) > 1:
		plan.goWithoutGroup("snapshot.groups.podGroups", strconv.Itoa(len(own))+" of the job")
		return jobgroup.Ref{}
	case len(own) == 1:
		group := own[0]
		was := jobgroup.Template{Name: template.Name, MinCount: group.MinCount}
		plan.resize(jobgroup.KindPodGroup, group.Ref, was, size)
		return group.Ref
	case !isNew(&s.Job, c):
		if template.MinCount > 0 {
			plan.goWithoutGroup("snapshot.groups.podGroups", "none of the job, which has run already")
		}
		return jobgroup.Ref{}
	}

	group := jobgroup.Ref{Name: podGroupName(workload.Name, template.Name)}
	plan.Groups = append(plan.Groups, jobgroup.Write{
		Kind:     jobgroup.KindPodGroup,
		Ref:      group,
		Template: template.Name,
		MinCount: template.MinCount,
		Workload: workload,
		Reason:   jobgroup.ReasonNew,
	})
	return group
}

// resize plans a new size for a gang. A policy never changes from basic to gang or back.
func (p *Plan) resize(kind jobgroup.Kind, ref jobgroup.Ref, template jobgroup.Template, size int32) {
	if template.MinCount > 0 && size > 0 && template.MinCount != size {
		p.Groups = append(p.Groups, jobgroup.Write{
			Kind:     kind,
			Ref:      ref,
			Template: template.Name,
			MinCount: size,
			Reason:   jobgroup.ReasonResized,
		})
	}
}

func (p *Plan) goWithoutGroup(field, found string) {
	(*noteList)(&p.Notes).add(field, found, "new pods are in no group")
}

// isNew reports whether nothing shows that the job has ever had a pod. Only such a job gets a
// workload or a pod group, because the existing pods of an older job would not be in the group.
func isNew(j *Job, c *census) bool {
	switch status := &j.Status; {
	case c.pods > 0,
		!status.StartTime.IsZero(),
		status.Succeeded > 0,
		status.Failed > 0,
		status.find(ConditionSuspended) != nil:
		return false
	}
	return true
}

// maxGroupName is the longest name that an object can have.
const maxGroupName = 253

// workloadName returns the name of a job's workload. It is the same in each round, and differs for
// another job of the same name.
func workloadName(j *Job) string {
	hash := nameHash("(types.UID)" + string(j.UID))
	return j.Name[:min(len(j.Name), maxGroupName-len(hash)-1)] + "-" + hash
}

// podGroupName returns the name of the pod group that is made from a template. If the two names are
// too long together, each may use at least half of the room.
func podGroupName(workload, template string) string {
	hash := nameHash(workload + template)
	room := maxGroupName - len(hash) - 2
	first := workload[:min(len(workload), max(room-room/2, room-len(template)))]
	second := template[:min(len(template), room-len(first))]
	return first + "-" + second + "-" + hash
}

// nameHash returns a hash of the text for a name, as in Kubernetes. It has no vowels, so that it
// spells no words.
func nameHash(text string) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	hash := fnv.New32a()
	hash.Write([]byte(text))
	digits := strconv.AppendUint(nil, uint64(hash.Sum32()), 10)

	for i, digit := range digits {
		digits[i] = letters[int(digit)%len(letters)]
	}
	return string(digits)
}
