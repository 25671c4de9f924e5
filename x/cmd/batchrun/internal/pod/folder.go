package pod

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/private"
)

// Folder is the path of a pod's folder: DIR/pods/UID, where DIR is the state folder.
//
// Containers run as the same user, and may replace what is in the folder, even the folder itself. A
// container may have fewer rights than this program. It must not make this program read or write
// other files, or wait. So files are opened below DIR, where no link leads out, and only if they
// are regular files.
type Folder string

// open opens a folder inside the pod's folder. Without parts it opens the pod's folder itself.
func (f Folder) open(parts ...string) (*os.Root, error) {
	dir, pods := filepath.Split(filepath.Dir(string(f)))
	root, err := os.OpenRoot(filepath.Clean(dir))
	parts = append([]string{filepath.Join(pods, filepath.Base(string(f)))}, parts...)
	for _, part := range parts {
		if err != nil {
			return nil, err
		}
		above := root
		root, err = above.OpenRoot(part)
		above.Close()
	}
	return root, err
}

// openFile opens a regular file of the pod, with the checks of private.Open.
func (f Folder) openFile(flag int, elem ...string) (*os.File, error) {
	root, err := f.open()
	if err != nil {
		return nil, unreadable(string(f), err)
	}
	defer root.Close()
	file, err := private.Open(root, filepath.Join(elem...), flag)
	return file, unreadable(f.path(elem...), err)
}

// Remove removes the folder with all that is in it.
func (f Folder) Remove() error {
	dir, pods := filepath.Split(filepath.Dir(string(f)))
	root, err := os.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	return root.RemoveAll(filepath.Join(pods, filepath.Base(string(f))))
}

func (f Folder) path(elem ...string) string {
	return filepath.Join(append([]string{string(f)}, elem...)...)
}

// Work returns the folder in which containers start.
func (f Folder) Work() string { return f.path("work") }

// supervisorLog is where the supervisor writes its own errors.
const supervisorLog = "supervisor.log"

// SupervisorLog returns the path of the file with the supervisor's own errors.
func (f Folder) SupervisorLog() string { return f.path(supervisorLog) }

// Prepare creates the folder and writes the spec. It may be repeated.
func (f Folder) Prepare(spec []byte) error {
	if err := f.prepare(".", "work", "volumes", "logs"); err != nil {
		return fmt.Errorf("prepare pod folder: %w", err)
	}
	return f.writeRecord("spec.json", json.RawMessage(spec))
}

// prepare creates folders of the pod.
func (f Folder) prepare(parts ...string) error {
	dir, pods := filepath.Split(filepath.Dir(string(f)))
	root, err := os.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	for _, part := range parts {
		if err := private.MkdirAll(root, filepath.Join(pods, filepath.Base(string(f)), part)); err != nil {
			return err
		}
	}
	// The name of the folder must be on the disk before a process runs. Otherwise,
	// after a crash of the machine, the pod would seem not to have begun.
	return syncDir(root, pods)
}

// readSpec reads the pod's spec, unless another user may have written it.
func (f Folder) readSpec() (spec Spec, err error) {
	if err := private.Check(string(f)); err != nil {
		return Spec{}, err
	}
	return spec, f.readRecord("spec.json", &spec)
}

// State reads the recorded state. begun is false if the pod has not begun. If the error is an
// *Unreadable, the pod has begun, and its state is unknown.
func (f Folder) State() (s State, begun bool, err error) {
	err = f.readRecord("state.json", &s)
	if errors.Is(err, fs.ErrNotExist) {
		// A supervisor writes guard.json after state.json, and removes both if it cannot begin.
		if _, guardErr := os.Lstat(f.path("guard.json")); guardErr != nil {
			return State{}, false, nil
		}
		err = f.StateGone()
	}
	if err != nil {
		return State{}, IsUnreadable(err), err
	}
	return s, true, nil
}

// StateGone is the error for a pod that has begun and whose state is gone.
func (f Folder) StateGone() error { return &Unreadable{Path: f.path("state.json"), Err: errGone} }

var errGone = errors.New("it is gone")

// Stamp returns a value that changes whenever the recorded state changes. It costs one system call.
func (f Folder) Stamp() Stamp {
	info, err := os.Lstat(f.path("state.json"))
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

func (f Folder) writeState(s *State) error { return f.writeRecord("state.json", s) }

type stopFile struct {
	Grace time.Duration `json:"grace"`
}

// Stop asks the supervisor to end the pod. A supervisor that starts later ends the pod when it
// starts. Stop may be repeated, and the shortest grace period applies.
func (f Folder) Stop(grace time.Duration) error {
	if asked, ok := f.stopAsked(); ok && asked <= grace {
		return nil
	}
	// The pod can be stopped even if a container has replaced the folders inside.
	if err := f.prepare("."); err != nil {
		return unreadable(string(f), err)
	}
	return f.writeRecord("stop", stopFile{grace})
}

// stopAsked reads the stop file. ok is false if there is none. If the file is damaged, the pod
// still has to stop, with its own grace period.
func (f Folder) stopAsked() (grace time.Duration, ok bool) {
	var s stopFile
	err := f.readRecord("stop", &s)
	if errors.Is(err, errDamaged) {
		spec, _ := f.readSpec()
		return spec.GracePeriod, true
	}
	return s.Grace, err == nil
}

// Cancel records that a pod which has not begun will never begin. It returns false if the pod has
// begun or a supervisor is about to begin it. Such a supervisor then finds the stop file.
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
		if begun {
			err = nil // an unreadable record also means that the pod has begun
		}
		return false, err
	}
	s := State{}
	s.fail(ReasonNeverStarted, "the pod was stopped before it had begun", now)
	return true, f.writeState(&s)
}

// write replaces a file. After a crash at any moment, the disk has either the old content or the
// new one.
func (f Folder) write(name string, data []byte) error {
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close()

	scratch := fmt.Sprintf(".%s-%d-%x", name, os.Getpid(), rand.Uint64())
	file, err := private.Open(root, scratch, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	defer root.Remove(scratch) // fails after the rename, as intended

	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}

	if err := root.Rename(scratch, name); err != nil {
		return err
	}
	return syncDir(root, ".")
}

// remove removes a file of the pod, if the file exists.
func (f Folder) remove(name string) error {
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func syncDir(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
