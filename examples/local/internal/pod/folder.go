package pod

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/batchplan/batchplan/examples/local/internal/private"
)

// Folder is the path of a pod's folder.
type Folder string

func (f Folder) path(elem ...string) string {
	return filepath.Join(append([]string{string(f)}, elem...)...)
}

// Work is the folder in which containers start.
func (f Folder) Work() string { return f.path("work") }

// Log is the file with a stream, "stdout" or "stderr", of a container.
func (f Folder) Log(container, stream string) string {
	return f.path("logs", container+"."+stream)
}

// SupervisorLog is where the supervisor writes its own errors.
func (f Folder) SupervisorLog() string { return f.path("supervisor.log") }

// Prepare creates the folder and writes the spec. It may be repeated.
func (f Folder) Prepare(spec []byte) error {
	for _, dir := range []string{".", "work", "volumes", "logs"} {
		if err := private.MkdirAll(f.path(dir)); err != nil {
			return fmt.Errorf("prepare pod folder: %w", err)
		}
	}
	// The name of the folder must be on the disk before a process runs. Otherwise,
	// after a crash of the machine, the pod would seem not to have begun.
	if err := syncDir(filepath.Dir(string(f))); err != nil {
		return fmt.Errorf("prepare pod folder: %w", err)
	}
	return writeFile(f.path("spec.json"), spec)
}

// readSpec reads the pod's spec, unless another user may have written it.
func (f Folder) readSpec() (spec Spec, err error) {
	path := f.path("spec.json")
	if err := errors.Join(private.Check(string(f)), private.Check(path)); err != nil {
		return spec, err
	}
	return spec, readJSON(path, &spec)
}

// State reads the recorded state; ok is false when nothing has begun.
func (f Folder) State() (s State, ok bool, err error) {
	err = readJSON(f.path("state.json"), &s)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, false, nil
	}
	return s, err == nil, err
}

// Stamp changes whenever the recorded state does. It costs one system call.
func (f Folder) Stamp() Stamp {
	info, err := os.Stat(f.path("state.json"))
	if err != nil {
		return Stamp{}
	}
	return Stamp{inode(info), info.ModTime().UnixNano(), info.Size()}
}

// Stamp identifies a version of the recorded state. The zero Stamp means no state.
type Stamp struct {
	inode   uint64
	modTime int64
	size    int64
}

func (f Folder) writeState(s *State) error {
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return writeFile(f.path("state.json"), data)
}

type stopFile struct {
	Grace time.Duration `json:"grace"`
}

// Stop asks the supervisor, now or when it starts, to end the pod. It may be
// repeated; the shortest grace period applies.
func (f Folder) Stop(grace time.Duration) error {
	if asked, ok := f.stopAsked(); ok && asked <= grace {
		return nil
	}
	data, err := json.Marshal(stopFile{grace})
	if err != nil {
		return err
	}
	if err := private.MkdirAll(string(f)); err != nil {
		return err
	}
	return writeFile(f.path("stop"), data)
}

// stopAsked reads the stop file; ok is false when there is none.
func (f Folder) stopAsked() (grace time.Duration, ok bool) {
	var s stopFile
	if readJSON(f.path("stop"), &s) != nil {
		return 0, false
	}
	return s.Grace, true
}

// Cancel records that a pod which has not begun never will. It returns false when
// the pod has begun or a supervisor is about to begin it; the supervisor then finds
// the stop file.
func (f Folder) Cancel(now time.Time) (bool, error) {
	if err := f.Stop(0); err != nil {
		return false, err
	}
	lock, err := f.lock(superviseLock)
	if err != nil || lock == nil {
		return false, err
	}
	defer lock.Close()
	if _, begun, err := f.State(); begun || err != nil {
		return false, err
	}
	s := State{}
	s.fail(ReasonNeverStarted, "the pod was stopped before it had begun", now)
	return true, f.writeState(&s)
}

// writeFile replaces a file so that a crash at any moment leaves either the old
// content or the new one on the disk.
func writeFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename, as intended
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
