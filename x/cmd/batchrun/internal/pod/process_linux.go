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

// isolate gives a container its own process group. If its supervisor is killed, the kernel kills
// the container.
func isolate(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Setpgid = true
	attr.Pdeathsig = syscall.SIGKILL
	return attr
}

// awaitExit returns when the child has ended. The child can still be waited for afterwards.
func awaitExit(pid int) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// children returns the process IDs of this process's children. As long as a thread other than the
// first runs, the children of that thread are missing.
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
