package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/batchplan/batchplan/cmd/batchrun/internal/private"
)

// OpenToLook opens the database of a state folder for reading. The folder may be
// read-only.
func OpenToLook(dir string) (*Store, error) {
	dir, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, database)
	for i, path := range []string{dir, file, file + "-wal", file + "-shm"} {
		if err := private.Check(path); err != nil && (i < 2 || !errors.Is(err, os.ErrNotExist)) {
			return nil, fmt.Errorf("state folder: %w", err)
		}
	}
	s, err := look(dir, dir, "_pragma=query_only(ON)") // as writers open it
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, errOutdated):
		return Open(dir)
	}
	// If SQLite cannot create its files beside the database, open it without them. If
	// such files have content that the database lacks, open a copy.
	info, walErr := os.Lstat(file + "-wal")
	if walErr == nil && info.Size() > 0 {
		return lookAtCopy(dir)
	}
	if s, roErr := look(dir, dir, "mode=ro&immutable=1"); roErr == nil {
		return s, nil
	}
	return nil, fmt.Errorf("state folder %s: %w", dir, err)
}

// errOutdated is the error for a database of an earlier version.
var errOutdated = errors.New("state.db has an earlier version; a command that can write to it must upgrade it first")

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
	for _, name := range []string{database, database + "-wal"} {
		data, readErr := private.ReadFile(root, name)
		err = errors.Join(err, readErr, os.WriteFile(filepath.Join(where, name), data, private.FileMode))
	}
	var s *Store
	if err == nil {
		s, err = look(where, dir, "_pragma=query_only(ON)")
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(where))
	}
	s.copy = where
	return s, nil
}
