package job

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// TestE1_ARecordThatExpiresNow: expectations that time out now no longer hold the round back,
// except with the quirk CoarseRequeue. A moment later they hold nothing back, with or without the
// quirk.
func TestE1_ARecordThatExpiresNow(t *testing.T) {
	none := jobquirk.SetOf()
	for _, c := range []struct {
		quirks jobquirk.Set
		ago    time.Duration
		want   int
	}{
		{none, expectations.Timeout - 1, 0},
		{none, expectations.Timeout, 1},
		{jobquirk.SetOf(jobquirk.CoarseRequeue), expectations.Timeout, 0},
		{jobquirk.SetOf(jobquirk.CoarseRequeue), expectations.Timeout + 1, 1},
		{none, -1, 0}, // recorded in the future, so it counts from now (L6)
	} {
		s := snapshotOf(t, `{}`)
		s.Options.Quirks = c.quirks
		s.Memory = Memory{JobUID: "job-1", Expectations: expectations.Counts{Creations: 1, At: s.Now.Add(-c.ago)}}

		if plan := PlanOf(t, s); len(plan.Create) != c.want {
			t.Errorf("quirks %v, recorded %v ago: %d creations, want %d\n%s", c.quirks, c.ago, len(plan.Create), c.want,
				plan)
		} else if at := plan.basis.Carried.Memory.Expectations.At; at.After(s.Now) {
			t.Errorf("recorded %v ago: counts from %v, after now", c.ago, at)
		}
	}
}

// TestE1_TrackerWithoutMemory: the memory was lost, but a tracker has put the writes in flight into
// the new memory. These writes still hold the round back. If a memory has no UID of a job, nothing
// else in it holds the round back. If the snapshot is consistent, not even the writes do.
func TestE1_TrackerWithoutMemory(t *testing.T) {
	for _, test := range []struct {
		name       string
		memory     Memory
		consistent bool
		want       int // creations
	}{
		{"a creation in flight", Memory{Expectations: expectations.Counts{Creations: 1}}, false, 0},
		{"of this job", Memory{JobUID: "job-1", Expectations: expectations.Counts{Creations: 1}}, false, 0},
		{"of another job", Memory{JobUID: "job-0", Expectations: expectations.Counts{Creations: 1}}, false, 1},
		{"nothing is in flight", Memory{}, false, 1},
		{"what no tracker knows", Memory{Finished: true, Written: 99}, false, 1},
		{"consistent", Memory{Expectations: expectations.Counts{Creations: 1}}, true, 1},
	} {
		s := snapshotOf(t, `{}`)
		s.Consistent, s.Memory = test.consistent, test.memory
		s.Memory.Expectations.At = s.Now
		if plan := PlanOf(t, s); len(plan.Create) != test.want {
			t.Errorf("%s: %d creations, want %d\n%s", test.name, len(plan.Create), test.want, plan)
		}
	}
}
