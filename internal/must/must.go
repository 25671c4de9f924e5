// Package must ends tests that cannot go on, and has checks that tests of several packages share.
package must

import (
	"fmt"
	"strings"
	"unicode"
)

// OK ends the test if there is an error.
func OK(t test, err error) {
	if err != nil {
		t.Helper() // only after a failure: the call costs more than a measured round
		t.Fatal(err)
	}
}

// Problems returns the problems of a joined error in one line, each without the prefix that all of
// them have.
func Problems(t test, err error, prefix string) string {
	t.Helper()
	if err == nil {
		return ""
	}

	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatal(fmt.Sprintf("%T is not a joined error: %v", err, err))
	}

	var out []string
	for _, e := range joined.Unwrap() {
		text, found := strings.CutPrefix(e.Error(), prefix)
		if name := fmt.Sprintf("%T", e); name != "*job.InputError" || !found {
			t.Fatal(fmt.Sprintf("%s, not an InputError about a field of %s: %v", name, prefix, e))
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// Harmless reports an error if a text has characters that could mislead a terminal or a reader.
func Harmless(t interface {
	Helper()
	Errorf(format string, args ...any)
}, name, text string) {
	t.Helper()
	for _, r := range text {
		isControl := unicode.IsControl(r) && r != '\n' && r != '\t'
		if isControl || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%s: %U in %q", name, r, text)
			return
		}
	}
}

// test is a test, a benchmark, or a case of a property.
type test interface {
	Helper()
	Fatal(args ...any)
}
