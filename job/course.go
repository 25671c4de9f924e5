package job

import (
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/release"
)

// course is what a round does with the job.
type course struct {
	// Action is empty if the round does not plan the job (J42).
	Action string `json:"action,omitempty"`
	// Stopped rounds record nothing: the job is not ours, or has ended.
	Stopped bool `json:"stopped,omitempty"`
	// Managed is true when pods were managed.
	Managed bool `json:"managed,omitempty"`
	// More is true when more pods could be created now than one round creates.
	More bool `json:"more,omitempty"`
	// Capped is true when more pods finished than one round may record (J35).
	Capped bool `json:"capped,omitempty"`
	// Idle rounds write nothing, whatever happens meanwhile: the job stays as it is.
	Idle bool `json:"idle,omitempty"`
}

// isIdle reports whether the round writes nothing: neither to a pod nor to the status.
func isIdle(plan *Plan, b *basis) bool {
	writes := len(plan.Adopt) + len(plan.Release) + len(plan.Groups) +
		len(plan.Delete) + len(plan.Create) + len(plan.Untrack)
	return writes == 0 &&
		!declaredEnd(plan.Verdict, b, b.Counts.Active).decided() && isRecorded(b)
}

// isRecorded reports whether the status already is what a round without writes to pods
// records.
func isRecorded(b *basis) bool {
	f, c, status := &b.Facts, &b.Counts, &b.Facts.Status
	if f.Indexed {
		completed := status.Succeeded == b.Progress.CompletedCount &&
			status.CompletedIndexes == b.Progress.Completed
		if !completed || !value.Equal(status.FailedIndexes, b.Progress.Failed) {
			return false
		}
	} else if status.Succeeded != c.CountedSucceeded {
		return false
	}

	if b.Course.Managed && suspensionTurns(f) {
		return false
	}

	return status.StartTime.Equal(f.StartTime) &&
		status.Active == c.Active &&
		status.Failed == c.CountedFailed &&
		isAt(status.Ready, c.Ready) &&
		isTerminatingRecorded(status, c, f.Without) &&
		equalUncounted(status.UncountedTerminatedPods, &c.Uncounted)
}

func isTerminatingRecorded(status *Status, c *counts, without release.Gates) bool {
	if without.Has(release.JobPodReplacementPolicy) {
		return status.Terminating == nil
	}
	return isAt(status.Terminating, c.Terminating)
}

// isAt reports whether the pointer points to the value.
func isAt(p *int32, value int32) bool { return p != nil && *p == value }
