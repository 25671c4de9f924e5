package job

import "github.com/batchplan/batchplan/internal/enum"

// DeleteReason is why a pod is deleted.
type DeleteReason uint8

// The reasons to delete a pod.
const (
	// DeleteEnding: the job is ending (J27).
	DeleteEnding DeleteReason = 1 + iota
	// DeleteSuspended: the job is suspended (J28).
	DeleteSuspended
	// DeleteNoIndex: the pod of an Indexed job has no index (J29).
	DeleteNoIndex
	// DeleteIndexOutOfRange: the index is not below completions (J15, J29).
	DeleteIndexOutOfRange
	// DeleteDuplicateIndex: a more valuable pod has the same index (J29).
	DeleteDuplicateIndex
	// DeleteSurplus: more pods are active than wanted (J29).
	DeleteSurplus
	// DeletePending: the pod has not started in time (Options.PendingTimeout).
	DeletePending
)

const deleteNames = "|Ending|Suspended|NoIndex|IndexOutOfRange|DuplicateIndex|Surplus|Pending"

const deleteReasons = "unspecified|" +
	"the job is ending (J27)|" +
	"the job is suspended (J28)|" +
	"the pod has no completion index (J29)|" +
	"the completion index is out of range (J29)|" +
	"a more valuable pod has the same index (J29)|" +
	"more pods are active than wanted (J29)|" +
	"the pod has not started in time (PendingTimeout)"

// String is a sentence for people.
func (r DeleteReason) String() string { return enum.String(deleteReasons, int(r), "DeleteReason") }

// MarshalText returns the name of the constant without Delete.
func (r DeleteReason) MarshalText() ([]byte, error) {
	return []byte(enum.String(deleteNames, int(r), "DeleteReason")), nil
}

// UnmarshalText reads what MarshalText returns.
func (r *DeleteReason) UnmarshalText(text []byte) error {
	i, err := enum.Parse(deleteNames, string(text), "reason")
	*r = DeleteReason(i)
	return err
}

// CreateReason is why a pod is created. The metric job_controller_job_pods_creation_total
// has the same values (J42).
type CreateReason uint8

// The reasons to create a pod.
const (
	// CreateNew: the job has no failed or terminating pod to replace.
	CreateNew CreateReason = 1 + iota
	// CreateReplacement: a pod has failed or is terminating. The latter is not replaced
	// where only failed pods are; the metric says the same.
	CreateReplacement
	// CreateReplacementOfFailed: a failed pod is replaced, where terminating pods
	// are not.
	CreateReplacementOfFailed
)

const createNames = "|New|Replacement|ReplacementOfFailed"

const createReasons = "unspecified|" +
	"fewer pods are active than wanted (J30)|" +
	"replaces a failed or terminating pod (J30)|" +
	"replaces a failed pod (J30)"

// String is a sentence for people.
func (r CreateReason) String() string { return enum.String(createReasons, int(r), "CreateReason") }

// MarshalText returns the name of the constant without Create.
func (r CreateReason) MarshalText() ([]byte, error) {
	return []byte(enum.String(createNames, int(r), "CreateReason")), nil
}

// UnmarshalText reads what MarshalText returns.
func (r *CreateReason) UnmarshalText(text []byte) error {
	i, err := enum.Parse(createNames, string(text), "reason")
	*r = CreateReason(i)
	return err
}

// Metric returns the value of the metric's label "reason".
func (r CreateReason) Metric() string {
	switch r {
	case CreateReplacement:
		return "recreate_terminating_or_failed"
	case CreateReplacementOfFailed:
		return "recreate_failed"
	}
	return "new"
}

// WaitReason is what a job waits for. Package cronjob has further reasons, with numbers of
// their own from 64.
type WaitReason uint8

// The reasons to wait.
const (
	// WaitBackoff: pods are wanted, held back after failures (J31).
	WaitBackoff WaitReason = 1 + iota
	// WaitIndexBackoff: indexes are due later, each after its own failures (J31).
	WaitIndexBackoff
	// WaitDeadline: the job fails when activeDeadlineSeconds have passed (J23).
	WaitDeadline
	// WaitExpectations: own writes have not been seen yet (E1).
	WaitExpectations
	// WaitReplacement: terminating pods must end before they are replaced (J30).
	WaitReplacement
	// WaitPods: active pods, including this plan's, have not finished.
	WaitPods
	// WaitSuspended: the job is suspended (J28).
	WaitSuspended
	// WaitTerminating: the end waits for terminating pods (J38).
	WaitTerminating
	// WaitUncounted: finished pods wait for a later round to be recorded (J35).
	WaitUncounted
	// WaitObserved: the status that was written last has not been seen yet (E5, E6).
	WaitObserved
	// WaitManagedBy: another controller manages the job (J3).
	WaitManagedBy
	// WaitDeleted: the job is being deleted.
	WaitDeleted
	// WaitUnknownMode: the completion mode is not known to this version (J5).
	WaitUnknownMode
	// WaitTimeout: a pod that does not start or end is given up at a time
	// (Options.PendingTimeout, Options.TerminatingTimeout).
	WaitTimeout
	// WaitAdoption: pods are managed once the adopted ones are seen as such (J6).
	WaitAdoption
	// WaitParallelism: pods are wanted, and parallelism allows none.
	WaitParallelism
	// WaitFinished: the job has finished, nothing is left to do (J4).
	WaitFinished
	// WaitNext: the next round builds on what this one has written (L9).
	WaitNext
)

const waitNames = "|Backoff|IndexBackoff|Deadline|Expectations|Replacement|Pods|Suspended|Terminating|Uncounted|" +
	"Observed|ManagedBy|Deleted|UnknownMode|Timeout|Adoption|Parallelism|Finished|Next"

// cronJobWaits is the first reason of package cronjob, and cronJobWaitNames are the names
// of its reasons.
const (
	cronJobWaits     WaitReason = 64
	cronJobWaitNames            = "NextRun|Never|Active|Verify|StartDeadline|NameTaken|NoSchedule|" +
		"Clock|History|Trigger|Record|Backfill|Stale|Failures"
)

// MarshalText returns the name of the constant without Wait.
func (r WaitReason) MarshalText() ([]byte, error) {
	if r >= cronJobWaits {
		return []byte(enum.String(cronJobWaitNames, int(r-cronJobWaits), "WaitReason")), nil
	}
	return []byte(enum.String(waitNames, int(r), "WaitReason")), nil
}

// UnmarshalText reads what MarshalText returns.
func (r *WaitReason) UnmarshalText(text []byte) error {
	if i, err := enum.Parse(cronJobWaitNames, string(text), "reason"); err == nil && len(text) > 0 {
		*r = cronJobWaits + WaitReason(i)
		return nil
	}

	i, err := enum.Parse(waitNames, string(text), "reason")
	*r = WaitReason(i)
	return err
}
