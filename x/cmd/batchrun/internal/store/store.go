// Package store keeps CronJobs, jobs and pods in an SQLite database. It has the role of an API
// server. When a method returns, its writes are on the disk.
package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver, in pure Go

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/private"
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	// Dir is the state folder, absolute.
	Dir string
	db  *sql.DB
	// copy is the folder of a temporary copy of the database, which Close removes. It is empty if
	// there is no copy.
	copy string
}

// Open opens or creates the database of a state folder.
func Open(dir string) (*Store, error) {
	dir, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	if err := CheckDatabase(dir); err != nil {
		return nil, err
	}
	if err := protect(dir); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	// There is one connection: SQLite has one writer, and waiting here is cheaper than waiting in
	// SQLite. WAL with synchronous=FULL is durable, and needs one sync for each commit.
	s, err := connect(dir, dir,
		"_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(ON)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	if err := s.migrate(); err != nil {
		s.Close()
		return nil, fmt.Errorf("state folder %s: %w", dir, err)
	}
	return s, nil
}

// connect opens the database file in the folder where. The file is the database of the state folder
// dir, or a copy.
func connect(where, dir, parameters string) (*Store, error) {
	db, err := sql.Open("sqlite",
		"file:"+escape(filepath.Join(where, database))+"?_pragma=busy_timeout(10000)&"+parameters)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &Store{Dir: dir, db: db}, nil
}

// resolve returns the absolute path of a state folder, without links. It refuses a path
// that other users can lead to another folder.
func resolve(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = private.Resolve(dir)
	}
	if err != nil {
		return "", fmt.Errorf("state folder: %w", err)
	}
	return dir, nil
}

// protect creates the missing parts of a state folder. It refuses a folder that another user has
// created or could write to, because its jobs would run with the caller's rights. It also removes
// other users' right to read the folder.
func protect(dir string) error {
	root, err := private.MakeRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// SQLite gives its other files the mode of the database.
	file, err := root.OpenFile(database, os.O_RDWR|os.O_CREATE|os.O_EXCL, private.FileMode)
	if err == nil {
		err = file.Close()
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return errors.Join(
		private.Restrict(root, private.FileMode, database, database+walSuffix, database+shmSuffix, runnerLock),
		private.Restrict(root, private.DirMode, "pods"))
}

// database is the file of SQLite. There are also files with a suffix: the write-ahead log, which
// may hold all of the data, the index of the log, and a journal.
const (
	database      = "state.db"
	walSuffix     = "-wal"
	shmSuffix     = "-shm"
	journalSuffix = "-journal"
)

// runnerLock is the file that a runner locks.
const runnerLock = "runner.lock"

// escape escapes a path for a file: URI.
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
func (s *Store) Close() error {
	err := s.db.Close()
	if s.copy != "" {
		err = errors.Join(err, os.RemoveAll(s.copy))
	}
	return err
}

// roomFile is the file that Room writes.
const roomFile = ".room"

// Room writes a small file into the state folder and removes it. If it returns an error, supervisors
// cannot write their records either.
func (s *Store) Room() (err error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Remove(roomFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // a killed runner may have left the file
	}
	file, err := root.OpenFile(roomFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, private.FileMode)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, 16<<10))
	err = errors.Join(err, file.Close(), root.Remove(roomFile))
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	return nil
}

// Hurry makes a write wait at most one second for other processes. It is for a caller that retries
// by itself.
func (s *Store) Hurry() error {
	_, err := s.db.Exec("PRAGMA busy_timeout = 1000")
	return err
}

// PodFolder returns the folder of a pod's files.
func (s *Store) PodFolder(uid job.UID) string { return filepath.Join(s.Dir, "pods", string(uid)) }

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

// ErrLocked is the error of Lock if another runner uses the state folder.
var ErrLocked = errors.New("another runner is using it")
