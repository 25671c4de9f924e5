package job

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// transition is a step from one status to the next.
type transition struct {
	old, next *Status
	spec      *Spec
	problems  []error
}

func (t *transition) add(field string, value any, problem string) {
	t.problems = append(t.problems, invalid("status."+field, value, problem))
}

// keepVerdict: JI14, how the job is going to end is not taken back.
func (t *transition) keepVerdict() {
	for _, c := range [...]ConditionType{ConditionFailureTarget, ConditionSuccessCriteriaMet} {
		if t.old.isTrue(c) && !t.next.isTrue(c) {
			t.add(conditionField(c), string(t.next.Condition(c).Status), "must stay True")
		}
	}
}

// keepCounters: JI4, what is counted stays counted.
func (t *transition) keepCounters() {
	check := func(field string, old, next int32) {
		if next < old {
			t.add(field, next, fmt.Sprintf("must not decrease from %d", old))
		}
	}
	check("failed", t.old.Failed, t.next.Failed)
	if t.spec.CompletionMode != Indexed || !equalPointed(t.spec.Completions, t.spec.Parallelism) {
		check("succeeded", t.old.Succeeded, t.next.Succeeded)
	}
}

// keepTimes: JI17, the times of a job that runs stay.
func (t *transition) keepTimes() {
	old, next := wholeSeconds(t.old.StartTime), wholeSeconds(t.next.StartTime)
	resumed := t.old.isTrue(ConditionSuspended) && t.next.Condition(ConditionSuspended).Status == ConditionFalse
	if !old.IsZero() && !old.Equal(next) && !t.spec.isSuspended() && !resumed {
		t.add("startTime", timeValue(next), fmt.Sprintf("must stay %s while the job is not suspended", value.Time(old)))
	}
	old, next = wholeSeconds(t.old.CompletionTime), wholeSeconds(t.next.CompletionTime)
	if !old.IsZero() && !next.IsZero() && !old.Equal(next) {
		t.add("completionTime", timeValue(next), "must stay "+value.Time(old))
	}
}

func timeValue(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return value.Time(at)
}

// keepIndexes: JI6, an index that is decided stays decided. Corrupt pieces hold
// none (J14).
func (t *transition) keepIndexes() {
	if t.spec.CompletionMode != Indexed {
		return
	}
	check := func(field, old, next string) {
		if old == next {
			return
		}
		was, _ := ParseIndexes(old)
		is, _ := ParseIndexes(next)
		if n := t.spec.Completions; n != nil {
			was = was.Clip(*n)
		}
		if lost := was.Minus(is); lost.Len() > 0 {
			t.add(field, shortened(next), fmt.Sprintf("must not lose %s", shortened(lost.String())))
		}
	}
	check("completedIndexes", t.old.CompletedIndexes, t.next.CompletedIndexes)
	check("failedIndexes", value.Of(t.old.FailedIndexes), value.Of(t.next.FailedIndexes))
}

// turnSuspended: J39, the condition follows the spec while the job lives.
func (t *transition) turnSuspended() {
	old, next := t.old.Condition(ConditionSuspended).Status, t.next.Condition(ConditionSuspended).Status
	if old == next {
		return
	}
	problem := ""
	switch suspended := t.spec.isSuspended(); {
	case t.next.isTrue(ConditionFailureTarget) || t.next.isTrue(ConditionSuccessCriteriaMet):
		problem = "must not change when the end is declared"
	case next == "":
		problem = "must not vanish"
	case old == "" && next != ConditionTrue:
		problem = "must not be added unless True"
	case next == ConditionTrue && !suspended:
		problem = "must not turn True while spec.suspend is not set"
	case next == ConditionFalse && suspended:
		problem = "must not turn False while spec.suspend is set"
	}
	if problem != "" {
		t.add(conditionField(ConditionSuspended), string(next), problem)
	}
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

// countUIDs: JI1, what leaves a list is counted, and nothing else is. A UID that
// stood in both lists was an error; leaving both, it can be counted as either.
func (t *transition) countUIDs() {
	was, is := t.old.uidLists(), t.next.uidLists()
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
	t.moveNone(was)
	if t.spec.CompletionMode != Indexed { // those are counted by index
		t.rise("succeeded", t.old.Succeeded, t.next.Succeeded, succeeded, either)
	}
	t.rise("failed", t.old.Failed, t.next.Failed, failed, either)
}

func (t *transition) rise(field string, old, next int32, left, either int64) {
	rise := int64(next) - int64(old)
	if rise >= left && rise <= left+either || rise < 0 { // the fall is reported already
		return
	}
	t.add(field, next, fmt.Sprintf("must rise from %d by %d, the number of UIDs that leave uncountedTerminatedPods.%s", old, left, field))
}

// moveNone: JI1, the first verdict about a pod stays.
func (t *transition) moveNone(was map[UID]uidLists) {
	check := func(list, other string, uids []UID, stood func(uidLists) bool) {
		for i, uid := range uids {
			if lists, ok := was[uid]; ok && !stood(lists) {
				t.add(fmt.Sprintf("uncountedTerminatedPods.%s[%d]", list, i), string(uid), "must not move here from "+other)
			}
		}
	}
	lists := t.next.uncounted()
	check("succeeded", "failed", lists.Succeeded, func(l uidLists) bool { return l.succeeded })
	check("failed", "succeeded", lists.Failed, func(l uidLists) bool { return l.failed })
}

// keepAll: JI14 and JI16, nothing changes after the end. Conditions of other
// types are not ours to judge.
func (t *transition) keepAll() {
	const problem = "must not change after the end"
	was := t.old.counters()
	for i, c := range t.next.counters() {
		if c.value != was[i].value {
			t.add(c.field, c.value, problem)
		}
	}
	for _, c := range [...]ConditionType{ConditionSuspended, ConditionFailureTarget, ConditionSuccessCriteriaMet, ConditionFailed, ConditionComplete} {
		next := t.next.Condition(c)
		if !sameCondition(t.old.Condition(c), next) || t.old.isTrue(c) && !t.next.isTrue(c) {
			t.add(conditionField(c), string(next.Status), problem)
		}
	}
	old, next := t.old, t.next
	if !wholeSeconds(old.StartTime).Equal(wholeSeconds(next.StartTime)) {
		t.add("startTime", timeValue(next.StartTime), problem)
	}
	if !wholeSeconds(old.CompletionTime).Equal(wholeSeconds(next.CompletionTime)) {
		t.add("completionTime", timeValue(next.CompletionTime), problem)
	}
	if old.CompletedIndexes != next.CompletedIndexes {
		t.add("completedIndexes", shortened(next.CompletedIndexes), problem)
	}
	if !equalPointed(old.FailedIndexes, next.FailedIndexes) {
		t.add("failedIndexes", shortened(value.Of(next.FailedIndexes)), problem)
	}
	if !equalUncounted(old.UncountedTerminatedPods, next.UncountedTerminatedPods) {
		t.add("uncountedTerminatedPods", fmt.Sprintf("%d UIDs", len(next.uncounted().Succeeded)+len(next.uncounted().Failed)), problem)
	}
}

func sameCondition(a, b Condition) bool {
	return a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message &&
		wholeSeconds(a.LastTransitionTime).Equal(wholeSeconds(b.LastTransitionTime))
}
