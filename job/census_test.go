package job

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// TestJ7_WhatHasFailed: what each pod is counted as, by what the job replaces.
func TestJ7_WhatHasFailed(t *testing.T) {
	const (
		byDefault = `{"backoffLimit": 9, "parallelism": 0}`
		failed    = `{"backoffLimit": 9, "parallelism": 0, "podReplacementPolicy": "Failed"}`
		policy    = `{"backoffLimit": 9, "parallelism": 0, "podFailurePolicy": {"rules": []}, "podReplacementPolicy": "TerminatingOrFailed"}`
	)
	deleted := &PodDeletion{Timestamp: second(40)}
	tests := []struct {
		name                           string
		spec                           string
		pod                            Pod
		active, terminating, succeeded int32
		failed                         int
	}{
		{"a running pod", byDefault, Pod{Phase: PodRunning}, 1, 0, 0, 0},
		{"a pod of which nothing is known", byDefault, Pod{Phase: PodUnknown}, 1, 0, 0, 0},
		{"a failed pod", byDefault, Pod{Phase: PodFailed}, 0, 0, 0, 1},
		{"a succeeded pod", byDefault, Pod{Phase: PodSucceeded}, 0, 0, 1, 0},
		{"a terminating pod has failed", byDefault, Pod{Phase: PodRunning, Deletion: deleted}, 0, 1, 0, 1},
		{"a pod that is deleted before it ran has failed", byDefault, Pod{Deletion: deleted}, 0, 1, 0, 1},
		{"a terminating pod has not failed where only failed pods are replaced", failed, Pod{Phase: PodRunning, Deletion: deleted}, 0, 1, 0, 0},
		{"nor where a failure policy must see how it ends", policy, Pod{Phase: PodRunning, Deletion: deleted}, 0, 1, 0, 0},
		{"a failed pod that is deleted has failed", failed, Pod{Phase: PodFailed, Deletion: deleted}, 0, 0, 0, 1},
		{"a succeeded pod that is deleted has succeeded", byDefault, Pod{Phase: PodSucceeded, Deletion: deleted}, 0, 0, 1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := test.pod
			pod.UID, pod.Name, pod.Index, pod.Untracked = "a", "a", NoIndex, false
			plan := planOf(t, snapshotOf(t, test.spec, pod))
			b := plan.basis
			counted := 0
			for _, u := range plan.Untrack {
				if u.As == CountedFailed {
					counted++
				}
			}
			if b.Active != test.active || b.Terminating != test.terminating || b.Succeeded != test.succeeded || counted != test.failed {
				t.Errorf("active=%d terminating=%d succeeded=%d failed=%d\n%s", b.Active, b.Terminating, b.Succeeded, counted, plan)
			}
		})
	}
}

// TestJ8_WhatIsNew: a finished pod is counted once, and only if it can be counted at all.
func TestJ8_WhatIsNew(t *testing.T) {
	const indexed = `{"completions": 3, "parallelism": 0, "completionMode": "Indexed"}`
	tests := []struct {
		name   string
		spec   string
		change func(*Snapshot, *Pod)
		want   string // how the pod is accounted for, "" when it is not looked at
	}{
		{"a tracked pod", `{}`, func(*Snapshot, *Pod) {}, "succeeded"},
		{"a pod without the finalizer", `{}`, func(_ *Snapshot, p *Pod) { p.Untracked = true }, ""},
		{"a pod in the uncounted list", `{}`, func(s *Snapshot, p *Pod) {
			s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Succeeded: []string{"a"}}
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
		{"a pod that is being adopted gets the finalizer first", `{}`, func(_ *Snapshot, p *Pod) { p.Owner, p.Untracked = Orphan, true }, "succeeded"},
		{"a pod that is being released", `{}`, func(_ *Snapshot, p *Pod) { p.Owner = OwnedUnmatched }, ""},
		{"a pod of somebody else", `{}`, func(_ *Snapshot, p *Pod) { p.Owner = Foreign }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, test.spec)
			pod := endedPod("a", PodSucceeded)
			test.change(&s, &pod)
			s.Pods = []Pod{pod}
			plan := planOf(t, s)
			got := ""
			for _, u := range plan.Untrack {
				got += u.As.String()
			}
			if got != test.want {
				t.Errorf("got %q, want %q\n%s", got, test.want, plan)
			}
		})
	}
}

// TestJ12_StartInTheFuture: the note names the field and the value.
func TestJ12_StartInTheFuture(t *testing.T) {
	s := snapshotOf(t, `{"activeDeadlineSeconds": 60}`, activePod("a"))
	s.Job.Status.StartTime = second(50)
	plan := planOf(t, s)
	want := []Note{{"job.status.startTime", formatTime(second(50)), "lies in the future; the deadline counts from there"}}
	if !slices.Equal(plan.Notes, want) {
		t.Errorf("notes %+v, want %+v", plan.Notes, want)
	}
}

// TestE1_ARecordThatExpiresNow: it no longer holds the round, except for a controller
// that looks at whole seconds only. One that has expired holds nothing for either.
func TestE1_ARecordThatExpiresNow(t *testing.T) {
	for _, c := range []struct {
		quirks jobquirk.Set
		ago    time.Duration
		want   int
	}{
		{0, expectations.Timeout - 1, 0},
		{0, expectations.Timeout, 1},
		{jobquirk.CoarseRequeue, expectations.Timeout, 0},
		{jobquirk.CoarseRequeue, expectations.Timeout + 1, 1},
	} {
		s := snapshotOf(t, `{}`)
		s.Options.Quirks = c.quirks
		s.Memory = Memory{JobUID: "job-1", Expectations: expectations.Counts{Creations: 1, At: s.Now.Add(-c.ago)}}
		if plan := planOf(t, s); len(plan.Create) != c.want {
			t.Errorf("quirks %v, recorded %v ago: %d creations, want %d\n%s", c.quirks, c.ago, len(plan.Create), c.want, plan)
		}
	}
}

// TestJ7_GivenUp: a terminating pod is no longer waited for when it has had its time to
// start or to end. One that counts as failed anyway is not waited for, and still counts as
// terminating.
func TestJ7_GivenUp(t *testing.T) {
	const failed = `{"backoffLimit": 9, "parallelism": 0, "podReplacementPolicy": "Failed"}`
	for _, c := range []struct {
		name, spec  string
		phase       PodPhase
		options     Options
		terminating int32
	}{
		{"waited for", failed, PodRunning, Options{}, 1},
		{"it has had its time to end", failed, PodRunning, Options{TerminatingTimeout: 10 * time.Second}, 0},
		{"it has not had it", failed, PodRunning, Options{TerminatingTimeout: 11 * time.Second}, 1},
		{"it has had its time to start", failed, PodPending, Options{PendingTimeout: 20 * time.Second}, 0},
		{"it has not had that", failed, PodPending, Options{PendingTimeout: 21 * time.Second}, 1},
		{"it has failed anyway", `{"backoffLimit": 9, "parallelism": 0}`, PodRunning, Options{TerminatingTimeout: 10 * time.Second}, 1},
	} {
		pod := Pod{UID: "a", Name: "a", Index: NoIndex, Phase: c.phase, Deletion: &PodDeletion{Timestamp: second(20)},
			Detail: &PodDetail{CreationTimestamp: second(10)}}
		s := snapshotOf(t, c.spec, pod)
		s.Options = c.options
		if plan := planOf(t, s); plan.basis.Terminating != c.terminating {
			t.Errorf("%s: %d terminating, want %d\n%s", c.name, plan.basis.Terminating, c.terminating, plan)
		}
	}
}
