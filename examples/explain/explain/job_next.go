package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
)

// explainNext says what the controller will do, when and why: the writes of the plan, then
// what it waits for, then what time alone brings.
func (l *look) explainNext() {
	l.nextDeletions()
	l.nextCreations()
	l.nextAccounting()
	l.nextVerdict()
	for _, w := range l.plan.Waits {
		l.nextWait(w)
	}
	l.nextExpiry()
	slices.SortStableFunc(l.out.Next, func(a, b Step) int {
		return compareTimes(a.At, b.At)
	})
}

// compareTimes puts what has no time first: it happens now, or is what everything waits for.
func compareTimes(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return boolToInt(!a.IsZero()) - boolToInt(!b.IsZero())
	}
	return a.Compare(b)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (l *look) next(reason string, at time.Time, format string, args ...any) *Step {
	l.out.Next = append(l.out.Next, Step{At: at.UTC(), Reason: reason, Text: sentence(fmt.Sprintf(format, args...))})
	step := &l.out.Next[len(l.out.Next)-1]
	if at.IsZero() {
		step.At = time.Time{}
	}
	return step
}

func (l *look) nextCreations() {
	n := int64(len(l.plan.Create))
	if n == 0 {
		return
	}
	what := count(n, "pod")
	if l.isIndexed() {
		var set job.Indexes
		for _, c := range l.plan.Create {
			set = set.With(c.Index.Int32(), c.Index.Int32())
		}
		what += fmt.Sprintf(" for %s %s", verb(n, "index", "indexes"), set)
	}
	if !l.closing.IsZero() {
		l.next("Create", time.Time{}, "the controller tries to create %s and is refused: namespace %s is being deleted", what, l.job.Namespace)
		return
	}
	l.next("Create", time.Time{}, "the controller creates %s now: %s", what, l.whyCreate(n))
}

func (l *look) whyCreate(n int64) string {
	why := l.plan.Create[0].Reason
	missing := fmt.Sprintf("%d should be active and %s", l.found.Wanted, active(l.found.Active))
	switch why {
	case job.CreateReplacement, job.CreateReplacementOfFailed:
		return fmt.Sprintf("%s, since %s", missing, l.lost())
	}
	return missing
}

func active(n int64) string {
	if n == 0 {
		return "none is"
	}
	return fmt.Sprintf("%d %s", n, verb(n, "is", "are"))
}

// lost is how many pods failed or are going away.
func (l *look) lost() string {
	var parts []string
	if n := l.found.Failed; n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if n := l.found.Terminating; n > 0 {
		parts = append(parts, fmt.Sprintf("%d %s terminating", n, verb(n, "is", "are")))
	}
	return strings.Join(parts, " and ")
}

// nextDeletions groups the deletions of a plan by their reason.
func (l *look) nextDeletions() {
	byReason := make(map[job.DeleteReason][]string)
	var order []job.DeleteReason
	for _, d := range l.plan.Delete {
		if byReason[d.Reason] == nil {
			order = append(order, d.Reason)
		}
		byReason[d.Reason] = append(byReason[d.Reason], d.Name)
	}
	for _, r := range order {
		names := byReason[r]
		l.next("Delete", time.Time{}, "the controller deletes %s now: %s: %s", count(int64(len(names)), "pod"), list(names), l.whyDelete(r))
	}
}

func (l *look) whyDelete(r job.DeleteReason) string {
	text, _, _ := strings.Cut(r.String(), " (J")
	if r == job.DeleteSurplus {
		return fmt.Sprintf("%d are active and %d %s wanted", l.found.Active, l.found.Wanted, verb(l.found.Wanted, "is", "are"))
	}
	return text
}

// nextAccounting says which ended pods are counted now.
func (l *look) nextAccounting() {
	byKind := make(map[job.CountedAs][]string)
	for _, u := range l.plan.Untrack {
		if u.Ended && !u.OnEnd {
			byKind[u.As] = append(byKind[u.As], u.Name)
		}
	}
	for _, as := range []job.CountedAs{job.CountedSucceeded, job.CountedIndex, job.CountedFailed, job.NotCounted, job.AlreadyRecorded} {
		if names := byKind[as]; len(names) > 0 {
			l.next("Count", time.Time{}, "the controller accounts for %s now, as %s: %s", count(int64(len(names)), "ended pod"), countedAs(as), list(names))
		}
	}
}

func countedAs(as job.CountedAs) string {
	switch as {
	case job.CountedSucceeded, job.CountedIndex:
		return "succeeded"
	case job.CountedFailed:
		return "failed"
	case job.AlreadyRecorded:
		return "recorded in the status before"
	}
	return "not counted, only to remove the finalizer"
}

func (l *look) nextVerdict() {
	if v := l.plan.Verdict; v.Type != "" {
		end := "fails"
		if v.Type == job.ConditionSuccessCriteriaMet {
			end = "completes"
		}
		l.next("End", time.Time{}, "the Job %s once no pod is active or terminating and all are counted (%s)", end, v.Reason)
	} else if c := l.after.Condition(job.ConditionComplete); c.Status == job.ConditionTrue && l.status.Finished() == "" {
		l.next("End", time.Time{}, "the controller completes the Job now: %s (%s)", l.successes(), c.Reason)
	}
}

func (l *look) nextWait(w job.Wait) {
	switch w.Reason {
	case job.WaitBackoff:
		step := l.next("Backoff", w.Until, "%s: the controller creates %s then, and not before: %s in a row, the last one %s, mean a backoff of %s",
			l.at(w.Until), count(w.Pods, "pod"), count(w.Failures, "failure"), l.at(l.found.Backoff.LastFailure),
			span(w.Until.Sub(l.found.Backoff.LastFailure)))
		step.Inferred = true
	case job.WaitIndexBackoff:
		l.next("IndexBackoff", w.Until, "%s: the controller creates the next pod of an index that has failed, and not before: %s for the backoff after %s own failures: %s",
			l.at(w.Until), count(w.Pods, "index waits", "indexes wait"), verb(w.Pods, "its", "their"), l.retryTimes())
	case job.WaitDeadline:
		l.next("Deadline", w.Until, "%s: the Job fails with DeadlineExceeded, unless it has ended by then: activeDeadlineSeconds is %d, and it started at %s",
			l.at(w.Until), *l.spec.ActiveDeadlineSeconds, l.start().UTC().Format("15:04:05"))
	case job.WaitReplacement:
		l.next("Replacement", time.Time{}, "%s %s wanted and not created: podReplacementPolicy Failed replaces a pod only when it has ended, and %d %s terminating",
			count(w.Pods, "pod"), verb(w.Pods, "is", "are"), w.Terminating, verb(w.Terminating, "is", "are"))
	case job.WaitPods:
		l.next("Pods", time.Time{}, "the controller waits for %s to end", l.activePods(w.Pods))
	case job.WaitSuspended:
		l.next("Suspended", time.Time{}, "the controller creates no pod as long as spec.suspend is true; once it is false, it creates %s", count(l.ifResumed(), "pod"))
	case job.WaitTerminating:
		l.next("Terminating", time.Time{}, "the end waits for %s to be gone", count(w.Terminating, "terminating pod"))
	case job.WaitDeleted:
		l.next("Deleted", time.Time{}, "the controller creates no pod, since the Job is being deleted")
	case job.WaitParallelism:
		l.next("Parallelism", time.Time{}, "the controller creates no pod as long as parallelism is 0")
	case job.WaitUncounted:
		l.next("Uncounted", time.Time{}, "more pods have ended than the controller records in one round; the next rounds do the rest")
	case job.WaitAdoption:
		l.next("Adoption", time.Time{}, "the controller adopts %s without a controller now, and manages them in the next round", count(w.Pods, "pod"))
	case job.WaitManagedBy:
		l.next("ManagedBy", time.Time{}, "no pod is created by the Job controller of Kubernetes; ask the logs of %q", w.Name)
	case job.WaitUnknownMode, job.WaitFinished, job.WaitObserved, job.WaitExpectations, job.WaitNext, job.WaitTimeout:
		// Said elsewhere, or impossible in a snapshot that contains all writes.
	}
}

// activePods names the pods that the Job waits for, and what these do.
func (l *look) activePods(n int64) string {
	pending, running := 0, 0
	for i := range l.snapshot.Pods {
		p := &l.snapshot.Pods[i]
		if p.Deletion != nil || p.Owner != job.Owned {
			continue
		}
		switch p.Phase {
		case job.PodPending:
			pending++
		case job.PodRunning:
			running++
		}
	}
	var parts []string
	if running > 0 {
		parts = append(parts, fmt.Sprintf("%d running", running))
	}
	if pending > 0 {
		parts = append(parts, fmt.Sprintf("%d pending", pending))
	}
	if fresh := len(l.plan.Create); fresh > 0 {
		parts = append(parts, fmt.Sprintf("%d new", fresh))
	}
	return count(n, "active pod") + " (" + strings.Join(parts, ", ") + ")"
}

// retryTimes lists when indexes may run again.
func (l *look) retryTimes() string {
	var parts []string
	for _, r := range l.found.Retries {
		if r.Due.After(l.now) {
			parts = append(parts, fmt.Sprintf("index %s %s", r.Index, l.at(r.Due)))
		}
	}
	return list(parts)
}

// ifResumed is how many pods the controller would create if the Job were resumed now.
func (l *look) ifResumed() int64 {
	s := l.snapshot
	resumed := false
	s.Job.Spec.Suspend = &resumed
	plan, err := job.Reconcile(s)
	if err != nil {
		return 0
	}
	return int64(len(plan.Create))
}

// nextExpiry says when the finished Job is deleted (T1).
func (l *look) nextExpiry() {
	expired, at, err := job.Expire(l.snapshot.Job, l.snapshot.Options, l.now)
	switch {
	case err != nil || at.IsZero():
	case expired:
		l.next("Expiry", time.Time{}, "the TTL controller deletes the Job and its pods now: ttlSecondsAfterFinished, %d, passed %s", *l.spec.TTLSecondsAfterFinished, l.at(at))
	default:
		l.next("Expiry", at, "%s: the TTL controller deletes the Job and its pods: ttlSecondsAfterFinished is %d", l.at(at), *l.spec.TTLSecondsAfterFinished)
	}
}

func (l *look) endTime() time.Time {
	for _, t := range []job.ConditionType{job.ConditionComplete, job.ConditionFailed} {
		if c := l.status.Condition(t); c.Status == job.ConditionTrue {
			return c.LastTransitionTime
		}
	}
	return time.Time{}
}
