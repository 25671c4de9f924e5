//go:build unix

package store

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// lockFolder, in the environment, makes this test binary a runner that locks that folder until it
// reads a byte, and that ends with its input. The lock of a process does not keep itself out, so the
// test needs a second one.
const lockFolder = "BATCHRUN_TEST_LOCK"

func TestMain(m *testing.M) {
	dir := os.Getenv(lockFolder)
	if dir == "" {
		os.Exit(m.Run())
	}
	unlock, err := (&Store{Dir: dir}).Lock()
	if err != nil {
		os.Exit(3)
	}
	os.Stdout.WriteString("locked\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
	unlock()
	os.Stdout.WriteString("unlocked\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// A folder is in use while another process has the lock, and a second runner is refused.
func TestLock(t *testing.T) {
	s := open(t)
	check := func(when string, want bool) {
		t.Helper()
		inUse, err := s.InUse()
		if inUse != want || err != nil {
			t.Errorf("%s: InUse: %v, %v", when, inUse, err)
		}
		if !want {
			return
		}
		if _, err := s.Lock(); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: Lock: %v", when, err)
		}
	}
	check("without a lock", false)

	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), lockFolder+"="+s.Dir)
	in, err := other.StdinPipe()
	must.OK(t, err)
	out, err := other.StdoutPipe()
	must.OK(t, err)
	must.OK(t, other.Start())
	if word, err := io.ReadAll(io.LimitReader(out, int64(len("locked\n")))); string(word) != "locked\n" {
		t.Fatalf("%q, %v", word, err)
	}
	check("while another has it", true)
	_, err = in.Write([]byte{'.'})
	must.OK(t, err)
	if word, err := io.ReadAll(io.LimitReader(out, int64(len("unlocked\n")))); string(word) != "unlocked\n" {
		t.Fatalf("%q, %v", word, err)
	}
	check("after the other", false)
	must.OK(t, errors.Join(in.Close(), other.Wait()))

	unlock, err := s.Lock()
	must.OK(t, err)
	unlock()
	lock := filepath.Join(s.Dir, runnerLock)
	must.OK(t, errors.Join(os.Remove(lock), os.Symlink("state.db", lock)))
	if _, err := s.Lock(); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("the lock is a link: %v", err)
	}
	if inUse, err := s.InUse(); inUse || err == nil {
		t.Errorf("the lock is a link: %v, %v", inUse, err)
	}
	must.OK(t, os.RemoveAll(s.Dir))
	if _, err := s.Lock(); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("the folder is gone: %v", err)
	}
	if _, err := s.InUse(); err != nil {
		t.Errorf("the folder is gone: %v", err)
	}
}
