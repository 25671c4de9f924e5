//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

// damages are ways in which disks and people damage a file.
var damages = map[string]func(path string) error{
	"cut":   func(path string) error { return os.Truncate(path, 20) },
	"empty": func(path string) error { return os.Truncate(path, 0) },
	"flipped": func(path string) error {
		data, err := os.ReadFile(path)
		if err == nil {
			data[len(data)/2] ^= 1
			err = os.WriteFile(path, data, 0o600)
		}
		return err
	},
	"gone": os.Remove,
}

// killed starts three pods, and kills the runner and the supervisor of the first pod. It returns
// the manifest, and the folder of that pod.
func (w *world) killed() (file string, folder pod.Folder) {
	w.t.Helper()
	text := strings.ReplaceAll(sleepers, "backoffLimit: 0", "backoffLimit: 5")
	file = w.manifest(strings.ReplaceAll(text, "STOP", "exit 143"))
	stop := w.start("run", file)
	w.waitFor("lives", "begin", 3)
	stop(syscall.SIGKILL)
	folder = w.folders()[0]
	pid, err := folder.Supervisor()
	if err != nil || pid == 0 {
		w.t.Fatal(pid, err)
	}
	must.OK(w.t, syscall.Kill(pid, syscall.SIGKILL))
	return file, folder
}

// If a file of a pod is damaged, at most that pod fails. The other pods continue and end, and the
// job can be removed. Whatever a damaged record contains, no two pods of one index run at the same
// time.
func TestDamagedRecord(t *testing.T) {
	for _, name := range []string{"state.json", "guard.json", "spec.json", "stop"} {
		for how, damage := range damages {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				_, folder := w.killed()
				if name == "stop" {
					must.OK(t, folder.Stop(0))
				}
				path := filepath.Join(string(folder), name)
				must.OK(t, damage(path))
				must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))

				o := w.want(0, "run", "--backoff", "10ms")
				if name == "state.json" && !strings.Contains(o.errOut, path) {
					t.Errorf("no %s in %v", path, o)
				}
				j, pods := w.job("sleepers")
				if j.Status.Finished() != job.ConditionComplete || j.Status.Succeeded != 3 || j.Status.Failed != 1 ||
					len(pods) != 4 {
					t.Errorf("%d pods, %v", len(pods), j.Status)
				}
				w.want(0, "rm", "sleepers")
			})
		}
	}
}

// A job with a damaged record can be removed at any time.
func TestRemoveDamaged(t *testing.T) {
	for _, name := range []string{"state.json", "guard.json", "stop", "lock", "work"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, folder := w.killed()
			path := filepath.Join(string(folder), name)
			must.OK(t, errors.Join(os.RemoveAll(path), os.Symlink("/", path)))
			w.want(0, "rm", "sleepers")
			if left := w.folders(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// A pod is not lost while its supervisor lives, because the supervisor writes the record again.
func TestDamagedWhileRunning(t *testing.T) {
	for how, damage := range damages {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stop := w.start("run", w.manifest(strings.ReplaceAll(sleepers, "STOP", "exit 143")))
			w.waitFor("lives", "begin", 3)
			stop(syscall.SIGKILL)
			for _, folder := range w.folders() {
				must.OK(t, damage(filepath.Join(string(folder), "state.json")))
			}
			again := w.start("run")
			must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
			if code := again(nil); code != 0 {
				t.Errorf("exit status %d", code)
			}
			if j, _ := w.job("sleepers"); j.Status.Succeeded != 3 || j.Status.Failed != 0 ||
				len(w.trace("lives")) != 3 {
				t.Errorf("%v\n%v", j.Status, w.trace("lives"))
			}
		})
	}
}
