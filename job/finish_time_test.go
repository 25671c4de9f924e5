package job

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobpod"
)

// second returns the time n seconds past midnight on the day of the tests.
func second(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }

func TestJ32_FinishTime(t *testing.T) {
	ended := func(kind jobpod.Kind, at int) jobpod.Container {
		return jobpod.Container{Kind: kind, State: jobpod.Terminated, FinishedAt: second(at)}
	}
	// pod was created at second(1) and turned unready at second(8).
	pod := func(containers ...jobpod.Container) Pod {
		return Pod{Detail: &PodDetail{CreationTimestamp: second(1), ReadyTransition: second(8), Containers: containers}}
	}
	deleted := func(p Pod, ready bool) Pod {
		p.Ready, p.Deletion = ready, &PodDeletion{Timestamp: second(50), GracePeriodSeconds: 30}
		return p
	}
	created := Pod{Detail: &PodDetail{CreationTimestamp: second(1)}}
	for _, test := range []struct {
		name string
		pod  Pod
		want time.Time
	}{
		{"one container", pod(ended(jobpod.App, 9)), second(9)},
		{"the latest of several", pod(ended(jobpod.App, 9), ended(jobpod.App, 12), ended(jobpod.App, 11)), second(12)},
		{"a sidecar ends after the others", pod(ended(jobpod.App, 9), ended(jobpod.RestartableInit, 14)), second(14)},
		{"an init container does not matter", pod(ended(jobpod.App, 9), ended(jobpod.Init, 14)), second(9)},
		{"a sidecar that runs leaves the condition",
			pod(ended(jobpod.App, 9), jobpod.Container{Kind: jobpod.RestartableInit, State: jobpod.Running}),
			second(8)},
		{"sidecars alone decide while an app container has not finished",
			pod(jobpod.Container{}, ended(jobpod.App, 12), ended(jobpod.RestartableInit, 9)), second(9)},
		{"a container without a finish leaves the condition", pod(ended(jobpod.App, 9), jobpod.Container{State: jobpod.Terminated}), second(8)},
		{"no container leaves the condition", pod(), second(8)},
		{"Ready is not False, the deletion counts", deleted(pod(), true), second(20)},
		{"the condition comes before the deletion", deleted(pod(), false), second(8)},
		{"the deletion less its grace period", deleted(created, false), second(20)},
		{"a grace period that no duration holds", Pod{Deletion: &PodDeletion{Timestamp: second(50), GracePeriodSeconds: 1 << 40}},
			second(50).Add(-math.MaxInt64 / time.Second * time.Second)},
		{"nothing is known but the creation", created, second(1)},
		{"nothing is known at all", Pod{}, time.Time{}},
	} {
		if got := finishTime(&test.pod); !got.Equal(test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// TestJ32_FinishTimeInTheFuture: the backoff counts from a finish time in the future, and a note
// names it.
func TestJ32_FinishTimeInTheFuture(t *testing.T) {
	plan := PlanOf(t, snapshotOf(t, `{}`, exitedPod("a", 1, 59)))
	if want := second(59 + 10); !plan.Requeue.At.Equal(want) {
		t.Errorf("again at %v, want %v:\n%s", plan.Requeue.At, want, plan.String())
	}
	if len(plan.Notes) != 1 || plan.Notes[0].Field != "pods[a].containers.finishedAt" {
		t.Errorf("notes %v, want one that names the pod", plan.Notes)
	}
	for ahead, want := range map[time.Duration]int{0: 0, 1: 1} {
		s := snapshotOf(t, `{}`, exitedPod("a", 1, 59))
		s.Now = second(59).Add(-ahead)
		if notes := PlanOf(t, s).Notes; len(notes) != want {
			t.Errorf("%v ahead: notes %v", ahead, notes)
		}
	}
}

// snapshotOf returns a snapshot at second(30) of a job with pods, started at second(0).
func snapshotOf(t rapid.TB, spec string, pods ...Pod) Snapshot {
	t.Helper()
	return Snapshot{
		Job: Job{
			Namespace: "default", Name: "j", UID: "job-1", Spec: specOf(t, spec),
			Status: Status{StartTime: second(0), Ready: value.To[int32](0), Terminating: value.To[int32](0)},
		},
		Pods: pods,
		Now:  second(30),
	}
}
