package job

import (
	"errors"
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

// Validate checks a spec after [Default] (J2). It reports all problems at once:
// the error joins an [*InputError] for each, with the path of its field. Nil means
// that the spec is valid.
func Validate(s Spec) error {
	v := &validator{spec: &s}
	v.numbers()
	v.enums()
	v.indexed()
	v.failurePolicy()
	v.managedBy()
	v.selector()
	return errors.Join(v.problems...)
}

type validator struct {
	spec *Spec
	// containers are the names of the template's containers, for podFailurePolicy.
	containers map[string]bool
	problems   []error
}

func (v *validator) add(field string, value any, problem string) {
	v.problems = append(v.problems, invalid("spec."+field, value, problem))
}

func (v *validator) numbers() {
	s := v.spec
	if s.Parallelism == nil {
		v.add("parallelism", nil, "is required; Default sets it")
	}
	if s.BackoffLimit == nil {
		v.add("backoffLimit", nil, "is required; Default sets it")
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
			v.add(n.field, n.value, "must not be negative")
		}
	}
}

func (v *validator) enums() {
	s := v.spec
	if s.CompletionMode != NonIndexed && s.CompletionMode != Indexed {
		v.add("completionMode", string(s.CompletionMode), "must be NonIndexed or Indexed")
	}
	switch s.PodReplacementPolicy {
	case ReplaceFailed:
	case ReplaceTerminatingOrFailed:
		if s.PodFailurePolicy != nil {
			v.add("podReplacementPolicy", string(s.PodReplacementPolicy), "must be Failed when podFailurePolicy is set")
		}
	default:
		v.add("podReplacementPolicy", string(s.PodReplacementPolicy), "must be Failed or TerminatingOrFailed")
	}
	policy := s.Template.RestartPolicy
	if policy != RestartNever && policy != RestartOnFailure {
		v.add("template.spec.restartPolicy", string(policy), "must be Never or OnFailure")
	}
}

// indexed checks what only an Indexed job may have. Of a job whose completionMode is
// unknown it says nothing.
func (v *validator) indexed() {
	s := v.spec
	switch s.CompletionMode {
	case Indexed:
		if s.Completions == nil {
			v.add("completions", nil, "is required when completionMode is Indexed")
		}
		if n := value.Of(s.Parallelism); n > maxIndexedParallelism {
			v.add("parallelism", n, fmt.Sprintf("must be at most %d when completionMode is Indexed", maxIndexedParallelism))
		}
		v.failedIndexes()
		v.manyIndexes()
		v.successPolicy()
	case NonIndexed:
		if s.BackoffLimitPerIndex != nil {
			v.add("backoffLimitPerIndex", *s.BackoffLimitPerIndex, "needs completionMode Indexed")
		}
		if s.MaxFailedIndexes != nil {
			v.add("maxFailedIndexes", *s.MaxFailedIndexes, "needs completionMode Indexed")
		}
	}
	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		v.add("backoffLimitPerIndex", nil, "is required when maxFailedIndexes is set")
	}
	if s.SuccessPolicy != nil && s.CompletionMode != Indexed {
		v.add("successPolicy", fmt.Sprintf("%d rules", len(s.SuccessPolicy.Rules)), "needs completionMode Indexed")
	}
}

func (v *validator) failedIndexes() {
	n := v.spec.MaxFailedIndexes
	if n == nil {
		return
	}
	if most := v.spec.Completions; most != nil && *n > *most {
		v.add("maxFailedIndexes", *n, fmt.Sprintf("must be at most completions, %d", *most))
	}
	if *n > maxFailedIndexes {
		v.add("maxFailedIndexes", *n, fmt.Sprintf("must be at most %d", maxFailedIndexes))
	}
}

func (v *validator) manyIndexes() {
	s := v.spec
	if s.BackoffLimitPerIndex == nil || value.Of(s.Completions) <= manyCompletions {
		return
	}
	condition := fmt.Sprintf("when completions is over %d and backoffLimitPerIndex is set", manyCompletions)
	switch n := s.MaxFailedIndexes; {
	case n == nil:
		v.add("maxFailedIndexes", nil, "is required "+condition)
	case *n > maxManyFailedIndexes:
		v.add("maxFailedIndexes", *n, fmt.Sprintf("must be at most %d %s", maxManyFailedIndexes, condition))
	}
	if n := value.Of(s.Parallelism); n > maxManyParallelism {
		v.add("parallelism", n, fmt.Sprintf("must be at most %d %s", maxManyParallelism, condition))
	}
}

func (v *validator) failurePolicy() {
	policy := v.spec.PodFailurePolicy
	if policy == nil {
		return
	}
	if v.spec.Template.RestartPolicy == RestartOnFailure {
		v.add("template.spec.restartPolicy", string(RestartOnFailure), "must be Never when podFailurePolicy is set")
	}
	if n := len(policy.Rules); n > maxFailureRules {
		v.add("podFailurePolicy.rules", n, fmt.Sprintf("must be at most %d", maxFailureRules))
	}
	v.containers = map[string]bool{}
	for _, name := range slices.Concat(v.spec.Template.Containers, v.spec.Template.InitContainers) {
		v.containers[name] = true
	}
	for i := range policy.Rules {
		v.failureRule(fmt.Sprintf("podFailurePolicy.rules[%d]", i), &policy.Rules[i])
	}
}

func (v *validator) failureRule(field string, r *PodFailurePolicyRule) {
	switch r.Action {
	case FailJob, IgnoreFailure, CountFailure:
	case FailIndex:
		if v.spec.BackoffLimitPerIndex == nil {
			v.add(field+".action", string(r.Action), "needs backoffLimitPerIndex")
		}
	default:
		v.add(field+".action", string(r.Action), "must be FailJob, FailIndex, Ignore or Count")
	}
	if (r.OnExitCodes != nil) == (len(r.OnPodConditions) > 0) {
		v.add(field, string(r.Action), "must have exactly one of onExitCodes and onPodConditions")
	}
	if r.OnExitCodes != nil {
		v.exitCodes(field+".onExitCodes", r.OnExitCodes)
	}
	if n := len(r.OnPodConditions); n > maxConditionPatterns {
		v.add(field+".onPodConditions", n, fmt.Sprintf("must be at most %d", maxConditionPatterns))
	}
	for i, c := range r.OnPodConditions {
		v.conditionPattern(func() string { return fmt.Sprintf("%s.onPodConditions[%d]", field, i) }, c)
	}
}

// conditionPattern asks for the path of the field only where there is a problem.
func (v *validator) conditionPattern(field func() string, c PodCondition) {
	switch {
	case c.Type == "":
		v.add(field()+".type", c.Type, "is required")
	case !isQualifiedName(c.Type):
		v.add(field()+".type", c.Type, qualifiedNameProblem)
	}
	switch c.Status {
	case "", ConditionTrue, ConditionFalse, ConditionUnknown:
	default:
		v.add(field()+".status", string(c.Status), "must be True, False or Unknown")
	}
}

func (v *validator) exitCodes(field string, r *OnExitCodes) {
	if r.Operator != ExitCodeIn && r.Operator != ExitCodeNotIn {
		v.add(field+".operator", string(r.Operator), "must be In or NotIn")
	}
	if n := len(r.Values); n == 0 || n > maxExitCodes {
		v.add(field+".values", n, fmt.Sprintf("must have 1 to %d values", maxExitCodes))
	}
	for i, code := range r.Values {
		problem := ""
		switch {
		case r.Operator == ExitCodeIn && code == 0:
			problem = "must not be 0 with operator In"
		case i > 0 && code == r.Values[i-1]:
			problem = "must not stand twice"
		case i > 0 && code < r.Values[i-1]:
			problem = "must be in increasing order"
		default:
			continue
		}
		v.add(fmt.Sprintf("%s.values[%d]", field, i), code, problem)
	}
	if name := r.ContainerName; name != nil && !v.containers[*name] {
		v.add(field+".containerName", *name, "must name a container of the template")
	}
}

func (v *validator) successPolicy() {
	policy := v.spec.SuccessPolicy
	if policy == nil {
		return
	}
	if n := len(policy.Rules); n == 0 || n > maxSuccessRules {
		v.add("successPolicy.rules", n, fmt.Sprintf("must have 1 to %d rules", maxSuccessRules))
	}
	for i := range policy.Rules {
		v.successRule(fmt.Sprintf("successPolicy.rules[%d]", i), &policy.Rules[i])
	}
}

func (v *validator) successRule(field string, r *SuccessPolicyRule) {
	completions := value.Of(v.spec.Completions)
	most := completions
	switch {
	case r.SucceededIndexes == nil && r.SucceededCount == nil:
		v.add(field, nil, "must have succeededIndexes or succeededCount")
	case r.SucceededIndexes != nil:
		most = min(completions, v.successIndexes(field+".succeededIndexes", *r.SucceededIndexes, completions))
	}
	if n := r.SucceededCount; n != nil && (*n < 0 || *n > most) {
		v.add(field+".succeededCount", *n, fmt.Sprintf("must be from 0 to %d", most))
	}
}

// successIndexes returns the most successes that the rule can ask for.
func (v *validator) successIndexes(field, text string, completions int32) int32 {
	if len(text) > maxSuccessIndexesBytes {
		v.add(field, shortened(text), fmt.Sprintf("must be at most %d bytes", maxSuccessIndexesBytes))
	}
	n, problem := countIndexes(text, completions)
	if problem != "" {
		v.add(field, shortened(text), problem)
		return completions
	}
	return n
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

func (v *validator) managedBy() {
	name := v.spec.ManagedBy
	if name == nil {
		return
	}
	domain, path, found := strings.Cut(*name, "/")
	if !found || !isSubdomain(domain) || !isPath(path) {
		v.add("managedBy", *name, "must be a domain-prefixed path, such as example.com/controller")
	}
	if len(*name) > maxManagedByLength {
		v.add("managedBy", *name, fmt.Sprintf("must be at most %d characters", maxManagedByLength))
	}
}
