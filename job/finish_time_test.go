package job

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// second is a time of day in the tests of this package: so many seconds past midnight.
func second(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }

func TestJ32_FinishTime(t *testing.T) {
	ended := func(kind ContainerKind, at int) Container {
		return Container{Kind: kind, State: ContainerTerminated, FinishedAt: second(at)}
	}
	deleted := &PodDeletion{Timestamp: second(50), GracePeriodSeconds: 30}
	tests := []struct {
		name     string
		ready    bool
		deletion *PodDeletion
		detail   *PodDetail
		want     time.Time
	}{
		{"one container", false, nil,
			&PodDetail{CreationTimestamp: second(1), ReadyTransition: second(2), Containers: []Container{ended(AppContainer, 9)}}, second(9)},
		{"the latest of several", false, nil,
			&PodDetail{Containers: []Container{ended(AppContainer, 9), ended(AppContainer, 12), ended(AppContainer, 11)}}, second(12)},
		{"a sidecar ends after the others", false, nil,
			&PodDetail{Containers: []Container{ended(AppContainer, 9), ended(RestartableInitContainer, 14)}}, second(14)},
		{"an init container does not matter", false, nil,
			&PodDetail{Containers: []Container{ended(AppContainer, 9), ended(InitContainer, 14)}}, second(9)},
		{"a sidecar that runs leaves the condition", false, nil,
			&PodDetail{ReadyTransition: second(8), Containers: []Container{ended(AppContainer, 9), {Kind: RestartableInitContainer, State: ContainerRunning}}}, second(8)},
		{"sidecars alone decide while an app container has not finished", false, nil,
			&PodDetail{CreationTimestamp: second(1), ReadyTransition: second(8), Containers: []Container{{}, ended(AppContainer, 12), ended(RestartableInitContainer, 9)}}, second(9)},
		{"a container without a finish leaves the condition", false, nil,
			&PodDetail{ReadyTransition: second(8), Containers: []Container{ended(AppContainer, 9), {State: ContainerTerminated}}}, second(8)},
		{"no container leaves the condition", false, nil,
			&PodDetail{CreationTimestamp: second(1), ReadyTransition: second(8)}, second(8)},
		{"Ready is not False, the deletion counts", true, deleted,
			&PodDetail{CreationTimestamp: second(1), ReadyTransition: second(8)}, second(20)},
		{"the condition comes before the deletion", false, deleted,
			&PodDetail{CreationTimestamp: second(1), ReadyTransition: second(8)}, second(8)},
		{"the deletion less its grace period", false, deleted, &PodDetail{CreationTimestamp: second(1)}, second(20)},
		{"nothing is known but the creation", false, nil, &PodDetail{CreationTimestamp: second(1)}, second(1)},
		{"nothing is known at all", false, nil, nil, time.Time{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := Pod{Ready: test.ready, Deletion: test.deletion, Detail: test.detail}
			if got := finishTime(&pod); !got.Equal(test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// TestJ32_FinishTimeInTheFuture: a node's clock that is ahead delays nothing.
func TestJ32_FinishTimeInTheFuture(t *testing.T) {
	pod := Pod{Phase: PodFailed, Index: NoIndex(), UID: "a", Name: "a", Detail: &PodDetail{
		Containers: []Container{{Name: "main", State: ContainerTerminated, ExitCode: 1, FinishedAt: second(59)}},
	}}
	plan := PlanOf(t, snapshotOf(t, `{}`, pod))
	if want := second(59 + 10); !plan.Requeue.At.Equal(want) {
		t.Errorf("again at %v, want %v:\n%s", plan.Requeue.At, want, plan.String())
	}
	if len(plan.Notes) != 1 || plan.Notes[0].Field != "pods[a].containers.finishedAt" {
		t.Errorf("notes %v, want one that names the pod", plan.Notes)
	}
}

// snapshotOf is a job with pods at second(30), started at second(0).
func snapshotOf(t *testing.T, spec string, pods ...Pod) Snapshot {
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
