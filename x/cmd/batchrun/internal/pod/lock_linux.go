package pod

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The files that a supervisor and its watcher lock.
const (
	superviseLock = "lock"
	watchLock     = "watch"
)

// Alive reports whether a process of the pod may be alive. That is so while its supervisor or its
// watcher holds a lock, or while a process that the supervisor started has not ended.
func (f Folder) Alive() (bool, error) {
	g, err := f.guard()
	if err != nil {
		return false, err
	}
	for _, name := range []string{superviseLock, watchLock} {
		held, _, err := f.holder(name)
		if IsUnreadable(err) {
			// The file was replaced, so its lock cannot be queried. The supervisor notices, and ends the
			// pod.
			held, err = g.supervises()
		}
		if held || err != nil {
			return held, err
		}
	}
	return g.remains()
}

// Supervisor returns the process ID of the supervisor that holds the pod's lock
// now, or 0.
func (f Folder) Supervisor() (pid int, err error) {
	_, pid, err = f.holder(superviseLock)
	return pid, err
}

// holder finds out which process holds a lock. If that process is not visible from here, its ID is
// 0.
//
// The lock is a POSIX record lock, which can be queried without taking it. So a supervisor that
// starts at this moment is not refused.
func (f Folder) holder(name string) (held bool, pid int, err error) {
	file, err := f.openFile(os.O_RDWR, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, 0, nil
	}
	if errors.Is(err, unix.EROFS) || errors.Is(err, fs.ErrPermission) {
		return false, 0, nil // no pod runs in a folder that cannot be written
	}
	if err != nil {
		return false, 0, err
	}
	defer file.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(file.Fd(), unix.F_GETLK, &lock); err != nil {
		return false, 0, fmt.Errorf("query the lock of pod folder %q: %w", f, err)
	}
	return lock.Type != unix.F_UNLCK, max(int(lock.Pid), 0), nil
}

// lock takes a lock of the pod. It returns nil if another process holds the lock.
//
// A process loses a POSIX lock when it first closes the file. So nothing else may open the file
// while the lock is held.
func (f Folder) lock(name string) (*os.File, error) {
	file, err := f.openFile(os.O_RDWR|os.O_CREATE, name)
	if err != nil {
		return nil, err
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	err = unix.FcntlFlock(file.Fd(), unix.F_SETLK, &lock)
	if err == nil {
		return file, nil
	}
	file.Close()
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil, nil
	}
	return nil, fmt.Errorf("lock pod folder %q: %w", f, err)
}

// holds reports whether the locked file is still in the folder. It returns false if the folder was
// removed or the file was replaced. It returns true after other errors, for example of a network,
// because they may be temporary.
func (f Folder) holds(lock *os.File) bool {
	mine, err := lock.Stat()
	if err != nil {
		return true
	}
	current, err := os.Lstat(f.path(superviseLock))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(mine, current)
}

func newGuard(c Containment) (g guard, err error) {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return g, err
	}
	pid, err := strconv.Atoi(self)
	if err != nil {
		return g, fmt.Errorf("/proc/self: %q: is not a process id", self)
	}
	stat, err := readStat(pid)
	if err != nil {
		return g, err
	}
	boot, err := bootID()
	return guard{Containment: c, PID: pid, Start: stat.start, Boot: boot}, err
}

func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(data)), err
}

// guard reads the pod's guard. If guard.json is lost or damaged, guard returns the copy in the
// pod's state. If both are lost, the locks alone decide whether the pod has ended.
func (f Folder) guard() (guard, error) {
	var g guard
	err := f.readRecord("guard.json", &g)
	if !errors.Is(err, fs.ErrNotExist) && !IsUnreadable(err) {
		return g, err
	}
	state, _, err := f.State()
	if IsUnreadable(err) {
		err = nil
	}
	return state.Guard, err
}

// remains reports whether a pod whose locks are free has processes left.
func (g *guard) remains() (bool, error) {
	if g.Cgroup != "" {
		return isPopulated(g.Cgroup)
	}
	if g.Containment != Namespace && g.Containment != UserNamespace {
		return false, nil
	}
	return g.supervises()
}

// supervises reports whether the supervisor is still alive.
func (g *guard) supervises() (bool, error) {
	boot, err := bootID()
	if err != nil || boot != g.Boot {
		return false, err
	}
	stat, err := readStat(g.PID)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return false, nil
	}
	return err == nil && stat.start == g.Start && !stat.isOver(), err
}

// Reap ends the processes that a dead supervisor has left. It returns true once no process of the
// pod is left.
func (f Folder) Reap() (bool, error) {
	alive, err := f.Alive()
	if err != nil || !alive {
		return !alive, errors.Join(err, f.dropCgroup(!alive))
	}
	for _, name := range []string{superviseLock, watchLock} {
		held, _, err := f.holder(name)
		if held || err != nil && !IsUnreadable(err) {
			return false, err
		}
	}
	g, err := f.guard()
	if err == nil && g.Cgroup != "" {
		err = killCgroup(g.Cgroup)
	}
	return false, err
}

// dropCgroup removes the cgroup of a pod that has ended.
func (f Folder) dropCgroup(ended bool) error {
	if !ended {
		return nil
	}
	g, err := f.guard()
	if err != nil || g.Cgroup == "" {
		return err
	}
	return removeCgroup(g.Cgroup)
}

// Enforce kills a supervisor that was asked to stop and has not ended in time. Such a supervisor
// hangs, or a signal has stopped it. Its containers end with it.
func (f Folder) Enforce(now time.Time) error {
	info, err := os.Lstat(f.path("stop"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	grace, _ := f.stopAsked()
	if err != nil || now.Before(info.ModTime().Add(grace+overtime)) {
		return err
	}
	// A stopped watcher must be continued first. Otherwise it cannot end the containers.
	return errors.Join(f.signal(watchLock, unix.SIGCONT), f.signal(superviseLock, unix.SIGKILL))
}

// overtime is the time that a supervisor may take beyond the grace period of its pod. Sidecars end
// one after the other, and disks can be slow.
const overtime = 20 * time.Second

// signal sends a signal to the process that holds a lock, and to no other process. It opens a
// handle to the process, and then checks again that this process holds the lock.
func (f Folder) signal(name string, s unix.Signal) error {
	_, pid, err := f.holder(name)
	if IsUnreadable(err) {
		return nil // the holder is not visible from here
	}
	if err != nil || pid == 0 {
		return err
	}

	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", pid, err)
	}
	defer unix.Close(fd)

	if _, again, err := f.holder(name); err != nil || again != pid {
		return err
	}
	if err := unix.PidfdSendSignal(fd, s, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("send %v to process %d: %w", s, pid, err)
	}
	return nil
}

// processStat is the state of a process as /proc shows it.
type processStat struct {
	state   byte
	threads int
	start   uint64
}

// isOver reports whether a process that has not been waited for has ended with all its threads. If
// it was the first process of a PID namespace, the namespace is then empty.
func (s *processStat) isOver() bool { return (s.state == 'Z' || s.state == 'X') && s.threads <= 1 }

func readStat(pid int) (s processStat, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, err
	}
	// The name, in parentheses, can contain anything. So the fields are counted from the end of the
	// name.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 20 {
		return s, fmt.Errorf("/proc/%d/stat: %q: too few fields", pid, data)
	}
	s.state = fields[0][0]
	s.threads, err = strconv.Atoi(fields[17])
	if err != nil {
		return s, err
	}
	s.start, err = strconv.ParseUint(fields[19], 10, 64)
	return s, err
}
