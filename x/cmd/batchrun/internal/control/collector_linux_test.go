package control

import (
	"encoding/json"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod/podtest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

func TestMain(m *testing.M) {
	pod.Main()
	podtest.Main()
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // supervisors end immediately
	os.Exit(m.Run())
}

// Deleted objects stay until the supervisors of their pods have ended, since a supervisor still
// writes into the folder of its pod.
func TestCollectorWaitsForSupervisor(t *testing.T) {
	l := newLife(t, "Allow")
	j := l.addJob("j", "")
	spec, err := json.Marshal(pod.Spec{UID: "p", RestartPolicy: "Never", Containers: []pod.ContainerSpec{{Name: "a", Argv: []string{"/bin/sleep", "60"}}}})
	must.OK(t, err)
	must.OK(t, l.store.AddPod(store.Pod{UID: "p", Job: j.UID, Name: "j-p", Created: now, Spec: spec}))
	folder := pod.Folder(l.store.PodFolder("p"))
	must.OK(t, folder.Prepare(spec))
	containment, err := pod.ChooseContainment("auto", pod.ProbeContainment)
	must.OK(t, err)
	cmd, err := pod.Command(folder, containment)
	must.OK(t, err)
	must.OK(t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = folder.Stop(0)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
		}
	})
	until(t, func() bool { s, begun, err := folder.State(); return err == nil && begun && s.Phase == job.PodRunning })
	must.OK(t, l.store.SetState("p", pod.State{Phase: job.PodSucceeded, Done: true}))
	if _, err := l.store.DeleteJob(j.UID, now); err != nil {
		t.Fatal(err)
	}
	c := NewCollector(l.store, &clock.Clock{})
	c.Stop, c.Changed = func(job.UID) {}, func() {}
	if left, err := c.Pass(); left != 1 || err != nil {
		t.Errorf("%d left, %v", left, err)
	}
	if _, err := os.Stat(string(folder)); err != nil {
		t.Error(err)
	}

	// A supervisor that hangs is killed long after it was asked to stop.
	must.OK(t, cmd.Process.Signal(syscall.SIGSTOP))
	podtest.AskedToStop(t, folder, time.Now().Add(-podtest.Overtime))
	until(t, func() bool { left, err := c.Pass(); return left == 0 && err == nil })
	if _, err := os.Stat(string(folder)); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
}

// A supervisor gets all of its time to end before the collector kills it.
func TestCollector_Enforce(t *testing.T) {
	for _, left := range []time.Duration{time.Millisecond, 0} {
		synctest.Test(t, func(t *testing.T) {
			l := newLife(t, "Allow")
			j := l.addJob("j", "")
			ended := pod.State{Phase: job.PodFailed, Done: true}
			must.OK(t, l.store.AddPod(store.Pod{UID: "p", Job: j.UID, Spec: []byte("{}"), State: ended}))
			_, err := l.store.DeleteJob(j.UID, now)
			must.OK(t, err)
			f := pod.Folder(l.store.PodFolder("p"))
			podtest.AskedToStop(t, f, time.Now().Add(left-podtest.Overtime))
			isKilled := podtest.Hold(t, f)

			c := NewCollector(l.store, &clock.Clock{})
			c.Stop = func(job.UID) {}
			if n, err := c.Pass(); n != 1 || err != nil {
				t.Errorf("%d left, %v", n, err)
			}
			if isKilled() != (left == 0) {
				t.Errorf("%v before the end of its time: the supervisor is killed, or not after it", left)
			}
		})
	}
}

func until(t *testing.T, holds func() bool) {
	t.Helper()
	for range 6000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("not within a minute")
}
