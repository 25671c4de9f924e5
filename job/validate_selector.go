package job

import (
	"maps"
	"slices"
)

const labelValueProblem = "must be a label value: at most 63 letters, digits, and -_. between them"

// checkSelector checks the form of the selector (J6). Whether it selects the pods of the
// template is not known here: the labels stay with the backend.
func checkSelector(s *Selector) (found problems) {
	if s == nil {
		return nil
	}

	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		found.addIn("selector.matchLabels", slices.Concat(checkLabelKey(key), checkLabelValue(s.MatchLabels[key])))
	}
	for i := range s.MatchExpressions {
		found.addAt("selector.matchExpressions", i, checkRequirement(&s.MatchExpressions[i]))
	}
	return found
}

func checkRequirement(r *SelectorRequirement) (found problems) {
	switch n := len(r.Values); r.Operator {
	case LabelIn, LabelNotIn:
		if n == 0 {
			found.add(".values", n, "must not be empty with operator "+string(r.Operator))
		}
	case LabelExists, LabelDoesNotExist:
		if n > 0 {
			found.add(".values", n, "must be empty with operator "+string(r.Operator))
		}
	default:
		found.add(".operator", string(r.Operator), "must be In, NotIn, Exists or DoesNotExist")
	}

	found.addIn(".key", checkLabelKey(r.Key))
	for _, value := range r.Values {
		found.addIn(".values", checkLabelValue(value))
	}
	return found
}

func checkLabelKey(key string) (found problems) {
	if !isQualifiedName(key) {
		found.add("", key, "must be a label key: a qualified name, such as app or example.com/app")
	}
	return found
}

func checkLabelValue(value string) (found problems) {
	if !isLabelValue(value) {
		found.add("", value, labelValueProblem)
	}
	return found
}
