package pod

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Detach gives a supervisor a session of its own, so that neither Ctrl-C on the
// terminal nor the end of the runner reaches it.
func Detach() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// isolate gives a container a process group of its own, and ends it should its
// supervisor be killed.
func isolate(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Setpgid = true
	attr.Pdeathsig = syscall.SIGKILL
	return attr
}

// AdoptStrays makes this process the parent of what its containers leave behind.
func AdoptStrays() error {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// awaitExit returns when the child has ended, and leaves it to be waited for.
func awaitExit(pid int) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// killStrays ends the processes that containers started and left to this one.
// They are children of this process, so their ids cannot be another's.
func killStrays() {
	for range 100 { // each round may orphan the children of what it kills
		data, _ := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
		pids := strings.Fields(string(data))
		if len(pids) == 0 {
			return
		}
		for _, text := range pids {
			pid, err := strconv.Atoi(text)
			if err != nil {
				continue
			}
			_ = unix.Kill(pid, unix.SIGKILL)
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
	}
}
