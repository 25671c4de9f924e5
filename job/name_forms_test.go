package job_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job"
)

// TestJ2_ConditionType: the type of a pod condition is a qualified name.
func TestJ2_ConditionType(t *testing.T) {
	for kind, valid := range map[string]bool{
		"Ready": true, "a": true, "7": true, "Dns-Ready_2.x": true, "example.com/Ready": true, "a-b.c/x": true,
		"": false, "-a": false, "a-": false, "a.": false, "_a": false, "a b": false, "ä": false,
		"/Ready": false, "example.com/": false, "Example.com/Ready": false, "example.com-/Ready": false, "-x.com/Ready": false, "a..b/x": false,
		"a/b/c": false, "example.com/-a": false, "a_b/x": false,
		strings.Repeat("a", 63): true, strings.Repeat("a", 64): false,
		strings.Repeat("a", 253) + "/x": true, strings.Repeat("a", 254) + "/x": false,
	} {
		var spec job.Spec
		if err := json.Unmarshal(fmt.Appendf(nil, `{"template": {"spec": {"restartPolicy": "Never"}},
			"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": %q, "status": "True"}]}]}}`, kind), &spec); err != nil {
			t.Fatal(err)
		}
		job.Default(&spec)
		if err := job.Validate(spec); (err == nil) != valid {
			t.Errorf("type %q: error %v, want valid %v", kind, err, valid)
		}
	}
}
