package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/batchplan/batchplan/examples/local/internal/private"
)

// CheckPods examines the folders of pods before anything is run. It refuses those that
// another user has made or could write to. And it refuses those that the database
// does not know: it has been lost or exchanged, and to go on with it would start the
// work of these pods a second time.
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
		// A pod is in the database before it gets its spec, and its folder goes first.
		if _, err := os.Lstat(filepath.Join(path, "spec.json")); err == nil && !known[e.Name()] {
			unknown, example = unknown+1, path
		}
	}
	if unknown > 0 {
		return fmt.Errorf("state folder %s: state.db does not know %d pods that were run from it, as in %s: it was lost or exchanged; "+
			"bring the right one back, or, if nothing of this runs any more, remove the folder", s.Dir, unknown, example)
	}
	return nil
}

func (s *Store) podUIDs() (map[string]bool, error) {
	rows, err := s.db.Query("SELECT uid FROM pods")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	uids := map[string]bool{}
	for rows.Next() {
		var uid string
		if err := rows.Scan(&uid); err != nil {
			return nil, err
		}
		uids[uid] = true
	}
	return uids, rows.Err()
}
