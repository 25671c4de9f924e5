package pod

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// superviseCommand is the hidden command under which a supervisor runs.
const superviseCommand = "__pod"

// Main runs this process as a supervisor or as its helper when it was started as
// one, and then ends it. The program's main function calls it first.
func Main() {
	switch {
	case len(os.Args) == 2 && os.Args[0] == execCommand:
		runtime.LockOSThread()
		if runHelper(os.Args[1]) != nil {
			os.Exit(exitStartError)
		}
		os.Exit(0)
	case len(os.Args) == 3 && os.Args[1] == superviseCommand:
		runtime.LockOSThread()
		// A supervisor is stopped by the stop file alone; it must not leave its
		// containers alone when a whole machine's processes are asked to end.
		// Caught and dropped, not ignored: containers would inherit that.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
		if err := AdoptStrays(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		if err := Supervise(Folder(os.Args[2])); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// Command is a supervisor, ready to be started: this program, run again.
func Command(folder Folder) (*exec.Cmd, error) {
	log, err := os.OpenFile(folder.SupervisorLog(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{
		// The program's own file may be gone by now; the link leads to it all the same.
		Path:        "/proc/self/exe",
		Args:        []string{"batchplan-local", superviseCommand, string(folder)},
		Env:         os.Environ(),
		Dir:         string(folder),
		Stdout:      log,
		Stderr:      log,
		SysProcAttr: Detach(),
	}, nil
}
