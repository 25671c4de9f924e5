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

// children are the process ids of this process's children. Those of other threads
// than the first are among them only as far as these have ended and left them.
func children() (pids []int, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	for _, text := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			return pids, err
		}
		pids = append(pids, pid)
	}
	return pids, err
}
