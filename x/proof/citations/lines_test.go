package citations

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/testfile"
)

// TestLines: the tables of x/kubernetes/README.md have the right numbers of lines of the example
// controllers and tests. A controller of jobs has at most 80 lines, and a controller of a schedule
// at most 40.
func TestLines(t *testing.T) {
	data := testfile.Read(t, "../../kubernetes/README.md")
	rows := regexp.MustCompile(`(?m)^\| \[(examples/[^]]+)\]\(\.\./\.\./([^)]+)\).* \| (\d+) \|$`).FindAllStringSubmatch(data, -1)
	for _, row := range rows {
		if row[1] != row[2] {
			t.Errorf("the row of %s leads to %s", row[1], row[2])
		}
		source, err := os.ReadFile(filepath.Join(root, row[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		limit := 40
		if strings.HasPrefix(row[1], "examples/kubernetes/render/") {
			limit = 80
		}
		switch n := linesOf(source); {
		case strconv.Itoa(n) != row[3]:
			t.Errorf("%s has %d lines, the table says %s", row[1], n, row[3])
		case n > limit:
			t.Errorf("%s has %d lines, more than %d", row[1], n, limit)
		}
	}
	if len(rows) != 4 {
		t.Errorf("%d rows, want 4", len(rows))
	}
	histories := regexp.MustCompile("`(report|snapshot|plan)` (Test\\w+)").FindAllStringSubmatch(data, -1)
	for _, h := range histories {
		tests, err := os.ReadFile(filepath.Join("../../../examples/kubernetes/crons", h[1], "main_test.go"))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(tests), "func "+h[2]+"(t *testing.T) {") {
			t.Errorf("examples/kubernetes/crons/%s has no %s", h[1], h[2])
		}
	}
	if len(histories) != 10 {
		t.Errorf("%d histories, want 10", len(histories))
	}
}

// linesOf counts the lines of a Go file that have something other than comments.
func linesOf(source []byte) int {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return len(lines)
		case tok == token.SEMICOLON && text == "\n": // inserted by the scanner
		default:
			first := file.Line(pos)
			for i := range 1 + strings.Count(text, "\n") {
				lines[first+i] = true
			}
		}
	}
}

func TestLinesOf(t *testing.T) {
	const source = "// A comment.\npackage p\n\nimport (\n\t\"os\" // why\n)\n\n/*\nlong\n*/\nvar a = `x\ny`\n"
	if n := linesOf([]byte(source)); n != 6 {
		t.Errorf("%d lines, want 6", n)
	}
}
