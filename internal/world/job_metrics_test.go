package world

import (
	"testing"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// TestJob_Metrics_OlderIndexes: an elastic job has dropped indexes, and an older snapshot may show
// them again. The metrics then report these indexes again, completed or failed. With versions this
// cannot happen.
func TestJob_Metrics_OlderIndexes(t *testing.T) {
	for _, old := range []job.Status{{CompletedIndexes: "0-2"}, {FailedIndexes: value.To("0-2")}} {
		for _, versions := range []bool{false, true} {
			w := NewJob(job.Spec{})
			w.Stale, w.Versions = true, versions
			w.tallyStatus(&old, &job.Status{})
			if w.tally.forgot == versions {
				t.Errorf("from %v, versions %t: the comparison ends: %t", old, versions, w.tally.forgot)
			}
			w.tally.forgot = false
			if w.tallyStatus(&job.Status{}, &old); w.tally.forgot {
				t.Errorf("to %v: the comparison ends", old)
			}
		}
	}
}
