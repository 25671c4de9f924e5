package job

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// failure is the effect of a failed pod on the job.
type failure struct {
	// counts is true when the failure counts towards the limits.
	counts bool
	// action is the action of the rule that matched, "" when none did.
	action FailureAction
	// message tells which rule matched and why. It is set only for FailJob.
	message string
}

// failurePolicy is the podFailurePolicy of a job, with everything that its decisions depend on.
type failurePolicy struct {
	rules     []PodFailurePolicyRule
	namespace string
	// perIndex is true with backoffLimitPerIndex.
	perIndex bool
	// maxIgnored is Options.MaxIgnoredFailures, and ignored the number of failures that
	// the job has ignored so far.
	maxIgnored, ignored int32
}

func failurePolicyOf(s *Snapshot, ignored int32) failurePolicy {
	f := failurePolicy{
		namespace:  s.Job.Namespace,
		perIndex:   s.Job.Spec.limitsIndexes(),
		maxIgnored: s.Options.MaxIgnoredFailures,
		ignored:    ignored,
	}

	if policy := s.Job.Spec.PodFailurePolicy; policy != nil {
		f.rules = policy.Rules
	}
	return f
}

// judge returns the effect of a failed pod: the first rule that matches decides (J21). Without a
// match the failure counts.
func (f *failurePolicy) judge(pod *Pod) failure {
	rule, match, ok := f.firstMatch(pod)
	if !ok {
		return failure{counts: true}
	}

	switch action := f.rules[rule].Action; action {
	case IgnoreFailure:
		return failure{action: action, counts: f.ignoresEnough(pod)}
	case FailJob:
		return failure{action: action, counts: true, message: match.message(f.namespace, pod, rule)}
	default:
		return failure{action: action, counts: true}
	}
}

// firstMatch finds the first rule that matches a failed pod.
func (f *failurePolicy) firstMatch(pod *Pod) (rule int, match ruleMatch, ok bool) {
	for i := range f.rules {
		if !f.applies(f.rules[i].Action) {
			continue
		}
		if match, ok = f.rules[i].match(pod); ok {
			return i, match, true
		}
	}
	return 0, ruleMatch{}, false
}

// applies reports whether rules with the action can match. FailIndex needs backoffLimitPerIndex,
// and the actions of later versions are ignored.
func (f *failurePolicy) applies(action FailureAction) bool {
	switch action {
	case IgnoreFailure, FailJob, CountFailure:
		return true
	case FailIndex:
		return f.perIndex
	}
	return false
}

// ignoresEnough reports whether Options.MaxIgnoredFailures is used up.
func (f *failurePolicy) ignoresEnough(pod *Pod) bool {
	switch {
	case f.maxIgnored == 0:
		return false
	case f.perIndex:
		return pod.detail().IgnoredFailureCount >= f.maxIgnored
	}
	return f.ignored >= f.maxIgnored
}

// ruleMatch is the container or the condition that a rule has matched.
type ruleMatch struct {
	container *jobpod.Container
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
	return slices.ContainsFunc(r.OnPodConditions, func(pattern PodCondition) bool {
		pattern.Status = cmp.Or(pattern.Status, ConditionTrue)
		return pattern == *c
	})
}

// match looks at the app containers first, then at the init containers.
func (r *OnExitCodes) match(containers []jobpod.Container) *jobpod.Container {
	for _, app := range [...]bool{true, false} {
		for i := range containers {
			c := &containers[i]
			if (c.Kind == jobpod.App) == app && r.matches(c) {
				return c
			}
		}
	}
	return nil
}

func (r *OnExitCodes) matches(c *jobpod.Container) bool {
	if c.State != jobpod.Terminated || c.ExitCode == 0 {
		return false
	}
	if r.ContainerName != nil && *r.ContainerName != c.Name {
		return false
	}

	switch r.Operator {
	case ExitCodeIn:
		return slices.Contains(r.Values, c.ExitCode)
	case ExitCodeNotIn:
		return !slices.Contains(r.Values, c.ExitCode)
	}
	return false
}

// failsJob fails the job if a failed pod matches a FailJob rule. Of several pods, the oldest one
// gives the message (J21). Pods that are already accounted for are included, because the round that
// saw them first may have failed to declare the end (J27).
func failsJob(pods []Pod, c *census, policy *failurePolicy) Verdict {
	if len(policy.rules) == 0 {
		return Verdict{}
	}

	var oldest *Pod
	var verdict Verdict
	for _, places := range [...][]int32{c.failed, c.recorded, c.stray, c.accounted} {
		for _, i := range places {
			pod := &pods[i]
			if pod.Phase != PodFailed || oldest != nil && byAge(oldest, pod) < 0 {
				continue
			}
			if f := policy.judge(pod); f.action == FailJob {
				oldest, verdict = pod, Verdict{ConditionFailureTarget, "PodFailurePolicy", f.message}
			}
		}
	}
	return verdict
}

// unreported returns the action of a match, or "" if an earlier round has reported it (JI27). Only
// the memory tells that the match of an ignored pod was reported.
func unreported(f failure, facts uidFacts, quirks jobquirk.Set) FailureAction {
	if facts&uidHandled != 0 && !quirks.Has(jobquirk.Miscount) {
		return ""
	}
	return f.action
}

// unreportedOfRecorded is like unreported, for a pod whose UID may be in an uncounted list. The
// round that put the UID there reported the match, unless its write seemed to fail.
func unreportedOfRecorded(pod *Pod, facts uidFacts, policy *failurePolicy, reported *reported) FailureAction {
	switch {
	case !reported.Known, facts&uidFailed == 0, slices.Contains(reported.Uncounted, pod.UID):
		return ""
	}
	return policy.judge(pod).action
}
