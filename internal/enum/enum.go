// Package enum converts enumerated values, and sets of them, into text and back. The names of the
// values are one text, in the order of the values, with "|" between them.
package enum

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"
)

const separator = "|"

// String returns the i-th of the names. A value without a name is written as its kind and its number.
func String(names string, i int, kind string) string {
	n := 0
	for name := range strings.SplitSeq(names, separator) {
		if n == i {
			return name
		}
		n++
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// Parse returns the place of text among the names. The empty text is the first name.
// An error begins with the field.
func Parse(names, text, field string) (int, error) {
	if text == "" {
		return 0, nil
	}

	known := strings.Split(names, separator)
	if i := slices.Index(known, text); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("%s: %q is none of %q", field, text, known)
}

// Set is a set of named members, which are numbered from 1. A package that exports a set wraps it
// in a struct, so that no program depends on its width.
type Set[M ~uint8] struct{ bits uint64 }

// IsZero reports whether the set is empty.
func (s Set[M]) IsZero() bool { return s.bits == 0 }

// Has reports whether a member is in the set.
func (s Set[M]) Has(m M) bool { return s.bits&(1<<m) != 0 }

// With returns the set with the members added.
func (s Set[M]) With(members ...M) Set[M] {
	for _, m := range members {
		s.bits |= 1 << m
	}
	return s
}

// Without returns the set with the members removed.
func (s Set[M]) Without(members ...M) Set[M] {
	for _, m := range members {
		s.bits &^= 1 << m
	}
	return s
}

// All returns the members in order.
func (s Set[M]) All() iter.Seq[M] {
	return func(yield func(M) bool) {
		for rest := s.bits; rest != 0; rest &= rest - 1 {
			if !yield(M(bits.TrailingZeros64(rest))) {
				return
			}
		}
	}
}

// Text lists the members by name, separated by commas. It leaves out members without a name.
func (s Set[M]) Text(names string) string {
	known := strings.Split(names, separator)
	var members []string
	for m := range s.All() {
		if i := int(m) - 1; i >= 0 && i < len(known) {
			members = append(members, known[i])
		}
	}
	return strings.Join(members, ",")
}

// ParseSet reads what Text writes. Names may have spaces around them.
func ParseSet[M ~uint8](names, text string) (set Set[M], err error) {
	known := strings.Split(names, separator)
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		i := slices.Index(known, name)
		switch {
		case name == "":
		case i >= 0:
			set = set.With(M(i + 1))
		default:
			return Set[M]{}, fmt.Errorf("unknown name %q: want one of %s", name, strings.Join(known, ", "))
		}
	}
	return set, nil
}
