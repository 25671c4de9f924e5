package job

import (
	"maps"
	"slices"

	"github.com/batchplan/batchplan/internal/problems"
)

const labelValueProblem = "must be a label value: at most 63 letters, digits, and -_. between them"

// checkSelector checks the form of the selector (J6). It cannot check whether the selector matches
// the template, because only the backend knows the template's labels.
func checkSelector(s *Selector) (found problems.List) {
	if s == nil {
		return nil
	}

	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		found.AddIn("selector.matchLabels", slices.Concat(checkLabelKey(key), checkLabelValue(s.MatchLabels[key])))
	}
	for i := range s.MatchExpressions {
		found.AddAt("selector.matchExpressions", i, checkRequirement(&s.MatchExpressions[i]))
	}
	return found
}

func checkRequirement(r *SelectorRequirement) (found problems.List) {
	switch n := len(r.Values); r.Operator {
	case LabelIn, LabelNotIn:
		if n == 0 {
			found.Add(".values", n, "must not be empty with operator "+string(r.Operator))
		}
	case LabelExists, LabelDoesNotExist:
		if n > 0 {
			found.Add(".values", n, "must be empty with operator "+string(r.Operator))
		}
	default:
		found.Add(".operator", string(r.Operator), "must be In, NotIn, Exists or DoesNotExist")
	}

	found.AddIn(".key", checkLabelKey(r.Key))
	for _, value := range r.Values {
		found.AddIn(".values", checkLabelValue(value))
	}
	return found
}

func checkLabelKey(key string) (found problems.List) {
	if !isQualifiedName(key) {
		found.Add("", key, "must be a label key: a qualified name, such as app or example.com/app")
	}
	return found
}

func checkLabelValue(value string) (found problems.List) {
	if !isLabelValue(value) {
		found.Add("", value, labelValueProblem)
	}
	return found
}
