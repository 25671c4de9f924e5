package cronjob

import (
	"encoding/json"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// CronJob holds what the planner needs of a CronJob object: its identity, its spec and the status
// that was last written.
type CronJob struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Version grows with every write of the CronJob; 0 means that the backend has no versions. A
	// backend can make the status write conditional on it; plans do not depend on it.
	Version int64 `json:"version,omitempty"`
	// UID distinguishes this CronJob from an earlier one of the same name. It must not be empty.
	UID job.UID `json:"uid"`
	// CreationTimestamp is the time of the CronJob's creation: earlier runs do not count (C7).
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
	// DeletionTimestamp is set while the CronJob is being deleted: then nothing is started (C6).
	DeletionTimestamp time.Time `json:"deletionTimestamp,omitzero"`
	// SpecChanged is the time of the last change of the spec, or a later time: SkipOnResume and
	// SkipOnEdit set aside runs that were due before it. Zero means unknown: then the time of the
	// first round that sees a change is used, and runs between the change and that round are set
	// aside as well.
	SpecChanged time.Time `json:"specChanged,omitzero"`
	Spec        Spec      `json:"spec"`
	Status      Status    `json:"status,omitzero"`
}

// Spec is a batch/v1 CronJobSpec with the same JSON. Parts of the job template that the planner
// does not need are ignored.
type Spec struct {
	// Schedule has five fields or is a descriptor such as @daily (S1). Compile parses it.
	Schedule string `json:"schedule"`
	// TimeZone names the zone of the schedule. If it is nil, the options of Compile
	// decide. Without such an option the zone is UTC.
	TimeZone *string `json:"timeZone,omitempty"`
	// StartingDeadlineSeconds is how late a run may start. Nil means no limit for the latest run.
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
	// ConcurrencyPolicy is Allow when empty.
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	// Suspend stops new runs; jobs that were started continue.
	Suspend *bool `json:"suspend,omitempty"`
	// JobTemplate holds the labels and annotations for new jobs.
	JobTemplate JobTemplate `json:"jobTemplate"`
	// SuccessfulJobsHistoryLimit and FailedJobsHistoryLimit are the numbers of finished jobs to
	// keep. Nil keeps all; Default sets 3 and 1.
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	FailedJobsHistoryLimit     *int32 `json:"failedJobsHistoryLimit,omitempty"`
}

// ConcurrencyPolicy decides what happens to a run that is due while earlier jobs are active.
type ConcurrencyPolicy string

// The concurrency policies of batch/v1.
const (
	// Allow starts the run beside active jobs.
	Allow ConcurrencyPolicy = "Allow"
	// Forbid does not start the run while a job is active (C11).
	Forbid ConcurrencyPolicy = "Forbid"
	// Replace deletes the active jobs first (C12).
	Replace ConcurrencyPolicy = "Replace"
)

// JobTemplate holds the metadata that a created job copies from its template. The backend keeps the
// rest of the template, from which it builds the job.
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

// UnmarshalJSON reads a batch/v1 JobTemplateSpec and keeps its labels and annotations.
func (t *JobTemplate) UnmarshalJSON(data []byte) error {
	var in templateJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*t = JobTemplate{Labels: in.Metadata.Labels, Annotations: in.Metadata.Annotations}
	return nil
}

// MarshalJSON writes a batch/v1 JobTemplateSpec that has only labels and annotations.
func (t JobTemplate) MarshalJSON() ([]byte, error) {
	var out templateJSON
	out.Metadata.Labels, out.Metadata.Annotations = t.Labels, t.Annotations
	return json.Marshal(out)
}

func (c *CronJob) isDeleted() bool   { return !c.DeletionTimestamp.IsZero() }
func (c *CronJob) isSuspended() bool { return value.Of(c.Spec.Suspend) }
