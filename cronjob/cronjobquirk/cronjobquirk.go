// Package cronjobquirk names the places where the CronJob controller of Kubernetes plainly
// does the wrong thing. The planner of package cronjob does not, unless told to: each quirk
// can be switched on by itself in its Options, and cronjob.Kubernetes has the quirks of a release.
// Unless its comment says otherwise, a quirk is in all releases from 1.31 to 1.37.
// docs/divergences.md describes each of them.
package cronjobquirk

import (
	"iter"

	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job/release"
)

// A Quirk is a place where Kubernetes does the wrong thing.
type Quirk uint8

const (
	// Estimate estimates the missed runs from the gap between the first two,
	// and so overlooks due runs of irregular schedules (B1). It looks at nothing
	// beyond the plain rules: catch-up and jitter have no effect with it.
	Estimate Quirk = 1 + iota
	// SilentMiss never tells of a run that has missed its deadline (C9).
	SilentMiss
	// EagerHistory deletes finished jobs before what they tell is recorded: the
	// time of a success, that their run has started, and that they are not active any
	// more; and again while they are being deleted (C2, C4).
	EagerHistory
	// BlindCreate tries to create the job of a run although the children hold it, and calls it
	// unexpected. Only then it records the CronJob's own job, even one that has ended. If the
	// name is another's, the round ends without a next one: nothing starts until an event about
	// the CronJob or its jobs (C3, C10, C14).
	BlindCreate
	// Stale decides by the active list of a snapshot that is older than the
	// controller's own writes: then Forbid, Replace and MaxActive do not hold (CI15). It calls
	// jobs unexpected that Replace has just deleted (C3).
	Stale
	// NoNamespace looks a job that could not be created, since its name is there, up without a
	// namespace. That fails, again and again: what a crash kept from being recorded never is,
	// and a run whose name is taken holds up the next (C14). Until 1.36 (kubernetes#136920).
	NoNamespace
	// ByName takes every job of the namespace whose controller has the CronJob's name for the
	// CronJob's own, whatever the controller's kind and UID: it reports such a job as unexpected,
	// takes its success for the CronJob's, and deletes it beyond the limits of the history (C1).
	// Until 1.36 (kubernetes#120181).
	ByName
)

// Of returns the quirks of a release.
func Of(r release.Release) Set {
	set := SetOf(Estimate, SilentMiss, EagerHistory, BlindCreate, Stale)
	if r.IsBefore(release.V137()) {
		set = set.With(NoNamespace, ByName)
	}
	return set
}

// names are in the order of the quirks.
const names = "Estimate|SilentMiss|EagerHistory|BlindCreate|Stale|NoNamespace|ByName"

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
