package job

import (
	"fmt"

	"github.com/batchplan/batchplan/internal/indexset"
)

// meetsSuccessPolicy applies the successPolicy: the first rule that is met ends the
// job in success (J25). No rule is met before some index has succeeded, not even one
// that asks for no successes. The spare set is overwritten.
func meetsSuccessPolicy(spec *Spec, t tally, completed, spare *indexset.Set) Verdict {
	policy := spec.SuccessPolicy
	switch {
	case policy == nil, !spec.isIndexed(), t.succeeded == 0:
		return Verdict{}
	}

	for i := range policy.Rules {
		if policy.Rules[i].isMet(*spec.Completions, completed, spare) {
			return Verdict{ConditionSuccessCriteriaMet, "SuccessPolicy", fmt.Sprintf("Matched rules at index %d", i)}
		}
	}
	return Verdict{}
}

// isMet reports whether enough of the rule's indexes have succeeded: all indexes that the rule
// names, or succeededCount of them. If the rule names no indexes, succeededCount of any indexes are
// enough.
func (r *SuccessPolicyRule) isMet(completions int32, completed, spare *indexset.Set) bool {
	if r.SucceededIndexes == nil {
		return r.SucceededCount != nil && completed.Len() >= int(*r.SucceededCount)
	}

	spare.Reset()
	if read := spare.AddText(*r.SucceededIndexes, completions); read.Corrupt != nil {
		return false // a rule that Validate refuses is never met
	}

	want := spare.Len()
	if r.SucceededCount != nil {
		want = int(*r.SucceededCount)
	}
	return spare.Len() > 0 && indexset.Common(spare, completed) >= want
}
