// Package jobquirk names the places where the Job controller of Kubernetes plainly
// does the wrong thing. The planner of package job does not, unless told to: each quirk
// can be switched on by itself in its Options, and job.Kubernetes has the quirks of a release.
// Unless its comment says otherwise, a quirk is in all releases from 1.31 to 1.37.
// docs/divergences.md describes each of them.
package jobquirk

import (
	"iter"

	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job/release"
)

// A Quirk is a place where Kubernetes does the wrong thing.
type Quirk uint8

const (
	// DeleteCounts lowers status.ready by deletions that failed, and raises
	// status.terminating by pods that were gone already, for one round.
	DeleteCounts Quirk = 1 + iota
	// UncheckedUntrack removes a finalizer before a deletion whatever became of
	// the pod, and so loses successes (JI9). It also adopts pods whatever became of
	// them, deletes pods in the round that adopts them, and counts a recorded pod whose
	// adoption it has not seen before the finalizer is gone, if it cannot adopt it again (JI3).
	UncheckedUntrack
	// CoarseRequeue waits at least one second before it looks again after a backoff. It does
	// not look again when the first of several waiting indexes is due while others are
	// created, nor when expectations time out, which takes an instant longer.
	CoarseRequeue
	// UnseenCompletion completes a job while own writes have not been seen (JI8). From 1.36
	// this concerns only creations that a closing namespace has refused, since the
	// controller waits for its caches first.
	UnseenCompletion
	// EarlyEvents tells that a job was suspended or resumed before the status is
	// written, and again if that fails (J41).
	EarlyEvents
	// RefusedAreActive counts pods that a namespace under deletion has refused as
	// active for one round, and waits five minutes to see them (J34).
	RefusedAreActive
	// EarlierFailure counts the backoff from the latest failure that a round has
	// found, though one found before may have happened later, and forgets a failure
	// with whose round no status was written (J31).
	EarlierFailure
	// UnmatchedStay leaves the finalizer on pods that do not match the selector any
	// more while the job is being deleted, and so blocks a foreground deletion (J6, L4).
	UnmatchedStay
	// FullRound takes a round that records exactly 500 pods for one that has left
	// some out (J35).
	FullRound
	// SuspendedRewritten writes over a condition Suspended that has the right
	// status and another reason or message, reports the event, and sets the start time
	// anew, which an API server refuses for a job that runs (J39).
	SuspendedRewritten
	// WaitingTakeRoom looks for indexes to create among the 500 lowest pending ones
	// only: those that wait for their backoff take room from those that are due, and 500
	// of them hold back all others (J31, J33).
	WaitingTakeRoom
	// Miscount counts in the metrics what the metrics of the reference count: a failed
	// creation as a successful one besides, an ignored failure in each round that cannot
	// remove the finalizer, and nothing of a status write whose reply was lost, or of pods
	// that lost their finalizer in a round that could not remove all of them (J42, JI27).
	Miscount
	// HeldIsIdle records no active pod while a backoff holds the missing ones, whatever
	// runs (J11, J31). If one is ready, the API server refuses the status. Until 1.33, 1.34.9
	// and 1.35.7 (kubernetes#139457).
	HeldIsIdle
	// UnseenEnd plans a job again whose final status was written and is not seen yet, and
	// may create pods for it (E5). Until 1.33.
	UnseenEnd
	// SidecarsUnranked leaves the restarts of sidecars out of the order in which pods are
	// deleted (J29). Until 1.31.
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

// Set is a set of quirks. The zero value is the empty one. Sets can be compared with == and used as
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

// With returns the set with the quirks added.
func (s Set) With(quirks ...Quirk) Set { return Set{s.quirks.With(quirks...)} }

// Without returns the set without the quirks.
func (s Set) Without(quirks ...Quirk) Set { return Set{s.quirks.Without(quirks...)} }

// All returns the quirks in the set, in the order of their constants.
func (s Set) All() iter.Seq[Quirk] { return s.quirks.All() }

// String lists the quirks by name, with commas between them.
func (s Set) String() string { return s.quirks.Text(names) }

// MarshalText is [Set.String].
func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes. Names may have spaces around them; one that is not
// known is an error.
func (s *Set) UnmarshalText(text []byte) (err error) {
	s.quirks, err = enum.ParseSet[Quirk](names, string(text))
	return err
}
