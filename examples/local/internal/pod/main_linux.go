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

	"github.com/batchplan/batchplan/examples/local/internal/patience"
)

// Main runs this process as a supervisor or as one of its helpers when it was
// started as one, and then ends it. The program's main function calls it first.
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
	// A supervisor is stopped by the stop file alone; it must not leave its
	// containers alone when a whole machine's processes are asked to end.
	// Caught and dropped, not ignored: containers would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	folder, containment := Folder(argument), Containment(os.Args[3])
	if role == watchCommand {
		end(watch(folder, containment))
	}
	end(Supervise(folder, containment))
}

// ExitTryAgain is the exit status of a supervisor that could not begin for want of
// something that may be there later, such as space on a disk.
const ExitTryAgain = 75

// end ends the process.
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

// closeOnExec keeps the descriptors that this process was given, apart from the
// first three, to itself: a container must not hold what its caller has locked.
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
