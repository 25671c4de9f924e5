package job

import (
	"cmp"
	"errors"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/release"
)

// Options change the behaviour of the planner. The zero value is recommended: it decides as
// Kubernetes does, without its quirks. [Kubernetes] returns options with the quirks of a release.
type Options struct {
	// Backoff is the delay after failures: 10 s doubling up to 10 min by default (J31).
	Backoff backoff.Policy `json:"backoff,omitzero"`
	// PendingTimeout is the time for which a pod may stay Pending after its creation. After that it
	// is deleted and counts as failed. Zero means no limit. A pod without a creation time has no
	// limit.
	PendingTimeout time.Duration `json:"pendingTimeout,omitempty,format:nano"`
	// TerminatingTimeout is how long a terminating pod may exist after its deletionTimestamp, the
	// end of its grace period. After that it counts as failed and is replaced. It has an effect
	// only if pods must end before they are replaced. Zero means no limit.
	TerminatingTimeout time.Duration `json:"terminatingTimeout,omitempty,format:nano"`
	// SuccessBeatsDeadline lets a job succeed if it has enough successes in the round in which its
	// deadline passes. Without it, such a job fails (J23 before J25, J26).
	SuccessBeatsDeadline bool `json:"successBeatsDeadline,omitempty"`
	// MaxIgnoredFailures is the number of failures that the podFailurePolicy may ignore in the
	// whole job or, with backoffLimitPerIndex, in each index. Later failures count. The limit is
	// checked once per round. Zero means no limit.
	MaxIgnoredFailures int32 `json:"maxIgnoredFailures,omitempty"`
	// MaxPodWrites is the most pods that a round creates, and the most surplus pods that
	// it deletes (J30). Zero means 500.
	MaxPodWrites int32 `json:"maxPodWrites,omitempty"`
	// MaxUncounted limits a sum: the UIDs in the uncounted lists of a status, plus the new
	// completed indexes whose pods lose their finalizers in the same round (J35). Zero means 500.
	MaxUncounted int32 `json:"maxUncounted,omitempty"`
	// NoSuccessCriteriaMet leaves out the condition SuccessCriteriaMet. It is for API servers whose
	// feature gates JobManagedBy and JobPodReplacementPolicy are off, which refuse the condition.
	// Other servers require it before Complete. A job with a successPolicy always gets the
	// condition. Other jobs become complete even while pods terminate: no condition could store the
	// success until the pods are gone (J38). If field Without has both gates, this option changes
	// nothing: then only a podFailurePolicy or a successPolicy announces an end.
	NoSuccessCriteriaMet bool `json:"noSuccessCriteriaMet,omitempty"`
	// ControllerName is the name of this controller in spec.managedBy (J3). Empty means
	// ControllerName. A controller of another name plans only jobs that name it.
	ControllerName string `json:"controllerName,omitempty"`
	// TTLSecondsAfterComplete and TTLSecondsAfterFailed replace spec.ttlSecondsAfterFinished of
	// complete and of failed jobs (T2).
	TTLSecondsAfterComplete *int32 `json:"ttlSecondsAfterComplete,omitempty"`
	TTLSecondsAfterFailed   *int32 `json:"ttlSecondsAfterFailed,omitempty"`
	// Gangs makes a workload and a pod group for each new job that nobody controls. New pods of the
	// job refer to the group. Kubernetes from 1.37 does this with the gate WorkloadWithJob (J44).
	// The snapshot then needs Groups, and the backend has to write them.
	Gangs bool `json:"gangs,omitempty"`
	// Without are the feature gates that are off: see docs/releases.md. Fields that belong
	// to one of them are ignored.
	Without release.Gates `json:"without,omitzero"`
	// Quirks are odd decisions of Kubernetes to follow: see package jobquirk.
	Quirks jobquirk.Set `json:"quirks,omitzero"`
}

// Kubernetes returns the options with which the planner decides as the controllers of a
// release do, with its gates and its quirks.
func Kubernetes(r release.Release) Options {
	const asOption = release.WorkloadWithJob // off in every release unless it is asked for
	return Options{Quirks: jobquirk.Of(r), Without: r.Off().Without(asOption), Gangs: r.Has(asOption)}
}

// IsZero reports whether the options are the zero value.
func (o Options) IsZero() bool { return o == Options{} }

// Validate checks the options. All problems are reported together: the error joins an [*InputError]
// for each, which names the field and its value. With invalid options a round returns this error
// and no plan.
func (o Options) Validate() error {
	if o == (Options{Quirks: o.Quirks, Without: o.Without, Gangs: o.Gangs}) {
		return nil // the common case
	}

	fields := [...]struct {
		name  string
		value int64
	}{
		{"options.pendingTimeout", int64(o.PendingTimeout)},
		{"options.terminatingTimeout", int64(o.TerminatingTimeout)},
		{"options.maxIgnoredFailures", int64(o.MaxIgnoredFailures)},
		{"options.maxPodWrites", int64(o.MaxPodWrites)},
		{"options.maxUncounted", int64(o.MaxUncounted)},
		{"options.ttlSecondsAfterComplete", int64(value.Of(o.TTLSecondsAfterComplete))},
		{"options.ttlSecondsAfterFailed", int64(value.Of(o.TTLSecondsAfterFailed))},
	}

	var all []error
	for i := range fields {
		if f := &fields[i]; f.value < 0 {
			all = append(all, invalid(f.name, f.value, "must not be negative"))
		}
	}
	for _, err := range problems.Split(o.Backoff.Validate()) {
		if in := (*backoff.InputError)(nil); errors.As(err, &in) {
			field := "options.backoff." + in.Field
			all = append(all, &InputError{Field: field, Value: in.Value, Problem: in.Problem, Err: in})
		}
	}
	return errors.Join(all...)
}

// podWrites and uncounted return the limits of a round.
func (o *Options) podWrites() int { return cmp.Or(int(o.MaxPodWrites), maxPodWrites) }
func (o *Options) uncounted() int { return cmp.Or(int(o.MaxUncounted), maxUncounted) }
