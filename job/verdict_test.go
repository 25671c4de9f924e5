package job

import "testing"

// TestJ19_FirstDecided: the first verdict that is decided wins.
func TestJ19_FirstDecided(t *testing.T) {
	a, b := Verdict{Type: ConditionFailureTarget, Reason: "a"}, Verdict{Type: ConditionSuccessCriteriaMet, Reason: "b"}
	for _, c := range []struct {
		verdicts []Verdict
		want     Verdict
	}{
		{nil, Verdict{}},
		{[]Verdict{{}, {}}, Verdict{}},
		{[]Verdict{{}, a, b}, a},
		{[]Verdict{b, a}, b},
	} {
		if got := first(c.verdicts...); got != c.want {
			t.Errorf("first of %v: %v, want %v", c.verdicts, got, c.want)
		}
	}
}

// TestJ19_OrderOfEnds: if two rules would end the job, the one with the lower number decides.
func TestJ19_OrderOfEnds(t *testing.T) {
	const (
		failJob  = `"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}`
		perIndex = `"completionMode": "Indexed", "completions": 3, "parallelism": 3, "backoffLimitPerIndex": 0`
	)
	holding := func(s Snapshot, conditions ...Condition) Snapshot {
		s.Job.Status.Conditions = conditions
		return s
	}

	indexed := func(code int32, index int32) Pod {
		p := exitedPod(IndexAt(index).String(), code, 3)
		p.Index = IndexAt(index)
		return p
	}

	met := Condition{Type: ConditionSuccessCriteriaMet, Status: ConditionTrue, Reason: "SuccessPolicy"}
	target := Condition{Type: ConditionFailureTarget, Status: ConditionTrue, Reason: "DeadlineExceeded"}
	for _, test := range []struct {
		name string
		snap Snapshot
		want string
	}{
		{"J19 before J20", holding(snapshotOf(t, `{}`), target, met), "SuccessPolicy"},
		{"J20 before J21", holding(snapshotOf(t, `{`+failJob+`}`, exitedPod("a", 42, 3)), target), "DeadlineExceeded"},
		{"J21 before J22", snapshotOf(t, `{"backoffLimit": 0, `+failJob+`}`, exitedPod("a", 42, 3)), "PodFailurePolicy"},
		{"J22 before J23", snapshotOf(t, `{"backoffLimit": 0, "activeDeadlineSeconds": 1}`, exitedPod("a", 1, 3)), "BackoffLimitExceeded"},
		{"J23 before J24", snapshotOf(t, `{"activeDeadlineSeconds": 1, "maxFailedIndexes": 0, `+perIndex+`}`, indexed(1, 0)), "DeadlineExceeded"},
		{"J24 before J25", snapshotOf(t, `{"maxFailedIndexes": 0, "successPolicy": {"rules": [{"succeededCount": 1}]}, `+perIndex+`}`, indexed(1, 0), indexed(0, 1)),
			"MaxFailedIndexesExceeded"},
	} {
		if got := PlanOf(t, test.snap).Verdict; got.Reason != test.want {
			t.Errorf("%s: %v, want %s", test.name, got, test.want)
		}
	}
}
