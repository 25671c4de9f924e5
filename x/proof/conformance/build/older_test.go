package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
)

// TestOlder runs the tests that need the controllers of an older release. They are about
// divergences that the newest release no longer has, and about gates that it has removed.
func TestOlder(t *testing.T) {
	for pkg, tests := range map[string]string{".": "^TestDivergences$", "./gates": ".", "./e2e": "^TestOldServer$"} {
		t.Run(pkg, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "older.test")
			must.OK(t, build(release.V136(), "", pkg, binary))
			cmd := exec.Command(binary, "-test.run="+tests)
			cmd.Dir = filepath.Join("..", pkg)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
