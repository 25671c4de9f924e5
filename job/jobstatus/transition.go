package jobstatus

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// CheckTransition checks a job's next status against the one that it replaces. It is meant for
// controllers that write job statuses themselves: for jobs with spec.managedBy (KEP-4368), or in a
// database, where no API server looks at them. The statuses of a [job.Plan] pass, unless its
// [job.Options] ask for quirks.
//
// It reports all problems together: the error joins a [*job.InputError] for each, with the path of
// its field. Problems that only a server of the release finds are reported if there are no others.
// Nil means that the status may be written, and that a server of the release accepts it. Without a
// server, use [release.Newest]. spec is the current spec, after [job.Default].
//
// These are the rules that API servers apply to updates of a job's status, from 1.32 on:
//
//   - No counter is negative, and there are no more ready pods than active ones.
//   - No uncounted UID is empty or a duplicate, in one list or in both.
//   - Failed, Complete, FailureTarget and SuccessCriteriaMet are never withdrawn
//     once they are True.
//   - Complete and SuccessCriteriaMet exclude Failed and FailureTarget.
//   - Complete needs SuccessCriteriaMet, and Failed needs FailureTarget, written earlier or in
//     the same write.
//   - A finished job has no active, terminating or uncounted pods, and has a
//     startTime unless it is suspended and has completions 0.
//   - completionTime is set with Complete and only with it, does not lie before
//     startTime, and does not change.
//   - startTime of a job that is not suspended is neither changed nor removed,
//     except in the write that turns Suspended from True to False.
//   - failed never decreases. Nor does succeeded, except for an Indexed job with completions equal
//     to parallelism: an elastic job may have shrunk.
//   - Only Indexed jobs have completedIndexes, and only jobs with backoffLimitPerIndex have
//     failedIndexes. The indexes increase, are below completions, and are in only one of the lists.
//
// 1.31 with JobManagedBy has two more rules, see [CheckServed]. If JobManagedBy and
// JobPodReplacementPolicy are off, Complete needs no SuccessCriteriaMet, and servers accept
// SuccessCriteriaMet only with a successPolicy.
//
// No API server checks the following rules, which keep the counts true:
//
//   - A counter rises by exactly the number of UIDs that leave its uncounted list. A UID never
//     moves to the other list. For an Indexed job this holds for failed; succeeded is the number of
//     completedIndexes.
//   - No index is lost from a list, unless completions has shrunk below it.
//   - Index lists have their canonical form (J14).
//   - Each condition type appears once, with status True, False or Unknown.
//   - The reason SuccessPolicy needs a successPolicy.
//   - Suspended follows spec.suspend, is never added as False, and does not change once the end is
//     declared (J39).
//   - Nothing changes after the end (J4).
//
// Like the API server, CheckTransition tolerates problems that the old status has in the same form,
// except for negative counters, bad UIDs, SuccessCriteriaMet with Failed or FailureTarget, and
// Complete without SuccessCriteriaMet when there is a successPolicy. Times are compared in whole
// seconds, since Kubernetes stores no fractions.
//
// old must be exactly the status that is replaced: a mirror that misses some writes of the counting
// controller sees counters rise without UIDs. CheckTransition cannot notice that a UID was counted,
// forgotten and added again. Only the order of writes prevents that (J35).
func CheckTransition(old, next job.Status, spec job.Spec, r release.Release) error {
	found := slices.Concat(
		checkAll(&next, &spec, checkNegative, checkUncounted, checkMetAlone, checkPolicyMet),
		newIn(checkTolerable(&next, &spec, r), checkTolerable(&old, &spec, r)),
		checkAll(&next, &spec, changedLists(&old, &next)...),
		checkStep(&old, &next, &spec),
	)
	if len(found) == 0 { // otherwise it would repeat most of them in other words
		found = servedProblems(&old, &next, &spec, r)
	}
	return problems.Join[job.InputError]("status.", found)
}

// checkTolerable returns the problems that are tolerated if the old status also has them.
func checkTolerable(s *job.Status, spec *job.Spec, r release.Release) problems.List {
	found := checkAll(s, spec, checkConditionList, checkReady, checkCompleteAlone, checkFailureTarget,
		checkSuccessReason, checkFinished, checkCompletionTime, checkSucceeded)
	if knowsMet(r) {
		found = append(found, checkMet(s, spec)...)
	}
	return found
}

// newIn returns the problems of argument found that argument before does not have.
func newIn(found, before problems.List) problems.List {
	if len(found) == 0 {
		return nil
	}
	known := make(map[problems.Problem]bool, len(before))
	for _, problem := range before {
		known[problem] = true
	}
	return slices.DeleteFunc(found, func(p problems.Problem) bool { return known[p] })
}

// statusCheck checks one status.
type statusCheck func(s *job.Status, spec *job.Spec) problems.List

func checkAll(s *job.Status, spec *job.Spec, checks ...statusCheck) (found problems.List) {
	for _, check := range checks {
		found = append(found, check(s, spec)...)
	}
	return found
}

// checkNegative: JI20, no counter is negative.
func checkNegative(s *job.Status, _ *job.Spec) (found problems.List) {
	for _, c := range counters(s) {
		if c.value < 0 {
			found.Add(c.field, c.value, "must not be negative")
		}
	}
	return found
}

type counter struct {
	field string
	value int32
}

func counters(s *job.Status) [5]counter {
	return [...]counter{
		{"active", s.Active}, {"ready", value.Of(s.Ready)}, {"terminating", value.Of(s.Terminating)},
		{"succeeded", s.Succeeded}, {"failed", s.Failed},
	}
}

// checkReady: JI20, ready pods are active pods.
func checkReady(s *job.Status, _ *job.Spec) (found problems.List) {
	if n := value.Of(s.Ready); n > s.Active {
		found.Add("ready", n, fmt.Sprintf("must be at most active, %d", s.Active))
	}
	return found
}

// checkUncounted: JI2, each UID appears once.
func checkUncounted(s *job.Status, _ *job.Spec) (found problems.List) {
	lists := value.Of(s.UncountedTerminatedPods)
	seen := make(map[job.UID]bool, len(lists.Succeeded)+len(lists.Failed))
	check := func(list string, uids []job.UID) {
		for i, uid := range uids {
			problem := "must not be empty"
			if uid != "" && seen[uid] {
				problem = "must not appear twice"
			}
			if uid == "" || seen[uid] {
				found.Add(fmt.Sprintf("uncountedTerminatedPods.%s[%d]", list, i), string(uid), problem)
			}
			seen[uid] = true
		}
	}

	check("succeeded", lists.Succeeded)
	check("failed", lists.Failed)
	return found
}

// checkConditionList: each type appears once, with a known status.
func checkConditionList(s *job.Status, _ *job.Spec) (found problems.List) {
	seen := make(map[job.ConditionType]bool, len(s.Conditions))
	for i := range s.Conditions {
		c := &s.Conditions[i]
		switch c.Status {
		case job.ConditionTrue, job.ConditionFalse, job.ConditionUnknown:
		default:
			found.Add(fmt.Sprintf("conditions[%d].status", i), string(c.Status), "must be True, False or Unknown")
		}

		if seen[c.Type] {
			found.Add(fmt.Sprintf("conditions[%d].type", i), string(c.Type), "must not appear twice")
		}
		seen[c.Type] = true
	}
	return found
}

// checkMetAlone: JI15, a job that is ending in success is not ending in failure.
func checkMetAlone(s *job.Status, _ *job.Spec) problems.List {
	return exclude(s, job.ConditionSuccessCriteriaMet)
}

// checkCompleteAlone: JI15, a job that has succeeded has not failed.
func checkCompleteAlone(s *job.Status, _ *job.Spec) problems.List {
	return exclude(s, job.ConditionComplete)
}

func exclude(s *job.Status, success job.ConditionType) (found problems.List) {
	for _, failure := range [...]job.ConditionType{job.ConditionFailureTarget, job.ConditionFailed} {
		if isTrue(s, success) && isTrue(s, failure) {
			found.Add(conditionField(failure), "True", fmt.Sprintf("must not hold together with %s", success))
		}
	}
	return found
}

func conditionField(t job.ConditionType) string { return fmt.Sprintf("conditions[%s]", t) }

// checkPolicyMet: JI15, if the spec has a successPolicy, Complete always needs SuccessCriteriaMet.
func checkPolicyMet(s *job.Status, spec *job.Spec) problems.List {
	if spec.SuccessPolicy == nil {
		return nil
	}
	return needs(s, job.ConditionComplete, job.ConditionSuccessCriteriaMet)
}

// checkFailureTarget: JI15, Failed needs FailureTarget.
func checkFailureTarget(s *job.Status, _ *job.Spec) problems.List {
	return needs(s, job.ConditionFailed, job.ConditionFailureTarget)
}

// checkMet: JI15, Complete needs SuccessCriteriaMet. For a job with a successPolicy, checkPolicyMet
// checks that.
func checkMet(s *job.Status, spec *job.Spec) problems.List {
	if spec.SuccessPolicy != nil {
		return nil
	}
	return needs(s, job.ConditionComplete, job.ConditionSuccessCriteriaMet)
}

func needs(s *job.Status, final, interim job.ConditionType) (found problems.List) {
	if isTrue(s, final) && !isTrue(s, interim) {
		found.Add(conditionField(final), "True", fmt.Sprintf("needs %s", interim))
	}
	return found
}

// checkSuccessReason: J25, only a successPolicy ends a job with the reason SuccessPolicy.
func checkSuccessReason(s *job.Status, spec *job.Spec) (found problems.List) {
	if spec.SuccessPolicy != nil {
		return nil
	}
	for _, t := range [...]job.ConditionType{job.ConditionSuccessCriteriaMet, job.ConditionComplete} {
		if c := s.Condition(t); c.Status == job.ConditionTrue && c.Reason == "SuccessPolicy" {
			found.Add(conditionField(t), c.Reason, "needs spec.successPolicy")
		}
	}
	return found
}

// checkFinished: JI8, nothing is left to wait for when the job ends.
func checkFinished(s *job.Status, spec *job.Spec) (found problems.List) {
	if s.Finished() == "" {
		return nil
	}

	if s.Active > 0 {
		found.Add("active", s.Active, "must be 0 when finished")
	}
	if n := value.Of(s.Terminating); n > 0 {
		found.Add("terminating", n, "must be 0 when finished")
	}

	lists := value.Of(s.UncountedTerminatedPods)
	if n := len(lists.Succeeded) + len(lists.Failed); n > 0 {
		found.Add("uncountedTerminatedPods", n, "must be empty when finished")
	}
	if s.StartTime.IsZero() && !(value.Of(spec.Suspend) && value.Equal(spec.Completions, new(int32))) {
		found.Add("startTime", nil, "is required when finished")
	}
	return found
}

// checkCompletionTime: JI17, completionTime is set only with Complete, and is not before startTime.
func checkCompletionTime(s *job.Status, _ *job.Spec) (found problems.List) {
	complete, at := isTrue(s, job.ConditionComplete), s.CompletionTime
	switch {
	case complete && at.IsZero():
		found.Add("completionTime", nil, "is required when Complete")
	case !complete && !at.IsZero():
		found.Add("completionTime", value.Time(at), "must not be set unless Complete")
	}

	if !at.IsZero() && !s.StartTime.IsZero() && wholeSeconds(at).Before(wholeSeconds(s.StartTime)) {
		found.Add("completionTime", value.Time(at), "must not be before startTime, "+value.Time(s.StartTime))
	}
	return found
}

// wholeSeconds returns a time as Kubernetes stores it.
func wholeSeconds(t time.Time) time.Time { return t.Truncate(time.Second) }

// changedLists returns the checks of the index lists that the transition changes. An unchanged list
// is not checked, because a change of the spec may have made it wrong.
func changedLists(old, next *job.Status) (checks []statusCheck) {
	completed := old.CompletedIndexes != next.CompletedIndexes
	failed := !value.Equal(old.FailedIndexes, next.FailedIndexes)

	if completed {
		checks = append(checks, checkCompletedIndexes)
	}
	if failed {
		checks = append(checks, checkFailedIndexes)
	}
	if completed || failed {
		checks = append(checks, checkDecidedOnce)
	}
	return checks
}

// checkCompletedIndexes: JI6, the list is in order and in range.
func checkCompletedIndexes(s *job.Status, spec *job.Spec) (found problems.List) {
	switch {
	case spec.CompletionMode == job.Indexed:
		return checkIndexes("completedIndexes", s.CompletedIndexes, spec)
	case s.CompletedIndexes != "":
		found.Add("completedIndexes", value.Short(s.CompletedIndexes), "needs completionMode Indexed")
	}
	return found
}

// checkSucceeded: JI6, succeeded is the number of completed indexes.
func checkSucceeded(s *job.Status, spec *job.Spec) (found problems.List) {
	if spec.CompletionMode != job.Indexed {
		return nil
	}

	completed, _ := job.ParseIndexes(s.CompletedIndexes)
	if n := completed.Len(); n != int(s.Succeeded) {
		found.Add("succeeded", s.Succeeded, fmt.Sprintf("must be the number of completedIndexes, %d", n))
	}
	return found
}

// checkFailedIndexes: JI6, the list of failed indexes is in order and in range.
func checkFailedIndexes(s *job.Status, spec *job.Spec) (found problems.List) {
	switch {
	case s.FailedIndexes == nil:
	case spec.BackoffLimitPerIndex == nil:
		found.Add("failedIndexes", value.Short(*s.FailedIndexes), "needs spec.backoffLimitPerIndex")
	default:
		return checkIndexes("failedIndexes", *s.FailedIndexes, spec)
	}
	return found
}

// checkDecidedOnce: JI6, an index has failed or succeeded, not both. Indexes beyond completions do
// not count.
func checkDecidedOnce(s *job.Status, spec *job.Spec) (found problems.List) {
	if s.FailedIndexes == nil || spec.Completions == nil {
		return nil
	}

	failed, _ := job.ParseIndexes(*s.FailedIndexes)
	completed, _ := job.ParseIndexes(s.CompletedIndexes)
	if both := failed.Intersect(completed).Clip(*spec.Completions); both.Len() > 0 {
		found.Add("failedIndexes", value.Short(both.String()), "must not be in completedIndexes as well")
	}
	return found
}

// checkIndexes checks the text of a list.
func checkIndexes(field, text string, spec *job.Spec) (found problems.List) {
	indexes, err := job.ParseIndexes(text)
	corrupt := (*job.InputError)(nil)
	switch {
	case errors.As(err, &corrupt):
		found = append(found, problems.Problem{Field: field, Value: corrupt.Value, Problem: corrupt.Problem})
	case indexes.String() != text:
		found.Add(field, value.Short(text), fmt.Sprintf("must be in canonical form, %q", value.Short(indexes.String())))
	}

	if n := spec.Completions; n != nil {
		if beyond := indexes.Minus(indexes.Clip(*n)); beyond.Len() > 0 {
			found.Add(field, value.Short(beyond.String()), fmt.Sprintf("must be below completions, %d", *n))
		}
	}
	return found
}
