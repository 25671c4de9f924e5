package pod

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// recorded creates the folder of a pod with all its records.
func recorded(t *testing.T) Folder {
	t.Helper()
	folder := prepare(t, job.RestartNever, shell("a", jobpod.App, "true"))
	g, err := newGuard(Namespace)
	must.OK(t, err)
	g.PID = os.Getpid() // this process is alive, and is no supervisor
	state := &State{Phase: job.PodRunning, Containers: []Container{{StartedAt: time.Unix(1, 0)}}, Guard: g}
	must.OK(t, errors.Join(folder.writeRecord("guard.json", g), folder.writeState(state), folder.Stop(time.Hour)))
	return folder
}

// damages returns damaged copies of a file: cut at every byte, with every bit flipped, all zero,
// too long, and without its checksum, as an earlier version wrote it.
func damages(t *testing.T, file []byte) map[string][][]byte {
	t.Helper()
	all := map[string][][]byte{
		"zero":     {make([]byte, len(file))},
		"longer":   {append(slices.Clone(file), ' '), append(slices.Clone(file), file...)},
		"too long": {append(slices.Clone(file), bytes.Repeat([]byte(" "), maxRecord)...)},
	}
	plain, err := unseal(file)
	must.OK(t, err)
	all["without checksum"] = [][]byte{plain}
	for i := range file {
		all["cut"] = append(all["cut"], file[:i])
		for bit := range 8 {
			flipped := slices.Clone(file)
			flipped[i] ^= 1 << bit
			all["flipped"] = append(all["flipped"], flipped)
		}
	}
	return all
}

// If a record was damaged in any way, it is refused, and the error names its file.
func TestDamagedRecord(t *testing.T) {
	for name, read := range map[string]func(Folder) error{
		"spec.json":  func(f Folder) error { _, err := f.readSpec(); return err },
		"state.json": func(f Folder) error { _, _, err := f.State(); return err },
		"guard.json": func(f Folder) error { var g guard; return f.readRecord("guard.json", &g) },
		"stop":       func(f Folder) error { var s stopFile; return f.readRecord("stop", &s) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := recorded(t)
			must.OK(t, read(folder))
			path := filepath.Join(string(folder), name)
			file, err := os.ReadFile(path)
			must.OK(t, err)
			if !json.Valid(file) {
				t.Errorf("is no JSON: %s", file)
			}
			for how, contents := range damages(t, file) {
				for _, content := range contents {
					must.OK(t, os.WriteFile(path, content, 0o600))
					if err := read(folder); !IsUnreadable(err) ||
						!strings.HasPrefix(err.Error(), path+" cannot be read: ") {
						t.Fatalf("%s: %.200q was read: %v", how, content, err)
					}
				}
			}
			if _, begun, _ := folder.State(); !begun {
				t.Error("the pod seems not to have begun")
			}
		})
	}
}

// If the guard is lost or damaged, the copy in the state is read, so that the processes of the pod
// are not forgotten. If both are lost, the pod has ended once no process holds its locks.
func TestLostGuard(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"damaged":  func(path string) error { return os.Truncate(path, 10) },
		"gone":     os.Remove,
		"a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		folder := recorded(t)
		stat, err := readStat(os.Getpid())
		must.OK(t, err)
		must.OK(t, lose(folder.path("guard.json")))
		g, err := folder.guard()
		if err != nil || g.PID != os.Getpid() || g.Start != stat.start || g.Containment != Namespace {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
		if alive, err := folder.Alive(); !alive || err != nil {
			t.Errorf("%s: alive %v, %v", name, alive, err)
		}
		must.OK(t, os.Truncate(folder.path("state.json"), 10))
		if over, err := folder.Reap(); !over || err != nil {
			t.Errorf("%s, and so is the state: over %v, %v", name, over, err)
		}
	}
}

// A pod with a guard and no state has begun. If a supervisor could not begin, it leaves neither of
// them.
func TestBegunWithoutState(t *testing.T) {
	folder := recorded(t)
	must.OK(t, os.Remove(folder.path("state.json")))
	if _, begun, err := folder.State(); !begun || !IsUnreadable(err) {
		t.Errorf("begun %v, %v", begun, err)
	}
	if cancelled, err := folder.Cancel(time.Now()); cancelled || err != nil {
		t.Errorf("cancelled %v, %v", cancelled, err)
	}
	launch(t, folder)()
	if _, err := os.Lstat(folder.path("state.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a supervisor has begun: %v", err)
	}

	must.OK(t, errors.Join(os.Remove(folder.path("guard.json")), os.Remove(folder.path("stop")),
		os.RemoveAll(folder.path("logs")), os.Symlink("/", folder.path("logs"))))
	launch(t, folder)()
	if _, begun, err := folder.State(); begun || err != nil {
		t.Errorf("without its logs: begun %v, %v", begun, err)
	}
}

// If a lock file was replaced, the guard shows whether the supervisor lives.
func TestLostLock(t *testing.T) {
	for _, name := range []string{superviseLock, watchLock} {
		folder := recorded(t)
		must.OK(t, unix.Mkfifo(folder.path(name), 0o600))
		if alive, err := folder.Alive(); !alive || err != nil {
			t.Errorf("%s: alive %v, %v", name, alive, err)
		}
		must.OK(t, errors.Join(folder.Enforce(time.Now().Add(2*time.Hour)), folder.writeRecord("guard.json", guard{Containment: Watched})))
		if over, err := folder.Reap(); !over || err != nil {
			t.Errorf("%s: over %v, %v", name, over, err)
		}
	}
}

// If a stop file is damaged, it still stops the pod, with the grace period of the pod. A later
// request to stop replaces it.
func TestDamagedStop(t *testing.T) {
	folder := recorded(t)
	must.OK(t, os.Truncate(folder.path("stop"), 0))
	if grace, asked := folder.stopAsked(); !asked || grace != 300*time.Millisecond {
		t.Errorf("%v, %v", grace, asked)
	}
	must.OK(t, folder.Stop(time.Millisecond))
	if grace, asked := folder.stopAsked(); !asked || grace != time.Millisecond {
		t.Errorf("%v, %v", grace, asked)
	}
}

// A pod can be stopped even if its folders were replaced by something else.
func TestStopWithoutFolders(t *testing.T) {
	folder := recorded(t)
	for _, name := range []string{"work", "logs", "volumes"} {
		must.OK(t, os.RemoveAll(folder.path(name)))
		must.OK(t, os.Symlink("/", folder.path(name)))
	}
	must.OK(t, folder.Stop(0))
}
