package job

import "testing"

// TestJ24_PastIndexLimits: failed indexes end the job if they exceed the limit. Without a limit
// they end it once no index is left to run.
func TestJ24_PastIndexLimits(t *testing.T) {
	const (
		perIndex  = `{"completionMode": "Indexed", "completions": 5, "backoffLimitPerIndex": 1}`
		atMostTwo = `{"completionMode": "Indexed", "completions": 5, "backoffLimitPerIndex": 1, "maxFailedIndexes": 2}`
		unlimited = `{"completionMode": "Indexed", "completions": 5}`
	)
	for _, c := range []struct {
		name, spec        string
		succeeded, failed int64
		want              string
	}{
		{"none has failed", perIndex, 5, 0, ""},
		{"some are left to run", perIndex, 2, 2, ""},
		{"none is left to run", perIndex, 2, 3, "FailedIndexes"},
		{"the limit is reached", atMostTwo, 0, 2, ""},
		{"the limit is exceeded", atMostTwo, 0, 3, "MaxFailedIndexesExceeded"},
		{"the limit comes first", atMostTwo, 2, 3, "MaxFailedIndexesExceeded"},
		{"failures are not limited index by index", unlimited, 0, 5, ""},
	} {
		spec := specOf(t, c.spec)
		if got := pastIndexLimits(&spec, tally{succeeded: c.succeeded, failedIndexes: c.failed}); got.Reason != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.Reason, c.want)
		}
	}
}
