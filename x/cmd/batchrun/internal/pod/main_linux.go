package pod

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/patience"
)

// Main runs this process as a supervisor or a helper if it was started as one, and then exits. The
// main function of the program calls Main first.
func Main() {
	closeOnExec()
	if len(os.Args) == 2 && os.Args[0] == execCommand {
		runtime.LockOSThread()
		if runHelper(os.Args[1]) != nil {
			os.Exit(exitStartError)
		}
		os.Exit(0)
	}
	if len(os.Args) < 3 {
		return
	}
	role, argument := os.Args[1], os.Args[2]
	if len(os.Args) == 3 && role == probeCommand {
		runtime.LockOSThread()
		end(Containment(argument).probe())
	}
	if len(os.Args) != 4 || role != superviseCommand && role != watchCommand {
		return
	}
	runtime.LockOSThread()
	// Without this, lists of processes and messages of the kernel would show the name "exe".
	_ = os.WriteFile("/proc/self/comm", []byte(commandName), 0)
	// Only the stop file stops a supervisor. Even if all processes of a machine are asked to end,
	// it must stay as long as its containers. The signals are caught and dropped. If they were
	// ignored, containers would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	folder, containment := Folder(argument), Containment(os.Args[3])
	if role == watchCommand {
		end(watch(folder, containment))
	}
	end(Supervise(folder, containment))
}

// ExitTryAgain is the exit status of a supervisor that could not begin for a
// temporary reason, such as a full disk.
const ExitTryAgain = 75

func end(err error) {
	if err == nil {
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, err)
	if patience.IsTransient(err) {
		os.Exit(ExitTryAgain)
	}
	os.Exit(1)
}

// closeOnExec keeps containers from inheriting the descriptors of this process, except the first
// three. A container must not hold the locks of the runner's caller.
func closeOnExec() {
	if unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
