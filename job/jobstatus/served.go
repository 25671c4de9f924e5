package jobstatus

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// CheckServed reports what an API server of a release refuses when a job's status is replaced. It
// is meant for mirrors: controllers that copy a status from elsewhere, and so may miss some of its
// changes. Controllers that count pods should use [CheckTransition], which refuses everything that
// CheckServed refuses.
//
// The error joins a [*job.InputError] for each problem. spec is the current spec, after
// [job.Default].
//
// With JobManagedBy, which is off by default in 1.31, the rules are those that [CheckTransition]
// lists as rules of API servers. 1.31 with that gate has two more: startTime must not change in the
// write that resumes a job, and a suspended job with completions 0 cannot end without startTime.
// Without the gate, a server checks only the signs of counters, the uncounted UIDs, and that
// SuccessCriteriaMet is neither set beside a failure nor withdrawn. If JobPodReplacementPolicy is
// off as well, it allows SuccessCriteriaMet only with a successPolicy.
func CheckServed(old, next job.Status, spec job.Spec, r release.Release) error {
	return problems.Join[job.InputError]("status.", servedProblems(&old, &next, &spec, r))
}

func servedProblems(old, next *job.Status, spec *job.Spec, r release.Release) problems.List {
	found := slices.Concat(
		checkAll(next, spec, checkNegative, checkUncounted, checkMetAlone, checkPolicyMet),
		checkMetKept(old, next),
	)

	switch {
	case r.Has(release.JobManagedBy):
		found = append(found, served{r, old, next, spec}.strict()...)
	case !knowsMet(r) && !isTrue(old, job.ConditionSuccessCriteriaMet):
		found = append(found, checkMetAllowed(next, spec)...)
	}
	return found
}

// knowsMet reports whether a server of the release accepts SuccessCriteriaMet without a
// successPolicy.
func knowsMet(r release.Release) bool {
	return r.Has(release.JobManagedBy) || r.Has(release.JobPodReplacementPolicy)
}

// checkMetKept: SuccessCriteriaMet is not withdrawn, and is not added after Complete.
func checkMetKept(old, next *job.Status) (found problems.List) {
	was, is := isTrue(old, job.ConditionSuccessCriteriaMet), isTrue(next, job.ConditionSuccessCriteriaMet)
	switch {
	case was && !is:
		status := next.Condition(job.ConditionSuccessCriteriaMet).Status
		found.Add(conditionField(job.ConditionSuccessCriteriaMet), string(status), "must stay True")
	case !was && is && isTrue(old, job.ConditionComplete):
		found.Add(conditionField(job.ConditionSuccessCriteriaMet), "True", "must not come after Complete")
	}
	return found
}

// checkMetAllowed: servers whose two gates are off accept SuccessCriteriaMet only with a
// successPolicy.
func checkMetAllowed(s *job.Status, spec *job.Spec) (found problems.List) {
	if isTrue(s, job.ConditionSuccessCriteriaMet) && (spec.CompletionMode != job.Indexed || spec.SuccessPolicy == nil) {
		found.Add(conditionField(job.ConditionSuccessCriteriaMet), "True",
			"needs a successPolicy, since the gates JobManagedBy and JobPodReplacementPolicy are off")
	}
	return found
}

// served is an update of a status, to be checked as a server does.
type served struct {
	release   release.Release
	old, next *job.Status
	spec      *job.Spec
}

// turns reports whether a condition becomes true or ceases to be true.
func (u served) turns(t job.ConditionType) bool { return isTrue(u.old, t) != isTrue(u.next, t) }

// strict applies the rules of servers with JobManagedBy. Most look only at what the update
// changes.
func (u served) strict() problems.List {
	return slices.Concat(u.conditions(), u.finished(), u.times(), u.pods(), u.indexes())
}

func (u served) conditions() (found problems.List) {
	next := u.next
	complete, failed := isTrue(next, job.ConditionComplete), isTrue(next, job.ConditionFailed)
	target, met := isTrue(next, job.ConditionFailureTarget), isTrue(next, job.ConditionSuccessCriteriaMet)
	completes := u.turns(job.ConditionComplete)

	if changed := completes || u.turns(job.ConditionFailed); changed && complete && failed {
		found.Add(conditionField(job.ConditionFailed), "True", "must not hold together with Complete")
	}
	if changed := completes || u.turns(job.ConditionFailureTarget); changed && complete && target {
		found.Add(conditionField(job.ConditionFailureTarget), "True", "must not hold together with Complete")
	}

	failedIndexes := !value.Equal(u.old.FailedIndexes, next.FailedIndexes)
	if changed := u.turns(job.ConditionFailed) || failedIndexes; changed && failed && !target {
		found.Add(conditionField(job.ConditionFailed), "True", "needs FailureTarget")
	}
	if changed := completes || u.turns(job.ConditionSuccessCriteriaMet); changed && complete && !met {
		found.Add(conditionField(job.ConditionComplete), "True", "needs SuccessCriteriaMet")
	}

	for _, t := range [...]job.ConditionType{job.ConditionFailed, job.ConditionComplete, job.ConditionFailureTarget} {
		if isTrue(u.old, t) && !isTrue(next, t) {
			found.Add(conditionField(t), string(next.Condition(t).Status), "must stay True")
		}
	}
	return found
}

// finished checks that a finished job has no active, terminating or uncounted pods, and has a
// startTime unless it is exempt.
func (u served) finished() (found problems.List) {
	next := u.next
	if next.Finished() == "" {
		return nil
	}

	ends := u.old.Finished() == ""
	if changed := ends || u.old.Active != next.Active; changed && next.Active > 0 {
		found.Add("active", next.Active, "must be 0 when finished")
	}

	changed := ends || !value.Equal(u.old.Terminating, next.Terminating)
	if n := value.Of(next.Terminating); changed && n > 0 {
		found.Add("terminating", n, "must be 0 when finished")
	}

	lists := value.Of(next.UncountedTerminatedPods)
	changed = ends || !sameUncounted(u.old, next)
	if n := len(lists.Succeeded) + len(lists.Failed); changed && n > 0 {
		found.Add("uncountedTerminatedPods", n, "must be empty when finished")
	}

	exempt := !u.isOldest() && value.Of(u.spec.Suspend) && value.Equal(u.spec.Completions, new(int32))
	changed = ends || !sameTime(u.old.StartTime, next.StartTime)
	if changed && next.StartTime.IsZero() && !exempt {
		found.Add("startTime", nil, "is required when finished")
	}
	return found
}

// isOldest reports whether the release lacks the exceptions that came with 1.32.
func (u served) isOldest() bool { return u.release.IsBefore(release.V132()) }

func sameTime(a, b time.Time) bool {
	return a.IsZero() == b.IsZero() && wholeSeconds(a).Equal(wholeSeconds(b))
}

func (u served) times() (found problems.List) {
	start, nextStart := u.old.StartTime, u.next.StartTime
	end, nextEnd := u.old.CompletionTime, u.next.CompletionTime
	starts, ends := !sameTime(start, nextStart), !sameTime(end, nextEnd)

	if complete := isTrue(u.next, job.ConditionComplete); u.turns(job.ConditionComplete) || ends {
		switch {
		case complete && nextEnd.IsZero():
			found.Add("completionTime", nil, "is required when Complete")
		case !complete && !nextEnd.IsZero():
			found.Add("completionTime", value.Time(nextEnd), "must not be set unless Complete")
		}
	}

	backwards := !nextStart.IsZero() && !nextEnd.IsZero() &&
		wholeSeconds(nextEnd).Before(wholeSeconds(nextStart))
	if backwards && (starts || ends) {
		found.Add("completionTime", value.Time(nextEnd), "must not be before startTime, "+value.Time(nextStart))
	}

	if !end.IsZero() && !nextEnd.IsZero() && ends {
		found.Add("completionTime", value.Time(nextEnd), "must stay "+value.Time(end))
	}

	wasSuspended := isTrue(u.old, job.ConditionSuspended)
	resumes := !u.isOldest() && wasSuspended && is(u.next, job.ConditionSuspended, job.ConditionFalse)
	mayChange := start.IsZero() || value.Of(u.spec.Suspend) || resumes
	if starts && !mayChange {
		found.Add("startTime", timeValue(nextStart),
			fmt.Sprintf("must stay %s while the job is not suspended", value.Time(start)))
	}
	return found
}

func (u served) pods() (found problems.List) {
	found = checkCountersKept(u.old, u.next, u.spec)
	changed := u.old.Active != u.next.Active || !value.Equal(u.old.Ready, u.next.Ready)
	if n := value.Of(u.next.Ready); changed && n > u.next.Active {
		found.Add("ready", n, fmt.Sprintf("must be at most active, %d", u.next.Active))
	}
	return found
}

func (u served) indexes() (found problems.List) {
	next, completions := u.next, u.spec.Completions
	completed := u.old.CompletedIndexes != next.CompletedIndexes
	failed := !value.Equal(u.old.FailedIndexes, next.FailedIndexes)

	if completed {
		if next.CompletedIndexes != "" && u.spec.CompletionMode != job.Indexed {
			found.Add("completedIndexes", value.Short(next.CompletedIndexes), "needs completionMode Indexed")
		}
		found = append(found, checkFormat("completedIndexes", next.CompletedIndexes, completions)...)
	}

	if failed && next.FailedIndexes != nil {
		if u.spec.BackoffLimitPerIndex == nil {
			found.Add("failedIndexes", value.Short(*next.FailedIndexes), "needs spec.backoffLimitPerIndex")
		} else {
			found = append(found, checkFormat("failedIndexes", *next.FailedIndexes, completions)...)
		}
	}

	if changed := completed || failed; changed && completions != nil && next.FailedIndexes != nil {
		if index, ok := seenInBoth(next.CompletedIndexes, *next.FailedIndexes, *completions); ok {
			found.Add("failedIndexes", index, "must not be in completedIndexes as well")
		}
	}
	return found
}

func checkFormat(field, text string, completions *int32) (found problems.List) {
	if completions == nil {
		return nil
	}
	if _, problem := jobrules.CountIndexes(text, *completions); problem != "" {
		found.Add(field, value.Short(text), problem)
	}
	return found
}

// seenInBoth finds an index that is in both lists. Like a server, it walks along both lists, and so
// misses some indexes if a list is not sorted.
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

// validPieces returns the elements of a list that are well formed and below completions.
func validPieces(text string, completions int32) (out []indexset.Piece) {
	for _, p := range indexset.Pieces(text) {
		if p.OK && p.Last < completions && !(p.IsRange && p.First == p.Last) {
			out = append(out, p)
		}
	}
	return out
}
