package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/private"
)

// CheckDatabase refuses a state folder whose database is missing, empty or damaged, if there is a
// write-ahead log or a pod. SQLite would create a new database and delete the log. CheckDatabase
// must be called before SQLite opens the files, because closing the files here would release
// SQLite's locks.
func CheckDatabase(dir string) error {
	file := filepath.Join(dir, database)
	var state string
	header, err := readHeader(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		state = "is missing"
	case err != nil:
		return fmt.Errorf("state folder: %w", err)
	case len(header) == 0:
		state = "is empty"
	case string(header) != magic:
		return fmt.Errorf("state folder %s: state.db is damaged: %s", dir, restore)
	default:
		return nil
	}

	if size(file+walSuffix) > 0 {
		return fmt.Errorf("state folder %s: state.db %s, but state.db-wal has data of it: %s", dir, state, restore)
	}
	if err := checkPods(dir, nil); err != nil {
		return fmt.Errorf("state.db %s: %w", state, err)
	}
	return nil
}

// restore is the advice for the user.
const restore = "restore state.db as it was beside this state.db-wal, or both from one backup; " +
	"or remove the folder if none of its pods is running"

// magic is how every database of SQLite begins.
const magic = "SQLite format 3\x00"

// readHeader reads the beginning of a database. It skips special files, which package
// private refuses later.
func readHeader(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return []byte(magic), err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	header := make([]byte, len(magic))
	n, err := io.ReadFull(file, header)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return header[:n], err
}

// CheckPods checks the folders of pods before anything runs. It refuses a folder that another user
// has created or could write to. It also refuses a folder that the database does not know: then the
// database was lost or replaced, and a run would repeat the work of these pods.
func (s *Store) CheckPods() error { return checkPods(s.Dir, s.podUIDs) }

// checkPods checks the folders of pods. podUIDs returns the known pods. If podUIDs is nil, no pod
// is known. A runner may add and remove pods at the same time. When it adds a pod, the folder comes
// after the database. When it removes a pod, the folder goes first. So checkPods lists the folders
// before it reads the database.
func checkPods(state string, podUIDs func() (map[job.UID]bool, error)) error {
	dir := filepath.Join(state, "pods")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var known map[job.UID]bool
	if podUIDs != nil {
		if known, err = podUIDs(); err != nil {
			return err
		}
	}

	unknown, example := 0, ""
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if err := private.Check(path); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return fmt.Errorf("state folder: %w", err)
		}
		if _, err := os.Lstat(filepath.Join(path, "spec.json")); err == nil && !known[job.UID(e.Name())] {
			unknown, example = unknown+1, path
		}
	}
	if unknown > 0 {
		return fmt.Errorf("state folder %s: state.db does not know %s that ran from it, for example %s: it was "+
			"lost or replaced; "+
			"restore the right one, with its state.db-wal, or remove the folder if none of these pods is running",
			state, value.Count(unknown, "pod"), example)
	}
	return nil
}

func (s *Store) podUIDs() (map[job.UID]bool, error) {
	rows, err := s.db.Query("SELECT uid FROM pods")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	uids := map[job.UID]bool{}
	for rows.Next() {
		var uid job.UID
		if err := rows.Scan(&uid); err != nil {
			return nil, err
		}
		uids[uid] = true
	}
	return uids, rows.Err()
}
