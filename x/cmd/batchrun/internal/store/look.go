package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/private"
)

// OpenToLook opens the database of a state folder for reading. The folder may be read-only.
// OpenToLook writes nothing into it, although SQLite itself would fold its write-ahead log into the
// database and delete the log.
func OpenToLook(dir string) (*Store, error) {
	dir, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	if err := CheckDatabase(dir); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, database)
	for i, path := range []string{dir, file, file + walSuffix, file + shmSuffix} {
		if err := private.Check(path); err != nil && (i < 2 || !errors.Is(err, fs.ErrNotExist)) {
			return nil, fmt.Errorf("state folder: %w", err)
		}
	}

	s, err := openToLook(dir)
	if err != nil {
		return nil, fmt.Errorf("state folder %s: %w", dir, err)
	}
	if err := s.CheckPods(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openToLook opens the database where it is if that is possible, or else a copy of it.
func openToLook(dir string) (*Store, error) {
	file := filepath.Join(dir, database)
	switch {
	case size(file+walSuffix) == 0 && size(file+journalSuffix) == 0:
		// All data are in the database. Without immutable, SQLite would create its other files.
		if s, err := look(dir, dir, "mode=ro&immutable=1"); err == nil {
			return s, nil
		}
	case size(file+shmSuffix) > 0:
		// A runner has a write-ahead log. SQLite takes locks to read this log, but writes nothing.
		if s, err := look(dir, dir, "mode=ro"); err == nil {
			return s, nil
		}
	}
	// Otherwise SQLite must write to the database before it can read it. It may have to make the
	// index of the write-ahead log, to roll back a transaction, or to upgrade an older schema.
	return lookAtCopy(dir)
}

// size returns the size of a file, 0 if it does not exist.
func size(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// errOutdated is the error for a database of an earlier version.
var errOutdated = errors.New("state.db has an earlier version")

// look connects and checks that the database can be read.
func look(where, dir, parameters string) (*Store, error) {
	s, err := connect(where, dir, parameters)
	if err != nil {
		return nil, err
	}
	var version int
	err = s.db.QueryRow("PRAGMA user_version").Scan(&version)
	if err == nil && version < len(schemas) {
		err = errOutdated
	} else if err == nil && version > len(schemas) {
		err = fmt.Errorf("state.db has schema version %d, this program knows versions up to %d", version, len(schemas))
	}
	if err == nil {
		_, err = s.Jobs()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func lookAtCopy(dir string) (*Store, error) {
	where, err := os.MkdirTemp("", "batchrun-look-")
	if err != nil {
		return nil, err
	}

	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()

	for _, name := range []string{database, database + walSuffix, database + journalSuffix} {
		data, readErr := private.ReadFile(root, name)
		if errors.Is(readErr, fs.ErrNotExist) && name != database {
			continue
		}
		err = errors.Join(err, readErr, os.WriteFile(filepath.Join(where, name), data, private.FileMode))
	}

	var s *Store
	if err == nil {
		s, err = lookAndUpgrade(where, dir)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(where))
	}

	s.copy = where
	return s, nil
}

// lookAndUpgrade opens a copy, which may have an earlier schema.
func lookAndUpgrade(where, dir string) (*Store, error) {
	s, err := look(where, dir, "_pragma=query_only(ON)")
	if !errors.Is(err, errOutdated) {
		return s, err
	}
	if s, err = connect(where, dir, "_txlock=immediate"); err != nil {
		return nil, err
	}
	if err := errors.Join(s.migrate(), s.Close()); err != nil {
		return nil, err
	}
	return look(where, dir, "_pragma=query_only(ON)")
}
