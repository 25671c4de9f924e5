//go:build linux

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// mount mounts a file system, and unmounts it at the end of the test.
func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		if errors.Is(err, unix.EPERM) {
			t.Skip("only root can mount")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(target, unix.MNT_DETACH) })
}

// smallWorld returns a world whose state folder has a limited size.
func smallWorld(t *testing.T) *world {
	w := newWorld(t)
	must.OK(t, os.Mkdir(w.state, 0o700))
	mount(t, "tmpfs", w.state, "tmpfs", 0, "size=2m,mode=0700")
	t.Cleanup(w.end) // w.end must run before the folder is unmounted
	return w
}

// fill writes to a file in the state folder until the disk is full. The returned function removes
// the file.
func (w *world) fill() (free func()) {
	w.t.Helper()
	name := filepath.Join(w.state, "filler")
	file, err := os.Create(name)
	must.OK(w.t, err)
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.ENOSPC) {
		w.t.Fatal(err)
	}
	return func() {
		must.OK(w.t, os.Remove(name))
	}
}

// awaitText waits until the output of a program contains a text.
func awaitText(t *testing.T, out *lockedBuffer, text string) {
	t.Helper()
	for range 4800 {
		if strings.Contains(out.String(), text) {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("no %q in\n%s", text, out)
}

// If the disk is full for a while, the job takes longer. Neither the job nor an exit code is lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	text := strings.ReplaceAll(sleepers, "backoffLimit: 0", "backoffLimit: 5")
	cmd := w.command("run", "--backoff", "10ms", w.manifest(strings.ReplaceAll(text, "STOP", "exit 143")))
	errOut := &lockedBuffer{}
	cmd.Stderr = errOut
	must.OK(t, cmd.Start())
	w.waitFor("lives", "begin", 3)
	free := w.fill()
	// While the disk is full, one pod is lost and two others end. These ends must be recorded, and
	// the lost pod must be replaced.
	pid, err := w.folders()[0].Supervisor()
	if err != nil || pid == 0 {
		t.Fatal(pid, err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	awaitText(t, errOut, "trying again in ")
	must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
	time.Sleep(100 * time.Millisecond) // until the others have ended
	free()
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("exit status %d\n%s", cmd.ProcessState.ExitCode(), errOut)
	}
	if j, _ := w.job("sleepers"); j.Status.Finished() != job.ConditionComplete || j.Status.Succeeded != 3 ||
		j.Status.Failed != 1 {
		t.Errorf("%v", j.Status)
	}
}

// If a runner gives up, it has an exit status of its own, whether it has begun work or not. Another
// runner resumes the work.
func TestDiskStaysFull(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	text := strings.ReplaceAll(sleepers, "backoffLimit: 0", "backoffLimit: 5")
	file := w.manifest(strings.ReplaceAll(text, "STOP", "exit 143"))
	cmd := w.command("run", "--give-up", "200ms", "--backoff", "10ms", file)
	errOut := &lockedBuffer{}
	cmd.Stderr = errOut
	must.OK(t, cmd.Start())
	w.waitFor("lives", "begin", 3)
	free := w.fill()
	pid, err := w.folders()[0].Supervisor()
	if err != nil || pid == 0 {
		t.Fatal(pid, err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 3 || !strings.Contains(errOut.String(), "gave up after") {
		t.Errorf("exit status %d\n%s", cmd.ProcessState.ExitCode(), errOut)
	}
	w.want(3, "run", "--give-up", "200ms", file)
	must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
	free()
	w.want(0, "run", "--backoff", "10ms", file)
	if j, _ := w.job("sleepers"); j.Status.Finished() != job.ConditionComplete || j.Status.Succeeded != 3 ||
		j.Status.Failed != 1 {
		t.Errorf("%v", j.Status)
	}
}

// A read-only folder can be displayed, even if the database was not closed properly.
func TestReadOnlyFolder(t *testing.T) {
	for _, kill := range []bool{false, true} {
		t.Run(map[bool]string{false: "after the end", true: "after a kill"}[kill], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.want(1, "run", "testdata/mixed.yaml")
			if kill {
				stop := w.start("run", w.manifest(strings.ReplaceAll(sleepers, "STOP", "exit 143")))
				w.waitFor("lives", "begin", 3)
				stop(syscall.SIGKILL)
				t.Cleanup(func() { _ = os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644) })
			}
			mount(t, w.state, w.state, "", unix.MS_BIND, "")
			must.OK(t, unix.Mount("", w.state, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
			if o := w.want(0, "status"); !strings.Contains(o.out, "BackoffLimitExceeded") ||
				strings.Contains(o.out, "sleepers") != kill {
				t.Error(o)
			}
			if o := w.want(0, "logs", "good", "--index", "1", "-c", "main"); o.out != "index 1 of good\n" {
				t.Error(o)
			}
			w.want(2, "trigger", "good")
		})
	}
}

// lockedBuffer collects the output of a running program.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
