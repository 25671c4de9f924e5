package job

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
)

// The limits of a spec (J2).
const (
	maxIndexedParallelism  = 100_000
	maxFailedIndexes       = 100_000
	manyCompletions        = 100_000 // above it the two limits below hold
	maxManyFailedIndexes   = 10_000
	maxManyParallelism     = 10_000
	maxFailureRules        = 20
	maxExitCodes           = 255
	maxConditionPatterns   = 20
	maxSuccessRules        = 20
	maxManagedByLength     = 63
	maxSuccessIndexesBytes = 64 * 1024
)

// Validate checks a spec after [Default] (J2). It reports all problems together:
// the error joins an [*InputError] for each, with the path of its field. Nil means
// that the spec is valid.
func Validate(s Spec) error { return validate(&s).err("spec.") }

func validate(s *Spec) problems {
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

func checkNumbers(s *Spec) (found problems) {
	if s.Parallelism == nil {
		found.add("parallelism", nil, "is required; Default sets it")
	}
	if s.BackoffLimit == nil {
		found.add("backoffLimit", nil, "is required; Default sets it")
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
			found.add(n.field, n.value, "must not be negative")
		}
	}
	return found
}

func checkEnums(s *Spec) (found problems) {
	if s.CompletionMode != NonIndexed && s.CompletionMode != Indexed {
		found.add("completionMode", string(s.CompletionMode), "must be NonIndexed or Indexed")
	}
	switch s.PodReplacementPolicy {
	case ReplaceFailed:
	case ReplaceTerminatingOrFailed:
		if s.PodFailurePolicy != nil {
			found.add("podReplacementPolicy", string(s.PodReplacementPolicy),
				"must be Failed when podFailurePolicy is set")
		}
	default:
		found.add("podReplacementPolicy", string(s.PodReplacementPolicy), "must be Failed or TerminatingOrFailed")
	}

	policy := s.Template.RestartPolicy
	if policy != RestartNever && policy != RestartOnFailure {
		found.add("template.spec.restartPolicy", string(policy), "must be Never or OnFailure")
	}
	return found
}

// checkIndexedFields checks what only an Indexed job may have. Of a job whose
// completionMode is unknown it says nothing.
func checkIndexedFields(s *Spec) (found problems) {
	switch s.CompletionMode {
	case Indexed:
		if s.Completions == nil {
			found.add("completions", nil, "is required when completionMode is Indexed")
		}
		if n := value.Of(s.Parallelism); n > maxIndexedParallelism {
			found.add("parallelism", n,
				fmt.Sprintf("must be at most %d when completionMode is Indexed", maxIndexedParallelism))
		}
		found = slices.Concat(found, checkMaxFailedIndexes(s), checkManyIndexes(s), checkSuccessPolicy(s))
	case NonIndexed:
		if s.BackoffLimitPerIndex != nil {
			found.add("backoffLimitPerIndex", *s.BackoffLimitPerIndex, "needs completionMode Indexed")
		}
		if s.MaxFailedIndexes != nil {
			found.add("maxFailedIndexes", *s.MaxFailedIndexes, "needs completionMode Indexed")
		}
	}

	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		found.add("backoffLimitPerIndex", nil, "is required when maxFailedIndexes is set")
	}
	if s.SuccessPolicy != nil && s.CompletionMode != Indexed {
		found.add("successPolicy", value.Count(len(s.SuccessPolicy.Rules), "rule"), "needs completionMode Indexed")
	}
	return found
}

func checkMaxFailedIndexes(s *Spec) (found problems) {
	n := s.MaxFailedIndexes
	if n == nil {
		return nil
	}
	if most := s.Completions; most != nil && *n > *most {
		found.add("maxFailedIndexes", *n, fmt.Sprintf("must be at most completions, %d", *most))
	}
	if *n > maxFailedIndexes {
		found.add("maxFailedIndexes", *n, fmt.Sprintf("must be at most %d", maxFailedIndexes))
	}
	return found
}

func checkManyIndexes(s *Spec) (found problems) {
	if s.BackoffLimitPerIndex == nil || value.Of(s.Completions) <= manyCompletions {
		return nil
	}

	condition := fmt.Sprintf("when completions is over %d and backoffLimitPerIndex is set", manyCompletions)
	switch n := s.MaxFailedIndexes; {
	case n == nil:
		found.add("maxFailedIndexes", nil, "is required "+condition)
	case *n > maxManyFailedIndexes:
		found.add("maxFailedIndexes", *n, fmt.Sprintf("must be at most %d %s", maxManyFailedIndexes, condition))
	}

	if n := value.Of(s.Parallelism); n > maxManyParallelism {
		found.add("parallelism", n, fmt.Sprintf("must be at most %d %s", maxManyParallelism, condition))
	}
	return found
}

func checkFailurePolicy(s *Spec) (found problems) {
	policy := s.PodFailurePolicy
	if policy == nil {
		return nil
	}

	if s.Template.RestartPolicy == RestartOnFailure {
		found.add("template.spec.restartPolicy", string(RestartOnFailure), "must be Never when podFailurePolicy is set")
	}
	if n := len(policy.Rules); n > maxFailureRules {
		found.add("podFailurePolicy.rules", n, fmt.Sprintf("must be at most %d", maxFailureRules))
	}

	containers := map[string]bool{}
	for _, name := range slices.Concat(s.Template.Containers, s.Template.InitContainers) {
		containers[name] = true
	}

	for i := range policy.Rules {
		found.addAt("podFailurePolicy.rules", i, checkFailureRule(&policy.Rules[i], s, containers))
	}
	return found
}

// checkFailureRule checks a rule of the podFailurePolicy. The containers are the
// template's.
func checkFailureRule(r *PodFailurePolicyRule, s *Spec, containers map[string]bool) (found problems) {
	switch r.Action {
	case FailJob, IgnoreFailure, CountFailure:
	case FailIndex:
		if s.BackoffLimitPerIndex == nil {
			found.add(".action", string(r.Action), "needs backoffLimitPerIndex")
		}
	default:
		found.add(".action", string(r.Action), "must be FailJob, FailIndex, Ignore or Count")
	}

	if (r.OnExitCodes != nil) == (len(r.OnPodConditions) > 0) {
		found.add("", string(r.Action), "must have exactly one of onExitCodes and onPodConditions")
	}
	if r.OnExitCodes != nil {
		found.addIn(".onExitCodes", checkExitCodes(r.OnExitCodes, containers))
	}

	if n := len(r.OnPodConditions); n > maxConditionPatterns {
		found.add(".onPodConditions", n, fmt.Sprintf("must be at most %d", maxConditionPatterns))
	}
	for i, c := range r.OnPodConditions {
		found.addAt(".onPodConditions", i, checkPattern(c))
	}
	return found
}

func checkPattern(c PodCondition) (found problems) {
	switch {
	case c.Type == "":
		found.add(".type", c.Type, "is required")
	case !isQualifiedName(c.Type):
		found.add(".type", c.Type, qualifiedNameProblem)
	}

	switch c.Status {
	case "", ConditionTrue, ConditionFalse, ConditionUnknown:
	default:
		found.add(".status", string(c.Status), "must be True, False or Unknown")
	}
	return found
}

func checkExitCodes(r *OnExitCodes, containers map[string]bool) (found problems) {
	if r.Operator != ExitCodeIn && r.Operator != ExitCodeNotIn {
		found.add(".operator", string(r.Operator), "must be In or NotIn")
	}
	if n := len(r.Values); n == 0 || n > maxExitCodes {
		found.add(".values", n, fmt.Sprintf("must have 1 to %d values", maxExitCodes))
	}

	for i, code := range r.Values {
		problem := ""
		switch {
		case r.Operator == ExitCodeIn && code == 0:
			problem = "must not be 0 with operator In"
		case i > 0 && code == r.Values[i-1]:
			problem = "must not appear twice"
		case i > 0 && code < r.Values[i-1]:
			problem = "must be in increasing order"
		default:
			continue
		}
		found.add(fmt.Sprintf(".values[%d]", i), code, problem)
	}

	if name := r.ContainerName; name != nil && !containers[*name] {
		found.add(".containerName", *name, "must name a container of the template")
	}
	return found
}

func checkSuccessPolicy(s *Spec) (found problems) {
	policy := s.SuccessPolicy
	if policy == nil {
		return nil
	}
	if n := len(policy.Rules); n == 0 || n > maxSuccessRules {
		found.add("successPolicy.rules", n, fmt.Sprintf("must have 1 to %d rules", maxSuccessRules))
	}
	for i := range policy.Rules {
		found.addAt("successPolicy.rules", i, checkSuccessRule(&policy.Rules[i], value.Of(s.Completions)))
	}
	return found
}

func checkSuccessRule(r *SuccessPolicyRule, completions int32) (found problems) {
	most := completions // successes that the rule can ask for
	switch {
	case r.SucceededIndexes == nil && r.SucceededCount == nil:
		found.add("", nil, "must have succeededIndexes or succeededCount")
	case r.SucceededIndexes != nil:
		text := *r.SucceededIndexes
		if len(text) > maxSuccessIndexesBytes {
			found.add(".succeededIndexes", shortened(text),
				fmt.Sprintf("must be at most %d bytes", maxSuccessIndexesBytes))
		}
		n, problem := countIndexes(text, completions)
		if problem != "" {
			found.add(".succeededIndexes", shortened(text), problem)
			break
		}
		most = min(completions, n)
	}

	if n := r.SucceededCount; n != nil && (*n < 0 || *n > most) {
		found.add(".succeededCount", *n, fmt.Sprintf("must be from 0 to %d", most))
	}
	return found
}

// countIndexes returns how many indexes a list names, or what is wrong with it. A list
// that names none is valid; the rule is never met.
func countIndexes(text string, completions int32) (n int32, problem string) {
	before := int32(-1)
	for text, piece := range indexset.Pieces(text) {
		switch {
		case !piece.OK:
			return 0, fmt.Sprintf("%q %s", shortened(text), corruptPiece)
		case piece.First == piece.Last && piece.IsRange:
			return 0, fmt.Sprintf("%q must end after its beginning", shortened(text))
		case piece.Last >= completions:
			return 0, fmt.Sprintf("must hold indexes below completions, %d", completions)
		case piece.First <= before:
			return 0, "must be in increasing order"
		}

		n += piece.Last - piece.First + 1 // at most completions, as the ranges increase
		before = piece.Last
	}
	return n, ""
}

func checkManagedBy(s *Spec) (found problems) {
	name := s.ManagedBy
	if name == nil {
		return nil
	}

	domain, path, ok := strings.Cut(*name, "/")
	if !ok || !isSubdomain(domain) || !isPath(path) {
		found.add("managedBy", *name, "must be a domain-prefixed path, such as example.com/controller")
	}
	if len(*name) > maxManagedByLength {
		found.add("managedBy", *name, fmt.Sprintf("must be at most %d characters", maxManagedByLength))
	}
	return found
}
