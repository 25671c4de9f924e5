package jobreason

import "github.com/batchplan/batchplan/internal/enum"

// Counted is how a pod is accounted for when its finalizer goes.
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
	// AlreadyRecorded pods are in an uncounted list since an earlier round.
	AlreadyRecorded
)

const countedAs = "not counted|succeeded|failed|completed index|recorded earlier"

// String says how the pod is counted.
func (c Counted) String() string { return enum.String(countedAs, int(c), "CountedAs") }

// MarshalText says how the pod is counted.
func (c Counted) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText returns.
func (c *Counted) UnmarshalText(text []byte) error {
	i, err := enum.Parse(countedAs, string(text), "as")
	*c = Counted(i)
	return err
}
