package job

import (
	"strings"
	"testing"
)

// TestB3_DuplicateUIDs: two pods with one UID are refused as soon as anything is
// written, be it a single pod or the status alone. A quiet round does not look.
func TestB3_DuplicateUIDs(t *testing.T) {
	for _, test := range []struct {
		name, spec    string
		active, ready int32
		refused       bool
	}{
		{"nothing is written", `{"parallelism": 2}`, 2, 2, false},
		{"only the status is written", `{"parallelism": 2}`, 1, 1, true},
		{"one pod is created", `{"parallelism": 3}`, 2, 2, true},
		{"one pod is deleted", `{"parallelism": 1}`, 2, 2, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			twin := activePod("a")
			twin.Name = "b"
			s := snapshotOf(t, test.spec, activePod("a"), twin)
			s.Job.Status.Active, s.Job.Status.Ready = test.active, &test.ready
			_, err := Reconcile(s)
			if refused := err != nil && strings.Contains(err.Error(), "is the UID of two pods"); refused != test.refused {
				t.Errorf("error %v", err)
			}
		})
	}
}
