package jobreason

import "github.com/batchplan/batchplan/internal/enum"

// Counted tells how a pod is accounted for when its finalizer is removed.
type Counted uint8

const (
	// NotCounted pods leave no trace in the counters.
	NotCounted Counted = iota
	// CountedSucceeded pods go through the uncounted list of successes.
	CountedSucceeded
	// CountedFailed pods go through the uncounted list of failures.
	CountedFailed
	// CountedIndex pods are accounted for by their completed index.
	CountedIndex
	// AlreadyRecorded pods were put into an uncounted list by an earlier round.
	AlreadyRecorded
)

const countedNames = "NotCounted|Succeeded|Failed|Index|AlreadyRecorded"

const countedAs = "not counted|succeeded|failed|completed index|recorded earlier"

// String returns the way of counting in words.
func (c Counted) String() string { return enum.String(countedAs, int(c), "Counted") }

// MarshalText returns the name of the constant without Counted at its beginning.
func (c Counted) MarshalText() ([]byte, error) { return enum.Text(countedNames, int(c), "Counted") }

// UnmarshalText reads what MarshalText returns; the empty text is NotCounted. Any other text is an
// error and changes nothing.
func (c *Counted) UnmarshalText(text []byte) error { return enum.Read(c, countedNames, text, "as") }
