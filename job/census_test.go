package job

import (
	"github.com/batchplan/batchplan/job/jobpod"
	"testing"
)

// TestJ8_WhatIsNew: a finished pod is counted once, and only if it can be counted at all.
func TestJ8_WhatIsNew(t *testing.T) {
	const indexed = `{"completions": 3, "parallelism": 0, "completionMode": "Indexed"}`
	for _, test := range []struct {
		name   string
		spec   string
		change func(*Snapshot, *Pod)
		want   string // how the pod is accounted for, "" if it is not
	}{
		{"a tracked pod", `{}`, func(*Snapshot, *Pod) {}, "succeeded"},
		{"a pod without the finalizer", `{}`, func(_ *Snapshot, p *Pod) { p.Untracked = true }, ""},
		{"a pod in the uncounted list", `{}`, func(s *Snapshot, p *Pod) {
			s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Succeeded: []UID{"a"}}
		}, "recorded earlier"},
		{"a removal in flight (M1)", `{}`, func(s *Snapshot, p *Pod) {
			s.Memory.JobUID, s.Memory.Untracking = "job-1", s.Memory.Untracking.With("a")
		}, ""},
		{"an index", indexed, func(_ *Snapshot, p *Pod) { p.Index = IndexAt(2) }, "completed index"},
		{"an index that has completed already", indexed, func(s *Snapshot, p *Pod) {
			p.Index, s.Job.Status.CompletedIndexes = IndexAt(2), "2"
		}, "completed index"},
		{"no index", indexed, func(_ *Snapshot, p *Pod) {}, "not counted"},
		{"an index out of range", indexed, func(_ *Snapshot, p *Pod) { p.Index = IndexAt(3) }, "not counted"},
		{"a pod that is being adopted gets the finalizer first", `{}`, func(_ *Snapshot, p *Pod) { p.Owner, p.Untracked = jobpod.Orphan, true }, "succeeded"},
		{"a pod that is being released", `{}`, func(_ *Snapshot, p *Pod) { p.Owner = jobpod.OwnedUnmatched }, ""},
		{"a pod of another owner", `{}`, func(_ *Snapshot, p *Pod) { p.Owner = jobpod.Foreign }, ""},
	} {
		s := snapshotOf(t, test.spec)
		pod := endedPod("a", PodSucceeded)
		test.change(&s, &pod)
		s.Pods = []Pod{pod}

		plan := PlanOf(t, s)
		got := ""
		for _, u := range plan.Untrack {
			got += u.As.String()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q\n%s", test.name, got, test.want, plan)
		}
	}
}
