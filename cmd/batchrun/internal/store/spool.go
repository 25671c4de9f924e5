package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/batchplan/batchplan/cmd/batchrun/internal/private"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// CheckPods checks the folders of pods before anything runs. It refuses folders that
// another user has created or could write to. It also refuses folders that the
// database does not know: then the database was lost or replaced, and a run would
// repeat the work of these pods.
func (s *Store) CheckPods() error {
	known, err := s.podUIDs()
	if err != nil {
		return err
	}
	dir := filepath.Join(s.Dir, "pods")
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	unknown, example := 0, ""
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if err := private.Check(path); err != nil {
			return fmt.Errorf("state folder: %w", err)
		}
		// A pod is in the database before its spec is written, and its folder is
		// removed first.
		if _, err := os.Lstat(filepath.Join(path, "spec.json")); err == nil && !known[job.UID(e.Name())] {
			unknown, example = unknown+1, path
		}
	}
	if unknown > 0 {
		return fmt.Errorf("state folder %s: state.db does not know %s that ran from it, for example %s: it was lost or replaced; "+
			"restore the right one, or remove the folder if none of these pods is running", s.Dir, value.Count(unknown, "pod"), example)
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
