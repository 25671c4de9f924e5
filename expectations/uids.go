package expectations

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
)

// UID is the unique identifier of an object: a pod, a job or a cron job. No two objects have the
// same UID, even if one replaces another of the same name. The empty UID means none. UID is its own
// type so that it cannot be mistaken for a name.
type UID string

// UIDs is a set of UIDs of pods. The finalizer of these pods is being removed, and they have not
// been seen without it (E4). The zero value is the empty set.
//
// A UIDs is a value: its methods return new sets and never write to an array
// that another set can see, so copies may be kept and shared freely. As JSON it
// is an array in increasing order; the empty set is left out by omitzero.
type UIDs struct {
	sorted []UID // strictly increasing; nil when empty; never written to
}

// NewUIDs returns the set of the given UIDs, in any order, repeated or not.
func NewUIDs(uids ...UID) UIDs {
	if len(uids) == 0 {
		return UIDs{}
	}
	sorted := slices.Clone(uids)
	slices.Sort(sorted)
	return UIDs{slices.Compact(sorted)}
}

// Len returns the number of UIDs in the set.
func (u UIDs) Len() int { return len(u.sorted) }

// Has reports whether uid is in the set.
func (u UIDs) Has(uid UID) bool {
	_, found := slices.BinarySearch(u.sorted, uid)
	return found
}

// With returns the set with the given UIDs added.
func (u UIDs) With(uids ...UID) UIDs {
	added := NewUIDs(uids...)
	if added.Len() == 0 {
		return u
	}
	merged := make([]UID, 0, u.Len()+added.Len())

	a, b := u.sorted, added.sorted
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			merged, a = append(merged, a[0]), a[1:]
		case a[0] > b[0]:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged, a, b = append(merged, a[0]), a[1:], b[1:]
		}
	}

	merged = append(append(merged, a...), b...)
	return UIDs{merged}
}

// Without returns the set with the given UIDs taken out.
func (u UIDs) Without(uids ...UID) UIDs {
	gone := NewUIDs(uids...)
	if !slices.ContainsFunc(u.sorted, gone.Has) {
		return u
	}
	kept := slices.DeleteFunc(slices.Clone(u.sorted), gone.Has)
	if len(kept) == 0 {
		return UIDs{} // equal to every other empty set
	}
	return UIDs{kept}
}

// All yields the UIDs in increasing order.
func (u UIDs) All() iter.Seq[UID] { return slices.Values(u.sorted) }

// Equal reports whether both sets hold the same UIDs.
func (u UIDs) Equal(v UIDs) bool { return slices.Equal(u.sorted, v.sorted) }

// MarshalJSON returns the UIDs as an array in increasing order.
func (u UIDs) MarshalJSON() ([]byte, error) {
	if u.sorted == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(u.sorted)
}

// UnmarshalJSON reads an array of UIDs, in any order, repeated or not. The array
// may be null. It fails on anything else.
func (u *UIDs) UnmarshalJSON(data []byte) error {
	var uids []UID
	if err := json.Unmarshal(data, &uids); err != nil {
		return fmt.Errorf("set of UIDs: %w", err)
	}
	*u = NewUIDs(uids...)
	return nil
}
