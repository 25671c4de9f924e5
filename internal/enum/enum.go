// Package enum turns values that have names into text and back: one of several, or a set of
// them. The names are one text, in the order of the values, with "|" between them.
package enum

import (
	"fmt"
	"slices"
	"strings"
)

// separator stands between two names of a list.
const separator = "|"

// String returns the i-th of the names. A value without a name is written as its kind
// and its number.
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

// every is the name for all members of a set.
const every = "All"

// SetString lists the members of a set, separated by commas. Bit i of the set stands for the
// i-th of the names; a bit without a name is left out.
func SetString(names string, set uint) string {
	var members []string
	for i, name := range strings.Split(names, separator) {
		if set&(1<<i) != 0 {
			members = append(members, name)
		}
	}
	return strings.Join(members, ",")
}

// ParseSet reads what SetString writes. Names may have spaces around them, and "All" means
// all of them.
func ParseSet(names, text string) (uint, error) {
	known := strings.Split(names, separator)

	var set uint
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		bit := slices.Index(known, name)
		switch {
		case name == "":
		case name == every:
			set |= 1<<len(known) - 1
		case bit >= 0:
			set |= 1 << bit
		default:
			return 0, fmt.Errorf("unknown name %q: want %s or %s", name, strings.Join(known, ", "), every)
		}
	}
	return set, nil
}
