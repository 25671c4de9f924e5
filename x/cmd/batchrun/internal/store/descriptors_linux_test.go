package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/private"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

// No call leaves a file open, also if it fails: a runner lives for months.
func TestDescriptors(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector would close the files
	s := open(t)
	old, later := t.TempDir(), t.TempDir()
	for dir, text := range map[string]string{old: firstSchema + "PRAGMA user_version = 1", later: "PRAGMA user_version = 99"} {
		storetest.Exec(t, dir, text)
		must.OK(t, os.Chmod(dir, private.DirMode))
		must.OK(t, os.Chmod(filepath.Join(dir, "state.db"), private.FileMode))
	}
	damaged := t.TempDir()
	write(t, damaged, "state.db", magic)
	must.OK(t, os.Chmod(damaged, private.DirMode))
	full := t.TempDir()
	must.OK(t, os.MkdirAll(filepath.Join(full, roomFile, "x"), private.DirMode))

	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		must.OK(t, err)
		return len(entries)
	}
	closed := func(s *Store, err error) error { return errors.Join(err, s.Close()) }
	for name, c := range map[string]struct {
		do      func() error
		succeed bool
	}{
		"Open":                    {func() error { return closed(Open(s.Dir)) }, true},
		"Open a later version":    {func() error { return errorOf(Open(later)) }, false},
		"Open a damaged one":      {func() error { return errorOf(Open(damaged)) }, false},
		"look":                    {func() error { return closed(OpenToLook(s.Dir)) }, true},
		"look at an old version":  {func() error { return closed(OpenToLook(old)) }, true},
		"look at a later version": {func() error { return errorOf(OpenToLook(later)) }, false},
		"look at a damaged one":   {func() error { return errorOf(OpenToLook(damaged)) }, false},
		"CheckDatabase":           {func() error { return CheckDatabase(s.Dir) }, true},
		"Room":                    {s.Room, true},
		"no Room":                 {(&Store{Dir: full}).Room, false},
		"Lock": {func() error {
			unlock, err := s.Lock()
			unlock()
			return err
		}, true},
		"InUse": {func() error { return errorOf(s.InUse()) }, true},
	} {
		if err := c.do(); (err == nil) != c.succeed {
			t.Errorf("%s: %v", name, err)
		}
		before := count()
		for range 5 {
			_ = c.do()
		}
		if after := count(); after >= before+5 {
			t.Errorf("%s: %d files are open, %d before", name, after, before)
		}
	}
}
