package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/release"
)

// basis holds the values from which Record, Settle and Conclude compute the status, the memory, the
// events and the metrics.
type basis struct {
	Facts    facts    `json:"facts,omitzero"`
	Counts   counts   `json:"counts,omitzero"`
	Progress progress `json:"progress,omitzero"`
	Carried  carried  `json:"carried,omitzero"`
	Course   course   `json:"course,omitzero"`
}

// isStopped reports whether there is nothing to record: the round was stopped, or the plan is the
// zero Plan.
func (b *basis) isStopped() bool { return b.Course.Stopped || b.Facts.JobUID == "" }

// facts are copied from the snapshot and its options.
type facts struct {
	JobUID UID `json:"jobUID,omitempty"`
	// JobName is set where events about groups need it.
	JobName string    `json:"jobName,omitempty"`
	Now     time.Time `json:"now,omitzero"`
	Status  Status    `json:"status,omitzero"`
	// StartTime is the start time to record.
	StartTime   time.Time `json:"startTime,omitzero"`
	Completions *int32    `json:"completions,omitempty"`
	Indexed     bool      `json:"indexed,omitempty"`
	// PerIndex is true with backoffLimitPerIndex.
	PerIndex bool `json:"perIndex,omitempty"`
	Suspend  bool `json:"suspend,omitempty"`
	// Deleted is true while the job is being deleted.
	Deleted bool `json:"deleted,omitempty"`
	// Unannounced is true when Complete comes without SuccessCriteriaMet before it.
	Unannounced bool `json:"unannounced,omitempty"`
	// Consistent is true when each snapshot contains all own writes.
	Consistent bool `json:"consistent,omitempty"`
	// Without are the feature gates that are off.
	Without release.Gates `json:"without,omitzero"`
	Quirks  jobquirk.Set  `json:"quirks,omitzero"`
}

// learn fills the facts from the snapshot.
func (f *facts) learn(s *Snapshot) {
	spec := &s.Job.Spec
	f.JobUID = s.Job.UID
	if s.Options.Gangs {
		f.JobName = s.Job.Name
	}

	f.Now = s.Now
	f.Status = s.Job.Status
	f.Status.Conditions = slices.Clip(f.Status.Conditions) // appending must not write to the snapshot
	f.StartTime = startTime(&s.Job, s.Now)

	f.Completions = spec.Completions
	f.Indexed = spec.isIndexed()
	f.PerIndex = spec.limitsIndexes()
	f.Suspend = spec.isSuspended()

	f.Deleted = s.Job.isDeleted()
	f.Unannounced = s.Options.NoSuccessCriteriaMet && spec.SuccessPolicy == nil
	f.Consistent = s.Consistent
	f.Without = s.Options.Without
	f.Quirks = s.Options.Quirks
}
