//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/private"
)

// Lock makes this process the only runner of the state folder until the process ends. A process may
// take at most one lock.
//
// The lock is a POSIX record lock. An flock lock belongs to every process that has the file open.
// If a runner is killed while it starts a supervisor, the supervisor has the file open for a
// moment, and the next runner would be refused.
func (s *Store) Lock() (unlock func(), err error) {
	file, err := s.openLock(os.O_RDWR | os.O_CREATE)
	if err != nil {
		return nil, err
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(file.Fd(), unix.F_SETLK, &lock); err != nil {
		file.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			err = ErrLocked
		}
		return nil, fmt.Errorf("state folder %s: %w", s.Dir, err)
	}
	return func() { file.Close() }, nil
}

// InUse reports whether a runner uses the state folder now. It takes no lock.
func (s *Store) InUse() (bool, error) {
	file, err := s.openLock(os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(file.Fd(), unix.F_GETLK, &lock); err != nil {
		return false, fmt.Errorf("state folder %s: %w", s.Dir, err)
	}
	return lock.Type != unix.F_UNLCK, nil
}

func (s *Store) openLock(flag int) (*os.File, error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return private.Open(root, runnerLock, flag)
}
