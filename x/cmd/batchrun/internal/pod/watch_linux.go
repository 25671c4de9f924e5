package pod

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// watchFD is the descriptor by which a supervisor notices that its watcher has ended.
const watchFD = 3

// watch runs the supervisor of a pod as a child, and ends the processes that the supervisor leaves
// behind. It holds its own lock until all have ended, so that the pod does not count as ended too
// early. If another watcher is alive, it does nothing.
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
	cmd.Args[0] = os.Args[0]
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, []*os.File{mine}
	err = cmd.Start()
	mine.Close()
	if err != nil {
		return err
	}

	_ = cmd.Wait() // the pod's folder shows how it ended
	g, err := folder.guard()
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // the watcher still kills what it can
	}

	killAll(g.Cgroup)
	if g.Cgroup != "" {
		_ = removeCgroup(g.Cgroup) // if this fails, the next runner removes it
	}
	if code := cmd.ProcessState.ExitCode(); code > 0 {
		os.Exit(code)
	}
	return nil
}

// awaitWatcher returns a channel that is closed when the watcher of this supervisor ends. If there
// is no watcher, the channel is nil.
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

// killAll ends all descendants of this process. It returns once none is left.
func killAll(group string) {
	for {
		switch {
		case isFirst():
			// Kill with -1 kills all other processes of the PID namespace. Outside of a PID
			// namespace of its own, it would kill all processes of the machine. So isFirst checks
			// that this process has the ID 1.
			_ = unix.Kill(-1, unix.SIGKILL)
		case group != "":
			_ = killCgroup(group)
		}
		// Killed processes may leave children. This process adopts them, so the next round kills
		// them. The IDs of killed processes are not reused before Wait4, so signals reach no other
		// process.
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
