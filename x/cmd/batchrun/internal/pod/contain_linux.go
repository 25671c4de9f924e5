package pod

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// commandName is the name of supervisors and helpers in a list of processes. A supervisor also has the
// name of its pod, as in "batchrun: default/render-0-x7k2p".
const commandName = "batchrun"

// The commands with which this program starts itself.
const (
	superviseCommand = "__pod"
	watchCommand     = "__watch"
	probeCommand     = "__probe"
)

// Available reports whether pods can run on this system.
func Available() error { return nil }

// Command returns a supervisor that is ready to be started. A supervisor is this program with other
// arguments.
func Command(folder Folder, c Containment) (*exec.Cmd, error) {
	log, err := folder.openFile(os.O_WRONLY|os.O_CREATE|os.O_APPEND, supervisorLog)
	if err != nil {
		return nil, err
	}
	command := superviseCommand
	if c == Cgroup || c == Watched {
		command = watchCommand
	}
	cmd := self(command, string(folder), string(c))
	if spec, err := folder.readSpec(); err == nil {
		cmd.Args[0] += ": " + spec.Namespace + "/" + spec.Name
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = string(folder), log, log
	// The supervisor has a session of its own, so neither Ctrl-C on the terminal nor the end of the
	// runner reaches it.
	cmd.SysProcAttr = c.attributes()
	cmd.SysProcAttr.Setsid = true
	return cmd, nil
}

// self returns this program with other arguments. Its environment has only the variables that the
// Go runtime reads, since pods must not see the others.
func self(args ...string) *exec.Cmd {
	cmd := &exec.Cmd{
		// The program's file may have been removed meanwhile. The link still leads to it.
		Path: "/proc/self/exe",
		Args: append([]string{commandName}, args...),
		Env:  []string{},
	}
	for _, name := range []string{"GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GORACE", "GOTRACEBACK",
		"GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}

// attributes returns the attributes of a process that sets up the containment.
func (c Containment) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{}
	switch c {
	case UserNamespace:
		ownUser(attr)
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
		fallthrough
	case Namespace:
		attr.Cloneflags |= unix.CLONE_NEWPID | unix.CLONE_NEWNS
	}
	return attr
}

// ownUser gives a process a user namespace in which the user ID of the caller stays the same.
func ownUser(attr *syscall.SysProcAttr) {
	attr.Cloneflags |= unix.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
}

// enter completes the containment from inside, because a PID namespace needs its own /proc. Mounts
// that the system makes later appear inside. Mounts of a container do not appear outside.
func (c Containment) enter() error {
	if c != Namespace && c != UserNamespace {
		return adoptStrays()
	}
	if !isFirst() {
		return errors.New("this process is not the first of a PID namespace")
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("keep mounts in the namespace: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount the namespace's /proc: %w", err)
	}
	// Containers are started from this thread, and must not inherit its privileges.
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	return nil
}

// isFirst reports whether this process is the first of a PID namespace. Then all other processes
// that it can see belong to its pod.
func isFirst() bool { return os.Getpid() == 1 }

// adoptStrays makes this process the parent of descendants whose own parent has ended.
func adoptStrays() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt processes: %w", err)
	}
	return nil
}

// ProbeContainment finds out whether a containment works here.
func ProbeContainment(c Containment) error {
	cmd := self(probeCommand, string(c))
	cmd.SysProcAttr = c.attributes()
	report := &strings.Builder{}
	cmd.Stderr = report

	if c != Cgroup {
		return explain(cmd.Run(), report)
	}

	group, err := newCgroup(commandName + "-probe-" + strconv.Itoa(os.Getpid()))
	if err != nil {
		return err
	}
	defer group.remove()
	defer group.close()
	group.admit(cmd.SysProcAttr)

	in, err := cmd.StdinPipe() // the probe runs until it is killed
	if err != nil {
		return err
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		return err
	}

	if err := group.kill(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return err
	}
	_ = cmd.Wait()
	return nil
}

func explain(err error, report *strings.Builder) error {
	if text := strings.TrimSpace(report.String()); err != nil && text != "" {
		return errors.New(text)
	}
	return err
}

// probe is the part of ProbeContainment that runs in the started process.
func (c Containment) probe() error {
	if c == Cgroup {
		_, err := os.Stdin.Read(make([]byte, 1))
		return err
	}
	if err := c.enter(); err != nil {
		return err
	}
	_, err := children()
	return err
}
