// Package must ends tests that cannot go on.
package must

// OK ends the test if there is an error.
func OK(t test, err error) {
	if err != nil {
		t.Helper() // not before: it costs more than a round that is measured
		t.Fatal(err)
	}
}

// test is a test, a benchmark, or a case of a property.
type test interface {
	Helper()
	Fatal(args ...any)
}
