package job

import (
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// TestJ46_Refusals: Validate refuses these policies. TestValidateUpdate has updates.
func TestJ46_Refusals(t *testing.T) {
	for _, test := range []struct{ name, spec, want string }{
		{"a gang is larger than parallelism", `{"parallelism": 2, "scheduling": {"schedulingPolicy": {"gang": {"minCount": 3}}}}`, "scheduling.schedulingPolicy.gang.minCount: 3: must be at most parallelism, 2"},
		{"a gang of as many pods", `{"parallelism": 3, "scheduling": {"schedulingPolicy": {"gang": {"minCount": 3}}}}`, ""},
		{"a gang of none", `{"scheduling": {"schedulingPolicy": {"gang": {"minCount": 0}}}}`, "scheduling.schedulingPolicy.gang.minCount: 0: must be at least 1"},
		{"a gang while nothing may run", `{"parallelism": 0, "scheduling": {"schedulingPolicy": {"gang": {}}}}`, ""},
		{"no policy in the policy", `{"scheduling": {"schedulingPolicy": {}}}`, "scheduling.schedulingPolicy: <nil>: must have exactly one of basic and gang"},
		{"basic beside gang", `{"scheduling": {"schedulingPolicy": {"basic": {}, "gang": {}}}}`, "scheduling.schedulingPolicy: <nil>: must have exactly one of basic and gang"},
		{"no mode in the mode", `{"scheduling": {"disruptionMode": {}}}`, "scheduling.disruptionMode: <nil>: must have exactly one of single and all"},
		{"both modes", `{"scheduling": {"schedulingPolicy": {"gang": {}}, "disruptionMode": {"single": {}, "all": {}}}}`, "scheduling.disruptionMode: <nil>: must have exactly one of single and all"},
		{"a gang is disrupted as a whole", `{"scheduling": {"schedulingPolicy": {"gang": {}}, "disruptionMode": {"all": {}}}}`, ""},
		{"pods that are no gang are disrupted one by one", `{"scheduling": {"schedulingPolicy": {"basic": {}}, "disruptionMode": {"single": {}}}}`, ""},
		{"pods that are no gang are disrupted as a whole", `{"scheduling": {"disruptionMode": {"all": {}}}}`, `scheduling.disruptionMode: "all": needs the schedulingPolicy gang`},
		{"basic pods are disrupted as a whole", `{"scheduling": {"schedulingPolicy": {"basic": {}}, "disruptionMode": {"all": {}}}}`, `scheduling.disruptionMode: "all": needs the schedulingPolicy gang`},
	} {
		if got := must.Problems(t, Validate(specOf(t, test.spec)), "spec."); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
