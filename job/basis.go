package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// basis holds the figures of the snapshot that the status is made from.
type basis struct {
	JobUID    UID       `json:"jobUID,omitempty"`
	Now       time.Time `json:"now,omitzero"`
	Status    Status    `json:"status,omitzero"`
	Memory    Memory    `json:"memory,omitzero"`
	StartTime time.Time `json:"startTime,omitzero"`
	// Active, Ready and Terminating are the pods before the plan's writes.
	Active      int32 `json:"active,omitempty"`
	Ready       int32 `json:"ready,omitempty"`
	Terminating int32 `json:"terminating,omitempty"`
	// Counted is the status' share of uncounted UIDs whose finalizers are gone.
	Counted counters `json:"counted,omitzero"`
	// Succeeded is the number of successes, those found in this round included.
	Succeeded   int32  `json:"succeeded,omitempty"`
	Completions *int32 `json:"completions,omitempty"`
	// CompletedIndexes and FailedIndexes are the lists to record, with their size.
	CompletedIndexes      string  `json:"completedIndexes,omitempty"`
	CompletedIndexesCount int32   `json:"completedIndexesCount,omitempty"`
	FailedIndexes         *string `json:"failedIndexes,omitempty"`
	Indexed               bool    `json:"indexed,omitempty"`
	// PerIndex is true when failures are limited index by index.
	PerIndex bool `json:"perIndex,omitempty"`
	// Action is what the round does; empty if the round does not plan the job (J42).
	Action Action `json:"action,omitempty"`
	// Idle plans write nothing, whatever happens meanwhile: the job stays as it is.
	Idle bool `json:"idle,omitempty"`
	// Stopped plans record nothing: the job is not ours, or has ended.
	Stopped bool `json:"stopped,omitempty"`
	// Satisfied is true when the expectations are; Managed, when pods were managed.
	Satisfied bool `json:"satisfied,omitempty"`
	// NoInterim is true when only the end itself is a condition.
	NoInterim bool `json:"noInterim,omitempty"`
	// Consistent is true when each snapshot contains all own writes.
	Consistent bool `json:"consistent,omitempty"`
	Managed    bool `json:"managed,omitempty"`
	Suspend    bool `json:"suspend,omitempty"`
	// Deleted is true while the job is being deleted.
	Deleted bool `json:"deleted,omitempty"`
	// More is true when pods could be created at once that this plan leaves out.
	More bool `json:"more,omitempty"`
	// Capped is true when more pods finished than one round may record (J35).
	Capped bool `json:"capped,omitempty"`
	// Untracking are the finalizer removals of earlier rounds still not seen.
	Untracking expectations.UIDs `json:"untracking,omitzero"`
	// Handled are the pods of Memory.rest.Handled that still have the finalizer.
	Handled expectations.UIDs `json:"handled,omitzero"`
	Backoff backoff.Record    `json:"backoff,omitzero"`
	// Untimed are the failed pods whose finish time nothing tells, by UID.
	Untimed []sighting   `json:"untimed,omitempty"`
	Quirks  jobquirk.Set `json:"quirks,omitempty"`
}

// isStopped reports whether there is nothing to record: the plan says so, or it is
// the zero Plan.
func (b *basis) isStopped() bool { return b.Stopped || b.JobUID == "" }

// counters are what is left of the uncounted lists once the UIDs whose pods have
// lost the finalizer were moved into the counters.
type counters struct {
	Succeeded int32                   `json:"succeeded,omitempty"`
	Failed    int32                   `json:"failed,omitempty"`
	Uncounted UncountedTerminatedPods `json:"uncounted,omitzero"`
}

// startBasis fills an empty basis with what is known before the pods are looked at.
func startBasis(b *basis, s *Snapshot) {
	spec := &s.Job.Spec
	recall(&b.Memory, s)
	b.JobUID = s.Job.UID
	b.Now = s.Now
	b.Status = s.Job.Status
	b.Backoff = b.Memory.Backoff
	b.Untracking = b.Memory.Untracking
	b.Handled = b.Memory.rest.Handled
	b.Untimed = b.Memory.rest.Untimed
	b.Completions = spec.Completions
	b.Indexed = spec.isIndexed()
	b.PerIndex = spec.limitsIndexes()
	b.Suspend = spec.isSuspended()
	b.Deleted = s.Job.isDeleted()
	b.Quirks = s.Options.Quirks
	b.NoInterim = s.Options.NoInterimConditions && s.Job.Spec.SuccessPolicy == nil
	b.Consistent = s.Consistent
	b.Satisfied = isSatisfied(&b.Memory, s.Now, b.Quirks)
}

// fillBasis adds what the status is made from.
func fillBasis(b *basis, s *Snapshot, found *findings) {
	status := &s.Job.Status
	b.StartTime = startTime(&s.Job, s.Now)
	b.Active = clamp32(found.tally.active)
	b.Ready = clamp32(found.tally.ready)
	b.Terminating = clamp32(found.tally.terminating)
	b.Succeeded = clamp32(found.tally.succeeded)
	b.Counted = found.lists.counters(status)
	b.Untracking = stillTracked(b.Memory.Untracking, found.known)
	b.Handled = stillTracked(b.Memory.rest.Handled, found.known)
	if !slices.Equal(found.untimed, b.Memory.rest.Untimed) {
		b.Untimed = slices.Clone(found.untimed)
	}
	if b.Indexed {
		found.indexes.record(b, status, &s.Job.Spec)
	}
}
