package explore

import "math/bits"

// Rule is something that a plan can do or decide, named by the number of its rule.
type Rule[S, P any] struct {
	name  string
	holds func(*S, *P) bool
}

// NewRule returns a rule. The function reports whether it holds for a plan of a snapshot.
func NewRule[S, P any](name string, holds func(*S, *P) bool) Rule[S, P] {
	return Rule[S, P]{name, holds}
}

// Rules is a list of at most 64 rules. Whenever a round begins, a search counts the rules that hold
// for its plan.
type Rules[S, P any] []Rule[S, P]

// Names returns the names of the rules, for [System.Rules].
func (r Rules[S, P]) Names() []string {
	names := make([]string, len(r))
	for i := range r {
		names[i] = r[i].name
	}
	return names
}

// Of returns the rules that hold for a plan of a snapshot.
func (r Rules[S, P]) Of(s *S, p *P) (found RuleSet) {
	for i := range r {
		if r[i].holds(s, p) {
			found |= 1 << i
		}
	}
	return found
}

// RuleSet is a set of rules, with a bit for each place in [Rules].
type RuleSet uint64

// Count counts each rule of the set.
func (s RuleSet) Count(t *Tally) {
	for ; s != 0; s &= s - 1 {
		t.Rules[bits.TrailingZeros64(uint64(s))]++
	}
}
