package jobcheck_test

import (
	"testing"

	"github.com/batchplan/batchplan/job/jobcheck"
)

// Three rounds in a row may get nothing done. A round that gets something done restarts the count.
func TestPace(t *testing.T) {
	var p jobcheck.Pace
	round := func(again, done bool, more int, want string) {
		t.Helper()
		expect(t, p.Round("L6", again, done, more), want)
	}
	for range 2 {
		for range 3 {
			round(true, false, 0, "")
		}
		round(true, true, 0, "")
	}
	for range 3 {
		round(true, false, 0, "")
	}
	round(false, false, 0, "")
	for range 3 {
		round(true, false, 0, "")
	}
	round(true, false, 1, "")
	round(true, false, 1, "L6")
}
