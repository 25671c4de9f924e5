// Package flags turns sets of named bits into text and back.
package flags

import (
	"fmt"
	"slices"
	"strings"
)

// all is the name for all bits.
const all = "All"

// String lists the names of the bits that are set, separated by commas. names holds
// a name for each bit, the lowest first, in the same form. Bits without a name are
// left out.
func String(names string, set uint) string {
	var text []string
	for i, name := range strings.Split(names, ",") {
		if set&(1<<i) != 0 {
			text = append(text, name)
		}
	}
	return strings.Join(text, ",")
}

// Parse reads what String writes. Names may have spaces around them, and "All" means
// all of them.
func Parse(names, text string) (uint, error) {
	known := strings.Split(names, ",")
	var set uint
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		bit := slices.Index(known, name)
		switch {
		case name == "":
		case name == all:
			set |= 1<<len(known) - 1
		case bit >= 0:
			set |= 1 << bit
		default:
			return 0, fmt.Errorf("unknown name %q: want %s or %s", name, strings.Join(known, ", "), all)
		}
	}
	return set, nil
}
