package explain

import "testing"

// TestUnfinished has lines of logs on each side of what shows that work is not done.
func TestUnfinished(t *testing.T) {
	for line, want := range map[string]bool{
		"got SIGTERM, shut down, exit 0": true,
		"SIGTERM handler is set":         false,
		"aborting":                       true,
		"no abort":                       false,
		"aborted=false":                  true,
		"12 rows were left":              true,
		"0 rows left":                    false,
		"turned left":                    false,
		"89 of 100":                      true,
		"90 of 100":                      false,
		"read 89/100.":                   true,
		"on 2026/10/14":                  false,
		"1/2/3":                          false,
		"try 1/5":                        false,
		"page 1 of 5":                    false,
		"ERROR no such bucket":           true,
		"0 errors":                       false,
		"errors: 0":                      false,
		"2 ERRORS: 0":                    false,
		"java.io.IOException: closed":    true,
		"ValueError: 3":                  true,
		"no Exception":                   false,
		`{"level":"error","n":1}`:        true,
		`{"level":"info","error":null}`:  false,
		"terror":                         false,
	} {
		if got := isUnfinished(line, true); got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
	if isUnfinished("1 of 5", false) {
		t.Error("progress before the last line counts")
	}
}
