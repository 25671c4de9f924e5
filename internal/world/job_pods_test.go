package world_test

import (
	"testing"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// TestJob_FinishWhileRanging: pods can end, and go, while their list is ranged over.
func TestJob_FinishWhileRanging(t *testing.T) {
	for _, n := range []int32{3, 100} {
		w := world.NewJob(job.Spec{Completions: ptr(n), Parallelism: ptr(n)})
		if _, err := w.Round(); err != nil {
			t.Fatal(err)
		}
		ended := 0
		for _, p := range w.Pods {
			p.Untracked = true
			w.Run(p)
			w.Delete(p)
			w.Finish(p, 0)
			ended++
		}
		if ended != int(n) || len(w.Pods) != 0 {
			t.Errorf("%d of %d pods have ended, %d are left", ended, n, len(w.Pods))
		}
	}
}
