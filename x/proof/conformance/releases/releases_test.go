package releases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/job/release"
)

// TestNewestPatches: if a run names only a minor release, it means the patch that the go.mod of
// this minor release names.
func TestNewestPatches(t *testing.T) {
	for _, r := range release.All() {
		file := Named("..", r) + ".mod"
		if want := fmt.Sprintf("\tk8s.io/kubernetes v%s\n", r.At(r.Patch())); !strings.Contains(testfile.Read(t, file), want) {
			t.Errorf("%s lacks %q", file, want)
		}
	}
}
