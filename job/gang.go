package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/internal/value"
)

// GroupTemplateAnnotation is the annotation by which a job's controller leaves the pod group to
// the job: its value is the name of a template in the controller's workload.
const GroupTemplateAnnotation = "scheduling.k8s.io/group-template-name"

// Groups are the workloads and pod groups that a round knows, and whose they are (J44). Without
// [Options.Gangs] nothing reads them.
type Groups struct {
	// Controlled is true if another object controls the job, as a CronJob does.
	Controlled bool `json:"controlled,omitempty"`
	// Template is the value of the annotation [GroupTemplateAnnotation], nil if the job has none.
	Template *string `json:"template,omitempty"`
	// Preset is true if the pod template names a group by itself.
	Preset bool `json:"preset,omitempty"`
	// Workloads are those whose spec.controllerRef names the job; or, if the job is controlled,
	// its controller.
	Workloads []Workload `json:"workloads,omitempty"`
	// PodGroups are those whose spec.workloadRef names one of the workloads.
	PodGroups []PodGroup `json:"podGroups,omitempty"`
}

// Workload is a template for pod groups.
type Workload struct {
	GroupRef
	// Foreign is true if the job is not its controller.
	Foreign   bool            `json:"foreign,omitempty"`
	Templates []GroupTemplate `json:"templates,omitempty"`
}

// GroupTemplate is a template in a workload.
type GroupTemplate struct {
	Name string `json:"name"`
	// MinCount is the size of the gang; 0 means the policy basic.
	MinCount int32 `json:"minCount,omitempty"`
}

// PodGroup is what pods name to be scheduled together.
type PodGroup struct {
	GroupRef
	// Foreign is true if the job is not its controller.
	Foreign bool `json:"foreign,omitempty"`
	// Workload is the name of the workload that the group is made from.
	Workload string `json:"workload"`
	// MinCount is the size of the gang; 0 means the policy basic.
	MinCount int32 `json:"minCount,omitempty"`
}

// GroupRef names a workload or a pod group.
type GroupRef struct {
	Name string `json:"name"`
	// UID is empty in a plan that creates the object: it is the one of the [GroupEffect].
	UID UID `json:"uid,omitempty"`
}

// GroupKind is Workload or PodGroup.
type GroupKind string

// The kinds of groups, as in scheduling.k8s.io.
const (
	KindWorkload GroupKind = "Workload"
	KindPodGroup GroupKind = "PodGroup"
)

// GroupWrite is a workload or a pod group to create or to resize.
type GroupWrite struct {
	Kind GroupKind `json:"kind"`
	// GroupRef is the object to resize. Without UID it is to be created; the name is its lock: if
	// it is taken, the write fails.
	GroupRef
	// Template is the template in the workload, for a pod group the one that it is made from.
	Template string `json:"template"`
	// MinCount is the size of the gang; 0 means the policy basic, for objects that are created.
	MinCount int32 `json:"minCount,omitempty"`
	// Workload is the one that a pod group is made from. It becomes an owner of the group, not
	// its controller, unless its UID is still empty when the group is created: then it
	// belongs to the job's controller.
	Workload GroupRef    `json:"workload,omitzero"`
	Reason   GroupReason `json:"reason"`
}

// GroupReason is why a workload or a pod group is written.
type GroupReason uint8

// The reasons to write a workload or a pod group.
const (
	// GroupNew: the job has never had a pod, and has none (J44).
	GroupNew GroupReason = 1 + iota
	// GroupResized: the gang has another size now (J45).
	GroupResized
)

const groupNames = "|New|Resized"

const groupReasons = "unspecified|" +
	"the job has never had a pod, and has none (J44)|" +
	"the gang has another size now (J45)"

// String is a sentence for people.
func (r GroupReason) String() string { return enum.String(groupReasons, int(r), "GroupReason") }

// MarshalText returns the name of the constant without Group.
func (r GroupReason) MarshalText() ([]byte, error) {
	return []byte(enum.String(groupNames, int(r), "GroupReason")), nil
}

// UnmarshalText reads what MarshalText returns.
func (r *GroupReason) UnmarshalText(text []byte) error {
	i, err := enum.Parse(groupNames, string(text), "reason")
	*r = GroupReason(i)
	return err
}

// planGroups plans what becomes of the job's workload and of its pod group (J44, J45), and returns
// the group that new pods name. Without one, they name none.
func planGroups(plan *Plan, s *Snapshot, c *census) (GroupRef, error) {
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
		return GroupRef{}, nil
	case g.Preset:
		return GroupRef{}, nil // who wrote the template has made the group
	case !g.Controlled:
		return planOwnGroup(plan, s, c)
	case g.Template != nil:
		return planLentGroup(plan, s, c), nil
	}
	ignored(": the job's controller leaves no pod group to it")
	return GroupRef{}, nil
}

// planOwnGroup plans the workload and the pod group of a job that nobody controls.
func planOwnGroup(plan *Plan, s *Snapshot, c *census) (GroupRef, error) {
	size := s.Job.Spec.gangSize()
	if most := s.Job.Spec.Completions; most != nil && 0 < *most && *most < size {
		(*noteList)(&plan.Notes).add("job.spec.completions", strconv.Itoa(int(*most)),
			fmt.Sprintf("is below the size of the gang, %d, which never starts", size))
	}

	// The workload: the one that there is, or a new one.
	var own []Workload
	for _, w := range s.Groups.Workloads {
		if !w.Foreign {
			own = append(own, w)
		}
	}

	var workload Workload
	switch {
	case len(own) > 1:
		plan.goWithoutGroup("snapshot.groups.workloads", strconv.Itoa(len(own))+" of the job")
		return GroupRef{}, nil
	case len(own) == 1 && len(own[0].Templates) != 1:
		return GroupRef{}, invalid("groups.workloads", own[0].Name,
			fmt.Sprintf("must have exactly one template, has %d", len(own[0].Templates)))
	case len(own) == 1:
		workload = own[0]
		plan.resize(KindWorkload, workload.GroupRef, workload.Templates[0], size)
	case !isNew(&s.Job, c):
		if size > 0 {
			plan.goWithoutGroup("snapshot.groups.workloads", "none of the job, which has run already")
		}
		return GroupRef{}, nil
	default:
		template := GroupTemplate{Name: s.Job.Name + "-pgt-0", MinCount: size}
		workload = Workload{GroupRef: GroupRef{Name: workloadName(&s.Job)}, Templates: []GroupTemplate{template}}
		plan.Groups = append(plan.Groups, GroupWrite{
			Kind:     KindWorkload,
			GroupRef: workload.GroupRef,
			Template: template.Name,
			MinCount: size,
			Reason:   GroupNew,
		})
	}

	// The group is made from the template as it is going to be.
	template := workload.Templates[0]
	if template.MinCount > 0 && size > 0 {
		template.MinCount = size
	}
	return planPodGroup(plan, s, c, workload.GroupRef, template), nil
}

// planLentGroup plans the pod group of a job whose controller has the workload and leaves the
// group to the job. The group follows the controller's template.
func planLentGroup(plan *Plan, s *Snapshot, c *census) GroupRef {
	name := *s.Groups.Template
	if len(s.Groups.Workloads) == 0 {
		plan.goWithoutGroup("snapshot.groups.workloads", "none of the job's controller")
		return GroupRef{}
	}

	workload := slices.MinFunc(s.Groups.Workloads, func(a, b Workload) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	at := slices.IndexFunc(workload.Templates, func(t GroupTemplate) bool { return name == "" || t.Name == name })
	if at < 0 {
		plan.goWithoutGroup("snapshot.groups.template", strconv.Quote(name)+" is not in the workload "+workload.Name)
		return GroupRef{}
	}
	return planPodGroup(plan, s, c, GroupRef{Name: workload.Name}, workload.Templates[at])
}

// planPodGroup plans the pod group that is made from a template.
func planPodGroup(plan *Plan, s *Snapshot, c *census, workload GroupRef, template GroupTemplate) GroupRef {
	var own []PodGroup
	for _, g := range s.Groups.PodGroups {
		if !g.Foreign && g.Workload == workload.Name {
			own = append(own, g)
		}
	}

	switch {
	case len(own) > 1:
		plan.goWithoutGroup("snapshot.groups.podGroups", strconv.Itoa(len(own))+" of the job")
		return GroupRef{}
	case len(own) == 1:
		group := own[0]
		plan.resize(KindPodGroup, group.GroupRef, GroupTemplate{template.Name, group.MinCount}, template.MinCount)
		return group.GroupRef
	case !isNew(&s.Job, c):
		if template.MinCount > 0 {
			plan.goWithoutGroup("snapshot.groups.podGroups", "none of the job, which has run already")
		}
		return GroupRef{}
	}

	group := GroupRef{Name: podGroupName(workload.Name, template.Name)}
	plan.Groups = append(plan.Groups, GroupWrite{
		Kind:     KindPodGroup,
		GroupRef: group,
		Template: template.Name,
		MinCount: template.MinCount,
		Workload: workload,
		Reason:   GroupNew,
	})
	return group
}

// resize plans another size for a gang. A policy never changes from basic to gang or back.
func (p *Plan) resize(kind GroupKind, ref GroupRef, template GroupTemplate, size int32) {
	if template.MinCount > 0 && size > 0 && template.MinCount != size {
		p.Groups = append(p.Groups, GroupWrite{
			Kind:     kind,
			GroupRef: ref,
			Template: template.Name,
			MinCount: size,
			Reason:   GroupResized,
		})
	}
}

func (p *Plan) goWithoutGroup(field, found string) {
	(*noteList)(&p.Notes).add(field, found, "new pods are in no group")
}

// isNew reports whether the job has never had a pod, as far as it shows. Only such a job gets a
// workload or a pod group: the pods of an older one would be in the group in part.
func isNew(j *Job, c *census) bool {
	status := &j.Status
	return c.pods == 0 &&
		status.StartTime.IsZero() &&
		status.Succeeded == 0 &&
		status.Failed == 0 &&
		status.find(ConditionSuspended) == nil
}

// maxGroupName is the longest name that an object can have.
const maxGroupName = 253

// workloadName is the name of the workload of a job: the same in each round, and another one for
// another job of that name.
func workloadName(j *Job) string {
	hash := nameHash("(types.UID)" + string(j.UID))
	return j.Name[:min(len(j.Name), maxGroupName-len(hash)-1)] + "-" + hash
}

// podGroupName is the name of the pod group that is made from a template. Where the two names have
// no room, each keeps at least half of it.
func podGroupName(workload, template string) string {
	hash := nameHash(workload + template)
	room := maxGroupName - len(hash) - 2
	first := workload[:min(len(workload), max(room-room/2, room-len(template)))]
	second := template[:min(len(template), room-len(first))]
	return first + "-" + second + "-" + hash
}

// nameHash is a hash of text in letters that spell no words, as in names of Kubernetes.
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
