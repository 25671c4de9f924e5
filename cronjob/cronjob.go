package cronjob

import (
	"encoding/json"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// CronJob is what the planner knows of a CronJob object: its identity, its spec
// and the status that was last written.
type CronJob struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Version grows with every write of the CronJob; 0 means that the backend has none. A backend
	// can write a status on condition of it; plans do not depend on it.
	Version int64 `json:"version,omitempty"`
	// UID tells this CronJob from an earlier one of the same name. It must not be
	// empty.
	UID job.UID `json:"uid"`
	// CreationTimestamp is when the CronJob was accepted: earlier runs do not count (C7).
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
	// DeletionTimestamp is set while the CronJob is being deleted: nothing is
	// started then (C6).
	DeletionTimestamp time.Time `json:"deletionTimestamp,omitzero"`
	// SpecChanged is when the spec was last changed, or later: what SkipOnResume and
	// SkipOnEdit set aside came due before it. Zero means unknown: then a change counts
	// from the round that sees it, and runs in between are also set aside.
	SpecChanged time.Time `json:"specChanged,omitzero"`
	Spec        Spec      `json:"spec"`
	Status      Status    `json:"status,omitzero"`
}

// Spec is a batch/v1 CronJobSpec. It has the JSON of batch/v1. What the
// planner does not need of the job template is ignored.
type Spec struct {
	// Schedule is five fields or a descriptor (S1). [Compile] reads it.
	Schedule string `json:"schedule"`
	// TimeZone names the zone of the schedule. If it is nil, the options of Compile
	// decide. Without such an option the zone is UTC.
	TimeZone *string `json:"timeZone,omitempty"`
	// StartingDeadlineSeconds is how late a run may start. Nil means any time, as
	// long as it is the latest.
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
	// ConcurrencyPolicy is Allow when empty.
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	// Suspend stops new runs; those that were started continue.
	Suspend *bool `json:"suspend,omitempty"`
	// JobTemplate is the part of the template that the planner passes on.
	JobTemplate JobTemplate `json:"jobTemplate"`
	// SuccessfulJobsHistoryLimit and FailedJobsHistoryLimit are how many finished
	// jobs are kept; nil keeps all, [Default] sets 3 and 1.
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	FailedJobsHistoryLimit     *int32 `json:"failedJobsHistoryLimit,omitempty"`
}

// ConcurrencyPolicy is what to do with a run that is due while an earlier one is active.
type ConcurrencyPolicy string

// The concurrency policies of batch/v1.
const (
	// Allow starts the run beside other active jobs.
	Allow ConcurrencyPolicy = "Allow"
	// Forbid does not start the run while another is active (C11).
	Forbid ConcurrencyPolicy = "Forbid"
	// Replace deletes the active runs first (C12).
	Replace ConcurrencyPolicy = "Replace"
)

// JobTemplate is what a created job copies of its template's metadata. What a
// backend needs to build the job stays with the backend.
type JobTemplate struct {
	Labels      map[string]string
	Annotations map[string]string
}

type templateJSON struct {
	Metadata struct {
		Labels      map[string]string `json:"labels,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	} `json:"metadata,omitzero"`
}

// UnmarshalJSON reads a batch/v1 JobTemplateSpec and keeps what the planner needs.
func (t *JobTemplate) UnmarshalJSON(data []byte) error {
	var in templateJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*t = JobTemplate{Labels: in.Metadata.Labels, Annotations: in.Metadata.Annotations}
	return nil
}

// MarshalJSON writes a batch/v1 JobTemplateSpec that holds what the planner needs.
func (t JobTemplate) MarshalJSON() ([]byte, error) {
	var out templateJSON
	out.Metadata.Labels, out.Metadata.Annotations = t.Labels, t.Annotations
	return json.Marshal(out)
}

func (c *CronJob) isDeleted() bool   { return !c.DeletionTimestamp.IsZero() }
func (c *CronJob) isSuspended() bool { return value.Of(c.Spec.Suspend) }
