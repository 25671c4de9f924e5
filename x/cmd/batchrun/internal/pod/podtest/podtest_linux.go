package podtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

// locked, in the environment, makes this test binary lock that file until its input ends.
const locked = "BATCHRUN_TEST_POD_LOCK"

// Main plays the process of Hold, and then exits, if this process was started as one. TestMain calls
// Main first.
func Main() {
	path := os.Getenv(locked)
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = unix.FcntlFlock(file.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	}
	fmt.Println("held", err)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// Hold starts a process that holds the lock of a pod, as a supervisor does. The function that it
// returns asks the process to end, waits for its end, and reports whether it was killed before.
func Hold(t testing.TB, f pod.Folder) (isKilled func() bool) {
	t.Helper()
	return HoldFile(t, filepath.Join(string(f), "lock"))
}

// HoldFile starts a process that locks a file, as Hold does.
func HoldFile(t testing.TB, path string) (isKilled func() bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), locked+"="+path)
	in, err := cmd.StdinPipe()
	must.OK(t, err)
	out, err := cmd.StdoutPipe()
	must.OK(t, err)
	must.OK(t, cmd.Start())
	isKilled = sync.OnceValue(func() bool {
		in.Close()
		return cmd.Wait() != nil
	})
	t.Cleanup(func() { isKilled() })

	line := make([]byte, len("held <nil>"))
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "held <nil>" {
		t.Fatalf("%q, %v", line, err)
	}
	return isKilled
}

// Lease makes opening a file fail for now, as an overloaded machine may, until the end of the test.
func Lease(t testing.TB, path string) {
	t.Helper()
	// A process that is just forked has a copy of each open file, and a file with two copies has no
	// lease.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()

	file, err := os.OpenFile(path, os.O_RDWR, 0)
	must.OK(t, err)
	t.Cleanup(func() { file.Close() })
	_, err = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		t.Skipf("no leases on this file system: %v", err)
	}
	must.OK(t, err)
}
