package jobgroup

import (
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job/jobreason"
)

// TemplateAnnotation is the annotation by which a job's controller leaves the pod group to
// the job: its value is the name of a template in the controller's workload.
const TemplateAnnotation = "scheduling.k8s.io/group-template-name"

// Groups are the workloads and pod groups that a round knows, and whose they are (J44). Without
// job.Options.Gangs nothing reads them.
type Groups struct {
	// Controlled is true if another object controls the job, as a CronJob does.
	Controlled bool `json:"controlled,omitempty"`
	// Template is the value of the annotation [TemplateAnnotation], nil if the job has none.
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
	Ref
	// Foreign is true if the job is not its controller.
	Foreign   bool       `json:"foreign,omitempty"`
	Templates []Template `json:"templates,omitempty"`
}

// Template is a template in a workload.
type Template struct {
	Name string `json:"name"`
	// MinCount is the size of the gang; 0 means the policy basic.
	MinCount int32 `json:"minCount,omitempty"`
}

// PodGroup is what pods name to be scheduled together.
type PodGroup struct {
	Ref
	// Foreign is true if the job is not its controller.
	Foreign bool `json:"foreign,omitempty"`
	// Workload is the name of the workload that the group is made from.
	Workload string `json:"workload"`
	// MinCount is the size of the gang; 0 means the policy basic.
	MinCount int32 `json:"minCount,omitempty"`
}

// Ref names a workload or a pod group.
type Ref struct {
	Name string `json:"name"`
	// UID is empty in a plan that creates the object: it is the one of the [Effect].
	UID expectations.UID `json:"uid,omitempty"`
}

// Kind is Workload or PodGroup.
type Kind string

// The kinds of groups, as in scheduling.k8s.io.
const (
	KindWorkload Kind = "Workload"
	KindPodGroup Kind = "PodGroup"
)

// Write is a workload or a pod group to create or to resize.
type Write struct {
	Kind Kind `json:"kind"`
	// Ref is the object to resize. Without UID it is to be created; the name is its lock: if
	// it is taken, the write fails.
	Ref
	// Template is the template in the workload, for a pod group the one that it is made from.
	Template string `json:"template"`
	// MinCount is the size of the gang; 0 means the policy basic, for objects that are created.
	MinCount int32 `json:"minCount,omitempty"`
	// Workload is the one that a pod group is made from. It becomes an owner of the group, not
	// its controller, unless its UID is still empty when the group is created: then it
	// belongs to the job's controller.
	Workload Ref    `json:"workload,omitzero"`
	Reason   Reason `json:"reason"`
}

// Reason is why a workload or a pod group is written.
type Reason uint8

// The reasons to write a workload or a pod group.
const (
	// New: the job has never had a pod, and has none (J44).
	New Reason = 1 + iota
	// Resized: the gang has another size now (J45).
	Resized
)

const groupNames = "|New|Resized"

const groupReasons = "unspecified|" +
	"the job has never had a pod, and has none (J44)|" +
	"the gang has another size now (J45)"

// String is a sentence for people.
func (r Reason) String() string { return enum.String(groupReasons, int(r), "GroupReason") }

// MarshalText returns the name of the constant.
func (r Reason) MarshalText() ([]byte, error) {
	return []byte(enum.String(groupNames, int(r), "GroupReason")), nil
}

// UnmarshalText reads what MarshalText returns.
func (r *Reason) UnmarshalText(text []byte) error {
	i, err := enum.Parse(groupNames, string(text), "reason")
	*r = Reason(i)
	return err
}

// Effect is what became of one write to a workload or a pod group.
type Effect struct {
	Result jobreason.Result `json:"result,omitzero"`
	// UID is the one of the object. It goes where the plan names an object that it creates:
	// into [Write.Workload] and job.Creation.Group.
	UID expectations.UID `json:"uid,omitempty"`
	// Error is the text of the error, for the event.
	Error string `json:"error,omitempty"`
}
