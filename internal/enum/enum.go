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
	if name, ok := find(names, i); ok {
		return name
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// Text returns the i-th of the names. A value without a name has no text that can be read, so it is an error.
func Text(names string, i int, kind string) ([]byte, error) {
	name, ok := find(names, i)
	if !ok {
		return nil, fmt.Errorf("%s(%d) has no name", kind, i)
	}
	return []byte(name), nil
}

func find(names string, i int) (name string, ok bool) {
	n := 0
	for name := range strings.SplitSeq(names, separator) {
		if n == i {
			return name, true
		}
		n++
	}
	return "", false
}

// Read sets *v to the value that a text names. The empty text is the first name. Any other text is
// an error that begins with the field, and changes nothing.
func Read[T ~uint8](v *T, names string, text []byte, field string) error {
	if len(text) == 0 {
		*v = 0
		return nil
	}

	known := strings.Split(names, separator)
	i := slices.Index(known, string(text))
	if i < 0 {
		return fmt.Errorf("%s: %q is none of %q", field, text, known)
	}
	*v = T(i)
	return nil
}

// Set is a set of named members, which are numbered from 1. A package that exports a set wraps it
// in a struct, so that no program depends on the width of the set.
type Set[M ~uint8] struct{ bits uint64 }

// IsZero reports whether the set is empty.
func (s Set[M]) IsZero() bool { return s.bits == 0 }

// Has reports whether a member is in the set.
func (s Set[M]) Has(m M) bool { return s.bits&(1<<m) != 0 }

// With returns the set with the members added. A member without a name is left out.
func (s Set[M]) With(names string, members ...M) Set[M] {
	last := M(strings.Count(names, separator) + 1)
	for _, m := range members {
		if 0 < m && m <= last {
			s.bits |= 1 << m
		}
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

// Text lists the members by name, separated by commas.
func (s Set[M]) Text(names string) string {
	known := strings.Split(names, separator)
	var members []string
	for m := range s.All() {
		members = append(members, known[m-1])
	}
	return strings.Join(members, ",")
}

// ReadSet reads what Text writes. Names may have spaces around them. An unknown name is an error
// and changes nothing.
func ReadSet[M ~uint8](into *Set[M], names string, text []byte) error {
	known, set := strings.Split(names, separator), Set[M]{}
	for name := range strings.SplitSeq(string(text), ",") {
		name = strings.TrimSpace(name)
		i := slices.Index(known, name)
		switch {
		case name == "":
		case i >= 0:
			set = set.With(names, M(i+1))
		default:
			return fmt.Errorf("unknown name %q: want one of %s", name, strings.Join(known, ", "))
		}
	}
	*into = set
	return nil
}
