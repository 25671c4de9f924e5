package job

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/release"
)

// CheckServed reports what an API server of a release refuses when a job's status is
// replaced. It is meant for mirrors: controllers that copy a status from elsewhere, and so
// skip writes of the one that counts. Those that count should use [CheckTransition] as
// well: what it lets pass, every release serves, except that 1.31 with JobManagedBy
// also refuses what 1.32 allows (below).
//
// The error joins an [*InputError] for each problem. The spec is the one that is in force
// now, after [Default].
//
// With JobManagedBy, which is off by default in 1.31, these are the rules of
// [CheckTransition] that API servers have. 1.31 with that gate also refuses to change
// startTime in the write that resumes a job, and an end without startTime of a
// suspended job with completions 0. Without the gate, a server checks only signs,
// uncounted UIDs, and that SuccessCriteriaMet goes neither with a failure nor away;
// without JobPodReplacementPolicy as well, it allows SuccessCriteriaMet only with a
// successPolicy.
func CheckServed(r release.Release, old, next Status, spec Spec) error {
	found := slices.Concat(
		checkAll(&next, &spec, checkNegative, checkUncounted, checkMetAlone, checkPolicyMet),
		checkMetKept(&old, &next),
	)

	switch {
	case r.Has(release.JobManagedBy):
		found = append(found, served{r, &old, &next, &spec}.strict()...)
	case !r.Has(release.JobPodReplacementPolicy) && !old.isTrue(ConditionSuccessCriteriaMet):
		found = append(found, checkMetAllowed(&next, &spec)...)
	}
	return found.err("status.")
}

// checkMetKept: SuccessCriteriaMet is not withdrawn, and does not come after the end.
func checkMetKept(old, next *Status) (found problems) {
	was, is := old.isTrue(ConditionSuccessCriteriaMet), next.isTrue(ConditionSuccessCriteriaMet)
	switch {
	case was && !is:
		status := next.Condition(ConditionSuccessCriteriaMet).Status
		found.add(conditionField(ConditionSuccessCriteriaMet), string(status), "must stay True")
	case !was && is && old.isTrue(ConditionComplete):
		found.add(conditionField(ConditionSuccessCriteriaMet), "True", "must not come after Complete")
	}
	return found
}

// checkMetAllowed: servers without both gates know SuccessCriteriaMet with a
// successPolicy only.
func checkMetAllowed(s *Status, spec *Spec) (found problems) {
	if s.isTrue(ConditionSuccessCriteriaMet) && (spec.CompletionMode != Indexed || spec.SuccessPolicy == nil) {
		found.add(conditionField(ConditionSuccessCriteriaMet), "True",
			"needs a successPolicy, since the gates JobManagedBy and JobPodReplacementPolicy are off")
	}
	return found
}

// served is an update of a status as a server looks at it.
type served struct {
	release   release.Release
	old, next *Status
	spec      *Spec
}

// turns reports whether a condition becomes true or ceases to be.
func (u served) turns(t ConditionType) bool { return u.old.isTrue(t) != u.next.isTrue(t) }

// strict applies the rules of servers with JobManagedBy. Most look only at what the update
// changes.
func (u served) strict() problems {
	return slices.Concat(u.conditions(), u.finished(), u.times(), u.pods(), u.indexes())
}

func (u served) conditions() (found problems) {
	next := u.next
	complete, failed := next.isTrue(ConditionComplete), next.isTrue(ConditionFailed)
	target, met := next.isTrue(ConditionFailureTarget), next.isTrue(ConditionSuccessCriteriaMet)
	completes := u.turns(ConditionComplete)

	if changed := completes || u.turns(ConditionFailed); changed && complete && failed {
		found.add(conditionField(ConditionFailed), "True", "must not hold together with Complete")
	}
	if changed := completes || u.turns(ConditionFailureTarget); changed && complete && target {
		found.add(conditionField(ConditionFailureTarget), "True", "must not hold together with Complete")
	}

	failedIndexes := !equalPointed(u.old.FailedIndexes, next.FailedIndexes)
	if changed := u.turns(ConditionFailed) || failedIndexes; changed && failed && !target {
		found.add(conditionField(ConditionFailed), "True", "needs FailureTarget")
	}
	if changed := completes || u.turns(ConditionSuccessCriteriaMet); changed && complete && !met {
		found.add(conditionField(ConditionComplete), "True", "needs SuccessCriteriaMet")
	}

	for _, t := range [...]ConditionType{ConditionFailed, ConditionComplete, ConditionFailureTarget} {
		if u.old.isTrue(t) && !next.isTrue(t) {
			found.add(conditionField(t), string(next.Condition(t).Status), "must stay True")
		}
	}
	return found
}

// finished are the rules about what is left at the end.
func (u served) finished() (found problems) {
	next := u.next
	if next.finished() == "" {
		return nil
	}

	ends := u.old.finished() == ""
	if changed := ends || u.old.Active != next.Active; changed && next.Active > 0 {
		found.add("active", next.Active, "must be 0 when finished")
	}

	changed := ends || !equalPointed(u.old.Terminating, next.Terminating)
	if n := value.Of(next.Terminating); changed && n > 0 {
		found.add("terminating", n, "must be 0 when finished")
	}

	lists := next.uncounted()
	changed = ends || !equalUncounted(u.old.UncountedTerminatedPods, next.UncountedTerminatedPods)
	if n := len(lists.Succeeded) + len(lists.Failed); changed && n > 0 {
		found.add("uncountedTerminatedPods", n, "must be empty when finished")
	}

	exempt := !u.isOldest() && u.spec.isSuspended() && equalPointed(u.spec.Completions, new(int32))
	changed = ends || !sameTime(u.old.StartTime, next.StartTime)
	if changed && next.StartTime.IsZero() && !exempt {
		found.add("startTime", nil, "is required when finished")
	}
	return found
}

// isOldest reports whether the release lacks the exceptions that came with 1.32.
func (u served) isOldest() bool { return u.release.IsBefore(release.V132) }

func sameTime(a, b time.Time) bool {
	return a.IsZero() == b.IsZero() && wholeSeconds(a).Equal(wholeSeconds(b))
}

func (u served) times() (found problems) {
	start, nextStart := u.old.StartTime, u.next.StartTime
	end, nextEnd := u.old.CompletionTime, u.next.CompletionTime
	starts, ends := !sameTime(start, nextStart), !sameTime(end, nextEnd)

	if complete := u.next.isTrue(ConditionComplete); u.turns(ConditionComplete) || ends {
		switch {
		case complete && nextEnd.IsZero():
			found.add("completionTime", nil, "is required when Complete")
		case !complete && !nextEnd.IsZero():
			found.add("completionTime", value.Time(nextEnd), "must not be set unless Complete")
		}
	}

	backwards := !nextStart.IsZero() && !nextEnd.IsZero() &&
		wholeSeconds(nextEnd).Before(wholeSeconds(nextStart))
	if backwards && (starts || ends) {
		found.add("completionTime", value.Time(nextEnd), "must not be before startTime, "+value.Time(nextStart))
	}

	if !end.IsZero() && !nextEnd.IsZero() && ends {
		found.add("completionTime", value.Time(nextEnd), "must stay "+value.Time(end))
	}

	resumes := !u.isOldest() && u.old.isTrue(ConditionSuspended) && u.next.is(ConditionSuspended, ConditionFalse)
	mayChange := start.IsZero() || u.spec.isSuspended() || resumes
	if starts && !mayChange {
		found.add("startTime", timeValue(nextStart),
			fmt.Sprintf("must stay %s while the job is not suspended", value.Time(start)))
	}
	return found
}

// is reports whether a condition of the type has the status.
func (s *Status) is(t ConditionType, status ConditionStatus) bool {
	return slices.ContainsFunc(s.Conditions, func(c Condition) bool { return c.Type == t && c.Status == status })
}

func (u served) pods() (found problems) {
	found = checkCountersKept(u.old, u.next, u.spec)
	changed := u.old.Active != u.next.Active || !equalPointed(u.old.Ready, u.next.Ready)
	if n := value.Of(u.next.Ready); changed && n > u.next.Active {
		found.add("ready", n, fmt.Sprintf("must be at most active, %d", u.next.Active))
	}
	return found
}

func (u served) indexes() (found problems) {
	next, completions := u.next, u.spec.Completions
	completed := u.old.CompletedIndexes != next.CompletedIndexes
	failed := !equalPointed(u.old.FailedIndexes, next.FailedIndexes)

	if completed {
		if next.CompletedIndexes != "" && u.spec.CompletionMode != Indexed {
			found.add("completedIndexes", shortened(next.CompletedIndexes), "needs completionMode Indexed")
		}
		found = append(found, checkFormat("completedIndexes", next.CompletedIndexes, completions)...)
	}

	if failed && next.FailedIndexes != nil {
		if u.spec.BackoffLimitPerIndex == nil {
			found.add("failedIndexes", shortened(*next.FailedIndexes), "needs spec.backoffLimitPerIndex")
		} else {
			found = append(found, checkFormat("failedIndexes", *next.FailedIndexes, completions)...)
		}
	}

	if changed := completed || failed; changed && completions != nil && next.FailedIndexes != nil {
		if index, ok := seenInBoth(next.CompletedIndexes, *next.FailedIndexes, *completions); ok {
			found.add("failedIndexes", index, "must not be in completedIndexes as well")
		}
	}
	return found
}

func checkFormat(field, text string, completions *int32) (found problems) {
	if completions == nil {
		return nil
	}
	if _, problem := countIndexes(text, *completions); problem != "" {
		found.add(field, shortened(text), problem)
	}
	return found
}

// seenInBoth looks for an index that both lists hold, as a server does: it walks along both,
// and so overlooks some where a list is out of order.
func seenInBoth(completed, failed string, completions int32) (int32, bool) {
	a, b := validPieces(completed, completions), validPieces(failed, completions)
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		switch {
		case x.First <= y.Last && y.First <= x.Last:
			return max(x.First, y.First), true
		case x.First <= y.First:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return 0, false
}

// validPieces are the elements of a list that are well formed and below completions.
func validPieces(text string, completions int32) (out []indexset.Piece) {
	for _, p := range indexset.Pieces(text) {
		if p.OK && p.Last < completions && !(p.IsRange && p.First == p.Last) {
			out = append(out, p)
		}
	}
	return out
}
