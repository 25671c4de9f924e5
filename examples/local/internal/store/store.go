// Package store keeps jobs and pods in an SQLite database: what the API server
// is to a controller. Writes are on the disk when a method returns.
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

// schemaVersion is that of the tables below. A database of another version is
// refused, never changed.
const schemaVersion = 1

// isOpen holds for the pods with which something is still to do: they run, or are
// not accounted for, or are being deleted. The others grow in number with the
// life of a job, so an index keeps them out of the way.
const isOpen = "gone = 0 AND (tracked <> 0 OR deleted <> 0 OR phase NOT IN ('Succeeded', 'Failed'))"

// Times are whole nanoseconds since 1970 in UTC, 0 meaning none.
const schema = `
CREATE TABLE jobs (
	uid       TEXT PRIMARY KEY,
	namespace TEXT NOT NULL,
	name      TEXT NOT NULL,
	created   INTEGER NOT NULL,
	manifest  TEXT NOT NULL,             -- the Job object as it was given, as JSON
	status    TEXT NOT NULL DEFAULT '{}',
	memory    TEXT NOT NULL DEFAULT '{}',
	held      INTEGER NOT NULL DEFAULT 0, -- suspended by Ctrl-C until the next run
	UNIQUE (namespace, name)
);
CREATE TABLE pods (
	uid      TEXT PRIMARY KEY,
	job      TEXT NOT NULL REFERENCES jobs(uid) ON DELETE CASCADE,
	name     TEXT NOT NULL,
	created  INTEGER NOT NULL,
	spec     TEXT NOT NULL,              -- what the supervisor runs, as JSON
	idx      INTEGER NOT NULL,
	failures INTEGER NOT NULL,
	ignored  INTEGER NOT NULL,
	tracked  INTEGER NOT NULL,           -- the finalizer
	deleted  INTEGER NOT NULL DEFAULT 0, -- the deletion timestamp
	grace    INTEGER NOT NULL DEFAULT 0, -- its grace period in seconds
	phase    TEXT NOT NULL,
	state    TEXT NOT NULL,              -- the supervisor's record, as JSON
	gone     INTEGER NOT NULL DEFAULT 0  -- deleted for the controller; kept for its logs
);
CREATE INDEX pods_of_job ON pods (job);
CREATE INDEX pods_open ON pods (job) WHERE ` + isOpen + `;
CREATE TABLE events (
	job     TEXT NOT NULL REFERENCES jobs(uid) ON DELETE CASCADE,
	at      INTEGER NOT NULL,
	type    TEXT NOT NULL,
	reason  TEXT NOT NULL,
	message TEXT NOT NULL
);
CREATE INDEX events_of_job ON events (job);
`

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

func (s *Store) migrate() error {
	return s.write(func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		switch version {
		case schemaVersion:
			return nil
		case 0:
			_, err := tx.Exec(schema + fmt.Sprintf("PRAGMA user_version = %d", schemaVersion))
			return err
		}
		return fmt.Errorf("state.db has schema version %d, this program knows version %d", version, schemaVersion)
	})
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
