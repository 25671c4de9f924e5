package explain

import (
	"fmt"
	"slices"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// state returns the state in a word and in a sentence. The word agrees with the findings.
func (l *look) state(findings []Finding) (State, string) {
	end := l.status.Finished()
	switch {
	case !l.snapshot.Job.DeletionTimestamp.IsZero():
		return Deleting, l.deleting()
	case end == job.ConditionComplete:
		return Complete, l.completed()
	case end == job.ConditionFailed:
		return Failed, l.failed()
	case l.isElsewhere():
		return Elsewhere, fmt.Sprintf("managed by %q: the Job controller of Kubernetes leaves it alone, %s",
			l.waits(jobreason.WaitManagedBy).Name, l.progress())
	case l.waits(jobreason.WaitUnknownMode) != nil:
		return Broken, fmt.Sprintf("completionMode %q is unknown: the controller leaves the Job alone",
			l.spec.CompletionMode)
	case l.plan.Verdict.Type != "":
		return Ending, l.ending()
	case l.isSuspended():
		return Suspended, l.suspended()
	}
	return l.going(findings)
}

// going returns the state of a Job that neither ends nor is suspended.
func (l *look) going(findings []Finding) (State, string) {
	lasts := l.since(l.start())
	isNew := len(l.pods) == 0 && l.found.Succeeded+l.found.Failed == 0
	bad := worst(findings)
	isBad := bad != nil && bad.Severity == Error

	switch {
	case !l.podsRead:
		return Running, fmt.Sprintf("active for %s by its status: %s, %s", lasts, l.successes(),
			count(int64(l.status.Active), "active pod"))
	case isBad && isNew && l.job.IsManifest:
		return Broken, fmt.Sprintf("a manifest that a server would refuse: %s", l.successes())
	case isBad && l.works() == 0:
		return Stuck, fmt.Sprintf("stuck, %s after its start: %s, %s", lasts, l.successes(), l.podCounts())
	case l.works() > 0:
		return Running, fmt.Sprintf("active for %s: %s, %s", lasts, l.successes(), l.podCounts())
	case l.found.Active > 0:
		hasBegun := func(p *read.Pod) bool { return p.Object.Phase < job.PodSucceeded && hasRun(p) }
		if slices.ContainsFunc(l.pods, hasBegun) {
			return Running, fmt.Sprintf("active for %s, and no container works now: %s, %s", lasts, l.successes(),
				l.podCounts())
		}
		return Starting, fmt.Sprintf("active for %s, and no container runs yet: %s, %s", lasts, l.successes(),
			l.podCounts())
	case isNew && l.job.IsManifest:
		return Starting, "a manifest that no server has accepted yet: explained as if it were created now"
	case isNew && l.waits(jobreason.WaitParallelism) == nil:
		return Starting, fmt.Sprintf("created %s, and no pod exists yet", l.at(l.created()))
	}
	return Waiting, fmt.Sprintf("active for %s, and no pod runs: %s, %s", lasts, l.successes(), l.podCounts())
}

func (l *look) completed() string {
	s := fmt.Sprintf("completed %s: %s", l.at(l.endTime()), l.successes())
	if took := l.endTime().Sub(l.start()); !l.status.StartTime.IsZero() && took >= 0 {
		s += fmt.Sprintf(", %s after its start", span(took))
	}
	c := l.status.Condition(job.ConditionComplete)
	isPolicy := c.Reason == "SuccessPolicy"
	if isPolicy {
		s += "; by its successPolicy"
	}
	if isPolicy && c.Message != "" {
		s += fmt.Sprintf(" (%s)", plainly(c.Message))
	}
	switch {
	case isPolicy && l.status.Failed > 0:
		s += fmt.Sprintf(": the controller then deletes the other pods, which count among the %d failed",
			l.status.Failed)
	case l.status.Failed > 0:
		s += fmt.Sprintf("; %s failed on the way%s", count(int64(l.status.Failed), "pod"), l.lastFailure())
	}
	return s
}

// lastFailure describes the end of the last failed pod that exists, if it said something.
func (l *look) lastFailure() string {
	all := l.failedPods()
	if len(all) == 0 {
		return ""
	}
	last := &all[len(all)-1]
	text := said(last.container.Reason, last.container.Message)
	return after(fmt.Sprintf(", the last one with %s", l.endOf(last.place)), text)
}

func (l *look) failed() string {
	c := l.status.Condition(job.ConditionFailed)
	s := fmt.Sprintf("failed %s", l.at(c.LastTransitionTime))
	if took := c.LastTransitionTime.Sub(l.start()); !l.status.StartTime.IsZero() && took >= 0 {
		s += fmt.Sprintf(", %s after its start", span(took))
	}
	return s + ": " + l.successes()
}

// cause describes why a Job fails, with the numbers of the limit that was exceeded.
func (l *look) cause(reason, message string) string {
	n, isKnown := l.failedBefore(reason)
	failed := count(n, "pod") + " failed"
	switch {
	case n == 0:
		failed = "no pod failed"
	case !isKnown:
		failed = fmt.Sprintf("%s as failed, with any that the controller deleted at the end",
			count(n, "pod counts", "pods count"))
	}

	switch reason {
	case "BackoffLimitExceeded":
		if l.spec.Template.RestartPolicy == job.RestartOnFailure && l.failures() <= int64(*l.spec.BackoffLimit) {
			return fmt.Sprintf("restartPolicy is OnFailure, and the containers of its pods were restarted more "+
				"often than backoffLimit %d allows%s (%s)",
				*l.spec.BackoffLimit, l.restartsSeen(), reason)
		}
		if each := l.spec.BackoffLimitPerIndex; each != nil {
			return fmt.Sprintf("%s, and backoffLimit is %d, which counts the failures of all indexes together, "+
				"besides backoffLimitPerIndex %d for each (%s)", failed, *l.spec.BackoffLimit, *each, reason)
		}
		return fmt.Sprintf("%s, and backoffLimit is %d (%s)", failed, *l.spec.BackoffLimit, reason)
	case "DeadlineExceeded":
		if d := l.spec.ActiveDeadlineSeconds; d != nil {
			return fmt.Sprintf("it was active for longer than activeDeadlineSeconds, %d (%s); %s", *d, reason, failed)
		}
	case "MaxFailedIndexesExceeded":
		if l.spec.MaxFailedIndexes != nil {
			return fmt.Sprintf("%s failed, which are %s, and maxFailedIndexes is %d (%s)",
				count(int64(l.found.FailedIndexes.Len()), "index", "indexes"), l.found.FailedIndexes,
				*l.spec.MaxFailedIndexes, reason)
		}
	case "FailedIndexes":
		return fmt.Sprintf("all indexes have ended, and %s failed: %s (%s)",
			count(int64(l.found.FailedIndexes.Len()), "index", "indexes"), l.found.FailedIndexes, reason)
	}
	return fmt.Sprintf("%s (%s)", plainly(message), reason)
}

// restartsSeen describes how often the containers of the pods that still exist were restarted.
func (l *look) restartsSeen() string {
	if l.found.Restarts == 0 {
		return ""
	}
	return fmt.Sprintf(": %s so far", count(l.found.Restarts, "restart"))
}

func (l *look) deleting() string {
	s := fmt.Sprintf("terminating since %s (%s)", l.clock(l.snapshot.Job.DeletionTimestamp),
		l.since(l.snapshot.Job.DeletionTimestamp))
	if l.isFinished() {
		return s + fmt.Sprintf(": it has ended before (%s), %s", l.status.Finished(), l.successes())
	}
	return s + ": the controller starts no pod any more and only accounts for those that exist, " + l.podCounts()
}

func (l *look) ending() string {
	v := l.plan.Verdict
	if v.Type == job.ConditionSuccessCriteriaMet {
		return fmt.Sprintf("about to complete: %s (%s); %s", plainly(v.Message), v.Reason, l.podCounts())
	}
	return fmt.Sprintf("about to fail: %s; %s", l.successes(), l.podCounts())
}

func (l *look) suspended() string {
	s := "suspended"
	if c := l.status.Condition(job.ConditionSuspended); c.Status == job.ConditionTrue {
		if l.heldSince().Before(c.LastTransitionTime) {
			s += " again"
		}
		s += fmt.Sprintf(" since %s (%s)", l.clock(c.LastTransitionTime), l.since(c.LastTransitionTime))
	}
	return s + ": no pod is created, " + l.progress()
}

func (l *look) progress() string { return l.successes() + ", " + l.podCounts() }

// podCounts describes how many pods are active, terminating and failed.
func (l *look) podCounts() string {
	s := "no pod is active"
	if n := l.found.Active; n > 0 {
		s = count(n, "active pod")
		if l.found.Ready < n {
			s += fmt.Sprintf(" (%d ready)", l.found.Ready)
		}
	}
	if n := l.found.Terminating; n > 0 {
		s += fmt.Sprintf(", %d terminating", n)
	}

	n, t := l.failures(), l.terminatingFailures()
	if l.plan.Verdict.Type == job.ConditionSuccessCriteriaMet { // the controller deletes them, as not needed
		n, t = n-int64(t), 0
	}
	if n > 0 {
		s += fmt.Sprintf(", %d failed", n)
		if t > 0 {
			s += fmt.Sprintf(", %d of them terminating, which %s as failed", t, verb(int64(t), "counts", "count"))
		}
	}
	return s
}

// terminatingFailures returns the number of pods that count as failed because they are being
// deleted (J7).
func (l *look) terminatingFailures() (n int) {
	for i, found := range l.found.Pods {
		if p := &l.snapshot.Pods[i]; found.Failed && p.Phase < job.PodSucceeded && !p.Untracked {
			n++
		}
	}
	return n
}
