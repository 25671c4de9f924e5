package citations

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

var (
	makeTarget = regexp.MustCompile(`(?m)^([a-z]+):(?: |$)`)
	atCommit   = regexp.MustCompile(`^# [0-9a-f]{7,}\b`)
	pathNamed  = regexp.MustCompile("`(\\.?\\w+/[\\w./]*)`")
	placeNamed = regexp.MustCompile("`([\\w.]+)` in `([\\w./]+)`(?: and `([\\w./]+)`)?")
)

// TestProofs: every command that docs/proofs.md names is a target of the Makefile, and every path
// exists. If the page says that a name is in a file, the file declares it. Each target has a line
// of help, and each package of x/proof has a package comment.
func TestProofs(t *testing.T) {
	page, makefile := read(t, "docs/proofs.md"), read(t, "Makefile")
	targets := found(makeTarget, makefile)
	for _, command := range regexp.MustCompile("`make ([a-z ]+)").FindAllStringSubmatch(page, -1) {
		for _, name := range strings.Fields(command[1]) {
			if !slices.Contains(targets, name) {
				t.Errorf("docs/proofs.md names make %s, which the Makefile does not have", name)
			}
		}
	}

	for _, name := range targets {
		if !regexp.MustCompile(`(?m)^` + name + `:.* ## \w`).MatchString(makefile) {
			t.Errorf("the Makefile does not say what make %s does", name)
		}
	}

	for _, name := range found(pathNamed, page) {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("docs/proofs.md names %s, which does not exist", name)
		}
	}

	places := placeNamed.FindAllStringSubmatch(page, -1)
	for _, place := range places {
		for _, file := range place[2:] {
			if file != "" && !slices.Contains(declared(t, file), place[1]) {
				t.Errorf("docs/proofs.md: %s does not declare %s", file, place[1])
			}
		}
	}

	packages := packagesBelow(t, "x/proof")
	for _, pkg := range packages {
		if !hasComment(t, pkg) {
			t.Errorf("package %s has no comment", pkg)
		}
	}

	if len(targets) < 15 || len(packages) < 15 || len(places) < 4 {
		t.Errorf("%d targets, %d packages and %d places were found: something is not read", len(targets), len(packages), len(places))
	}
}

// declared returns the names that a file declares, methods as Type.Method.
func declared(t *testing.T, file string) (names []string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	must.OK(t, err)
	for _, decl := range parsed.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			name := decl.Name.Name
			if decl.Recv != nil {
				name = strings.TrimPrefix(types.ExprString(decl.Recv.List[0].Type), "*") + "." + name
			}
			names = append(names, name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// hasComment reports whether a file of the folder has a package comment.
func hasComment(t *testing.T, folder string) bool {
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	must.OK(t, err)
	return slices.ContainsFunc(files, func(file string) bool {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		must.OK(t, err)
		return parsed.Doc != nil
	})
}

// TestSteps: the workflow takes its jobs from the list that .ci/run runs, each with its own cache,
// and each of their commands exists.
func TestSteps(t *testing.T) {
	workflow, list, targets := read(t, ".github/workflows/check.yml"), read(t, ".ci/steps"), found(makeTarget, read(t, "Makefile"))
	for _, want := range []string{
		"$(.ci/run --names)",
		"fromJSON(needs.steps.outputs.names)",
		"key: go-${{ matrix.step }}-",
		`- run: .ci/run "${{ matrix.step }}"`,
	} {
		if !strings.Contains(workflow, want) {
			t.Errorf("check.yml has no %s", want)
		}
	}

	steps := 0
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		steps++

		parts := strings.Split(line, "|")
		for _, command := range regexp.MustCompile(`make ([a-z ]+)`).FindAllStringSubmatch(parts[len(parts)-1], -1) {
			for _, target := range strings.Fields(command[1]) {
				if !slices.Contains(targets, target) {
					t.Errorf(".ci/steps: %q: no target %s", line, target)
				}
			}
		}
	}

	if steps < 10 {
		t.Errorf("only %d steps", steps)
	}
}

// TestResults: each file of results names its command, and the commit and the time of its run.
func TestResults(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "results", "*.txt"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		lines := strings.SplitN(read(t, "docs/results/"+filepath.Base(file)), "\n", 4)
		if len(lines) < 4 || !strings.HasPrefix(lines[0], "$ ") || !atCommit.MatchString(lines[1]) || strings.TrimSpace(lines[3]) == "" {
			t.Errorf("%s: want a line with the command, one with the commit and the time, and figures", filepath.Base(file))
		}
	}
}

// found returns the text of the first group of each match, without repetitions.
func found(pattern *regexp.Regexp, text string) []string {
	set := map[string]bool{}
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		set[m[1]] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// packagesBelow returns the folders with Go files: the given folder and those below it.
func packagesBelow(t *testing.T, folder string) []string {
	t.Helper()
	set := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, folder), func(file string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return filepath.SkipDir
		case filepath.Ext(file) == ".go":
			rel, err := filepath.Rel(root, file)
			set[path.Dir(filepath.ToSlash(rel))] = true
			return err
		}
		return nil
	})
	must.OK(t, err)
	return slices.Sorted(maps.Keys(set))
}
