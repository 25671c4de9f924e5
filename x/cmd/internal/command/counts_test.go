package command

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/testfile"
)

// TestCounts: no stored answer of a command has a count with a word of the wrong number, as in "1 pods".
func TestCounts(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		isAnswer := strings.Contains(path, "/testdata/") && !strings.Contains(path, "/input/")
		if err != nil || d.IsDir() || !isAnswer || filepath.Ext(path) != ".txt" && !strings.HasSuffix(path, "/want.json") {
			return err
		}
		files++
		for _, wrong := range testfile.WrongCounts(testfile.Read(t, path)) {
			t.Errorf("%s: %q", path, wrong)
		}
		return nil
	})
	if err != nil || files < 150 {
		t.Errorf("%d files, %v", files, err)
	}
}
