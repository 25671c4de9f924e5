package job

import "testing"

// TestJ29_DeletionsTakePrecedence: a pod is in the way and two are missing. The
// round deletes; the next one creates.
func TestJ29_DeletionsTakePrecedence(t *testing.T) {
	s := snapshotOf(t, `{"completionMode": "Indexed", "completions": 4, "parallelism": 4}`,
		Pod{Name: "zero", UID: "1", Phase: PodRunning, Index: IndexAt(0)},
		Pod{Name: "zero-again", UID: "2", Index: IndexAt(0)},
	)
	plan, err := Reconcile(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Delete) != 1 || plan.Delete[0].Name != "zero-again" || len(plan.Create) != 0 {
		t.Errorf("with a duplicate:\n%s", plan.String())
	}
	s.Pods = s.Pods[:1]
	plan, err = Reconcile(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Delete) != 0 || len(plan.Create) != 3 || plan.Create[0].Index != IndexAt(1) {
		t.Errorf("without:\n%s", plan.String())
	}
}

// TestJ29_WantedActive: never more than parallelism, nor more than are left to succeed. A
// work queue that has had a success drains.
func TestJ29_WantedActive(t *testing.T) {
	for _, c := range []struct {
		spec              string
		active, succeeded int64
		want              int64
	}{
		{`{"parallelism": 3, "completions": 10}`, 1, 2, 3},
		{`{"parallelism": 3, "completions": 10}`, 1, 8, 2},
		{`{"parallelism": 3, "completions": 10}`, 1, 12, 0},
		{`{"parallelism": 0, "completions": 10}`, 1, 2, 0},
		{`{"parallelism": 3}`, 1, 0, 3},
		{`{"parallelism": 3}`, 1, 1, 1},
		{`{"parallelism": 3}`, 5, 1, 5},
	} {
		spec := specOf(t, c.spec)
		if got := wantedActive(&spec, tally{active: c.active, succeeded: c.succeeded}); got != c.want {
			t.Errorf("%s, %d active, %d succeeded: %d, want %d", c.spec, c.active, c.succeeded, got, c.want)
		}
	}
}
