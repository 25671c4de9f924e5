package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
)

func fact(topic, format string, args ...any) Fact {
	return Fact{Topic: topic, Text: sentence(fmt.Sprintf(format, args...))}
}

// facts returns how many failures the Job tolerates, as a whole and in each index, and which rules
// of its policies have matched.
func (l *look) facts(state State) (all []Fact) {
	goesOn := !l.isFinished() && l.snapshot.Job.DeletionTimestamp.IsZero()
	isActedOn := state != Elsewhere && state != Broken && state != Ending
	if goesOn && isActedOn && l.podsRead {
		all = slices.Concat(l.backoffLimitFacts(), l.indexLimitFacts(), l.successPolicyFacts(), l.backoffFacts())
	}
	return slices.Concat(all, l.narrowFacts(), l.templateFacts(), l.policyFacts(), l.sidecarFacts(), l.goneFacts())
}

// narrowFacts explain why a Job has fewer active pods than its parallelism allows.
func (l *look) narrowFacts() []Fact {
	left := l.remaining()
	width := int64(value.Of(l.spec.Parallelism))
	isNarrow := left > 0 && l.found.Active == left && left < width
	if !isNarrow || l.isFinished() || len(l.surplusFindings()) > 0 { // which says it too
		return nil
	}
	return []Fact{fact("limit", "parallelism is %d, and no more than %s %s active: a Job has no more pods than "+
		"completions that are left", *l.spec.Parallelism, count(left, "pod"), verb(left, "is", "are"))}
}

// templateFacts report that the CronJob has other images by now.
func (l *look) templateFacts() []Fact {
	c := l.ownerCronJob()
	if c == nil || l.isFinished() {
		return nil
	}
	is, was := c.Template.Images(), l.job.Template.Images()
	if is == was {
		return nil
	}
	return []Fact{fact("template", "its image is %s, and that of the CronJob's template is %s now: a Job keeps its "+
		"own template, also for pods that replace deleted ones; Jobs created from now on have the new one", was, is)}
}

// sidecarFacts explain the exit codes of native sidecars in pods that have succeeded.
func (l *look) sidecarFacts() []Fact {
	var ends tally
	for _, p := range l.pods {
		for _, c := range p.Containers {
			hasFailed := c.Sidecar && c.Ended && c.ExitCode != 0
			if hasFailed && p.Object.Phase == job.PodSucceeded {
				ends.add(fmt.Sprintf("%s with exit code %d", c.Name, c.ExitCode))
			}
		}
	}
	if len(ends.order) == 0 {
		return nil
	}
	n := int64(len(ends.order))
	return []Fact{fact("sidecar", "%s ended after the other containers: %s. The kubelet stops %s then, with SIGKILL "+
		"after the grace period, and %s not count", verb(n, "a native sidecar", "native sidecars"), ends.list(),
		verb(n, "it", "them"), verb(n, "its exit code does", "their exit codes do"))}
}

// backoffFacts report the backoff of failures in a row, unless the controller waits for it: then a
// step reports it.
func (l *look) backoffFacts() []Fact {
	n := l.found.Backoff.Failures
	if n == 0 || l.waits(jobreason.WaitBackoff) != nil {
		return nil
	}
	f := fact("backoff", "%s in a row, the last one %s: the backoff of %s %s over", count(int64(n), "failure"),
		l.at(l.found.Backoff.LastFailure), span(backoff.Policy{}.Delay(int(n))), l.isOver())
	f.Inferred = true
	return []Fact{f}
}

func (l *look) isOver() string {
	if l.found.Backoff.Due(backoff.Policy{}).After(l.now) {
		return "is not"
	}
	return "is"
}

func (l *look) backoffLimitFacts() (all []Fact) {
	limit := int64(*l.spec.BackoffLimit)
	if limit == math.MaxInt32 {
		return nil
	}
	restarts := l.spec.Template.RestartPolicy == job.RestartOnFailure && l.found.Restarts > 0

	left := max(limit-l.found.Failed, 0)
	so := "no pod has failed"
	if n := l.found.Failed; n > 0 {
		so = hasFailed(n)
	} else if n := int64(len(l.failedPods())); n > 0 {
		so = "no failure has counted (" + hasFailed(n) + ")"
	}

	if !restarts || l.found.Failed > 0 {
		all = append(all, fact("retries", "%s left of backoffLimit %d: %s so far, and the Job fails when %s",
			count(left, "retry", "retries"), limit, so, hasFailed(limit+1)))
	}

	if restarts {
		all = append(all, fact("restarts", "%s left of backoffLimit %d: the containers of pods that have not ended "+
			"were restarted %s; the Job fails at %s",
			count(max(limit-l.found.Restarts, 0), "restart"), limit, count(l.found.Restarts, "time"),
			count(max(limit, 1), "restart")))
	}
	return all
}

func hasFailed(n int64) string {
	return fmt.Sprintf("%s %s failed", count(n, "pod"), verb(n, "has", "have"))
}

// indexLimitFacts report which indexes have failed, and how many retries they have left.
func (l *look) indexLimitFacts() (all []Fact) {
	limit := l.spec.BackoffLimitPerIndex
	if limit == nil || !l.isIndexed() {
		return nil
	}

	var parts []string
	for _, r := range l.found.Retries {
		parts = append(parts,
			fmt.Sprintf("index %s waits for retry %d of %d%s", r.Index, r.Failures, *limit, ignoredText(r.Ignored)))
	}
	for i := range l.snapshot.Pods {
		p := &l.snapshot.Pods[i]
		isActive := p.Phase < job.PodSucceeded && p.Deletion == nil
		if isActive && p.Detail != nil && p.Detail.FailureCount > 0 {
			parts = append(parts,
				fmt.Sprintf("index %s runs its retry %d of %d", p.Index, p.Detail.FailureCount, *limit))
		}
	}

	if len(parts) == 0 {
		all = append(all, fact("retries", "each index has %s left (backoffLimitPerIndex): none of those that go on "+
			"has failed", count(int64(*limit), "retry", "retries")))
	} else {
		all = append(all, fact("retries",
			"with backoffLimitPerIndex %d, %s; the other indexes that go on have used none", *limit, list(parts)))
	}

	failed := int64(l.found.FailedIndexes.Len())
	if most := l.spec.MaxFailedIndexes; most != nil {
		all = append(all, fact("indexes", "%s failed%s; the Job fails when more than %d %s failed "+
			"(maxFailedIndexes)", count(failed, "index", "indexes"), named(l.found.FailedIndexes), *most,
			verb(int64(*most), "has", "have")))
	}
	return all
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

// successPolicyFacts report how far each rule of the success policy is from being met.
func (l *look) successPolicyFacts() (all []Fact) {
	if l.spec.SuccessPolicy == nil || l.plan.Verdict.Type != "" {
		return nil
	}
	for i, r := range l.spec.SuccessPolicy.Rules {
		done, of := l.found.CompletedIndexes, "any index"
		if r.SucceededIndexes != nil {
			set, _ := job.ParseIndexes(*r.SucceededIndexes)
			done, of = done.Intersect(set), "indexes "+set.String()
		}
		needs := "all of " + of
		if r.SucceededCount != nil {
			needs = fmt.Sprintf("%d of %s", *r.SucceededCount, of)
		}
		all = append(all, fact("success", "rule %d of the successPolicy needs %s to succeed; so far %d %s", i,
			needs, done.Len(), verb(int64(done.Len()), "has", "have")))
	}
	return all
}

// policyFacts report which rule of the podFailurePolicy matched which pods.
func (l *look) policyFacts() (all []Fact) {
	if l.spec.PodFailurePolicy == nil {
		return nil
	}
	for i, rule := range l.spec.PodFailurePolicy.Rules {
		var pods []string
		var why tally
		for place, found := range l.found.Pods {
			if found.Failed && found.Match != nil && found.Match.Rule == i {
				pods = append(pods, l.pods[place].Name)
				why.add(matched(found.Match))
			}
		}
		if len(pods) > 0 {
			all = append(all, fact("policy", "rule %d of the podFailurePolicy (%s) matched %s, %s: %s", i,
				rule.Action, list(pods), why.list(), meaning(rule.Action)))
		}
	}
	return all
}

func matched(m *job.PolicyMatch) string {
	if m.Container != "" {
		return fmt.Sprintf("container %s with exit code %d", m.Container, m.ExitCode)
	}
	return "condition " + m.Condition
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

// goneFacts report, for a Job that goes on, how many counted failures have no pod any more.
func (l *look) goneFacts() []Fact {
	gone := l.failures() - int64(l.countFailed())
	switch {
	case !l.podsRead, l.status.Finished() == job.ConditionFailed, l.fails():
		return nil
	case l.isFinished() && len(l.pods) == 0 && l.job.Controller().Kind == "":
		return []Fact{fact("pods", "no pod of the Job is among those that were read: what they did is counted in the "+
			"status%s, and stays so; logs of pods that are gone are only where the cluster collects logs",
			after(", completedIndexes ", l.found.CompletedIndexes.String()))}
	case gone <= 0:
		return nil
	}

	return []Fact{
		fact("failures", "%s counted whose %s not among those that were read",
			count(gone, "failure is", "failures are"), verb(gone, "pod is", "pods are")),
	}
}
