package jobstatus

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// checkStep checks the fields that must not change from one status to the next, or may change only
// in certain ways.
func checkStep(old, next *job.Status, spec *job.Spec) problems.List {
	if old.Finished() != "" {
		return checkNothingChanged(old, next)
	}
	return slices.Concat(
		checkVerdictKept(old, next),
		checkCountersKept(old, next, spec),
		checkTimesKept(old, next, spec),
		checkIndexesKept(old, next, spec),
		checkSuspended(old, next, spec),
		checkCounted(old, next, spec),
	)
}

// checkVerdictKept: JI14, an announced end is not withdrawn.
func checkVerdictKept(old, next *job.Status) (found problems.List) {
	for _, c := range [...]job.ConditionType{job.ConditionFailureTarget, job.ConditionSuccessCriteriaMet} {
		if isTrue(old, c) && !isTrue(next, c) {
			found.Add(conditionField(c), string(next.Condition(c).Status), "must stay True")
		}
	}
	return found
}

// checkCountersKept: JI4, counters do not decrease.
func checkCountersKept(old, next *job.Status, spec *job.Spec) (found problems.List) {
	check := func(field string, old, next int32) {
		if next < old {
			found.Add(field, next, fmt.Sprintf("must not decrease from %d", old))
		}
	}

	check("failed", old.Failed, next.Failed)
	if spec.CompletionMode != job.Indexed || !value.Equal(spec.Completions, spec.Parallelism) {
		check("succeeded", old.Succeeded, next.Succeeded)
	}
	return found
}

// checkTimesKept: JI17, the times of a job that runs do not change.
func checkTimesKept(old, next *job.Status, spec *job.Spec) (found problems.List) {
	start, nextStart := wholeSeconds(old.StartTime), wholeSeconds(next.StartTime)
	turned := next.Condition(job.ConditionSuspended).Status
	resumed := isTrue(old, job.ConditionSuspended) && turned == job.ConditionFalse
	mayChange := start.IsZero() || value.Of(spec.Suspend) || resumed
	if !mayChange && !start.Equal(nextStart) {
		found.Add("startTime", timeValue(nextStart),
			fmt.Sprintf("must stay %s while the job is not suspended", value.Time(start)))
	}

	end, nextEnd := wholeSeconds(old.CompletionTime), wholeSeconds(next.CompletionTime)
	if !end.IsZero() && !nextEnd.IsZero() && !end.Equal(nextEnd) {
		found.Add("completionTime", timeValue(nextEnd), "must stay "+value.Time(end))
	}
	return found
}

func timeValue(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return value.Time(at)
}

// checkIndexesKept: JI6, an index stays in its list. Corrupt pieces of a list have no indexes
// (J14).
func checkIndexesKept(old, next *job.Status, spec *job.Spec) (found problems.List) {
	if spec.CompletionMode != job.Indexed {
		return nil
	}

	check := func(field, old, next string) {
		if old == next {
			return
		}
		was, _ := job.ParseIndexes(old)
		is, _ := job.ParseIndexes(next)
		if n := spec.Completions; n != nil {
			was = was.Clip(*n)
		}
		if lost := was.Minus(is); lost.Len() > 0 {
			found.Add(field, value.Short(next), fmt.Sprintf("must not lose %s", value.Short(lost.String())))
		}
	}

	check("completedIndexes", old.CompletedIndexes, next.CompletedIndexes)
	check("failedIndexes", value.Of(old.FailedIndexes), value.Of(next.FailedIndexes))
	return found
}

// checkSuspended: J39, the condition follows the spec until the end is declared.
func checkSuspended(old, next *job.Status, spec *job.Spec) (found problems.List) {
	was, is := old.Condition(job.ConditionSuspended).Status, next.Condition(job.ConditionSuspended).Status
	if was == is {
		return nil
	}

	problem := ""
	switch suspended := value.Of(spec.Suspend); {
	case isTrue(next, job.ConditionFailureTarget) || isTrue(next, job.ConditionSuccessCriteriaMet):
		problem = "must not change when the end is declared"
	case is == "":
		problem = "must not vanish"
	case was == "" && is != job.ConditionTrue:
		problem = "must not be added unless True"
	case is == job.ConditionTrue && !suspended:
		problem = "must not turn True while spec.suspend is not set"
	case is == job.ConditionFalse && suspended:
		problem = "must not turn False while spec.suspend is set"
	}

	if problem != "" {
		found.Add(conditionField(job.ConditionSuspended), string(is), problem)
	}
	return found
}

// uidLists tells which lists have a UID.
type uidLists struct{ succeeded, failed bool }

func uidListsOf(s *job.Status) map[job.UID]uidLists {
	lists := value.Of(s.UncountedTerminatedPods)
	stands := make(map[job.UID]uidLists, len(lists.Succeeded)+len(lists.Failed))
	for _, uid := range lists.Succeeded {
		stands[uid] = uidLists{succeeded: true}
	}
	for _, uid := range lists.Failed {
		stands[uid] = uidLists{succeeded: stands[uid].succeeded, failed: true}
	}
	return stands
}

// checkCounted: JI1, a UID that leaves a list is counted, and nothing else is. A faulty old status
// can have a UID in both lists. If it leaves both, it can count as a success or as a failure.
func checkCounted(old, next *job.Status, spec *job.Spec) (found problems.List) {
	was, is := uidListsOf(old), uidListsOf(next)
	var succeeded, failed, either int64

	//purity:ordered sums do not show the order
	for uid, lists := range was {
		switch {
		case is[uid] != uidLists{}:
		case lists.succeeded && lists.failed:
			either++
		case lists.succeeded:
			succeeded++
		default:
			failed++
		}
	}

	found = checkMoved(was, value.Of(next.UncountedTerminatedPods))
	if spec.CompletionMode != job.Indexed { // the successes of an Indexed job are counted by index
		found = append(found, checkRise("succeeded", old.Succeeded, next.Succeeded, succeeded, either)...)
	}
	return append(found, checkRise("failed", old.Failed, next.Failed, failed, either)...)
}

func checkRise(field string, old, next int32, left, either int64) (found problems.List) {
	rise := int64(next) - int64(old)
	if rise >= left && rise <= left+either || rise < 0 { // a decrease is reported already
		return nil
	}
	found.Add(field, next, fmt.Sprintf(
		"must rise from %d by %d, the number of UIDs that leave uncountedTerminatedPods.%s", old, left, field))
	return found
}

// checkMoved: JI1, a UID does not move to the other list.
func checkMoved(was map[job.UID]uidLists, lists job.UncountedTerminatedPods) (found problems.List) {
	check := func(list, other string, uids []job.UID, stood func(uidLists) bool) {
		for i, uid := range uids {
			if lists, ok := was[uid]; ok && !stood(lists) {
				field := fmt.Sprintf("uncountedTerminatedPods.%s[%d]", list, i)
				found.Add(field, string(uid), "must not move here from "+other)
			}
		}
	}

	check("succeeded", "failed", lists.Succeeded, func(l uidLists) bool { return l.succeeded })
	check("failed", "succeeded", lists.Failed, func(l uidLists) bool { return l.failed })
	return found
}

// checkNothingChanged: JI14 and JI16, nothing changes once the job has ended. Conditions of other
// types may change.
func checkNothingChanged(old, next *job.Status) (found problems.List) {
	const problem = "must not change after the end"

	was := counters(old)
	for i, c := range counters(next) {
		if c.value != was[i].value {
			found.Add(c.field, c.value, problem)
		}
	}
	for _, c := range [...]job.ConditionType{
		job.ConditionSuspended, job.ConditionFailureTarget, job.ConditionSuccessCriteriaMet,
		job.ConditionFailed, job.ConditionComplete,
	} {
		is := next.Condition(c)
		if !sameCondition(old.Condition(c), is) || isTrue(old, c) && !isTrue(next, c) {
			found.Add(conditionField(c), string(is.Status), problem)
		}
	}

	if !wholeSeconds(old.StartTime).Equal(wholeSeconds(next.StartTime)) {
		found.Add("startTime", timeValue(next.StartTime), problem)
	}
	if !wholeSeconds(old.CompletionTime).Equal(wholeSeconds(next.CompletionTime)) {
		found.Add("completionTime", timeValue(next.CompletionTime), problem)
	}
	if old.CompletedIndexes != next.CompletedIndexes {
		found.Add("completedIndexes", value.Short(next.CompletedIndexes), problem)
	}
	if !value.Equal(old.FailedIndexes, next.FailedIndexes) {
		found.Add("failedIndexes", value.Short(value.Of(next.FailedIndexes)), problem)
	}
	if !sameUncounted(old, next) {
		lists := value.Of(next.UncountedTerminatedPods)
		found.Add("uncountedTerminatedPods", fmt.Sprintf("%d UIDs", len(lists.Succeeded)+len(lists.Failed)), problem)
	}
	return found
}

func sameCondition(a, b job.Condition) bool {
	switch {
	case a.Status != b.Status, a.Reason != b.Reason, a.Message != b.Message:
		return false
	}
	return wholeSeconds(a.LastTransitionTime).Equal(wholeSeconds(b.LastTransitionTime))
}
