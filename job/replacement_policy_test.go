package job

import (
	"github.com/batchplan/batchplan/job/jobreason"
	"testing"
)

// TestJ30_HeldByTerminating: if only failed pods are replaced, each terminating pod holds back one
// of the missing pods.
func TestJ30_HeldByTerminating(t *testing.T) {
	const (
		failed = `{"podReplacementPolicy": "Failed"}`
		policy = `{"podFailurePolicy": {"rules": []}, "podReplacementPolicy": "TerminatingOrFailed"}`
		either = `{"podReplacementPolicy": "TerminatingOrFailed"}`
	)

	for _, c := range []struct {
		spec                       string
		missing, terminating, want int64
	}{
		{failed, 3, 2, 2},
		{failed, 2, 3, 2},
		{failed, 0, 3, 0},
		{failed, -1, 3, 0},
		{policy, 3, 2, 2},
		{either, 3, 2, 0},
	} {
		spec := specOf(t, c.spec)
		if got := heldByTerminating(&spec, tally{terminating: c.terminating}, c.missing); got != c.want {
			t.Errorf("%s, %d missing, %d terminating: %d held, want %d", c.spec, c.missing, c.terminating, got, c.want)
		}
	}
}

// TestJ7_WhatHasFailed: how each pod is counted, by podReplacementPolicy.
func TestJ7_WhatHasFailed(t *testing.T) {
	const (
		byDefault = `{"backoffLimit": 9, "parallelism": 0}`
		failed    = `{"backoffLimit": 9, "parallelism": 0, "podReplacementPolicy": "Failed"}`
		policy    = `{"backoffLimit": 9, "parallelism": 0, "podFailurePolicy": {"rules": []}, "podReplacementPolicy": "TerminatingOrFailed"}`
	)
	deleted := &PodDeletion{Timestamp: second(40)}

	for _, test := range []struct {
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
	} {
		pod := test.pod
		pod.UID, pod.Name, pod.Index, pod.Untracked = "a", "a", NoIndex(), false
		plan := PlanOf(t, snapshotOf(t, test.spec, pod))
		b := plan.basis.Counts

		counted := 0
		for _, u := range plan.Untrack {
			if u.As == jobreason.CountedFailed {
				counted++
			}
		}

		if b.Active != test.active || b.Terminating != test.terminating || b.Succeeded != test.succeeded ||
			counted != test.failed {
			t.Errorf("%s: active=%d terminating=%d succeeded=%d failed=%d\n%s", test.name, b.Active, b.Terminating,
				b.Succeeded, counted, plan)
		}
	}
}
