package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// recordBackoff brings the record of failures up to date with the pods that finished since the last
// round: a success resets it, and failures after the latest success count (J31). Failures that the
// podFailurePolicy ignores delay new pods as well. With backoffLimitPerIndex there is no record,
// since the pods carry the counts of their index.
func recordBackoff(record backoff.Record, s *Snapshot, found *findings, notes *noteList) backoff.Record {
	if s.Job.Spec.limitsIndexes() || len(found.pods.failed)+len(found.pods.succeeded) == 0 {
		return record
	}

	repeats := s.Options.Quirks.Has(jobquirk.EarlierFailure)
	failures := finishTimes(s, found.pods.failed, func(pod *Pod) bool {
		// A pod whose failure is ignored looks new until its finalizer is removed.
		return !repeats && found.known.facts(pod.UID)&uidHandled != 0
	}, notes)
	record = record.Observe(finishTimes(s, found.pods.succeeded, nil, notes), failures)

	// It is unknown whether an untimed failure came before or after the successes. If the time of
	// the round decided that, the plan would change without an event (L6).
	for _, sighting := range found.untimed {
		record = record.Failure(sighting.At)
		failures = append(failures, sighting.At)
	}

	if repeats && len(failures) > 0 && len(found.pods.succeeded) == 0 {
		record.LastFailure = slices.MaxFunc(failures, time.Time.Compare)
	}
	return record
}

// finishTimes returns the finish times of pods, except of pods that are in the record already and
// of failed pods without a known time.
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
			// Using now instead would move the end of the backoff with each round, and the time of
			// the round would decide the order of failures and successes (L6).
			notes.add(podField(pod, "containers.finishedAt"), value.Time(at),
				"lies in the future; the backoff counts from there")
		}
	}
	return out
}

// backoffDue returns the time at which the global backoff ends, or zero if it is over (J31).
func backoffDue(record backoff.Record, policy backoff.Policy, now time.Time) time.Time {
	if due := record.Due(policy); now.Before(due) {
		return due
	}
	return time.Time{}
}
