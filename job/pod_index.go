package job

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Index is the completion index of a pod: from 0 to 2^31-1, or NoIndex. The zero value means that
// no index is given, which is an error in a pod of an Indexed job. If it meant 0, all pods of a
// backend that forgets the index would be duplicates, and all but one would be deleted. The JSON of
// an index is a number, -1 for NoIndex. Indexes can be compared with ==.
type Index struct {
	// code is 0 for an index that is not given, 1 for NoIndex, and the index plus 2
	// otherwise.
	code uint32
}

// NoIndex returns the index of a pod that has none: of a NonIndexed job, or without a valid
// annotation (J13).
func NoIndex() Index { return Index{code: 1} }

// IndexAt returns index i, and NoIndex if i is negative.
func IndexAt(i int32) Index {
	if i < 0 {
		return NoIndex()
	}
	return Index{code: uint32(i) + 2}
}

// Int32 returns the index as a number: -1 if there is none or none is given.
func (i Index) Int32() int32 {
	if i.code < 2 {
		return -1
	}
	return int32(i.code - 2)
}

// Equal reports whether both are the same, as == does.
func (i Index) Equal(j Index) bool { return i == j }

// String returns the index in digits, "none", or "not given".
func (i Index) String() string {
	switch i {
	case Index{}:
		return "not given"
	case NoIndex():
		return "none"
	}
	return strconv.Itoa(int(i.Int32()))
}

// isBelow reports whether the index exists and is less than limit. The limit must not be negative.
func (i Index) isBelow(limit int32) bool { return i.code-2 < uint32(limit) }

// MarshalJSON writes a number, -1 for NoIndex, or null if none is given.
func (i Index) MarshalJSON() ([]byte, error) {
	if i == (Index{}) {
		return []byte("null"), nil
	}
	return json.Marshal(i.Int32())
}

// UnmarshalJSON reads what MarshalJSON writes.
func (i *Index) UnmarshalJSON(data []byte) error {
	var number *int64
	err := json.Unmarshal(data, &number)
	switch {
	case err != nil:
		return fmt.Errorf("index: %w", err)
	case number == nil:
		*i = Index{}
	case *number < -1 || *number > math.MaxInt32:
		return fmt.Errorf("index: %d is out of range", *number)
	default:
		*i = IndexAt(int32(*number))
	}
	return nil
}
