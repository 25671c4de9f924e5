// Package cronjobquirk names the mistakes of Kubernetes' CronJob controller. The planner of package
// cronjob repeats only those that its Options select; cronjob.Kubernetes selects all quirks of a
// release. Unless its comment says otherwise, a quirk is in all releases from 1.31 to 1.37.
// docs/divergences.md describes each of them.
package cronjobquirk

import (
	"iter"

	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job/release"
)

// Quirk is a mistake of Kubernetes' CronJob controller.
type Quirk uint8

const (
	// Estimate estimates the missed runs from the gap between the first two, and so overlooks due
	// runs of irregular schedules (B1). With it, the options for catch-up and jitter have no
	// effect.
	Estimate Quirk = 1 + iota
	// SilentMiss does not report a run that has missed its deadline (C9).
	SilentMiss
	// EagerHistory deletes finished jobs too early: the status may not show yet that they
	// succeeded, that their runs have started, or that they are not active any more. It also
	// deletes jobs that are already being deleted (C2, C4).
	EagerHistory
	// BlindCreate tries to create the job of a run even if the job is among the children, and
	// reports the existing job as unexpected. It records the CronJob's own job only when the
	// creation is refused, even if the job has ended. If the name belongs to another owner, no next
	// round is requested: nothing starts until an event about the CronJob or its jobs (C3, C10,
	// C14).
	BlindCreate
	// Stale trusts the active list of a snapshot that is older than the controller's own writes, so
	// that Forbid, Replace and MaxActive can be violated (CI15). It reports jobs as unexpected
	// although Replace has just deleted them (C3).
	Stale
	// NoNamespace forgets the namespace when it looks up a job that has the name of a run. So the
	// look-up always fails: a run that was not recorded because of a crash stays unrecorded, and a
	// run whose name is taken holds up the next one (C14). Until 1.36 (kubernetes#136920).
	NoNamespace
	// ByName treats every job of the namespace whose controller has the CronJob's name as the
	// CronJob's own, no matter what the controller's kind and UID are: it reports such a job as
	// unexpected, records its success, and deletes it beyond the history limits (C1). Until 1.36
	// (kubernetes#120181).
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

// Set is a set of quirks. The zero value is the empty set. Sets can be compared with == and used as
// keys. As text and in JSON they are lists of names.
type Set struct{ quirks enum.Set[Quirk] }

// SetOf returns the set of the quirks.
func SetOf(quirks ...Quirk) Set { return Set{}.With(quirks...) }

// IsZero reports whether the set is empty.
func (s Set) IsZero() bool { return s.quirks.IsZero() }

// Has reports whether the quirk is in the set.
func (s Set) Has(q Quirk) bool { return s.quirks.Has(q) }

// Equal reports whether the sets are equal, for package go-cmp.
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

// UnmarshalText reads what MarshalText writes. Names may have spaces around them; an unknown name
// is an error and changes nothing.
func (s *Set) UnmarshalText(text []byte) error { return enum.ReadSet(&s.quirks, names, text) }
