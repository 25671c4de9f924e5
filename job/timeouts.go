package job

import (
	"time"

	"github.com/batchplan/batchplan/job/jobreason"
)

// startDue returns the time at which a pod that has not started is given up
// (Options.PendingTimeout), or zero for never. A pod without a creation time is never given up.
// Giving up takes two rounds, so that a crash in between loses nothing: the first one deletes the
// pod, and the next one counts it as failed.
func startDue(pod *Pod, o *Options) time.Time {
	if o.PendingTimeout == 0 || pod.Phase != PodPending {
		return time.Time{}
	}
	return timeAfter(pod.detail().CreationTimestamp, o.PendingTimeout)
}

// giveUpDue returns the time at which a terminating pod is given up, or zero for never. It is
// called for pods that must end before they are replaced. Such a pod is given up if it has not
// started in time, or if it has exceeded its time to end (Options.TerminatingTimeout), whichever
// comes first.
func giveUpDue(pod *Pod, o *Options) time.Time {
	due := startDue(pod, o)
	if o.TerminatingTimeout > 0 {
		due = earliest(due, timeAfter(pod.Deletion.Timestamp, o.TerminatingTimeout))
	}
	return due
}

// timeAfter returns t plus d, or zero if t is zero.
func timeAfter(t time.Time, d time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(d)
}

// isOver reports whether a time has come. A zero time never comes.
func isOver(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// isLate reports whether an active pod has not started in time.
func isLate(pod *Pod, o *Options, now time.Time) bool {
	return isOver(startDue(pod, o), now)
}

// appendLate adds the deletions of pods that have not started in time, at most as many
// as a round may write.
func appendLate(deletions []Deletion, s *Snapshot, late []int32) []Deletion {
	sortPlaces(s.Pods, late, worth(s.Options.Quirks))
	for _, i := range late[:min(len(late), s.Options.podWrites())] {
		deletions = append(deletions, deletionOf(&s.Pods[i], jobreason.DeletePending, s.Options.Quirks))
	}
	return deletions
}
