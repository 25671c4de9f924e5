package pod

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// limitLogs sets the limit of all logs of a pod.
func limitLogs(t *testing.T, folder Folder, most int64) {
	t.Helper()
	spec, err := folder.readSpec()
	must.OK(t, err)
	spec.MaxLog = most
	writeSpec(t, folder, spec)
}

// However many processes write as fast as they can, a log never exceeds its limit.
func TestLogIsBounded(t *testing.T) {
	const most = 100_000
	folder := prepare(t, "Never",
		shell("a", jobpod.App, "for i in 1 2 3 4 5 6 7 8; do yes & done; sleep 0.5; kill $(jobs -p)"))
	limitLogs(t, folder, most)
	over := make(chan struct{})
	wait := launch(t, folder)
	go func() {
		wait()
		close(over)
	}()
	largest := int64(0)
	for looking := true; looking; {
		select {
		case <-over:
			looking = false
		default:
			if info, err := os.Stat(folder.path("logs", "a.stdout")); err == nil {
				largest = max(largest, info.Size())
			}
		}
	}
	if largest < most || largest > most+100 {
		t.Errorf("the log had up to %d bytes", largest)
	}
}

// If a container replaces a file of its pod by a link or a pipe, the supervisor neither writes to
// another file nor waits. The container runs without capabilities, so it has fewer rights to write
// than the supervisor.
func TestReplacedFiles(t *testing.T) {
	for _, test := range []struct{ name, script string }{
		{"the log is a link", "rm -f ../logs/a.*; ln -s TARGET ../logs/a.stdout; ln -s TARGET ../logs/a.stderr"},
		{"the log is a hard link", "rm -f ../logs/a.*; ln TARGET ../logs/a.stdout; ln TARGET ../logs/a.stderr"},
		{"the log is a pipe", "rm -f ../logs/a.*; mkfifo ../logs/a.stdout ../logs/a.stderr"},
		{"the folder of the logs is a link", "mv ../logs ../logs2; mkdir -p TARGET.d; ln -s TARGET.d ../logs; ln TARGET TARGET.d/a.stdout"},
		{"the request to stop is a pipe", "mkfifo ../stop"},
		{"the request to stop is a link", "ln -s TARGET ../stop"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			target := filepath.Join(t.TempDir(), "target")
			must.OK(t, os.WriteFile(target, []byte(strings.Repeat("precious", 100)), 0o600))
			script := "[ -e again ] || { touch again; " + strings.ReplaceAll(test.script, "TARGET",
				target) + "; yes | head -c 5000; exit 1; }; yes | head -c 5000"
			c := shell("a", jobpod.App, script)
			if os.Geteuid() == 0 {
				c.NoNewPrivileges = true
				for capability := range 38 {
					c.Drop = append(c.Drop, capability)
				}
			}
			folder := prepare(t, "OnFailure", c)
			limitLogs(t, folder, 100)
			launch(t, folder) // its cleanup asks the pod to stop if the test gives up
			await(t, "the end of the pod", func() bool { s, _, _ := folder.State(); return s.Done })
			if s := final(t, folder); s.Phase != job.PodSucceeded || s.Containers[0].Restarts != 1 {
				t.Errorf("%+v", s)
			}
			if data, err := os.ReadFile(target); err != nil || string(data) != strings.Repeat("precious", 100) {
				t.Errorf("the target has changed: %q, %v", data, err)
			}
			if !strings.Contains(test.name, "log") {
				return
			}
			if data, err := readLog(folder, "a", "stdout"); err == nil {
				t.Errorf("the log was read: %q", data)
			}
		})
	}
}

// If a record of the pod was replaced by a pipe, that is an error, and nothing waits for the pipe.
func TestRecordIsPipe(t *testing.T) {
	for _, name := range []string{"state.json", "guard.json", "lock", "watch", "spec.json", "stop"} {
		t.Run(name, func(t *testing.T) {
			folder := prepare(t, "Never", shell("a", jobpod.App, "true"))
			if err := os.Remove(folder.path(name)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			must.OK(t, unix.Mkfifo(folder.path(name), 0o600))
			done := make(chan error, 1)
			go func() {
				_, _, stateErr := folder.State()
				_, aliveErr := folder.Alive()
				_, specErr := folder.readSpec()
				_, stopped := folder.stopAsked()
				switch {
				case stateErr != nil:
					done <- stateErr
				case aliveErr != nil:
					done <- aliveErr
				case specErr != nil:
					done <- specErr
				case stopped:
					done <- nil
				default:
					done <- os.ErrInvalid
				}
			}()
			select {
			case err := <-done:
				if err == nil {
					t.Error("the pipe was read")
				}
			case <-time.After(time.Minute):
				t.Error("it waits")
			}
		})
	}
}

// If a link has replaced the pod's folder, nothing is written through the link.
func TestFolderIsLink(t *testing.T) {
	folder := prepare(t, "Never", shell("a", jobpod.App, "true"))
	outside := t.TempDir()
	must.OK(t, os.RemoveAll(string(folder)))
	must.OK(t, os.Symlink(outside, string(folder)))
	for name, err := range map[string]error{
		"Prepare": folder.Prepare([]byte("{}")), "Stop": folder.Stop(0), "write": folder.writeState(&State{}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := folder.Remove(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("written outside: %v, %v", left, err)
	}
}
