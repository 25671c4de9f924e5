package citations

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// TestCompatibility: the table of docs/compatibility.md has the versions of the adapter's go.mod
// and newest.mod.
func TestCompatibility(t *testing.T) {
	version := func(mod, of string) string {
		found := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(of) + ` v?(\S+)`).FindStringSubmatch(read(t, mod))
		if found == nil {
			t.Fatalf("%s does not name %s", mod, of)
		}
		return found[1]
	}
	minor := func(v string) string { return strings.Join(strings.Split(v, ".")[:2], ".") }
	table := read(t, "docs/compatibility.md")
	for _, row := range []string{
		"| Go, library and adapter | " + minor(version("go.mod", "go")) + " | ",
		"| Go, library and adapter | " + minor(version("x/kubernetes/go.mod", "go")) + " | ",
		"| k8s.io/api, apimachinery, client-go | " + version("x/kubernetes/go.mod", "k8s.io/client-go") + " | " + version("x/kubernetes/newest.mod", "k8s.io/client-go") + " |",
		"| sigs.k8s.io/controller-runtime | " + version("x/kubernetes/go.mod", "sigs.k8s.io/controller-runtime") + " | " + version("x/kubernetes/newest.mod", "sigs.k8s.io/controller-runtime") + " |",
	} {
		if !strings.Contains(table, row) {
			t.Errorf("docs/compatibility.md has no row %q", row)
		}
	}
}

// TestInterfaces compares the interfaces of the published packages with the table in
// docs/compatibility.md. The methods of these interfaces never change: a later method goes into an
// optional interface. The package comment must say so.
func TestInterfaces(t *testing.T) {
	_, text, found := strings.Cut(read(t, "docs/compatibility.md"), "## Interfaces\n")
	if !found {
		t.Fatal("docs/compatibility.md has no interfaces")
	}
	documented := map[string]bool{}
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "| `") && len(cells) == 5 {
			documented[cells[1]+"|"+cells[2]] = true
		}
	}

	folders := map[string]bool{}
	for row, folder := range interfaces(t) {
		if !documented[row] {
			t.Errorf("docs/compatibility.md lacks the interface |%s|. If it has got a method, make that an optional interface", row)
		}
		delete(documented, row)
		folders[folder] = true
	}
	for row := range documented {
		t.Errorf("docs/compatibility.md has an interface that the code lacks: |%s|", row)
	}
	for folder := range folders {
		if doc := packageComment(t, folder); !strings.Contains(doc, "optional interface") {
			t.Errorf("%s: the package comment does not say that its interfaces get no methods", folder)
		}
	}
}

// interfaces returns a row for each exported interface of a published package, with its folder.
// Constraints on types are left out.
func interfaces(t *testing.T) map[string]string {
	t.Helper()
	rows := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(unpublished, d.Name()), d.IsDir() && strings.HasPrefix(d.Name(), ".g"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}

		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}

		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if of, ok := spec.Type.(*ast.InterfaceType); ok && spec.Name.IsExported() {
				if methods := methodsOf(of); methods != "" {
					folder := filepath.ToSlash(filepath.Dir(rel))
					rows[" `"+folder+"."+spec.Name.Name+"` | "+methods+" "] = folder
				}
			}
			return false
		})
		return nil
	})
	must.OK(t, err)

	return rows
}

// unpublished are folders that no program imports.
var unpublished = []string{"internal", "examples", "cmd", "proof", "testdata"}

// methodsOf lists the methods and the embedded interfaces of an interface, or returns "" for a
// constraint.
func methodsOf(of *ast.InterfaceType) string {
	var all []string
	for _, f := range of.Methods.List {
		embedded := f.Type
		if generic, ok := embedded.(*ast.IndexExpr); ok {
			embedded = generic.X
		}
		switch embedded := embedded.(type) {
		case *ast.FuncType:
			all = append(all, "`"+f.Names[0].Name+"`")
		case *ast.Ident:
			all = append(all, "`"+embedded.Name+"`")
		case *ast.SelectorExpr:
			all = append(all, "`"+embedded.X.(*ast.Ident).Name+"."+embedded.Sel.Name+"`")
		default:
			return "" // a union or ~T
		}
	}
	return strings.Join(all, ", ")
}

// packageComment returns the package comments of a folder.
func packageComment(t *testing.T, folder string) (doc string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	must.OK(t, err)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		must.OK(t, err)
		doc += strings.Join(strings.Fields(file.Doc.Text()), " ")
	}
	return doc
}
