package citations

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// The limits of CONTRIBUTING.md: columns, where a tab counts as 4, and operands of a condition.
const (
	maxColumns  = 120
	maxOperands = 3
)

// unlaid lists the folders that do not keep the limits yet. A folder that has left the list must
// not return to it.
var unlaid = []string{"examples"}

// tables lists the folders of tables, where each row is one line.
var tables = []string{"internal/specgen", "x/cmd/internal/manifest/mistakes"}

// TestLayout checks the lines and the conditions of the code that is not a test.
func TestLayout(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch name = filepath.ToSlash(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}

		folder := filepath.ToSlash(filepath.Dir(name))
		if slices.ContainsFunc(unlaid, func(of string) bool { return isIn(folder, of) }) {
			return nil
		}
		checked++
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		if !slices.Contains(tables, folder) {
			for _, line := range wideLines(source) {
				t.Errorf("%s:%d: more than %d columns", name, line, maxColumns)
			}
		}
		for _, line := range crowdedConditions(t, name, source) {
			t.Errorf("%s:%d: a condition of more than %d operands: name parts of it, or give each operand a line",
				name, line, maxOperands)
		}
		return nil
	})
	if err != nil || checked < 100 {
		t.Errorf("%d files were checked: %v", checked, err)
	}
}

// isIn reports whether a folder is parent or is below it. The kits below a planner's folder count as
// folders of their own.
func isIn(folder, parent string) bool {
	if parent == "job" || parent == "cronjob" {
		return folder == parent
	}
	return folder == parent || strings.HasPrefix(folder, parent+"/")
}

func wideLines(source []byte) (wide []int) {
	for i, line := range strings.Split(string(source), "\n") {
		if len([]rune(strings.ReplaceAll(line, "\t", "    "))) > maxColumns {
			wide = append(wide, i+1)
		}
	}
	return wide
}

// crowdedConditions returns the lines of conditions with too many operands, unless each operand has
// its own line.
func crowdedConditions(t *testing.T, name string, source []byte) (crowded []int) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	must.OK(t, err)
	line := func(e ast.Expr) int { return files.Position(e.Pos()).Line }
	ast.Inspect(f, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || !isLogical(b) {
			return true
		}

		all := operandsOf(b)
		lines := map[int]bool{}
		for _, operand := range all {
			lines[line(operand)] = true
		}
		if len(all) > maxOperands && len(lines) < len(all) {
			crowded = append(crowded, line(b))
		}
		return false
	})
	return crowded
}

func isLogical(b *ast.BinaryExpr) bool { return b.Op == token.LAND || b.Op == token.LOR }

// operandsOf returns the operands of a condition, also those in brackets.
func operandsOf(e ast.Expr) []ast.Expr {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return operandsOf(x.X)
	case *ast.BinaryExpr:
		if isLogical(x) {
			return append(operandsOf(x.X), operandsOf(x.Y)...)
		}
	}
	return []ast.Expr{e}
}

// TestLayout_Finds checks the check.
func TestLayout_Finds(t *testing.T) {
	source := "package p\n\nfunc f(a, b, c, d bool) bool {\n" +
		"\t_ = a && b && c\n" +
		"\t_ = a && (b || c) && d\n" +
		"\t_ = a &&\n\t\tb &&\n\t\tc &&\n\t\td\n" +
		"\treturn a //" + strings.Repeat(".", maxColumns) + "\n}\n"
	if got := crowdedConditions(t, "p.go", []byte(source)); !slices.Equal(got, []int{5}) {
		t.Errorf("crowded conditions at lines %v, want line 5", got)
	}
	if got := wideLines([]byte(source)); !slices.Equal(got, []int{10}) {
		t.Errorf("wide lines %v, want line 10", got)
	}
}
