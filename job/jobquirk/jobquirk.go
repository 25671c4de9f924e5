// Package jobquirk names wrong decisions of the Job controller of Kubernetes. The planner of
// package job does not make them by default. Its Options can switch on each quirk separately, and
// job.Kubernetes returns options with the quirks of a release. Unless its comment says otherwise, a
// quirk is in all releases from 1.31 to 1.37. docs/divergences.md describes each of them.
package jobquirk

import (
	"iter"

	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job/release"
)

// A Quirk is a wrong decision of Kubernetes.
type Quirk uint8

const (
	// DeleteCounts lowers status.ready by deletions that failed, and raises
	// status.terminating by pods that were gone already, for one round.
	DeleteCounts Quirk = 1 + iota
	// UncheckedUntrack removes a finalizer before a deletion without checking that the pod is
	// unchanged, and so loses successes (JI9). It also adopts pods without that check, and deletes
	// pods in the round that adopts them. If a pod was adopted and recorded, but the snapshot lacks
	// the adoption and the pod cannot be adopted again, its UID is counted before its finalizer is
	// gone (JI3).
	UncheckedUntrack
	// CoarseRequeue waits at least one second before it plans again after a backoff, and before a
	// controller plans again when the last pod of a job has ended (J43). If a round creates pods, it
	// does not wait for the first backoff of other indexes. It does not plan again when expectations
	// time out, and they time out an instant later.
	CoarseRequeue
	// UnseenCompletion completes a job although the controller has not seen all of its own writes
	// (JI8). From 1.36 this happens only after creations that a terminating namespace has refused,
	// since the controller otherwise waits for its caches.
	UnseenCompletion
	// EarlyEvents reports, before the status is written, that a job was suspended or resumed. It
	// reports that again if the write fails (J41).
	EarlyEvents
	// RefusedAreActive counts a creation as an active pod for one round, although a terminating
	// namespace has refused it, and waits five minutes to see that pod (J34).
	RefusedAreActive
	// EarlierFailure lets the backoff begin at the latest failure of this round, even if an earlier
	// round has found a later failure. It forgets the failures of a round that has written no
	// status (J31).
	EarlierFailure
	// UnmatchedStay leaves the finalizer on pods that do not match the selector any
	// more while the job is being deleted, and so blocks a foreground deletion (J6, L4).
	UnmatchedStay
	// FullRound treats a round that records exactly 500 pods as one that has left some out (J35).
	FullRound
	// SuspendedRewritten overwrites a condition Suspended that has the right status but another
	// reason or message. It reports the event again, and sets a new start time, which an API server
	// refuses for a job that runs (J39).
	SuspendedRewritten
	// WaitingTakeRoom looks for indexes to create only among the 500 lowest pending indexes.
	// Indexes that wait for their backoff take room from those that are due. If 500 indexes wait,
	// no other index is created (J31, J33).
	WaitingTakeRoom
	// Miscount repeats the mistakes of Kubernetes in the metrics. A failed creation also counts as
	// a successful one. An ignored failure counts in each round that cannot remove the finalizer.
	// If the reply to a status write was lost, its figures are not counted. Nor are pods that lost
	// their finalizer in a round that could not remove all of them (J42, JI27).
	Miscount
	// HeldIsIdle records 0 active pods while a backoff delays the creation of missing pods, even if
	// other pods run (J11, J31). If a running pod is ready, the API server refuses the status. In
	// releases up to 1.33, 1.34.9 and 1.35.7 (kubernetes#139457).
	HeldIsIdle
	// UnseenEnd plans a finished job again until its final status is seen, and may create pods for
	// it (E5). In releases up to 1.33.
	UnseenEnd
	// SidecarsUnranked leaves the restarts of sidecars out of the order in which pods are deleted
	// (J29). Only in 1.31.
	SidecarsUnranked
)

// lastOfAll is the last of the quirks that are in every release.
const lastOfAll = Miscount

// Of returns the quirks of a release.
func Of(r release.Release) Set {
	var set Set
	for q := DeleteCounts; q <= lastOfAll; q++ {
		set = set.With(q)
	}
	if !r.IsFrom(release.V134().At(10), release.V135().At(8), release.V136()) {
		set = set.With(HeldIsIdle)
	}
	if !r.IsFrom(release.V134()) {
		set = set.With(UnseenEnd)
	}
	if !r.IsFrom(release.V132()) {
		set = set.With(SidecarsUnranked)
	}
	return set
}

// names are in the order of the quirks.
const names = "DeleteCounts|UncheckedUntrack|CoarseRequeue|UnseenCompletion|EarlyEvents|" +
	"RefusedAreActive|EarlierFailure|UnmatchedStay|FullRound|SuspendedRewritten|" +
	"WaitingTakeRoom|Miscount|HeldIsIdle|UnseenEnd|SidecarsUnranked"

// String returns the name of the quirk.
func (q Quirk) String() string { return enum.String(names, int(q)-1, "Quirk") }

// Set is a set of quirks. The zero value is the empty set. Sets can be compared with == and used as
// keys. As text and in JSON they are lists of names.
type Set struct{ quirks enum.Set[Quirk] }

// SetOf returns the set of the quirks.
func SetOf(quirks ...Quirk) Set { return Set{}.With(quirks...) }

// IsZero reports whether the set is empty.
func (s Set) IsZero() bool { return s.quirks.IsZero() }

// Has reports whether the quirk is in the set.
func (s Set) Has(q Quirk) bool { return s.quirks.Has(q) }

// Equal is ==. Package go-cmp calls it.
func (s Set) Equal(other Set) bool { return s == other }

// With returns the set with the quirks added. A number that is not a quirk is left out.
func (s Set) With(quirks ...Quirk) Set { return Set{s.quirks.With(names, quirks...)} }

// Without returns the set without the quirks.
func (s Set) Without(quirks ...Quirk) Set { return Set{s.quirks.Without(quirks...)} }

// All returns the quirks in the set, in the order of their constants.
func (s Set) All() iter.Seq[Quirk] { return s.quirks.All() }

// String lists the quirks by name, with commas between them.
func (s Set) String() string { return s.quirks.Text(names) }

// MarshalText is [Set.String].
func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes. Names may have spaces around them. An unknown name
// is an error and changes nothing.
func (s *Set) UnmarshalText(text []byte) error { return enum.ReadSet(&s.quirks, names, text) }
