// Package store keeps CronJobs, jobs and pods in an SQLite database: what the API
// server is to a controller. Writes are on the disk when a method returns.
package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // the driver, in Go
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	// Dir is the state folder, absolute.
	Dir string
	db  *sql.DB
}

// Open opens or makes the database of a state folder.
func Open(dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	// One connection: SQLite has one writer, and waiting here is cheaper than there.
	// WAL with synchronous=FULL is durable and needs one sync a commit.
	db, err := sql.Open("sqlite", "file:"+escape(filepath.Join(dir, "state.db"))+
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(ON)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &Store{Dir: dir, db: db}
	if err := s.migrate(); err != nil {
		db.Close()
		return nil, fmt.Errorf("state folder %s: %w", dir, err)
	}
	return s, nil
}

// escape makes a path fit for a file: URI.
func escape(path string) string {
	out := make([]byte, 0, len(path))
	for i := range len(path) {
		switch c := path[i]; c {
		case '?', '#', '%':
			out = fmt.Appendf(out, "%%%02x", c)
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// PodFolder is where a pod's files are.
func (s *Store) PodFolder(uid string) string { return filepath.Join(s.Dir, "pods", uid) }

func (s *Store) write(do func(tx *sql.Tx) error) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// ErrLocked is the error of Lock while another runner uses the state folder.
var ErrLocked = errors.New("another runner is using it")

// Lock makes this process the only runner of the state folder until it ends,
// however it ends. At most one lock may be taken in a process.
//
// The lock is a POSIX record lock. One of flock belongs to whoever has the file
// open, and that is, for a moment after a runner was killed, the supervisor which
// it was about to start: the next runner would be turned away.
func (s *Store) Lock() (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(s.Dir, "runner.lock"), os.O_RDWR|os.O_CREATE, 0o644)
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

// InUse reports whether a runner uses the state folder at this moment. Unlike Lock
// it stands in nobody's way.
func (s *Store) InUse() (bool, error) {
	file, err := os.OpenFile(filepath.Join(s.Dir, "runner.lock"), os.O_RDWR, 0)
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
