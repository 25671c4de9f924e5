package job

import (
	"github.com/batchplan/batchplan/job/jobpod"
	"testing"
)

func TestJ6_Selector(t *testing.T) {
	labels := map[string]string{"app": "pi", "tier": "batch", "empty": ""}
	expression := func(key string, op SelectorOperator, values ...string) *Selector {
		return &Selector{MatchExpressions: []SelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}

	for _, test := range []struct {
		name     string
		selector *Selector
		want     bool
	}{
		{"no selector selects everything", nil, true},
		{"an empty selector selects everything", &Selector{}, true},
		{"one label", &Selector{MatchLabels: map[string]string{"app": "pi"}}, true},
		{"all labels must match", &Selector{MatchLabels: map[string]string{"app": "pi", "tier": "web"}}, false},
		{"a label that is missing is not empty", &Selector{MatchLabels: map[string]string{"other": ""}}, false},
		{"a label that is empty", &Selector{MatchLabels: map[string]string{"empty": ""}}, true},
		{"In, and it is", expression("app", LabelIn, "e", "pi"), true},
		{"In, and it is not", expression("app", LabelIn, "e"), false},
		{"In, and it is missing", expression("other", LabelIn, ""), false},
		{"NotIn, and it is not", expression("app", LabelNotIn, "e"), true},
		{"NotIn, and it is", expression("app", LabelNotIn, "pi"), false},
		{"NotIn, and it is missing", expression("other", LabelNotIn, "pi"), true},
		{"Exists, and it does", expression("empty", LabelExists), true},
		{"Exists, and it does not", expression("other", LabelExists), false},
		{"DoesNotExist, and it does not", expression("other", LabelDoesNotExist), true},
		{"DoesNotExist, and it does", expression("app", LabelDoesNotExist), false},
		{"an unknown operator selects nothing", expression("app", "Near", "pi"), false},
		{"labels and expressions must both match", &Selector{
			MatchLabels:      map[string]string{"app": "pi"},
			MatchExpressions: []SelectorRequirement{{Key: "tier", Operator: LabelDoesNotExist}},
		}, false},
	} {
		if got := test.selector.Matches(labels); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestJ6_OwnerOf(t *testing.T) {
	j := &Job{UID: "job-1", Spec: Spec{Selector: &Selector{MatchLabels: map[string]string{"app": "pi"}}}}
	ours, others := map[string]string{"app": "pi"}, map[string]string{"app": "e"}
	for _, test := range []struct {
		name       string
		controller UID
		labels     map[string]string
		want       jobpod.Ownership
	}{
		{"ours, and it matches", "job-1", ours, jobpod.Owned},
		{"ours, and it no longer matches", "job-1", others, jobpod.OwnedUnmatched},
		{"ours, without labels", "job-1", nil, jobpod.OwnedUnmatched},
		{"nobody's, and it matches", "", ours, jobpod.Orphan},
		{"nobody's, and it does not match", "", others, jobpod.Foreign},
		{"another owner's, though it matches", "job-2", ours, jobpod.Foreign},
		{"another owner's", "job-2", others, jobpod.Foreign},
	} {
		if got := OwnerOf(j, test.controller, test.labels); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}
