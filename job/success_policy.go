package job

import (
	"fmt"

	"github.com/batchplan/batchplan/internal/indexset"
)

// meetsSuccess applies the successPolicy: the first rule that is met ends the
// job in success (J25). Not even a rule that asks for nothing is met before some
// index has succeeded.
func (p *Planner) meetsSuccess() Verdict {
	policy := p.job.Spec.SuccessPolicy
	if policy == nil || !p.job.isIndexed() || p.succeeded == 0 {
		return Verdict{}
	}
	for i := range policy.Rules {
		if p.meets(&policy.Rules[i]) {
			return Verdict{SuccessCriteriaMet, "SuccessPolicy", fmt.Sprintf("Matched rules at index %d", i)}
		}
	}
	return Verdict{}
}

// meets reports whether enough of the rule's indexes have succeeded: all of
// those named, or succeededCount of them, or succeededCount of any.
func (p *Planner) meets(rule *SuccessPolicyRule) bool {
	if rule.SucceededIndexes == nil {
		return rule.SucceededCount != nil && p.succeeded >= int64(*rule.SucceededCount)
	}
	named := &p.named
	named.Reset()
	if read := named.AddText(*rule.SucceededIndexes, *p.job.Spec.Completions); read.Corrupt != nil {
		return false // what Validate refuses is never met
	}
	want := named.Len()
	if rule.SucceededCount != nil {
		want = int(*rule.SucceededCount)
	}
	return named.Len() > 0 && indexset.Common(named, &p.completed) >= want
}
