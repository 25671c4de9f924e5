package job

import (
	"encoding/json"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// UID identifies an object: a pod, a job or the owner of one. Empty means none.
type UID = expectations.UID

// Job is the part of a Job object that the planner needs: its identity, its spec and the status
// that was last written.
type Job struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Version grows with every write of the job; 0 means that the backend has none.
	Version int64 `json:"version,omitempty"`
	// UID distinguishes this job from an earlier one of the same name. It must not be empty.
	UID UID `json:"uid"`
	// CreationTimestamp is the time at which the job was accepted.
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
	// DeletionTimestamp is set while the job is being deleted: no pods are managed
	// then, only accounted for.
	DeletionTimestamp time.Time `json:"deletionTimestamp,omitzero"`
	Spec              Spec      `json:"spec"`
	Status            Status    `json:"status,omitzero"`
}

// Spec is a batch/v1 JobSpec. It has the JSON of batch/v1. Fields that the
// planner does not need are ignored.
type Spec struct {
	// Parallelism is the most pods that run concurrently. Required: Default sets it.
	Parallelism *int32 `json:"parallelism,omitempty"`
	// Completions is the number of successes that complete the job. Nil means a
	// work queue: any success completes it, once no pod is active.
	Completions *int32 `json:"completions,omitempty"`
	// CompletionMode is NonIndexed when empty.
	CompletionMode CompletionMode `json:"completionMode,omitempty"`
	// BackoffLimit is the number of failures that the job survives. Required:
	// Default sets it.
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
	// BackoffLimitPerIndex is the number of failures that one index survives (KEP-3850).
	BackoffLimitPerIndex *int32 `json:"backoffLimitPerIndex,omitempty"`
	// MaxFailedIndexes is the number of failed indexes that the job survives.
	MaxFailedIndexes *int32 `json:"maxFailedIndexes,omitempty"`
	// ActiveDeadlineSeconds is the number of seconds that the job may run, counted from
	// status.startTime.
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// TTLSecondsAfterFinished is the number of seconds that a finished job is kept.
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// Suspend stops the job: its active pods are deleted and none is created.
	Suspend *bool `json:"suspend,omitempty"`
	// PodFailurePolicy decides the effect of failed pods (KEP-3329).
	PodFailurePolicy *PodFailurePolicy `json:"podFailurePolicy,omitempty"`
	// SuccessPolicy tells which indexes make the job a success (KEP-3998).
	SuccessPolicy *SuccessPolicy `json:"successPolicy,omitempty"`
	// PodReplacementPolicy tells when a terminating pod is replaced (KEP-3939).
	PodReplacementPolicy PodReplacementPolicy `json:"podReplacementPolicy,omitempty"`
	// ManagedBy names the controller that manages the job (KEP-4368).
	ManagedBy *string `json:"managedBy,omitempty"`
	// Selector decides which pods can belong to the job (J6). Nil selects every pod.
	Selector *Selector `json:"selector,omitempty"`
	// Template is the part of the pod template that the planner needs.
	Template Template `json:"template"`
	// Scheduling tells how the pods are scheduled together (KEP-5547, off by default). Without
	// Options.Gangs the planner ignores it and adds a note.
	Scheduling *jobgroup.Scheduling `json:"scheduling,omitempty"`
}

// CompletionMode tells how completions are counted.
type CompletionMode string

// The completion modes of batch/v1.
const (
	// NonIndexed counts any success.
	NonIndexed CompletionMode = "NonIndexed"
	// Indexed counts one success for each index from 0 to completions-1.
	Indexed CompletionMode = "Indexed"
)

// PodReplacementPolicy tells when a terminating pod is replaced.
type PodReplacementPolicy string

// The replacement policies of batch/v1.
const (
	// ReplaceTerminatingOrFailed replaces a pod as soon as it is being deleted.
	ReplaceTerminatingOrFailed PodReplacementPolicy = "TerminatingOrFailed"
	// ReplaceFailed replaces a pod when it has reached phase Failed, not before.
	ReplaceFailed PodReplacementPolicy = "Failed"
)

// ControllerName is the value of spec.managedBy that names this controller (J3).
const ControllerName = "kubernetes.io/job-controller"

// Template is the part of a pod template that the planner needs. The backend keeps the rest, from
// which it builds pods.
type Template struct {
	// RestartPolicy is Never or OnFailure.
	RestartPolicy RestartPolicy
	// Containers and InitContainers are the names that podFailurePolicy may use.
	Containers     []string
	InitContainers []string
}

// RestartPolicy tells whether the containers of a pod are restarted.
type RestartPolicy string

// The restart policies that a job's pods may have.
const (
	RestartNever     RestartPolicy = "Never"
	RestartOnFailure RestartPolicy = "OnFailure"
)

type templateJSON struct {
	Spec struct {
		RestartPolicy  RestartPolicy   `json:"restartPolicy,omitempty"`
		Containers     []containerName `json:"containers,omitempty"`
		InitContainers []containerName `json:"initContainers,omitempty"`
	} `json:"spec"`
}

type containerName struct {
	Name string `json:"name"`
}

// UnmarshalJSON reads a v1 PodTemplateSpec and keeps what the planner needs.
func (t *Template) UnmarshalJSON(data []byte) error {
	var in templateJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*t = Template{
		RestartPolicy:  in.Spec.RestartPolicy,
		Containers:     plainNames(in.Spec.Containers),
		InitContainers: plainNames(in.Spec.InitContainers),
	}
	return nil
}

// MarshalJSON writes a v1 PodTemplateSpec that holds what the planner needs.
func (t Template) MarshalJSON() ([]byte, error) {
	var out templateJSON
	out.Spec.RestartPolicy = t.RestartPolicy
	out.Spec.Containers = jsonNames(t.Containers)
	out.Spec.InitContainers = jsonNames(t.InitContainers)
	return json.Marshal(out)
}

func plainNames(in []containerName) []string {
	var out []string
	for _, c := range in {
		out = append(out, c.Name)
	}
	return out
}

func jsonNames(in []string) []containerName {
	var out []containerName
	for _, name := range in {
		out = append(out, containerName{name})
	}
	return out
}

// PodFailurePolicy is an ordered list of rules; the first that matches a failed
// pod decides (J21).
type PodFailurePolicy struct {
	Rules []PodFailurePolicyRule `json:"rules"`
}

// PodFailurePolicyRule holds one action and exactly one of the two requirements.
type PodFailurePolicyRule struct {
	Action          FailureAction  `json:"action"`
	OnExitCodes     *OnExitCodes   `json:"onExitCodes,omitempty"`
	OnPodConditions []PodCondition `json:"onPodConditions,omitempty"`
}

// FailureAction is the effect of a rule on a failed pod that matches it.
type FailureAction string

// The actions of a pod failure policy.
const (
	// FailJob ends the job in failure.
	FailJob FailureAction = "FailJob"
	// FailIndex fails the pod's index without further retries.
	FailIndex FailureAction = "FailIndex"
	// IgnoreFailure replaces the pod and counts no failure.
	IgnoreFailure FailureAction = "Ignore"
	// CountFailure counts the failure as if no rule had matched.
	CountFailure FailureAction = "Count"
)

// OnExitCodes matches the exit codes of terminated containers; a zero exit code
// never matches.
type OnExitCodes struct {
	// ContainerName restricts the rule to one container; nil means any.
	ContainerName *string          `json:"containerName,omitempty"`
	Operator      ExitCodeOperator `json:"operator"`
	Values        []int32          `json:"values"`
}

// ExitCodeOperator relates an exit code to the values of a rule.
type ExitCodeOperator string

// The operators of onExitCodes.
const (
	ExitCodeIn    ExitCodeOperator = "In"
	ExitCodeNotIn ExitCodeOperator = "NotIn"
)

// SuccessPolicy is a list of rules; the first that is met makes the job a
// success (J25).
type SuccessPolicy struct {
	Rules []SuccessPolicyRule `json:"rules"`
}

// SuccessPolicyRule names indexes, and how many of them must succeed. At least one of the two
// fields is set.
type SuccessPolicyRule struct {
	SucceededIndexes *string `json:"succeededIndexes,omitempty"`
	SucceededCount   *int32  `json:"succeededCount,omitempty"`
}
