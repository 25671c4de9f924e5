package jobstatus

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// is reports whether a condition of the type has the status. A faulty list can hold a type more
// than once.
func is(s *job.Status, t job.ConditionType, status job.ConditionStatus) bool {
	return slices.ContainsFunc(s.Conditions, func(c job.Condition) bool { return c.Type == t && c.Status == status })
}

func isTrue(s *job.Status, t job.ConditionType) bool { return is(s, t, job.ConditionTrue) }

// with returns a copy of the conditions that contains condition turned, with the times of turned
// set to now. It replaces the condition of the same type. If there is none, turned comes last.
func with(conditions []job.Condition, turned job.Condition, now time.Time) []job.Condition {
	turned.LastProbeTime, turned.LastTransitionTime = now, now
	return value.Put(conditions, turned, func(c job.Condition) bool { return c.Type == turned.Type })
}

// sameUncounted reports whether both statuses have the same uncounted UIDs. Nil counts as two empty
// lists.
func sameUncounted(a, b *job.Status) bool {
	x, y := value.Of(a.UncountedTerminatedPods), value.Of(b.UncountedTerminatedPods)
	return slices.Equal(x.Succeeded, y.Succeeded) && slices.Equal(x.Failed, y.Failed)
}

func isIndexed(spec *job.Spec) bool { return spec.CompletionMode == job.Indexed }
