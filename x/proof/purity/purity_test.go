package purity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

const module = "github.com/batchplan/batchplan"

// root is the module's folder, relative to this package's.
var root = filepath.Join("..", "..", "..")

// pure lists the packages that are checked and, for each of them, the other modules that it may
// import, directly or not.
var pure = []struct {
	dir     string
	modules []string
}{
	{"job", nil},
	{"cronjob", []string{"github.com/robfig/cron/v3"}},
	{"backoff", nil},
	{"job/release", nil},
	{"job/jobstatus", nil},
	{"job/jobadmit", nil},
	{"schedule", []string{"github.com/robfig/cron/v3"}},
	{"expectations", nil},
	{"internal/indexset", nil},
	{"internal/line", nil},
	{"internal/jobrules", nil},
	{"internal/problems", nil},
	{"internal/object", nil},
	{"internal/stored", nil},
	{"internal/value", nil},
	{"internal/enum", nil},
	{"job/jobcheck", nil},
	{"cronjob/cronjobcheck", []string{"github.com/robfig/cron/v3"}},
	{"job/jobgroup", nil},
	{"job/jobpod", nil},
	{"job/jobquirk", nil},
	{"job/jobreason", nil},
	{"cronjob/cronjobquirk", nil},
	{"cronjob/cronjobreason", nil},
}

// acting lists the other packages of the module. A package that decides belongs in
// pure.
var acting = []struct{ dir, reason string }{
	{"job/jobapply", "carries plans out"},
	{"cronjob/cronjobapply", "carries plans out"},
	{"examples/jobset", "writes to a backend"},
	{"examples/story", "prints stories"},
	{"examples/study", "prints a comparison"},
	{"examples/tasks", "writes to a service"},
	{"internal/golden", "plays stories in tests"},
	{"internal/share", "has flags and files, for the commands"},
	{"internal/testfile", "reads and writes the files of tests"},
	{"internal/must", "ends tests"},
	{"internal/intact", "finds memory that is shared, for tests"},
	{"internal/specgen", "draws specs for tests"},
	{"internal/step", "makes the calls of executors"},
	{"internal/cronjobgen", "draws what tests begin with"},
	{"cronjob/cronjobtest", "tests the programs of importers"},
	{"internal/kittest", "is what the tests of the kits share"},
	{"internal/life", "is the life that both test kits play"},
	{"internal/jobgen", "draws what tests begin with"},
	{"job/jobtest", "tests the programs of importers"},
	{"x/sim", "simulates clusters on all cores"},
	{"x/trace", "reads logs"},
	{"internal/world", "is a backend in memory"},
}

// exemptions lists what a file may do nevertheless.
var exemptions = []struct{ file, what, reason string }{
	{"expectations/tracker.go", "import sync", "the tracker is for adapters; no planner uses it"},
	{"schedule/load.go", "time.LoadLocation", "loading a zone happens once, outside of the rounds, in this file alone"},
	{"schedule/calendar.go", "var calendar", "tables of the calendar, filled before anything is called and only read"},
	{"schedule/pattern.go", "address of var calendar", "reads a row of those tables without copying it"},
}

func TestSourcesArePure(t *testing.T) {
	used := map[int]bool{}
	for _, p := range pure {
		t.Run(p.dir, func(t *testing.T) {
			for _, problem := range checkPackage(t, p.dir) {
				if i := exempt(problem); i >= 0 {
					used[i] = true
					continue
				}
				t.Error(problem)
			}
		})
	}
	for i, e := range exemptions {
		if !used[i] {
			t.Errorf("nothing needs the exemption of %s in %s", e.what, e.file)
		}
	}
}

func TestDependencies(t *testing.T) {
	for _, p := range pure {
		t.Run(p.dir, func(t *testing.T) {
			allowed := append([]string{module}, p.modules...)
			for _, dep := range list(t, "./"+p.dir) {
				if !dep.Standard && (dep.Module == nil || !slices.Contains(allowed, dep.Module.Path)) {
					t.Errorf("reaches %s", dep.ImportPath)
				}
			}
		})
	}
}

// A renamed or new package must not escape the checks.
func TestEveryPackageIsListed(t *testing.T) {
	var want []string
	for _, p := range pure {
		want = append(want, p.dir)
	}
	for _, a := range acting {
		want = append(want, a.dir)
	}
	slices.Sort(want)
	var got []string
	for path := range strings.FieldsSeq(string(goCommand(t, "list", "./..."))) {
		got = append(got, strings.TrimPrefix(path, module+"/"))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the module has %q, this test lists %q", got, want)
	}
}

// TestModuleRequiresThreeOthers keeps the module's users from inheriting further modules.
func TestModuleRequiresThreeOthers(t *testing.T) {
	got := strings.Fields(string(goCommand(t, "list", "-m", "-f", "{{.Path}}", "all")))
	want := []string{module, "github.com/google/go-cmp", "github.com/robfig/cron/v3", "pgregory.net/rapid"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func exempt(p problem) int {
	file := filepath.ToSlash(p.pos.Filename)
	for i, e := range exemptions {
		if strings.HasSuffix(file, "/"+e.file) && p.what == e.what {
			return i
		}
	}
	return -1
}

// pkg is the go command's description of a package.
type pkg struct {
	Dir, ImportPath, Export              string
	Standard, DepOnly                    bool
	Module                               *struct{ Path string }
	GoFiles, CgoFiles, IgnoredGoFiles    []string
	SFiles, CFiles, SysoFiles, SwigFiles []string
	Error                                *struct{ Err string }
}

// list returns the packages that the patterns name, and the packages that those import, directly or
// not.
func list(t *testing.T, patterns ...string) []pkg {
	t.Helper()
	args := append([]string{"list", "-e", "-export", "-deps", "-json"}, patterns...)
	var pkgs []pkg
	for decoder := json.NewDecoder(bytes.NewReader(goCommand(t, args...))); ; {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		must.OK(t, err)
		if p.Error != nil {
			t.Fatalf("%s: %s", p.ImportPath, p.Error.Err)
		}
		pkgs = append(pkgs, p)
	}
}

func goCommand(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return out
}

// checkPackage checks the sources of the package in dir, for all systems.
func checkPackage(t *testing.T, dir string) []problem {
	t.Helper()
	pkgs := list(t, "./"+dir)
	p := pkgs[len(pkgs)-1] // the dependencies come first
	for _, other := range [][]string{p.CgoFiles, p.IgnoredGoFiles, p.SFiles, p.CFiles, p.SysoFiles, p.SwigFiles} {
		for _, file := range other {
			if !strings.HasSuffix(file, "_test.go") {
				t.Errorf("%s: not seen by this check", file)
			}
		}
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		must.OK(t, err)
		files = append(files, f)
	}
	return check(fset, files, typesOf(t, fset, p.ImportPath, files, pkgs))
}

// typesOf checks the types of the files; pkgs hold what they import.
func typesOf(t *testing.T, fset *token.FileSet, path string, files []*ast.File, pkgs []pkg) *types.Info {
	t.Helper()

	exports := map[string]string{}
	for _, p := range pkgs {
		exports[p.ImportPath] = p.Export
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("%s was not compiled", path)
		}
		return os.Open(exports[path])
	}

	info := &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}

	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	if _, err := config.Check(path, fset, files, info); err != nil {
		t.Fatal(err)
	}
	return info
}
