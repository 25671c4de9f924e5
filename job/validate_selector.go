package job

import (
	"fmt"
	"maps"
	"slices"
)

const labelValueProblem = "must be a label value: at most 63 letters, digits, and -_. between them"

// selector checks the form of the selector (J6). Whether it selects the pods of the
// template is not known here: the labels stay with the backend.
func (v *validator) selector() {
	s := v.spec.Selector
	if s == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		v.labelKey("selector.matchLabels", key)
		v.labelValue("selector.matchLabels", s.MatchLabels[key])
	}
	for i := range s.MatchExpressions {
		v.requirement(fmt.Sprintf("selector.matchExpressions[%d]", i), &s.MatchExpressions[i])
	}
}

func (v *validator) requirement(field string, r *SelectorRequirement) {
	switch n := len(r.Values); r.Operator {
	case LabelIn, LabelNotIn:
		if n == 0 {
			v.add(field+".values", n, "must not be empty with operator "+string(r.Operator))
		}
	case LabelExists, LabelDoesNotExist:
		if n > 0 {
			v.add(field+".values", n, "must be empty with operator "+string(r.Operator))
		}
	default:
		v.add(field+".operator", string(r.Operator), "must be In, NotIn, Exists or DoesNotExist")
	}
	v.labelKey(field+".key", r.Key)
	for _, value := range r.Values {
		v.labelValue(field+".values", value)
	}
}

func (v *validator) labelKey(field, key string) {
	if !isQualifiedName(key) {
		v.add(field, key, "must be a label key: a qualified name, such as app or example.com/app")
	}
}

func (v *validator) labelValue(field, value string) {
	if !isLabelValue(value) {
		v.add(field, value, labelValueProblem)
	}
}
