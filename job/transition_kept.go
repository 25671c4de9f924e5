package job

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// checkStep checks what must stay, or may only change in a certain way, from one status to
// the next.
func checkStep(old, next *Status, spec *Spec) problems {
	if old.finished() != "" {
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

// checkVerdictKept: JI14, how the job is going to end is not taken back.
func checkVerdictKept(old, next *Status) (found problems) {
	for _, c := range [...]ConditionType{ConditionFailureTarget, ConditionSuccessCriteriaMet} {
		if old.isTrue(c) && !next.isTrue(c) {
			found.add(conditionField(c), string(next.Condition(c).Status), "must stay True")
		}
	}
	return found
}

// checkCountersKept: JI4, what is counted stays counted.
func checkCountersKept(old, next *Status, spec *Spec) (found problems) {
	check := func(field string, old, next int32) {
		if next < old {
			found.add(field, next, fmt.Sprintf("must not decrease from %d", old))
		}
	}

	check("failed", old.Failed, next.Failed)
	if spec.CompletionMode != Indexed || !equalPointed(spec.Completions, spec.Parallelism) {
		check("succeeded", old.Succeeded, next.Succeeded)
	}
	return found
}

// checkTimesKept: JI17, the times of a job that runs stay.
func checkTimesKept(old, next *Status, spec *Spec) (found problems) {
	start, nextStart := wholeSeconds(old.StartTime), wholeSeconds(next.StartTime)
	resumed := old.isTrue(ConditionSuspended) && next.Condition(ConditionSuspended).Status == ConditionFalse
	mayChange := start.IsZero() || spec.isSuspended() || resumed
	if !mayChange && !start.Equal(nextStart) {
		found.add("startTime", timeValue(nextStart),
			fmt.Sprintf("must stay %s while the job is not suspended", value.Time(start)))
	}

	end, nextEnd := wholeSeconds(old.CompletionTime), wholeSeconds(next.CompletionTime)
	if !end.IsZero() && !nextEnd.IsZero() && !end.Equal(nextEnd) {
		found.add("completionTime", timeValue(nextEnd), "must stay "+value.Time(end))
	}
	return found
}

func timeValue(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return value.Time(at)
}

// checkIndexesKept: JI6, an index that is decided stays decided. Corrupt pieces hold
// none (J14).
func checkIndexesKept(old, next *Status, spec *Spec) (found problems) {
	if spec.CompletionMode != Indexed {
		return nil
	}

	check := func(field, old, next string) {
		if old == next {
			return
		}
		was, _ := ParseIndexes(old)
		is, _ := ParseIndexes(next)
		if n := spec.Completions; n != nil {
			was = was.Clip(*n)
		}
		if lost := was.Minus(is); lost.Len() > 0 {
			found.add(field, shortened(next), fmt.Sprintf("must not lose %s", shortened(lost.String())))
		}
	}

	check("completedIndexes", old.CompletedIndexes, next.CompletedIndexes)
	check("failedIndexes", value.Of(old.FailedIndexes), value.Of(next.FailedIndexes))
	return found
}

// checkSuspended: J39, the condition follows the spec while the job lives.
func checkSuspended(old, next *Status, spec *Spec) (found problems) {
	was, is := old.Condition(ConditionSuspended).Status, next.Condition(ConditionSuspended).Status
	if was == is {
		return nil
	}

	problem := ""
	switch suspended := spec.isSuspended(); {
	case next.isTrue(ConditionFailureTarget) || next.isTrue(ConditionSuccessCriteriaMet):
		problem = "must not change when the end is declared"
	case is == "":
		problem = "must not vanish"
	case was == "" && is != ConditionTrue:
		problem = "must not be added unless True"
	case is == ConditionTrue && !suspended:
		problem = "must not turn True while spec.suspend is not set"
	case is == ConditionFalse && suspended:
		problem = "must not turn False while spec.suspend is set"
	}

	if problem != "" {
		found.add(conditionField(ConditionSuspended), string(is), problem)
	}
	return found
}

// uidLists says in which lists a UID stands.
type uidLists struct{ succeeded, failed bool }

func (s *Status) uidLists() map[UID]uidLists {
	lists := s.uncounted()
	stands := make(map[UID]uidLists, len(lists.Succeeded)+len(lists.Failed))
	for _, uid := range lists.Succeeded {
		stands[uid] = uidLists{succeeded: true}
	}
	for _, uid := range lists.Failed {
		stands[uid] = uidLists{succeeded: stands[uid].succeeded, failed: true}
	}
	return stands
}

// checkCounted: JI1, what leaves a list is counted, and nothing else is. A UID that
// stood in both lists was an error; leaving both, it can be counted as either.
func checkCounted(old, next *Status, spec *Spec) (found problems) {
	was, is := old.uidLists(), next.uidLists()
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

	found = checkMoved(was, next.uncounted())
	if spec.CompletionMode != Indexed { // those are counted by index
		found = append(found, checkRise("succeeded", old.Succeeded, next.Succeeded, succeeded, either)...)
	}
	return append(found, checkRise("failed", old.Failed, next.Failed, failed, either)...)
}

func checkRise(field string, old, next int32, left, either int64) (found problems) {
	rise := int64(next) - int64(old)
	if rise >= left && rise <= left+either || rise < 0 { // the fall is reported already
		return nil
	}
	found.add(field, next, fmt.Sprintf(
		"must rise from %d by %d, the number of UIDs that leave uncountedTerminatedPods.%s", old, left, field))
	return found
}

// checkMoved: JI1, the first verdict about a pod stays.
func checkMoved(was map[UID]uidLists, lists UncountedTerminatedPods) (found problems) {
	check := func(list, other string, uids []UID, stood func(uidLists) bool) {
		for i, uid := range uids {
			if lists, ok := was[uid]; ok && !stood(lists) {
				field := fmt.Sprintf("uncountedTerminatedPods.%s[%d]", list, i)
				found.add(field, string(uid), "must not move here from "+other)
			}
		}
	}

	check("succeeded", "failed", lists.Succeeded, func(l uidLists) bool { return l.succeeded })
	check("failed", "succeeded", lists.Failed, func(l uidLists) bool { return l.failed })
	return found
}

// checkNothingChanged: JI14 and JI16, nothing changes after the end. Conditions of other
// types are not ours to judge.
func checkNothingChanged(old, next *Status) (found problems) {
	const problem = "must not change after the end"

	was := old.counters()
	for i, c := range next.counters() {
		if c.value != was[i].value {
			found.add(c.field, c.value, problem)
		}
	}
	for _, c := range [...]ConditionType{
		ConditionSuspended, ConditionFailureTarget, ConditionSuccessCriteriaMet, ConditionFailed, ConditionComplete,
	} {
		is := next.Condition(c)
		if !sameCondition(old.Condition(c), is) || old.isTrue(c) && !next.isTrue(c) {
			found.add(conditionField(c), string(is.Status), problem)
		}
	}

	if !wholeSeconds(old.StartTime).Equal(wholeSeconds(next.StartTime)) {
		found.add("startTime", timeValue(next.StartTime), problem)
	}
	if !wholeSeconds(old.CompletionTime).Equal(wholeSeconds(next.CompletionTime)) {
		found.add("completionTime", timeValue(next.CompletionTime), problem)
	}
	if old.CompletedIndexes != next.CompletedIndexes {
		found.add("completedIndexes", shortened(next.CompletedIndexes), problem)
	}
	if !equalPointed(old.FailedIndexes, next.FailedIndexes) {
		found.add("failedIndexes", shortened(value.Of(next.FailedIndexes)), problem)
	}
	if !equalUncounted(old.UncountedTerminatedPods, next.UncountedTerminatedPods) {
		lists := next.uncounted()
		found.add("uncountedTerminatedPods", fmt.Sprintf("%d UIDs", len(lists.Succeeded)+len(lists.Failed)), problem)
	}
	return found
}

func sameCondition(a, b Condition) bool {
	return a.Status == b.Status &&
		a.Reason == b.Reason &&
		a.Message == b.Message &&
		wholeSeconds(a.LastTransitionTime).Equal(wholeSeconds(b.LastTransitionTime))
}
