package jobgroup

import (
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job/jobreason"
)

// TemplateAnnotation is the annotation by which a job's controller leaves the pod group to
// the job: its value is the name of a template in the controller's workload.
const TemplateAnnotation = "scheduling.k8s.io/group-template-name"

// Groups are the workloads and pod groups in a snapshot, and the facts that decide which of them
// are the job's (J44). They are ignored without job.Options.Gangs.
type Groups struct {
	// Controlled is true if another object controls the job, as a CronJob does.
	Controlled bool `json:"controlled,omitempty"`
	// Template is the value of the annotation TemplateAnnotation, nil if the job has none.
	Template *string `json:"template,omitempty"`
	// Preset is true if the pod template already refers to a pod group.
	Preset bool `json:"preset,omitempty"`
	// Workloads are the workloads whose spec.controllerRef names the job or, if the job is
	// controlled, its controller.
	Workloads []Workload `json:"workloads,omitempty"`
	// PodGroups are the pod groups whose spec.workloadRef names one of the workloads.
	PodGroups []PodGroup `json:"podGroups,omitempty"`
}

// Workload is a template for pod groups.
type Workload struct {
	Ref
	// Foreign is true if the job is not the workload's controller.
	Foreign   bool       `json:"foreign,omitempty"`
	Templates []Template `json:"templates,omitempty"`
}

// Template is a template in a workload.
type Template struct {
	Name string `json:"name"`
	// MinCount is the size of the gang; 0 means the policy basic.
	MinCount int32 `json:"minCount,omitempty"`
}

// PodGroup is a group of pods that are scheduled together. Each of the pods names it.
type PodGroup struct {
	Ref
	// Foreign is true if the job is not the group's controller.
	Foreign bool `json:"foreign,omitempty"`
	// Workload is the name of the workload that the group is made from.
	Workload string `json:"workload"`
	// MinCount is the size of the gang; 0 means the policy basic.
	MinCount int32 `json:"minCount,omitempty"`
}

// Ref names a workload or a pod group. References can be compared with ==.
type Ref struct {
	Name string `json:"name"`
	// UID is empty in a plan that creates the object. The Effect of the write has it.
	UID expectations.UID `json:"uid,omitempty"`
}

// Kind is Workload or PodGroup.
type Kind uint8

// The kinds of groups, as in scheduling.k8s.io.
const (
	KindWorkload Kind = 1 + iota
	KindPodGroup
)

const kinds = "|Workload|PodGroup"

// String returns the kind as in the manifest of an object.
func (k Kind) String() string { return enum.String(kinds, int(k), "Kind") }

// MarshalText is [Kind.String].
func (k Kind) MarshalText() ([]byte, error) { return enum.Text(kinds, int(k), "Kind") }

// UnmarshalText reads what MarshalText returns. Any other text is an error and changes nothing.
func (k *Kind) UnmarshalText(text []byte) error { return enum.Read(k, kinds, text, "kind") }

// Write is a workload or a pod group to create or to resize.
type Write struct {
	Kind Kind `json:"kind"`
	// Ref names the object to resize. Without a UID the object is to be created; if the name is
	// taken, the write fails.
	Ref
	// Template is the name of the template in the workload. A pod group is made from it.
	Template string `json:"template"`
	// MinCount is the size of the gang. In a creation, 0 means the policy basic.
	MinCount int32 `json:"minCount,omitempty"`
	// Workload is the workload from which a pod group is made. It becomes an owner of the group,
	// but not its controller. If its UID is still empty when the group is created, the workload
	// belongs to the job's controller and does not become an owner.
	Workload Ref    `json:"workload,omitzero"`
	Reason   Reason `json:"reason"`
}

// Reason tells why a workload or a pod group is written.
type Reason uint8

// The reasons to write a workload or a pod group.
const (
	// ReasonNew: the job has never had a pod, and has no such object (J44).
	ReasonNew Reason = 1 + iota
	// ReasonResized: the gang has another size now (J45).
	ReasonResized
)

const groupNames = "|New|Resized"

const groupReasons = "unspecified|" +
	"the job has never had a pod, and has none (J44)|" +
	"the gang has another size now (J45)"

// String returns the reason as a sentence.
func (r Reason) String() string { return enum.String(groupReasons, int(r), "Reason") }

// MarshalText returns the name of the constant without Reason.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(groupNames, int(r), "Reason") }

// UnmarshalText reads what MarshalText returns. Any other text is an error and changes nothing.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Read(r, groupNames, text, "reason") }

// Effect is the result of one write to a workload or a pod group.
type Effect struct {
	Result jobreason.Result `json:"result,omitzero"`
	// UID is the UID of the object. If the plan has created the object, the UID goes into
	// Write.Workload and job.Creation.Group.
	UID expectations.UID `json:"uid,omitempty"`
	// Error is the text of the error, for the event.
	Error string `json:"error,omitempty"`
}
