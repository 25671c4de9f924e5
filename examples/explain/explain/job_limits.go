package explain

import (
	"fmt"
	"math"
	"strings"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/job"
)

// explainLimits says how many failures the Job survives, as a whole and in each index.
func (l *look) explainLimits() {
	if l.status.Finished() != "" || l.out.State == Elsewhere || l.out.State == Broken || l.out.State == Ending {
		return
	}
	l.explainBackoffLimit()
	l.explainIndexLimits()
	l.explainSuccessPolicy()
	if n := l.found.Backoff.Failures; n > 0 && l.waits(job.WaitBackoff) == nil && l.out.State != Ending {
		l.infer("backoff", "%s in a row, the last one %s: the backoff of %s %s over", count(int64(n), "failure"),
			l.at(l.found.Backoff.LastFailure), span(backoff.Policy{}.Delay(int(n))), l.isOver())
	}
}

func (l *look) isOver() string {
	if l.found.Backoff.Due(backoff.Policy{}).After(l.now) {
		return "is not"
	}
	return "is"
}

func (l *look) explainBackoffLimit() {
	limit := int64(*l.spec.BackoffLimit)
	if limit == math.MaxInt32 {
		return
	}
	left := max(limit-l.found.Failed, 0)
	so := "no pod has failed"
	if n := l.found.Failed; n > 0 {
		so = hasFailed(n)
	}
	l.fact("retries", "%s left of backoffLimit %d: %s so far, and the Job fails when %s",
		count(left, "retry", "retries"), limit, so, hasFailed(limit+1))
	if l.spec.Template.RestartPolicy == job.RestartOnFailure && l.found.Restarts > 0 {
		reach := max(limit, 1)
		l.fact("restarts", "the containers of pods that have not ended were restarted %s; the Job fails at %s",
			count(l.found.Restarts, "time"), count(reach, "restart"))
	}
}

func hasFailed(n int64) string {
	return fmt.Sprintf("%s %s failed", count(n, "pod"), verb(n, "has", "have"))
}

// explainIndexLimits says which indexes have failed before, and what they have left.
func (l *look) explainIndexLimits() {
	limit := l.spec.BackoffLimitPerIndex
	if limit == nil || !l.isIndexed() {
		return
	}
	var parts []string
	for _, r := range l.found.Retries {
		parts = append(parts, fmt.Sprintf("index %s waits for retry %d of %d%s", r.Index, r.Failures, *limit, ignoredText(r.Ignored)))
	}
	for i := range l.snapshot.Pods {
		p := &l.snapshot.Pods[i]
		if p.Phase < job.PodSucceeded && p.Deletion == nil && p.Detail != nil && p.Detail.FailureCount > 0 {
			parts = append(parts, fmt.Sprintf("index %s runs its retry %d of %d", p.Index, p.Detail.FailureCount, *limit))
		}
	}
	if len(parts) == 0 {
		l.fact("retries", "each index has %s left (backoffLimitPerIndex): none of those that go on has failed", count(int64(*limit), "retry", "retries"))
	} else {
		l.fact("retries", "with backoffLimitPerIndex %d, %s; the other indexes that go on have used none", *limit, list(parts))
	}
	failed := int64(l.found.FailedIndexes.Len())
	switch most := l.spec.MaxFailedIndexes; {
	case most != nil:
		l.fact("indexes", "%s failed%s; the Job survives %d (maxFailedIndexes)", count(failed, "index", "indexes"), named(l.found.FailedIndexes), *most)
	case failed > 0:
		l.fact("indexes", "%s failed%s: the others go on, and the Job fails with FailedIndexes at its end", count(failed, "index", "indexes"), named(l.found.FailedIndexes))
	}
}

func ignoredText(n int32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", after %s that the policy ignores", count(int64(n), "failure"))
}

func named(set job.Indexes) string {
	if set.Len() == 0 {
		return ""
	}
	return " (" + set.String() + ")"
}

// explainSuccessPolicy says how far each rule of the success policy is from being met.
func (l *look) explainSuccessPolicy() {
	if l.spec.SuccessPolicy == nil || l.plan.Verdict.Type != "" {
		return
	}
	for i, r := range l.spec.SuccessPolicy.Rules {
		done, of := l.found.Completed, "any index"
		if r.SucceededIndexes != nil {
			set, _ := job.ParseIndexes(*r.SucceededIndexes)
			done, of = done.Intersect(set), "indexes "+set.String()
		}
		needs := "all of " + of
		if r.SucceededCount != nil {
			needs = fmt.Sprintf("%d of %s", *r.SucceededCount, of)
		}
		l.fact("success", "rule %d of the successPolicy needs %s to succeed; so far %d %s", i, needs, done.Len(), verb(int64(done.Len()), "has", "have"))
	}
}

// explainPolicy says which rule of the podFailurePolicy matched which pods.
func (l *look) explainPolicy() {
	if l.spec.PodFailurePolicy == nil {
		return
	}
	for i, rule := range l.spec.PodFailurePolicy.Rules {
		var pods []string
		var why tally
		for place, found := range l.found.Pods {
			if found.Failed && found.Rule == i {
				pods = append(pods, l.pods[place].Name)
				why.add(matched(&found))
			}
		}
		if len(pods) > 0 {
			l.fact("policy", "rule %d of the podFailurePolicy (%s) matched %s, %s: %s", i, rule.Action, list(pods), why.list(), meaning(rule.Action))
		}
	}
}

func matched(p *job.PodInspection) string {
	if p.Container != "" {
		return fmt.Sprintf("container %s with exit code %d", p.Container, p.ExitCode)
	}
	return "condition " + p.Condition
}

func meaning(a job.FailureAction) string {
	switch a {
	case job.FailJob:
		return "the Job fails without a retry"
	case job.FailIndex:
		return "the index fails without a retry"
	case job.IgnoreFailure:
		return "the pod is replaced, and no failure is counted"
	}
	return "the failure counts like any other"
}

// explainFailures says how failed pods have ended.
func (l *look) explainFailures() {
	var ends tally
	for i, found := range l.found.Pods {
		if found.Failed && l.snapshot.Pods[i].Phase == job.PodFailed {
			ends.add(l.endOf(i))
		}
	}
	if len(ends.order) > 0 {
		l.fact("failures", "the failed pods that still exist ended with %s", ends.list())
	}
	if gone := l.failures() - int64(l.countFailed()); gone > 0 && len(ends.order) > 0 {
		l.fact("failures", "%s counted whose %s gone", count(gone, "more failure is", "more failures are"), verb(gone, "pod is", "pods are"))
	} else if gone > 0 {
		l.fact("failures", "none of the %s is among the pods that were read", count(gone, "failed pod"))
	}
}

// failures is how many failures are counted, or will be in this round. What is found on the
// pods of a Job that has ended is not added any more.
func (l *look) failures() int64 {
	if l.status.Finished() != "" {
		return int64(l.status.Failed)
	}
	return l.found.Failed
}

func (l *look) countFailed() (n int) {
	for _, found := range l.found.Pods {
		if found.Failed && found.Counts {
			n++
		}
	}
	return n
}

// endOf says how the containers of a pod ended.
func (l *look) endOf(place int) string {
	p := l.pods[place]
	var parts []string
	for _, c := range p.Stuck {
		if !c.Waiting {
			parts = append(parts, exit(c.ExitCode, c.Reason))
		}
	}
	switch {
	case len(parts) > 0 && p.Reason != "":
		return parts[0] + " (" + p.Reason + ")"
	case len(parts) > 0:
		return strings.Join(parts, " and ")
	case p.Reason != "":
		return "the reason " + p.Reason
	case p.Object.Deletion != nil:
		return "a deletion"
	}
	return "no exit code"
}

// exit is an exit code with what it usually means.
func exit(code int32, reason string) string {
	s := fmt.Sprintf("exit code %d", code)
	switch {
	case reason != "" && reason != "Error" && reason != "Completed":
		return s + ", " + reason
	case code == 137:
		return s + ", killed with SIGKILL"
	case code == 143:
		return s + ", ended by SIGTERM"
	case code == 126:
		return s + ", the command is not executable"
	case code == 127:
		return s + ", the command was not found"
	}
	return s
}
