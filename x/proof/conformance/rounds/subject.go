package rounds

import (
	"fmt"
	"iter"
)

// subject is a snapshot of a job or of a CronJob.
type subject interface {
	// class returns the class by which rounds are counted.
	class() string
	// theirs plays the round of the real controller, in a bubble. ours plays the round of our
	// controller.
	theirs() Result
	ours() Result
	// explain returns the row of the documentation that explains a difference.
	explain(theirs, ours *Result) string
	// orders yields the subject with its lists in other orders. smaller yields the subject with
	// less in it.
	orders() iter.Seq[subject]
	smaller() iter.Seq[subject]
	fmt.Stringer
}

// cronJobs: one round in this many is about a CronJob.
const cronJobs = 4

// drawSubject draws the subject of the round with a number.
func drawSubject(seed uint64, number int) subject {
	if number%cronJobs == cronJobs-1 {
		return drawCronJob(seed, number)
	}
	return drawJob(seed, number)
}

const tries = 300

// minimise drops things one by one as long as the snapshot still shows the difference.
func minimise(s subject, differs func(subject) bool) subject {
	left := tries
	for found := true; found; {
		found = false
		for smaller := range s.smaller() {
			if left--; left < 0 {
				return s
			}
			if differs(smaller) {
				s, found = smaller, true
				break
			}
		}
	}
	return s
}
