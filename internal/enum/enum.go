// Package enum turns the values of an enumeration into text and back.
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
