package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// next returns what the controller will do, when and why: first the writes of the plan, then what it
// waits for.
func (l *look) next() []Step {
	if !l.podsRead || len(l.job.Refused) > 0 {
		return nil // the plan was made without the pods, or an API server refuses the Job
	}
	all := slices.Concat(l.nextDeletions(), l.nextCreations(), l.nextAccounting(), l.nextVerdict())
	for _, w := range l.plan.Waits {
		all = append(all, l.nextWait(w)...)
	}
	return sortedStably(append(all, l.nextExpiry()...), func(a, b *Step) int { return compareTimes(a.At, b.At) })
}

// compareTimes orders the times of steps. A zero time comes first: the step happens now, or
// everything else waits for it.
func compareTimes(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return boolToInt(!a.IsZero()) - boolToInt(!b.IsZero())
	}
	return a.Compare(b)
}

// step returns a step that happens at a time. A zero time means now.
func step(reason string, at time.Time, format string, args ...any) Step {
	s := Step{Reason: reason, Text: sentence(fmt.Sprintf(format, args...))}
	if !at.IsZero() {
		s.At = at.UTC()
	}
	return s
}

func steps(reason string, at time.Time, format string, args ...any) []Step {
	return []Step{step(reason, at, format, args...)}
}

func (l *look) nextCreations() []Step {
	n := int64(len(l.plan.Create))
	if n == 0 {
		return nil
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
		return steps("Create", time.Time{},
			"the controller tries to create %s and is refused: the namespace is being deleted", what)
	}
	if refusal(l.events, l.now) != nil {
		return steps("Create", time.Time{}, "the controller tries again and again to create %s, at most a minute "+
			"apart, until the API server accepts it: %s", what, l.whyCreate(n))
	}
	if len(l.gangFindings()) > 0 {
		return steps("Create", time.Time{}, "the controller tries again and again to create the workload and its "+
			"pod group, at most a minute apart, and then %s: %s", what, l.whyCreate(n))
	}
	if len(l.behindFindings()) > 0 {
		return steps("Create", time.Time{}, "the controller would create %s now, if it ran: %s", what, l.whyCreate(n))
	}

	return steps("Create", time.Time{}, "the controller creates %s now: %s", what, l.whyCreate(n))
}

func (l *look) whyCreate(n int64) string {
	why := l.plan.Create[0].Reason
	missing := fmt.Sprintf("%d should be active and %s", l.found.Wanted, active(l.found.Active))
	switch why {
	case jobreason.CreateReplacement, jobreason.CreateReplacementOfFailed:
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

// lost describes how many pods failed or are terminating.
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
func (l *look) nextDeletions() (all []Step) {
	byReason := make(map[jobreason.Delete][]string)
	var order []jobreason.Delete
	for _, d := range l.plan.Delete {
		if byReason[d.Reason] == nil {
			order = append(order, d.Reason)
		}
		byReason[d.Reason] = append(byReason[d.Reason], d.Name)
	}
	for _, r := range order {
		names := byReason[r]
		all = append(all, step("Delete", time.Time{}, "the controller deletes %s now: %s: %s",
			count(int64(len(names)), "pod"), list(names), l.whyDelete(r)))
	}
	return all
}

func (l *look) whyDelete(r jobreason.Delete) string {
	if r == jobreason.DeleteSurplus {
		return fmt.Sprintf("%s active and %s wanted", count(l.found.Active, "is", "are"),
			count(l.found.Wanted, "is", "are"))
	}
	return withoutRule(r.String())
}

// nextAccounting returns the steps for the ended pods that the controller accounts for now.
func (l *look) nextAccounting() (all []Step) {
	byKind := make(map[jobreason.Counted][]string)
	for _, u := range l.plan.Untrack {
		if u.Ended && !u.OnEnd {
			byKind[u.As] = append(byKind[u.As], u.Name)
		}
	}
	for _, as := range []jobreason.Counted{jobreason.CountedSucceeded, jobreason.CountedIndex,
		jobreason.CountedFailed, jobreason.NotCounted, jobreason.AlreadyRecorded} {
		if names := byKind[as]; len(names) > 0 {
			if len(l.behindFindings()) > 0 || l.isFinished() && l.now.Sub(l.endTime()) > time.Minute {
				all = append(all, step("Count", time.Time{}, "the controller would account for %s now, as %s, if "+
					"it ran", count(int64(len(names)), "ended pod"), countedAs(as)))
				continue
			}
			all = append(all, step("Count", time.Time{}, "the controller accounts for %s now, as %s: %s",
				count(int64(len(names)), "ended pod"), countedAs(as), list(names)))
		}
	}
	return all
}

func countedAs(as jobreason.Counted) string {
	switch as {
	case jobreason.CountedSucceeded, jobreason.CountedIndex:
		return "succeeded"
	case jobreason.CountedFailed:
		return "failed"
	case jobreason.AlreadyRecorded:
		return "recorded in the status before"
	}
	return "not counted, only to remove the finalizer"
}

func (l *look) nextVerdict() []Step {
	if v := l.plan.Verdict; v.Type != "" {
		end := "fails"
		if v.Type == job.ConditionSuccessCriteriaMet {
			end = "completes"
		}
		return steps("End", time.Time{}, "the Job %s once no pod is active or terminating and all are counted (%s)",
			end, v.Reason)
	}
	if c := l.after.Condition(job.ConditionComplete); c.Status == job.ConditionTrue && !l.isFinished() {
		if len(l.behindFindings()) > 0 {
			return steps("End", time.Time{}, "the controller would then complete the Job: %s (%s)", l.successes(),
				c.Reason)
		}
		return steps("End", time.Time{}, "the controller completes the Job now: %s (%s)", l.successes(), c.Reason)
	}
	return nil
}

// nextWait returns what the controller waits for. It leaves out a wait that another step describes.
// It also leaves out waits that a Consistent snapshot, like the one here, never has.
func (l *look) nextWait(w job.Wait) []Step {
	switch w.Reason {
	case jobreason.WaitBackoff:
		s := step("Backoff", w.Until,
			"%s: the controller creates %s then, and not before: %s in a row, the last one %s, mean a backoff of %s",
			l.at(w.Until), count(w.Pods, "pod"), count(w.Failures, "failure"), l.at(l.found.Backoff.LastFailure),
			span(w.Until.Sub(l.found.Backoff.LastFailure)))
		s.Inferred = true
		return []Step{s}
	case jobreason.WaitIndexBackoff:
		return steps("IndexBackoff", w.Until, "%s: the controller creates the next pod of an index that has "+
			"failed, and not before: %s for the backoff after %s own failures: %s",
			l.at(w.Until), count(w.Pods, "index waits", "indexes wait"), verb(w.Pods, "its", "their"), l.retryTimes())
	case jobreason.WaitDeadline:
		return steps("Deadline", w.Until, "%s: the Job fails with DeadlineExceeded, unless it has ended by then: "+
			"activeDeadlineSeconds is %d, and it started at %s",
			l.at(w.Until), *l.spec.ActiveDeadlineSeconds, l.clock(l.start()))
	case jobreason.WaitReplacement:
		return steps("Replacement", time.Time{}, "%s %s wanted and not created: podReplacementPolicy Failed "+
			"replaces a pod only when it has ended, and %d %s terminating",
			count(w.Pods, "pod"), verb(w.Pods, "is", "are"), w.Terminating, verb(w.Terminating, "is", "are"))
	case jobreason.WaitPods:
		if len(l.plan.Create) > 0 && l.found.Active == 0 {
			return nil // the step Create describes it
		}
		return steps("Pods", time.Time{}, "the controller waits for %s to end%s", l.activePods(w.Pods), l.noMorePods())
	case jobreason.WaitSuspended:
		return steps("Suspended", time.Time{}, "the controller creates no pod as long as spec.suspend is true; "+
			"once it is false, it creates %s", count(l.ifResumed(), "pod"))
	case jobreason.WaitTerminating:
		return steps("Terminating", time.Time{}, "the end waits for %s to be gone",
			count(w.Terminating, "terminating pod"))
	case jobreason.WaitDeleted:
		return steps("Deleted", time.Time{}, "the controller creates no pod, since the Job is being deleted")
	case jobreason.WaitUncounted:
		return steps("Uncounted", time.Time{},
			"more pods have ended than the controller records in one round; the next rounds do the rest")
	case jobreason.WaitAdoption:
		return steps("Adoption", time.Time{}, "the controller adopts %s without a controller now, and manages them "+
			"in the next round", count(w.Pods, "pod"))
	case jobreason.WaitManagedBy:
		return steps("ManagedBy", time.Time{},
			"no pod is created by the Job controller of Kubernetes; ask the logs of %q", w.Name)
	}
	return nil
}

// noMorePods returns "" or, if a pod of a work queue has succeeded, a text about why no pod
// follows.
func (l *look) noMorePods() string {
	if l.spec.Completions != nil || l.found.Succeeded == 0 {
		return ""
	}
	return ", and creates no pod any more: one of a work queue (completions is not set) has succeeded, so the " +
		"queue is taken to be empty"
}

// activePods describes how many pods the Job waits for, and what they do.
func (l *look) activePods(n int64) string {
	pending, running := 0, 0
	for i := range l.snapshot.Pods {
		p := &l.snapshot.Pods[i]
		if p.Deletion != nil || p.Owner == jobpod.Foreign {
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
	return count(n, "active pod") + after(" ", parenthesis(parts))
}

func parenthesis(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// retryTimes lists the times at which failed indexes may run again.
func (l *look) retryTimes() string {
	var parts []string
	for _, r := range l.found.Retries {
		if r.Due.After(l.now) {
			parts = append(parts, fmt.Sprintf("index %s %s", r.Index, l.at(r.Due)))
		}
	}
	return list(parts)
}

// ifResumed returns the number of pods that the controller would create if the Job were resumed now.
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

// nextExpiry returns when the finished Job is deleted (T1).
func (l *look) nextExpiry() []Step {
	expired, at, err := job.Expire(&l.snapshot.Job, l.snapshot.Options, l.now)
	switch {
	case err != nil || at.IsZero():
		return nil
	case expired && len(l.expiryFindings()) > 0:
		return nil // the finding NotExpired reports it
	case expired:
		return steps("Expiry", time.Time{}, "the TTL controller deletes the Job and its pods now: "+
			"ttlSecondsAfterFinished, %d, passed %s", *l.spec.TTLSecondsAfterFinished, l.at(at))
	}
	return steps("Expiry", at, "%s: the TTL controller deletes the Job and its pods: ttlSecondsAfterFinished is %d",
		l.at(at), *l.spec.TTLSecondsAfterFinished)
}
