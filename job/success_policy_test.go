package job

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJ25_SuccessPolicy(t *testing.T) {
	rules := func(text string) string {
		return `{"completions": 6, "parallelism": 6, "completionMode": "Indexed", "successPolicy": {"rules": [` + text + `]}}`
	}

	for _, test := range []struct {
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
		{"each rule counts its own indexes", rules(`{"succeededIndexes": "0,4"}, {"succeededIndexes": "1"}`), "1", "Matched rules at index 1"},
		{"nothing has succeeded", rules(`{"succeededCount": 1}`), "", ""},
		{"nothing has succeeded, and nothing is asked for", rules(`{"succeededCount": 0}`), "", ""},
		{"nothing is asked for", rules(`{"succeededCount": 0}`), "5", "Matched rules at index 0"},
		{"named indexes beyond the end do not matter", rules(`{"succeededIndexes": "0,9"}`), "0", "Matched rules at index 0"},
		{"a rule that cannot be read is never met", rules(`{"succeededIndexes": "x"}`), "0", ""},
		{"nor is one that can be read in part", rules(`{"succeededIndexes": "0,x"}`), "0", ""},
		{"an empty rule is never met", rules(`{}`), "0", ""},
		{"a rule that names nothing is never met", rules(`{"succeededIndexes": ""}`), "0", ""},
	} {
		s := snapshotOf(t, test.spec)
		s.Job.Status.CompletedIndexes = test.completed
		plan := PlanOf(t, s)

		var want Verdict
		if test.want != "" {
			want = Verdict{ConditionSuccessCriteriaMet, "SuccessPolicy", test.want}
		}
		Same(t, test.name, want, plan.Verdict)
	}
}

// TestJ25_UnmetRuleChangesNothing: while a rule is not met, the plan is the same as without it.
func TestJ25_UnmetRuleChangesNothing(t *testing.T) {
	const spec = `"completions": 6, "parallelism": 6, "completionMode": "Indexed"`
	succeeded := func(i int32) Pod { return ofIndex(endedPod(fmt.Sprintf("done-%d", i), PodSucceeded), i) }
	running := func(name string, i int32) Pod { return ofIndex(activePod(name), i) }
	for name, c := range map[string]struct {
		options Options
		pods    []Pod
	}{
		"more pods have ended than a round records": {Options{MaxUncounted: 2}, []Pod{succeeded(0), succeeded(1), succeeded(2), succeeded(3)}},
		"pods share an index":                       {Options{}, []Pod{succeeded(0), running("a", 1), running("b", 1), running("c", 2)}},
	} {
		s := snapshotOf(t, "{"+spec+"}", c.pods...)
		s.Options = c.options
		want := PlanOf(t, s).String()
		s.Job.Spec = specOf(t, "{"+spec+`, "successPolicy": {"rules": [{"succeededIndexes": "0-5"}]}}`)
		if diff := cmp.Diff(want, PlanOf(t, s).String()); diff != "" {
			t.Errorf("%s (-without +with the rule):\n%s", name, diff)
		}
	}
}
