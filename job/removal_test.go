package job

import (
	"fmt"
	"testing"

	"github.com/batchplan/batchplan/job/jobreason"
)

// TestJ29_MisplacedByIndex: 600 pods have an index out of range. The round deletes the 500 with the
// lowest indexes, although others are less valuable.
func TestJ29_MisplacedByIndex(t *testing.T) {
	var pods []Pod
	for i := range 600 {
		p := ofIndex(activePod(fmt.Sprintf("pod-%04d", i)), int32(i+1))
		p.Assigned = i < 300
		pods = append(pods, p)
	}
	plan := PlanOf(t, snapshotOf(t, `{"completions": 1, "parallelism": 1, "completionMode": "Indexed"}`, pods...))
	if len(plan.Delete) != 500 {
		t.Fatalf("%d deletions, want 500", len(plan.Delete))
	}
	for i, d := range plan.Delete {
		if want := fmt.Sprintf("pod-%04d", i); d.Name != want || d.Reason != jobreason.DeleteIndexOutOfRange {
			t.Fatalf("deletion %d is of %s (%s), want %s", i, d.Name, d.Reason, want)
		}
	}
}
