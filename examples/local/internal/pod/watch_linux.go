package pod

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// watchFD is the descriptor by which a supervisor learns of its watcher's end.
const watchFD = 3

// watch runs the supervisor of a pod as a child and ends whatever that leaves
// behind. Until nothing is left it holds a lock of its own, so that nobody takes the
// pod for ended before. It does nothing when another watcher is alive.
func watch(folder Folder, c Containment) error {
	lock, err := folder.lock(watchLock)
	if err != nil || lock == nil {
		return err
	}
	defer lock.Close()
	if err := adoptStrays(); err != nil {
		return err
	}
	mine, its, err := os.Pipe()
	if err != nil {
		return err
	}
	defer its.Close()
	cmd := self(superviseCommand, string(folder), string(c))
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, []*os.File{mine}
	err = cmd.Start()
	mine.Close()
	if err != nil {
		return err
	}
	_ = cmd.Wait() // what happened is in the folder
	g, err := folder.guard()
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // it kills what it can all the same
	}
	killAll(g.Cgroup)
	if g.Cgroup != "" {
		_ = removeCgroup(g.Cgroup) // if it cannot be, the next runner does it
	}
	if code := cmd.ProcessState.ExitCode(); code > 0 {
		os.Exit(code)
	}
	return nil
}

// awaitWatcher returns a channel that is closed when the watcher of this supervisor
// ends; for one without a watcher the channel is nil.
func awaitWatcher(c Containment) <-chan struct{} {
	if c != Cgroup && c != Watched {
		return nil
	}
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(watchFD, "watcher"))
		close(over)
	}()
	return over
}

// killAll ends all processes that this one has started, and those that they have. It
// returns once none is left.
func killAll(group string) {
	for {
		switch {
		case isFirst():
			// All of the namespace but this process. Anywhere else it would be all of the
			// machine, so nothing but the process id may decide this.
			_ = unix.Kill(-1, unix.SIGKILL)
		case group != "":
			_ = killCgroup(group)
		}
		// Each round may orphan the children of what it kills. They come to this
		// process, so their ids cannot be another's.
		pids, err := children()
		if err == nil && len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		for _, pid := range pids {
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
		if err != nil {
			time.Sleep(pollInterval)
		}
	}
}
