package job

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
)

// The limits of a spec (J2).
const (
	maxIndexedParallelism  = 100_000
	maxFailedIndexes       = 100_000
	manyCompletions        = 100_000 // with more, the next two limits apply
	maxManyFailedIndexes   = 10_000
	maxManyParallelism     = 10_000
	maxFailureRules        = 20
	maxExitCodes           = 255
	maxConditionPatterns   = 20
	maxSuccessRules        = 20
	maxManagedByLength     = 63
	maxSuccessIndexesBytes = 64 * 1024
)

// Validate checks a spec after [Default] (J2). It reports all problems together: the error joins an
// [*InputError] for each, with the path of its field: see [InputErrors]. Nil means that the spec is
// valid.
func Validate(s Spec) error { return problems.Join[InputError]("spec.", validate(&s)) }

func validate(s *Spec) problems.List {
	return slices.Concat(
		checkNumbers(s),
		checkEnums(s),
		checkIndexedFields(s),
		checkFailurePolicy(s),
		checkManagedBy(s),
		checkSelector(s.Selector),
		checkScheduling(s),
	)
}

func checkNumbers(s *Spec) (found problems.List) {
	if s.Parallelism == nil {
		found.Add("parallelism", nil, "is required; Default sets it")
	}
	if s.BackoffLimit == nil {
		found.Add("backoffLimit", nil, "is required; Default sets it")
	}

	numbers := [...]struct {
		field string
		value int64
	}{
		{"parallelism", int64(value.Of(s.Parallelism))},
		{"completions", int64(value.Of(s.Completions))},
		{"activeDeadlineSeconds", value.Of(s.ActiveDeadlineSeconds)},
		{"backoffLimit", int64(value.Of(s.BackoffLimit))},
		{"ttlSecondsAfterFinished", int64(value.Of(s.TTLSecondsAfterFinished))},
		{"backoffLimitPerIndex", int64(value.Of(s.BackoffLimitPerIndex))},
		{"maxFailedIndexes", int64(value.Of(s.MaxFailedIndexes))},
	}

	for _, n := range numbers {
		if n.value < 0 {
			found.Add(n.field, n.value, "must not be negative")
		}
	}
	return found
}

func checkEnums(s *Spec) (found problems.List) {
	switch s.CompletionMode {
	case NonIndexed, Indexed:
	default:
		found.Add("completionMode", string(s.CompletionMode), "must be NonIndexed or Indexed")
	}

	switch s.PodReplacementPolicy {
	case ReplaceFailed:
	case ReplaceTerminatingOrFailed:
		if s.PodFailurePolicy != nil {
			found.Add("podReplacementPolicy", string(s.PodReplacementPolicy),
				"must be Failed when podFailurePolicy is set")
		}
	default:
		found.Add("podReplacementPolicy", string(s.PodReplacementPolicy), "must be Failed or TerminatingOrFailed")
	}

	switch policy := s.Template.RestartPolicy; policy {
	case RestartNever, RestartOnFailure:
	default:
		found.Add("template.spec.restartPolicy", string(policy), "must be Never or OnFailure")
	}
	return found
}

// checkIndexedFields checks the fields that only an Indexed job may have.
func checkIndexedFields(s *Spec) (found problems.List) {
	switch s.CompletionMode {
	case Indexed:
		if s.Completions == nil {
			found.Add("completions", nil, "is required when completionMode is Indexed")
		}
		if n := value.Of(s.Parallelism); n > maxIndexedParallelism {
			found.Add("parallelism", n,
				fmt.Sprintf("must be at most %d when completionMode is Indexed", maxIndexedParallelism))
		}
		found = slices.Concat(found, checkMaxFailedIndexes(s), checkManyIndexes(s), checkSuccessPolicy(s))
	case NonIndexed:
		if s.BackoffLimitPerIndex != nil {
			found.Add("backoffLimitPerIndex", *s.BackoffLimitPerIndex, "needs completionMode Indexed")
		}
		if s.MaxFailedIndexes != nil {
			found.Add("maxFailedIndexes", *s.MaxFailedIndexes, "needs completionMode Indexed")
		}
	}

	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		found.Add("backoffLimitPerIndex", nil, "is required when maxFailedIndexes is set")
	}
	if s.SuccessPolicy != nil && s.CompletionMode != Indexed {
		found.Add("successPolicy", value.Count(len(s.SuccessPolicy.Rules), "rule"), "needs completionMode Indexed")
	}
	return found
}

func checkMaxFailedIndexes(s *Spec) (found problems.List) {
	n := s.MaxFailedIndexes
	if n == nil {
		return nil
	}
	if most := s.Completions; most != nil && *n > *most {
		found.Add("maxFailedIndexes", *n, fmt.Sprintf("must be at most completions, %d", *most))
	}
	if *n > maxFailedIndexes {
		found.Add("maxFailedIndexes", *n, fmt.Sprintf("must be at most %d", maxFailedIndexes))
	}
	return found
}

func checkManyIndexes(s *Spec) (found problems.List) {
	if s.BackoffLimitPerIndex == nil || value.Of(s.Completions) <= manyCompletions {
		return nil
	}

	condition := fmt.Sprintf("when completions is over %d and backoffLimitPerIndex is set", manyCompletions)
	switch n := s.MaxFailedIndexes; {
	case n == nil:
		found.Add("maxFailedIndexes", nil, "is required "+condition)
	case *n > maxManyFailedIndexes:
		found.Add("maxFailedIndexes", *n, fmt.Sprintf("must be at most %d %s", maxManyFailedIndexes, condition))
	}

	if n := value.Of(s.Parallelism); n > maxManyParallelism {
		found.Add("parallelism", n, fmt.Sprintf("must be at most %d %s", maxManyParallelism, condition))
	}
	return found
}

func checkFailurePolicy(s *Spec) (found problems.List) {
	policy := s.PodFailurePolicy
	if policy == nil {
		return nil
	}

	if s.Template.RestartPolicy == RestartOnFailure {
		found.Add("template.spec.restartPolicy", string(RestartOnFailure), "must be Never when podFailurePolicy is set")
	}
	if n := len(policy.Rules); n > maxFailureRules {
		found.Add("podFailurePolicy.rules", n, fmt.Sprintf("must be at most %d", maxFailureRules))
	}

	containers := map[string]bool{}
	for _, name := range slices.Concat(s.Template.Containers, s.Template.InitContainers) {
		containers[name] = true
	}

	for i := range policy.Rules {
		found.AddAt("podFailurePolicy.rules", i, checkFailureRule(&policy.Rules[i], s, containers))
	}
	return found
}

// checkFailureRule checks a rule of the podFailurePolicy. containers has the names of the
// template's containers.
func checkFailureRule(r *PodFailurePolicyRule, s *Spec, containers map[string]bool) (found problems.List) {
	switch r.Action {
	case FailJob, IgnoreFailure, CountFailure:
	case FailIndex:
		if s.BackoffLimitPerIndex == nil {
			found.Add(".action", string(r.Action), "needs backoffLimitPerIndex")
		}
	default:
		found.Add(".action", string(r.Action), "must be FailJob, FailIndex, Ignore or Count")
	}

	if (r.OnExitCodes != nil) == (len(r.OnPodConditions) > 0) {
		found.Add("", string(r.Action), "must have exactly one of onExitCodes and onPodConditions")
	}
	if r.OnExitCodes != nil {
		found.AddIn(".onExitCodes", checkExitCodes(r.OnExitCodes, containers))
	}

	if n := len(r.OnPodConditions); n > maxConditionPatterns {
		found.Add(".onPodConditions", n, fmt.Sprintf("must be at most %d", maxConditionPatterns))
	}
	for i, c := range r.OnPodConditions {
		found.AddAt(".onPodConditions", i, checkPattern(c))
	}
	return found
}

func checkPattern(c PodCondition) (found problems.List) {
	switch {
	case c.Type == "":
		found.Add(".type", c.Type, "is required")
	case !isQualifiedName(c.Type):
		found.Add(".type", c.Type, qualifiedNameProblem)
	}

	switch c.Status {
	case "", ConditionTrue, ConditionFalse, ConditionUnknown:
	default:
		found.Add(".status", string(c.Status), "must be True, False or Unknown")
	}
	return found
}

func checkExitCodes(r *OnExitCodes, containers map[string]bool) (found problems.List) {
	switch r.Operator {
	case ExitCodeIn, ExitCodeNotIn:
	default:
		found.Add(".operator", string(r.Operator), "must be In or NotIn")
	}
	if n := len(r.Values); n == 0 || n > maxExitCodes {
		found.Add(".values", n, fmt.Sprintf("must have 1 to %d values", maxExitCodes))
	}

	for i, code := range r.Values {
		problem := ""
		switch {
		case r.Operator == ExitCodeIn && code == 0:
			problem = "must not be 0 with operator In"
		case i == 0:
			continue
		case code == r.Values[i-1]:
			problem = "must not appear twice"
		case code < r.Values[i-1]:
			problem = "must be in increasing order"
		default:
			continue
		}
		found.Add(fmt.Sprintf(".values[%d]", i), code, problem)
	}

	if name := r.ContainerName; name != nil && !containers[*name] {
		found.Add(".containerName", *name, "must name a container of the template")
	}
	return found
}

func checkSuccessPolicy(s *Spec) (found problems.List) {
	policy := s.SuccessPolicy
	if policy == nil {
		return nil
	}
	if n := len(policy.Rules); n == 0 || n > maxSuccessRules {
		found.Add("successPolicy.rules", n, fmt.Sprintf("must have 1 to %d rules", maxSuccessRules))
	}
	for i := range policy.Rules {
		found.AddAt("successPolicy.rules", i, checkSuccessRule(&policy.Rules[i], value.Of(s.Completions)))
	}
	return found
}

func checkSuccessRule(r *SuccessPolicyRule, completions int32) (found problems.List) {
	most := completions // successes that the rule can ask for
	switch {
	case r.SucceededIndexes == nil && r.SucceededCount == nil:
		found.Add("", nil, "must have succeededIndexes or succeededCount")
	case r.SucceededIndexes != nil:
		text := *r.SucceededIndexes
		if len(text) > maxSuccessIndexesBytes {
			found.Add(".succeededIndexes", value.Short(text),
				fmt.Sprintf("must be at most %d bytes", maxSuccessIndexesBytes))
		}
		n, problem := jobrules.CountIndexes(text, completions)
		if problem != "" {
			found.Add(".succeededIndexes", value.Short(text), problem)
			break
		}
		most = min(completions, n)
	}

	if n := r.SucceededCount; n != nil && (*n < 0 || *n > most) {
		found.Add(".succeededCount", *n, fmt.Sprintf("must be from 0 to %d", most))
	}
	return found
}

func checkManagedBy(s *Spec) (found problems.List) {
	name := s.ManagedBy
	if name == nil {
		return nil
	}

	domain, path, ok := strings.Cut(*name, "/")
	if !ok || !isSubdomain(domain) || !isPath(path) {
		found.Add("managedBy", *name, "must be a domain-prefixed path, such as example.com/controller")
	}
	if len(*name) > maxManagedByLength {
		found.Add("managedBy", *name, fmt.Sprintf("must be at most %d characters", maxManagedByLength))
	}
	return found
}
