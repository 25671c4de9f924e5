package job

import "slices"

// Selector is a batch/v1 label selector: all of its requirements must hold.
type Selector struct {
	MatchLabels      map[string]string     `json:"matchLabels,omitempty"`
	MatchExpressions []SelectorRequirement `json:"matchExpressions,omitempty"`
}

// SelectorRequirement relates one label to a list of values.
type SelectorRequirement struct {
	Key      string           `json:"key"`
	Operator SelectorOperator `json:"operator"`
	Values   []string         `json:"values,omitempty"`
}

// SelectorOperator relates a label to the values of a requirement.
type SelectorOperator string

// The operators of a label selector.
const (
	LabelIn           SelectorOperator = "In"
	LabelNotIn        SelectorOperator = "NotIn"
	LabelExists       SelectorOperator = "Exists"
	LabelDoesNotExist SelectorOperator = "DoesNotExist"
)

// Matches reports whether a pod with these labels is selected. A nil selector selects every pod,
// and an unknown operator selects none.
func (s *Selector) Matches(labels map[string]string) bool {
	if s == nil {
		return true
	}

	//purity:ordered all must match, in whatever order
	for key, want := range s.MatchLabels {
		if have, ok := labels[key]; !ok || have != want {
			return false
		}
	}

	for _, r := range s.MatchExpressions {
		if !r.matches(labels) {
			return false
		}
	}
	return true
}

func (r SelectorRequirement) matches(labels map[string]string) bool {
	value, has := labels[r.Key]
	switch r.Operator {
	case LabelIn:
		return has && slices.Contains(r.Values, value)
	case LabelNotIn:
		return !has || !slices.Contains(r.Values, value)
	case LabelExists:
		return has
	case LabelDoesNotExist:
		return !has
	}
	return false
}
