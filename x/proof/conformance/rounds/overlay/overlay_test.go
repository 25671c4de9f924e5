package overlay

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// Concurrent builds with different module caches have links to their own folders.
func TestLinkTo(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())

	var group sync.WaitGroup
	defer group.Wait()
	for _, cache := range []string{t.TempDir(), t.TempDir()} {
		dir := filepath.Join(cache, "kubernetes@v1")
		must.OK(t, os.Mkdir(dir, 0o755))
		for range 10 {
			group.Add(1)
			go func() {
				defer group.Done()
				for range 20 {
					link, err := linkTo(dir)
					if err != nil {
						t.Error(err)
						continue
					}
					if to, err := os.Readlink(link); to != dir {
						t.Errorf("%s leads to %q, want %s: %v", link, to, dir, err)
					}
				}
			}()
		}
	}
}
