package releases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/job/release"
)

// TestNewestPatches: the go.mod of each minor release names the patch that is meant if only the
// minor release is given.
func TestNewestPatches(t *testing.T) {
	for _, r := range release.All() {
		file := Named("..", r) + ".mod"
		if want := fmt.Sprintf("\tk8s.io/kubernetes v%s\n", r.At(r.Patch())); !strings.Contains(testfile.Read(t, file), want) {
			t.Errorf("%s lacks %q", file, want)
		}
	}
}
