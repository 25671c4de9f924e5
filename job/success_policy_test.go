package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJ25_SuccessPolicy(t *testing.T) {
	rules := func(text string) string {
		return `{"completions": 6, "parallelism": 6, "completionMode": "Indexed", "successPolicy": {"rules": [` + text + `]}}`
	}
	tests := []struct {
		name      string
		spec      string
		completed string
		want      string // the message, "" when no rule is met
	}{
		{"no policy", `{"completions": 6, "completionMode": "Indexed"}`, "0-4", ""},
		{"all that are named have succeeded", rules(`{"succeededIndexes": "0,2-3"}`), "0,2,3", "Matched rules at index 0"},
		{"one that is named has not", rules(`{"succeededIndexes": "0,2-3"}`), "0,2,4,5", ""},
		{"enough of those that are named", rules(`{"succeededIndexes": "0,2-3", "succeededCount": 2}`), "2,3", "Matched rules at index 0"},
		{"others do not count", rules(`{"succeededIndexes": "0,2-3", "succeededCount": 2}`), "1,3,5", ""},
		{"enough of any", rules(`{"succeededCount": 3}`), "1,3,5", "Matched rules at index 0"},
		{"not enough of any", rules(`{"succeededCount": 3}`), "1,3", ""},
		{"the first rule that is met", rules(`{"succeededIndexes": "0"}, {"succeededCount": 2}, {"succeededCount": 1}`), "1,2", "Matched rules at index 1"},
		{"nothing has succeeded", rules(`{"succeededCount": 1}`), "", ""},
		{"nothing has succeeded, and nothing is asked for", rules(`{"succeededCount": 0}`), "", ""},
		{"nothing is asked for", rules(`{"succeededCount": 0}`), "5", "Matched rules at index 0"},
		{"named indexes beyond the end do not matter", rules(`{"succeededIndexes": "0,9"}`), "0", "Matched rules at index 0"},
		{"a rule that cannot be read is never met", rules(`{"succeededIndexes": "x"}`), "0", ""},
		{"an empty rule is never met", rules(`{}`), "0", ""},
		{"a rule that names nothing is never met", rules(`{"succeededIndexes": ""}`), "0", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, test.spec)
			s.Job.Status.CompletedIndexes = test.completed
			plan, err := Reconcile(s)
			if err != nil {
				t.Fatal(err)
			}
			var want Verdict
			if test.want != "" {
				want = Verdict{ConditionSuccessCriteriaMet, "SuccessPolicy", test.want}
			}
			if diff := cmp.Diff(want, plan.Verdict); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
