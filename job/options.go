package job

import (
	"time"

	"github.com/batchplan/batchplan/backoff"
)

// Options choose where users want different behaviour. The zero value is what
// the library recommends: Kubernetes without its slips. [Kubernetes136] has the
// slips, too.
type Options struct {
	// Backoff is the delay after failures: 10 s doubling up to 10 min by default (J31).
	Backoff backoff.Policy `json:"backoff,omitzero"`
	// PendingTimeout is how long after its creation a pod may stay Pending; then it
	// is deleted and counts as failed. Zero means for ever.
	PendingTimeout time.Duration `json:"pendingTimeout,omitempty"`
	// TerminatingTimeout is how long a terminating pod may outstay the time by which
	// it must be gone, where only failed pods are replaced; then it counts as failed
	// and is replaced. Zero means for ever.
	TerminatingTimeout time.Duration `json:"terminatingTimeout,omitempty"`
	// SuccessBeatsDeadline lets a job succeed whose successes suffice in the round
	// in which its deadline passes; otherwise it fails (J23 before J25, J26).
	SuccessBeatsDeadline bool `json:"successBeatsDeadline,omitempty"`
	// MaxIgnoredFailures is how many failures the podFailurePolicy may ignore, in
	// the whole job, or in each index with backoffLimitPerIndex; later ones count.
	// It is looked at once a round. Zero means no limit.
	MaxIgnoredFailures int32 `json:"maxIgnoredFailures,omitempty"`
	// TTLSecondsAfterComplete and TTLSecondsAfterFailed take the place of
	// spec.ttlSecondsAfterFinished for that outcome (T2).
	TTLSecondsAfterComplete *int32 `json:"ttlSecondsAfterComplete,omitempty"`
	TTLSecondsAfterFailed   *int32 `json:"ttlSecondsAfterFailed,omitempty"`
	// Slips are mistakes of the reference to make as well.
	Slips Slips `json:"slips,omitempty"`
}

// Slips are places where Kubernetes 1.36 plainly does the wrong thing. Each can be
// switched on by itself.
type Slips uint16

const (
	// SlipDeleteCounts lowers status.ready by deletions that failed, and raises
	// status.terminating by pods that were gone already, for one round.
	SlipDeleteCounts Slips = 1 << iota
	// SlipUncheckedUntrack removes a finalizer before a deletion whatever became of
	// the pod, and so loses successes (JI9). It also deletes pods in the round that
	// adopts them.
	SlipUncheckedUntrack
	// SlipCoarseRequeue looks again after a backoff not before a second has passed,
	// and neither when the first of several waiting indexes is due while others are
	// created, nor when expectations time out, which takes an instant longer.
	SlipCoarseRequeue
	// SlipUnseenCompletion completes a job while own writes have not been seen (JI8).
	SlipUnseenCompletion
	// SlipEarlyEvents tells that a job was suspended or resumed before the status is
	// written, and again if that fails (J41).
	SlipEarlyEvents
	// SlipRefusedAreActive counts pods that a namespace under deletion has refused as
	// active for one round, and waits five minutes to see them (J34).
	SlipRefusedAreActive
	// SlipEarlierFailure counts the backoff from the latest failure that a round has
	// found, though one found before may have happened later, and forgets a failure
	// with whose round no status was written (J31).
	SlipEarlierFailure
	// SlipUnmatchedStay leaves the finalizer on pods that do not match the selector any
	// more while the job is being deleted, and so blocks a foreground deletion (J6, L4).
	SlipUnmatchedStay
	// SlipFullRound takes a round that records exactly 500 pods for one that has left
	// some out (J35).
	SlipFullRound
	// SlipSuspendedRewritten writes over a condition Suspended that has the right
	// status and another reason or message, reports the event, and sets the start time
	// anew, which an API server refuses for a job that runs (J39).
	SlipSuspendedRewritten
	// SlipWaitingTakeRoom looks for indexes to create among the 500 lowest pending ones
	// only: those that wait for their backoff take room from those that are due, and 500
	// of them hold back all others (J31, J33).
	SlipWaitingTakeRoom
	// SlipMiscount counts in the facts what the metrics of the reference count: a failed
	// creation as a successful one besides, an ignored failure in each round that cannot
	// remove the finalizer, and nothing of a status write whose reply was lost, or of pods
	// that lost their finalizer in a round that could not remove all of them (J42, JI27).
	SlipMiscount
)

// Kubernetes136 returns the options with which the planner decides exactly as the
// controllers of Kubernetes 1.36 do, slips included.
func Kubernetes136() Options {
	return Options{Slips: SlipDeleteCounts | SlipUncheckedUntrack |
		SlipCoarseRequeue | SlipUnseenCompletion | SlipEarlyEvents | SlipRefusedAreActive | SlipEarlierFailure | SlipUnmatchedStay | SlipFullRound |
		SlipSuspendedRewritten | SlipWaitingTakeRoom | SlipMiscount}
}

func (s Slips) has(slip Slips) bool { return s&slip != 0 }

func (o *Options) check() error {
	fields := [...]struct {
		name  string
		value int64
	}{
		{"options.pendingTimeout", int64(o.PendingTimeout)},
		{"options.terminatingTimeout", int64(o.TerminatingTimeout)},
		{"options.maxIgnoredFailures", int64(o.MaxIgnoredFailures)},
		{"options.ttlSecondsAfterComplete", int64(orZero(o.TTLSecondsAfterComplete))},
		{"options.ttlSecondsAfterFailed", int64(orZero(o.TTLSecondsAfterFailed))},
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
