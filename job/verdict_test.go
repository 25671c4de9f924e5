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
