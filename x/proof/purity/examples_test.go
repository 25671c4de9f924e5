package purity

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// TestExamplesAreShort keeps the examples short enough to read: it limits the lines of Go of each
// folder of examples, without tests, imports, comments and blank lines.
func TestExamplesAreShort(t *testing.T) {
	// examples/database has jobs and schedules on two databases. examples/kubernetes has three cron
	// controllers with their types and statuses, and a controller of jobs.
	limits := map[string]int{"database": 840, "kubernetes": 530}
	lines := map[string]int{}
	for _, file := range sources(t) {
		if parts := strings.Split(file, "/"); parts[0] == "examples" {
			lines[parts[1]] += linesOfCode(t, file)
		}
	}
	for name, n := range lines {
		limit := limits[name]
		if limit == 0 {
			limit = 250
		}
		if n > limit {
			t.Errorf("examples/%s has %d lines, want %d at most", name, n, limit)
		}
	}
	if lines["database"] < 100 || lines["story"] < 50 {
		t.Errorf("lines %v: something is not counted", lines)
	}
}

func linesOfCode(t *testing.T, name string) (n int) {
	t.Helper()
	file, err := os.Open(filepath.Join(root, name))
	must.OK(t, err)
	defer file.Close()
	imports := false
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		line := strings.TrimSpace(scanner.Text())
		imports = imports || line == "import ("
		if !imports && line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "import ") {
			n++
		}
		imports = imports && line != ")"
	}
	must.OK(t, scanner.Err())
	return n
}
