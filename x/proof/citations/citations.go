package citations

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// id is the number of a rule, an invariant, a bug, a fault or a calendar case.
type id struct {
	family string
	number int
}

func (i id) String() string { return i.family + strconv.Itoa(i.number) }

// families are the letters before the numbers: first the letters of rules, in the order of
// docs/rules.md, and then all others.
var families = []string{"J", "E", "T", "C", "S", "B", "JI", "L", "CI", "CL", "TI", "N", "M", "F", "D", "Y", "CJ"}

// rules is the number of families that hold rules.
const rules = 6

func (i id) isRule() bool { return slices.Index(families, i.family) < rules }

func compareIDs(a, b id) int {
	return cmp.Or(
		cmp.Compare(slices.Index(families, a.family), slices.Index(families, b.family)),
		cmp.Compare(a.number, b.number),
	)
}

const pattern = `(JI|CI|CL|TI|CJ|[JETCSBLNMFDY])([1-9][0-9]?)`

var (
	definition = regexp.MustCompile(`(?m)^(?:- (?:\*\*)?|\| )` + pattern + `(?:\*\*)?(?: \|)?`)
	mention    = regexp.MustCompile(`\b` + pattern + `\b`)
	testName   = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)` + pattern + `_`)
	caseName   = regexp.MustCompile(`^` + pattern + `(?:[ ,:(]|$)`)
)

func newID(match []string) id {
	n, _ := strconv.Atoi(match[2]) // the pattern admits digits only
	return id{match[1], n}
}

// definitions returns the numbers that a document defines, in order. An item or a table row defines
// the number with which it begins.
func definitions(text string) (ids []id) {
	for _, m := range definition.FindAllStringSubmatch(text, -1) {
		ids = append(ids, newID(m))
	}
	return ids
}

// citation is one mention of a number.
type citation struct {
	id id
	// file is relative to the root of the module.
	file string
	line int
	// function is the function that the mention belongs to, or "".
	function string
	// test is true in a test file or a story.
	test bool
}

// scan returns the citations of all sources, stories and documents below root,
// nested modules included, in the order of the files.
func scan(root string) (all []citation, err error) {
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); file != root && (strings.HasPrefix(name, ".") || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		found, err := scanFile(file, filepath.ToSlash(rel))
		all = append(all, found...)
		return err
	})
	return all, err
}

func scanFile(file, rel string) ([]citation, error) {
	ext := path.Ext(rel)
	story := ext == ".txt" && strings.Contains(rel, "testdata/")
	switch {
	case ext == ".go":
		return scanGo(file, rel)
	case ext != ".md" && !story:
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var found []citation
	for n, line := range strings.Split(string(text), "\n") {
		if story && !strings.HasPrefix(line, "#") {
			continue
		}
		for _, m := range mention.FindAllStringSubmatch(line, -1) {
			found = append(found, citation{id: newID(m), file: rel, line: n + 1, test: story})
		}
	}
	return found, nil
}

// scanGo reads the comments and the names of tests. In tests it also reads the
// strings that begin with a number: these are names of cases.
func scanGo(file, rel string) ([]citation, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	test := strings.HasSuffix(rel, "_test.go")
	var found []citation
	add := func(pos token.Pos, m []string) {
		found = append(found, citation{
			id: newID(m), file: rel, line: fset.Position(pos).Line, function: functionAt(parsed, pos), test: test,
		})
	}
	for _, group := range parsed.Comments {
		for _, m := range mention.FindAllStringSubmatch(group.Text(), -1) {
			add(group.Pos(), m)
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if m := testName.FindStringSubmatch(n.Name.Name); m != nil && test {
				add(n.Pos(), m)
			}
		case *ast.BasicLit:
			if !test || n.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(n.Value)
			if m := caseName.FindStringSubmatch(text); err == nil && m != nil {
				add(n.Pos(), m)
			}
		}
		return true
	})
	return found, nil
}

// functionAt returns the name of the function whose doc comment or body holds pos.
func functionAt(file *ast.File, pos token.Pos) string {
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		start := fn.Pos()
		if fn.Doc != nil {
			start = fn.Doc.Pos()
		}
		if start <= pos && pos < fn.End() {
			return fn.Name.Name
		}
	}
	return ""
}

// index returns the table of docs/rules_index.txt: for each rule the functions that decide it and
// the tests and stories that cite it.
func index(defined []id, all []citation) string {
	var b strings.Builder
	b.WriteString("| rule | decided in | tests and stories |\n|---|---|---|\n")
	for _, rule := range defined {
		if !rule.isRule() {
			continue
		}
		var functions, tests []string
		for _, c := range all {
			switch {
			case c.id != rule || !isPlanning(c.file):
			case c.test:
				tests = append(tests, testOf(c))
			case c.function != "" && c.function != "Reconcile": // its doc comment lists all rules
				functions = append(functions, "`"+c.file+": "+c.function+"`")
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", rule, list(functions), list(tests))
	}
	return b.String()
}

// isPlanning reports whether the file belongs to a package that decides or
// carries out plans.
func isPlanning(file string) bool {
	for _, dir := range []string{"job/", "cronjob/", "schedule/", "backoff/", "expectations/", "internal/jobrules/"} {
		if strings.HasPrefix(file, dir) {
			return true
		}
	}
	return false
}

// testOf names a test by its function, and a story by its path without the
// folder of the package's testdata.
func testOf(c citation) string {
	if _, story, ok := strings.Cut(c.file, "testdata/"); ok {
		return strings.TrimSuffix(story, ".txt")
	}
	if c.function != "" {
		return "`" + c.function + "`"
	}
	return "`" + c.file + "`"
}

// list joins the distinct names, in order.
func list(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
