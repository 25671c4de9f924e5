package pod

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/batchplan/batchplan/job/jobpod"
)

// longRun is how long a container must run so that its earlier crashes do not count any more.
const longRun = 10 * time.Minute

// start starts the process of a container. If the process cannot be started, it counts as ended.
func (s *supervisor) start(i int, now time.Time) {
	c, r, spec := &s.state.Containers[i], &s.runs[i], &s.spec.Containers[i]
	s.dirty = true
	c.StartedAt, c.Reason, c.Message, c.ExitCode, c.FinishedAt = now, "", "", 0, time.Time{}
	cmd, err := s.command(spec)
	if err == nil {
		cmd.Stdout, cmd.Stderr = r.streams[0].in, r.streams[1].in
		err = startCommand(cmd)
	}
	if err != nil {
		c.Message = err.Error()
		s.end(i, exitStartError, ReasonStartError, now)
		return
	}
	c.State = jobpod.Running
	r.process, r.signalled, r.killAt = cmd.Process, false, time.Time{}
	go func() {
		// All processes of a container end with its first process. The process group is killed
		// before the first process is waited for. Until then no other process can have the ID of
		// the group.
		awaitExit(cmd.Process.Pid)
		at := time.Now()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // the process state says more than the error
		s.exits <- exit{container: i, code: exitCode(cmd.ProcessState), at: at}
	}()
}

// ended notes the end of a container's process.
func (s *supervisor) ended(e exit) {
	reason := ReasonCompleted
	if e.code != 0 {
		reason = ReasonError
	}
	s.end(e.container, e.code, reason, e.at)
}

func (s *supervisor) end(i int, code int32, reason string, at time.Time) {
	c, r := &s.state.Containers[i], &s.runs[i]
	s.dirty = true
	r.process = nil
	c.State, c.ExitCode, c.Reason, c.FinishedAt = jobpod.Terminated, code, reason, at
	c.Exits = append(c.Exits, Exit{Code: code, Reason: reason, StartedAt: c.StartedAt, FinishedAt: at})
	c.Exits = c.Exits[max(0, len(c.Exits)-maxExits):]
	sidecar := c.Kind == jobpod.RestartableInit
	switch {
	case s.stopping, !sidecar && s.isFinal(c), c.Kind == jobpod.Init && s.initFailed():
		return
	}
	if at.Sub(c.StartedAt) > longRun {
		r.crashes = 0
	}
	r.restartAt = at.Add(s.restartDelay(r.crashes))
	r.crashes++
	c.State = jobpod.Waiting
	c.Reason = ReasonBackOff
}

// restartDelay returns 0 for the first restart. For later restarts it returns a delay that doubles.
func (s *supervisor) restartDelay(crashes int) time.Duration {
	if crashes == 0 {
		return 0
	}
	delay := s.spec.RestartDelay
	for range crashes - 1 {
		if delay >= s.spec.RestartDelayMax {
			break
		}
		delay *= 2
	}
	return min(delay, s.spec.RestartDelayMax)
}

// terminate asks a container to end, and returns true if the container is not running. A container
// that waits for a restart counts as ended from then on, with its last exit code.
func (s *supervisor) terminate(i int, now time.Time) bool {
	c, r := &s.state.Containers[i], &s.runs[i]
	if r.process == nil {
		if n := len(c.Exits); n > 0 && c.State == jobpod.Waiting {
			c.State, c.Reason, s.dirty = jobpod.Terminated, c.Exits[n-1].Reason, true
		}
		return true
	}
	if !r.signalled {
		r.signalled, r.killAt = true, s.killTime(now, c.Kind)
		_ = syscall.Kill(-r.process.Pid, syscall.SIGTERM)
	}
	return false
}

// killTime returns when to kill a container that was asked to end. The grace period is for the
// whole pod. A sidecar gets what is left of it, and at least a moment.
func (s *supervisor) killTime(now time.Time, kind jobpod.Kind) time.Time {
	at := s.stopAt.Add(s.grace)
	if least := now.Add(min(s.grace, 2*time.Second)); kind == jobpod.RestartableInit && at.Before(least) {
		return least
	}
	return at
}

// kill kills the containers whose time to end has passed. Their processes have not been waited for,
// so no other process can have their IDs.
func (s *supervisor) kill(now time.Time) {
	for i := range s.runs {
		if r := &s.runs[i]; r.process != nil && r.signalled && !now.Before(r.killAt) {
			_ = syscall.Kill(-r.process.Pid, syscall.SIGKILL)
		}
	}
}

// command prepares the process of a container.
func (s *supervisor) command(c *ContainerSpec) (*exec.Cmd, error) {
	mounts, err := s.prepareMounts(c)
	if err != nil {
		return nil, err
	}
	dir, err := s.workingDir(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("workingDir: %w", err)
	}

	cmd := &exec.Cmd{Args: c.Argv, Env: append(c.Env[:len(c.Env):len(c.Env)], "PWD="+dir), Dir: dir}
	if len(mounts) > 0 || c.NoNewPrivileges || len(c.Drop) > 0 {
		cmd, err = wrappedCommand(cmd, c, mounts, s.folder, s.spec.Isolation)
	} else {
		cmd.Path, err = lookPath(c.Argv[0], cmd.Env, dir)
	}
	if err != nil {
		return nil, err
	}

	cmd.SysProcAttr = isolate(cmd.SysProcAttr)
	if s.group != nil {
		s.group.admit(cmd.SysProcAttr)
	}
	return cmd, nil
}

// startCommand starts the process. If a helper prepares mounts, it reports errors through
// descriptor 3. The descriptor closes when the helper becomes the container.
func startCommand(cmd *exec.Cmd) error {
	if cmd.Args[0] != execCommand {
		return cmd.Start()
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return err
	}
	if report, _ := io.ReadAll(r); len(report) > 0 {
		_ = cmd.Wait()
		return errors.New(string(report))
	}
	return nil
}

// lookPath finds a program as a shell does, with the PATH of the container.
func lookPath(name string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	path := ""
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, "PATH="); ok {
			path = value
		}
	}
	for _, entry := range filepath.SplitList(path) {
		file := filepath.Join(entry, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%q: not found on this machine in PATH %q", name, path)
}

func exitCode(p *os.ProcessState) int32 {
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int32(status.Signal())
	}
	return int32(p.ExitCode())
}
