package private

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// Folders of root and of the caller can be trusted, and not those of a third user.
func TestCheckTrusted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir := t.TempDir()
	const caller, third = 65534, 65533
	owned := map[int]os.FileInfo{}
	for _, owner := range []int{0, caller, third} {
		path := filepath.Join(dir, "x")
		must.OK(t, errors.Join(os.Mkdir(path, 0o700), os.Chown(path, owner, owner)))
		info, err := os.Lstat(path)
		must.OK(t, errors.Join(err, os.Remove(path)))
		owned[owner] = info
	}

	type verdict struct{ root, caller, third bool }
	trusts := func(owner int) bool { return checkTrusted("x", owned[owner]) == nil }
	if v := (verdict{trusts(0), trusts(caller), trusts(third)}); v != (verdict{root: true}) {
		t.Errorf("root trusts: %+v", v)
	}

	got := make(chan verdict)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its user
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), caller, ^uintptr(0)); errno != 0 {
			panic(errno)
		}
		got <- verdict{trusts(0), trusts(caller), trusts(third)}
	}()
	if v := <-got; v != (verdict{root: true, caller: true}) {
		t.Errorf("trusted: %+v", v)
	}
}

// A file that is refused or was read is closed.
func TestDescriptors(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector would close the files
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must.OK(t, err)
	defer root.Close()
	must.OK(t, errors.Join(makeWith(filepath.Join(dir, "file"), 0o600), makeWith(filepath.Join(dir, "loose"), 0o622)))
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		must.OK(t, err)
		return len(entries)
	}
	for _, name := range []string{"file", "loose"} {
		before := count()
		for range 5 {
			if _, err := ReadFile(root, name); (err == nil) != (name == "file") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after := count(); after >= before+5 {
			t.Errorf("%s: %d files are open, %d before", name, after, before)
		}
	}
}
