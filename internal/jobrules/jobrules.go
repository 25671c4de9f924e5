// Package jobrules has the rules of a job's status that hold for the planner, and for programs that
// write a status without the planner.
package jobrules

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/release"
)

// EndsWithoutNotice reports whether jobs end immediately, even while pods terminate: with the gates
// JobManagedBy and JobPodReplacementPolicy off, no condition comes before the end (J19, J20, J38).
func EndsWithoutNotice(without release.Gates) bool {
	return without.Has(release.JobManagedBy) && without.Has(release.JobPodReplacementPolicy)
}

// CompletionTime returns the completionTime of a job that completes now. It is not before the
// start, even if the clock was set back, since servers refuse such a status (JI17).
func CompletionTime(start, now time.Time) time.Time {
	if now.Before(start) {
		return start
	}
	return now
}

// Suspension returns the condition Suspended for a value of spec.suspend.
func Suspension(suspend bool) (status, reason, message string) {
	if suspend {
		return "True", "JobSuspended", "Job suspended"
	}
	return "False", "JobResumed", "Job resumed"
}

// StartTime returns the startTime after a change of the condition Suspended. The deadline counts
// the time since the job was last resumed, so startTime is set and removed with the condition
// (J39). Without the gate MutableSchedulingDirectivesForSuspendedJobs, startTime stays, and if the
// deadline passes during the suspension, the job ends before it is resumed.
func StartTime(start, now time.Time, suspend bool, without release.Gates) time.Time {
	switch {
	case !suspend:
		return now
	case without.Has(release.MutableSchedulingDirectivesForSuspendedJobs):
		return start
	}
	return time.Time{}
}

// CorruptPiece describes a piece of an index list that cannot be read (J14).
const CorruptPiece = "is neither an index nor a range"

// CountIndexes returns how many indexes a list names, or the problem with it. A list that names none is valid.
func CountIndexes(text string, completions int32) (n int32, problem string) {
	before := int32(-1)
	for text, piece := range indexset.Pieces(text) {
		switch {
		case !piece.OK:
			return 0, fmt.Sprintf("%q %s", value.Short(text), CorruptPiece)
		case piece.First == piece.Last && piece.IsRange:
			return 0, fmt.Sprintf("%q must end after its beginning", value.Short(text))
		case piece.Last >= completions:
			return 0, fmt.Sprintf("must hold indexes below completions, %d", completions)
		case piece.First <= before:
			return 0, "must be in increasing order"
		}

		n += piece.Last - piece.First + 1 // at most completions, as the ranges increase
		before = piece.Last
	}
	return n, ""
}
