package control

import (
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

// TestJ21_FailJobOutlivesAFailedDeletion: a pod has matched FailJob, and another pod could not be
// deleted. So the round accounts for the first pod, but does not declare the end. The next round
// declares the end, even if a new runner plans it.
func TestJ21_FailJobOutlivesAFailedDeletion(t *testing.T) {
	for _, restart := range []bool{false, true} {
		l := newLife(t, "Allow")
		j, err := l.store.AddJob(store.Job{Namespace: "default", Name: "j", Created: now, Manifest: []byte(`{
			"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"parallelism": 2, "completions": 2,
			"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]},
			"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "command": ["true"]}]}}}}`)})
		must.OK(t, err)
		for _, name := range []string{"j-bad", "j-good"} {
			must.OK(t, l.store.AddPod(store.Pod{UID: job.UID(name), Job: j.UID, Name: name, Created: now, Tracked: true, Index: -1}))
			must.OK(t, l.store.SetState(job.UID(name), pod.State{Phase: job.PodRunning}))
		}
		bad := jobpod.Container{Name: "a", State: jobpod.Terminated, ExitCode: 42, FinishedAt: now}
		must.OK(t, l.store.SetState("j-bad", pod.State{Phase: job.PodFailed, Done: true, Containers: []pod.Container{{Container: bad}}}))

		loop := newLoop(t, l.store, &j)
		l.exec(storetest.Refuse("UPDATE OF deleted ON pods"))
		first := round(t, loop)
		pods, err := l.store.OpenPods(j.UID)
		must.OK(t, err)
		if first.Err == nil || len(pods) != 1 ||
			first.Status.Condition(job.ConditionFailureTarget).Status == job.ConditionTrue {
			t.Fatalf("error %v, %d open pods, status %v: the test shows nothing", first.Err, len(pods), first.Status)
		}
		l.exec("DROP TRIGGER fault")
		if restart {
			loop = newLoop(t, l.store, &j)
		}
		if s := round(t, loop).Status; s.Condition(job.ConditionFailureTarget).Reason != "PodFailurePolicy" {
			t.Errorf("restart %v: the job goes on: %v", restart, s)
		}
	}
}

func newLoop(t *testing.T, s *store.Store, j *store.Job) *Loop {
	t.Helper()
	loop, err := NewLoop(s, &clock.Clock{}, j)
	must.OK(t, err)
	loop.Changed = func() {}
	return loop
}

func round(t *testing.T, l *Loop) Round {
	t.Helper()
	r, _, err := l.round(t.Context(),
		&backend{store: l.Store, uid: l.UID, manifest: l.Manifest, settings: l.Settings, changed: l.Changed})
	must.OK(t, err)
	return r
}
