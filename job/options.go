package job

import (
	"cmp"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// Options choose where users want different behaviour. The zero value is what
// the library recommends: Kubernetes without its
// quirks. [Kubernetes136] has them.
type Options struct {
	// Backoff is the delay after failures: 10 s doubling up to 10 min by default (J31).
	Backoff backoff.Policy `json:"backoff,omitzero"`
	// PendingTimeout is how long after its creation a pod may stay Pending; then it
	// is deleted and counts as failed. Zero means no limit. A pod
	// whose creation time is not known has none.
	PendingTimeout time.Duration `json:"pendingTimeout,omitempty"`
	// TerminatingTimeout is how long a terminating pod may outstay the time by which
	// it must be gone, where only failed pods are replaced; then it counts as failed
	// and is replaced. Zero means no limit.
	TerminatingTimeout time.Duration `json:"terminatingTimeout,omitempty"`
	// SuccessBeatsDeadline lets a job succeed whose successes suffice in the round
	// in which its deadline passes; otherwise it fails (J23 before J25, J26).
	SuccessBeatsDeadline bool `json:"successBeatsDeadline,omitempty"`
	// MaxIgnoredFailures is how many failures the podFailurePolicy may ignore, in
	// the whole job, or in each index with backoffLimitPerIndex; later ones count.
	// It is looked at once a round. Zero means no limit.
	MaxIgnoredFailures int32 `json:"maxIgnoredFailures,omitempty"`
	// MaxPodWrites is the most pods that a round creates, and the most surplus pods that
	// it deletes (J30). Zero means 500.
	MaxPodWrites int32 `json:"maxPodWrites,omitempty"`
	// MaxUncounted is the most UIDs in the uncounted lists of a status, together with the
	// new completed indexes whose finalizers go in the same round (J35). Zero means 500.
	MaxUncounted int32 `json:"maxUncounted,omitempty"`
	// NoInterimConditions leaves out the conditions FailureTarget and SuccessCriteriaMet,
	// which servers older than the conditions do not know. Newer ones require them before
	// the end. A job with a successPolicy keeps them: a server that knows the policy requires
	// them. Without them, each round decides anew how the job ends, so an end by
	// podFailurePolicy stands only as long as the pod that has caused it.
	NoInterimConditions bool `json:"noInterimConditions,omitempty"`
	// ControllerName is the name of this controller in spec.managedBy (J3). Empty means
	// [ControllerName]. A controller of another name plans only jobs that name it.
	ControllerName string `json:"controllerName,omitempty"`
	// TTLSecondsAfterComplete and TTLSecondsAfterFailed take the place of
	// spec.ttlSecondsAfterFinished for that outcome (T2).
	TTLSecondsAfterComplete *int32 `json:"ttlSecondsAfterComplete,omitempty"`
	TTLSecondsAfterFailed   *int32 `json:"ttlSecondsAfterFailed,omitempty"`
	// Quirks are mistakes of the reference to make as well: see package jobquirk.
	Quirks jobquirk.Set `json:"quirks,omitempty"`
}

// Kubernetes136 returns the options with which the planner decides exactly as the
// controllers of Kubernetes 1.36 do, quirks included.
func Kubernetes136() Options {
	return Options{Quirks: jobquirk.All}
}

func (o *Options) check() error {
	if *o == (Options{Quirks: o.Quirks}) {
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
		{"options.backoff.base", int64(o.Backoff.Base)},
		{"options.backoff.factor", int64(o.Backoff.Factor)},
		{"options.backoff.max", int64(o.Backoff.Max)},
	}
	for i := range fields {
		if f := &fields[i]; f.value < 0 {
			return invalid(f.name, f.value, "must not be negative")
		}
	}
	if err := o.Backoff.Validate(); err != nil {
		return invalid("options.backoff", o.Backoff.Max, err.Error())
	}
	return nil
}

// podWrites and uncounted are the limits of a round.
func (o *Options) podWrites() int { return cmp.Or(int(o.MaxPodWrites), maxPodWrites) }
func (o *Options) uncounted() int { return cmp.Or(int(o.MaxUncounted), maxUncounted) }
