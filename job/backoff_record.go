package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// recordBackoff brings the record of failures up to date with the pods that
// finished since the last round: a success resets it, and failures after the
// latest success count (J31). Ignored failures delay as well. A job that limits
// failures index by index has its record on the pods instead.
func recordBackoff(record backoff.Record, s *Snapshot, found *findings, notes *noteList) backoff.Record {
	if s.Job.Spec.limitsIndexes() || len(found.pods.failed)+len(found.pods.succeeded) == 0 {
		return record
	}

	repeats := s.Options.Quirks.Has(jobquirk.EarlierFailure)
	failures := finishTimes(s, found.pods.failed, func(pod *Pod) bool {
		// A pod that is ignored stays new as long as its finalizer cannot be removed.
		return !repeats && found.known.facts(pod.UID)&uidHandled != 0
	}, notes)
	record = record.Observe(finishTimes(s, found.pods.succeeded, nil, notes), failures)

	// Nothing tells whether an untimed failure came before or after the successes. If
	// the time of the round decided that, the plan would change with it (L6).
	for _, sighting := range found.untimed {
		record = record.Failure(sighting.At)
		failures = append(failures, sighting.At)
	}

	if repeats && len(failures) > 0 && len(found.pods.succeeded) == 0 {
		record.LastFailure = slices.MaxFunc(failures, time.Time.Compare)
	}
	return record
}

// finishTimes returns when the pods finished, except for those that are in the record
// already and for the untimed ones.
func finishTimes(s *Snapshot, places []int32, isInRecord func(*Pod) bool, notes *noteList) []time.Time {
	out := make([]time.Time, 0, len(places))
	for _, i := range places {
		pod := &s.Pods[i]
		at := finishTime(pod)
		recorded := isInRecord != nil && isInRecord(pod)
		untimed := pod.Phase != PodSucceeded && at.IsZero()
		if recorded || untimed {
			continue
		}

		out = append(out, at)
		if at.After(s.Now) {
			// Taking it for now instead would let the backoff end later in each round,
			// and the order of failures and successes depend on when one looks (L6).
			notes.add(podField(pod, "containers.finishedAt"), value.Time(at),
				"lies in the future; the backoff counts from there")
		}
	}
	return out
}

// backoffDue is when the global backoff is over, or zero if it holds no pods (J31).
func backoffDue(record backoff.Record, policy backoff.Policy, now time.Time) time.Time {
	if due := record.Due(policy); now.Before(due) {
		return due
	}
	return time.Time{}
}
