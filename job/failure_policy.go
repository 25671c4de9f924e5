package job

import (
	"fmt"
	"slices"

	"github.com/batchplan/batchplan/job/jobquirk"
)

// failure is what a failed pod means to the job.
type failure struct {
	// counts is true when the failure counts towards the limits.
	counts bool
	// action is that of the rule that matched, "" when none did.
	action FailureAction
	// message says which rule matched and why; set for FailJob.
	message string
}

// failureOf applies the podFailurePolicy: the first rule that matches decides
// (J21). Without a match the failure counts.
func (p *Planner) failureOf(pod *Pod) failure {
	policy := p.job.Spec.PodFailurePolicy
	if policy == nil {
		return failure{counts: true}
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		match, ok := rule.match(pod)
		if !ok {
			continue
		}
		f := failure{action: rule.Action}
		switch rule.Action {
		case Ignore:
			f.counts = p.ignoresEnough(pod)
		case FailIndex:
			f.counts = true
			if !p.job.limitsIndexes() {
				continue // the rule needs backoffLimitPerIndex; without it nothing matched
			}
		case FailJob:
			f.counts = true
			f.message = match.message(p.job.Namespace, pod, i)
		case Count:
			f.counts = true
		default:
			continue // an action of a later version
		}
		return f
	}
	return failure{counts: true}
}

// ignoresEnough reports whether Options.MaxIgnoredFailures is used up.
func (p *Planner) ignoresEnough(pod *Pod) bool {
	limit := p.snap.Options.MaxIgnoredFailures
	if limit == 0 {
		return false
	}
	if p.job.limitsIndexes() {
		return pod.detail().IgnoredFailureCount >= limit
	}
	return p.plan.Basis.Memory.Ignored >= limit
}

// ruleMatch is the container or the condition that a rule has matched.
type ruleMatch struct {
	container *Container
	condition string
}

func (m ruleMatch) message(namespace string, pod *Pod, rule int) string {
	if m.container != nil {
		return fmt.Sprintf("Container %s for pod %s/%s failed with exit code %d matching %s rule at index %d",
			m.container.Name, namespace, pod.Name, m.container.ExitCode, FailJob, rule)
	}
	return fmt.Sprintf("Pod %s/%s has condition %s matching %s rule at index %d",
		namespace, pod.Name, m.condition, FailJob, rule)
}

func (r *PodFailurePolicyRule) match(pod *Pod) (ruleMatch, bool) {
	if r.OnExitCodes != nil {
		c := r.OnExitCodes.match(pod.detail().Containers)
		return ruleMatch{container: c}, c != nil
	}
	for _, c := range pod.detail().Conditions {
		if r.matchesCondition(&c) {
			return ruleMatch{condition: c.Type}, true
		}
	}
	return ruleMatch{}, false
}

func (r *PodFailurePolicyRule) matchesCondition(c *PodCondition) bool {
	return slices.ContainsFunc(r.OnPodConditions, func(pattern PodConditionPattern) bool {
		status := pattern.Status
		if status == "" {
			status = ConditionTrue
		}
		return pattern.Type == c.Type && status == c.Status
	})
}

// match looks at the app containers first, then at the init containers.
func (r *OnExitCodes) match(containers []Container) *Container {
	for _, app := range [...]bool{true, false} {
		for i := range containers {
			c := &containers[i]
			if (c.Kind == AppContainer) == app && r.matches(c) {
				return c
			}
		}
	}
	return nil
}

func (r *OnExitCodes) matches(c *Container) bool {
	if c.State != ContainerTerminated || c.ExitCode == 0 {
		return false
	}
	if r.ContainerName != nil && *r.ContainerName != c.Name {
		return false
	}
	switch r.Operator {
	case In:
		return slices.Contains(r.Values, c.ExitCode)
	case NotIn:
		return !slices.Contains(r.Values, c.ExitCode)
	}
	return false
}

// failJob finds a failed pod that matches a FailJob rule; of several, the oldest
// one decides the message (J21). Pods that were accounted for count, too: the
// round that saw them first may have failed to declare the end (J27).
func (p *Planner) failJob() Verdict {
	if p.job.Spec.PodFailurePolicy == nil {
		return Verdict{}
	}
	var first *Pod
	var verdict Verdict
	for _, places := range [...][]int32{p.pods.failed, p.pods.recorded, p.pods.stray, p.pods.accounted} {
		for _, i := range places {
			pod := &p.snap.Pods[i]
			if pod.Phase != PodFailed || first != nil && p.byAge(first, pod) < 0 {
				continue
			}
			if f := p.failureOf(pod); f.action == FailJob {
				first, verdict = pod, Verdict{FailureTarget, "PodFailurePolicy", f.message}
			}
		}
	}
	return verdict
}

// unreported is the action of a match that no earlier round has reported (JI27). The
// match of a pod that is ignored leaves no trace but in the memory.
func (p *Planner) unreported(pod *Pod, f failure) FailureAction {
	if p.known.facts(pod.UID)&uidHandled != 0 && !p.snap.Options.Quirks.Has(jobquirk.Miscount) {
		return ""
	}
	return f.action
}

// policyOfRecorded is unreported for a pod whose UID may be in an uncounted list. Its
// match was reported with the write that put it there, unless that write seemed to fail.
func (p *Planner) policyOfRecorded(place int32) FailureAction {
	pod, reported := &p.snap.Pods[place], &p.plan.Basis.Memory.Reported
	if !reported.Known || p.known.facts(pod.UID)&uidFailed == 0 || slices.Contains(reported.Uncounted, pod.UID) {
		return ""
	}
	return p.failureOf(pod).action
}
