package cronjobgen_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/must"
)

// TestGenerators: plans can be made from all generated values, and the plans are consistent with
// these values. Among the values are active jobs, requests and memories.
func TestGenerators(t *testing.T) {
	var active, jobs, requests, memories int
	rapid.Check(t, func(t *rapid.T) {
		s := cronjobgen.Snapshots().Draw(t, "snapshot")
		s.CronJob.Status = cronjobgen.Statuses().Draw(t, "status")
		s.Memory = cronjobgen.Memories().Draw(t, "memory")
		if _, err := cronjob.Reconcile(s); err != nil {
			t.Fatal(err)
		}

		s = cronjobgen.Lives(false).Draw(t, "life").Snapshot()
		plan, err := cronjob.Reconcile(s)
		must.OK(t, err)
		if broken := cronjobcheck.Plan(&s, &plan); broken != nil {
			t.Fatalf("%v\nin the plan:\n%s", broken, &plan)
		}

		active += len(s.CronJob.Status.Active)
		jobs += len(cronjobgen.Children().Draw(t, "jobs"))
		requests += len(s.Triggers) + len(s.Backfills)
		memory := s.Memory
		if text, err := json.Marshal(memory); err != nil || !memory.Equal(cronjob.Memory{}) && len(text) < 30 {
			t.Fatalf("a memory reads %s, error %v", text, err)
		}
		if !memory.Equal(cronjob.Memory{}) {
			memories++
		}
	})
	if active == 0 || jobs == 0 || requests == 0 || memories == 0 {
		t.Errorf("%d active jobs, %d jobs, %d requests, %d memories", active, jobs, requests, memories)
	}
}
