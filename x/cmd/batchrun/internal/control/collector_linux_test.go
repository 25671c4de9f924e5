package control

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

func TestMain(m *testing.M) {
	pod.Main()
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
	must.OK(t, folder.Stop(0))
	longAgo := time.Now().Add(-time.Hour)
	must.OK(t, os.Chtimes(filepath.Join(string(folder), "stop"), longAgo, longAgo))
	until(t, func() bool { left, err := c.Pass(); return left == 0 && err == nil })
	if _, err := os.Stat(string(folder)); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
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
