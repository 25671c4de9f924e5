//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/cli"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/leftover"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// asProgram makes the test binary behave as the program, so that the tests can
// start and kill real runners.
const asProgram = "BATCHRUN_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	pod.Main()
	// A program that is built with the race detector waits a second before it ends. These tests
	// start hundreds of them.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(leftover.Run(m))
}

// world is a state folder and a folder in which pods write their traces.
type world struct {
	t      *testing.T
	state  string
	traces string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, state: filepath.Join(t.TempDir(), "state"), traces: t.TempDir()}
	t.Cleanup(w.end)
	return w
}

// end stops the pods that still run, so that folders can be removed.
func (w *world) end() {
	for _, folder := range w.folders() {
		if err := w.endPod(folder); err != nil {
			w.t.Errorf("%s: %v", folder, err)
		}
	}
}

func (w *world) endPod(folder pod.Folder) error {
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(20 * time.Millisecond) {
		if alive, err := folder.Alive(); !alive || err != nil {
			return err
		}
		if folder.Stop(0) != nil { // the disk may be full
			if pid, _ := folder.Supervisor(); pid > 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	return errors.New("the pod does not end")
}

func (w *world) folders() []pod.Folder {
	entries, _ := os.ReadDir(filepath.Join(w.state, "pods"))
	var folders []pod.Folder
	for _, e := range entries {
		folders = append(folders, pod.Folder(filepath.Join(w.state, "pods", e.Name())))
	}
	return folders
}

// manifest writes a manifest, in which it replaces TRACES by the traces folder.
func (w *world) manifest(text string) string {
	w.t.Helper()
	name := filepath.Join(w.traces, "manifest.yaml")
	text = string(bytes.ReplaceAll([]byte(text), []byte("TRACES"), []byte(w.traces)))
	must.OK(w.t, os.WriteFile(name, []byte(text), 0o644))
	return name
}

// command is a call of the program.
func (w *world) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{"--state", w.state}, args...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// output is the result of a call of the program.
type output struct {
	code        int
	out, errOut string
}

func (o output) String() string {
	return fmt.Sprintf("exit status %d\n-- stdout\n%s-- stderr\n%s", o.code, o.out, o.errOut)
}

func (w *world) call(args ...string) output {
	w.t.Helper()
	cmd := w.command(args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	_ = cmd.Run()
	return output{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// want calls the program and checks its exit status.
func (w *world) want(code int, args ...string) output {
	w.t.Helper()
	o := w.call(args...)
	if o.code != code {
		w.t.Fatalf("%v: want exit status %d, have %v", args, code, o)
	}
	return o
}

// job reads a job and its pods from the state folder.
func (w *world) job(key string) (store.Job, []store.Pod) {
	w.t.Helper()
	s, err := store.Open(w.state)
	must.OK(w.t, err)
	defer s.Close()
	j, err := s.FindJob(key)
	must.OK(w.t, err)
	pods, err := s.Pods(j.UID)
	must.OK(w.t, err)
	return j, pods
}

// trace reads a file to which pods append lines. It returns the words of each line.
func (w *world) trace(name string) [][]string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.traces, name))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	var lines [][]string
	for _, line := range bytes.Split(data, []byte("\n")) {
		var words []string
		for _, word := range bytes.Fields(line) {
			words = append(words, string(word))
		}
		if len(words) > 0 {
			lines = append(lines, words)
		}
	}
	return lines
}
