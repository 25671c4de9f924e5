package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

const root = "../../../"

// tableRow is a row of docs/divergences.md.
type tableRow struct{ section, name, option string }

// shown are the sections whose rows need cases.
var shown = []string{"What differs by default", "Schedules", "CronJobs", "What options add"}

// tableRows reads the tables: the first column is the row's name, the last its option.
func tableRows(t *testing.T) (rows []tableRow) {
	text, err := os.ReadFile(root + "docs/divergences.md")
	must.OK(t, err)
	section := ""
	for _, line := range strings.Split(string(text), "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = title
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !slices.Contains(shown, section) || !strings.HasPrefix(line, "|") || cells[0] == "Case" || cells[0] == "Wish" || strings.HasPrefix(cells[0], "--") {
			continue
		}
		rows = append(rows, tableRow{section, cells[0], cells[len(cells)-1]})
	}
	return rows
}

// TestDivergencesAreDocumented compares the tables with the cases. Each row has a case, or a reason
// why no case can show it, and each case has its row.
func TestDivergencesAreDocumented(t *testing.T) {
	cases := map[string][]*divergence{}
	for _, d := range divergences() {
		cases[d.row] = append(cases[d.row], d)
	}
	for _, row := range tableRows(t) {
		if cases[row.name] == nil {
			t.Errorf("%s: no case shows %q", row.section, row.name)
		}
		for _, d := range cases[row.name] {
			if d.look != nil && !d.besides && (d.quirk == nil) != strings.HasPrefix(row.option, "–") {
				t.Errorf("%s: %q has the option %s, and its case does not agree", row.section, row.name, row.option)
			}
		}
		delete(cases, row.name)
	}
	for row := range cases {
		t.Errorf("no row is called %q", row)
	}
}

var optionName = regexp.MustCompile("`([A-Za-z0-9.]+)`")

// TestDivergencesNameOptions compares the last columns with the source: all names
// exist, and every quirk and every option is named.
func TestDivergencesNameOptions(t *testing.T) {
	declared := map[string]bool{}
	for _, pkg := range [...]string{"job", "job/jobquirk", "cronjob", "cronjob/cronjobquirk", "schedule"} {
		for name := range declaredIn(t, pkg) {
			declared[name] = true
		}
	}

	named := map[string]bool{}
	for _, row := range tableRows(t) {
		for _, m := range optionName.FindAllStringSubmatch(row.option, -1) {
			name := m[1]
			pkg, rest, ok := strings.Cut(name, ".")
			if !ok || strings.ToLower(pkg) != pkg {
				pkg, rest = "", name
			}

			found := false
			for d := range declared {
				of, is, _ := strings.Cut(d, ".")
				if (pkg == "" || pkg == of) && (rest == is || "Options."+rest == is) {
					found, named[d] = true, true
				}
			}
			if !found {
				t.Errorf("%q: nothing is called %s", row.name, name)
			}
		}
	}

	about := []string{"Quirk", "Set", "SetOf", "Of"} // not quirks themselves
	for full := range declared {
		pkg, name, _ := strings.Cut(full, ".")
		isQuirk := strings.HasSuffix(pkg, "quirk") && !strings.Contains(name, ".") && !slices.Contains(about, name)
		isOption := strings.HasPrefix(name, "Options.") && name != "Options.Quirks"
		if (isQuirk || isOption) && !named["job."+name] && !named["cronjob."+name] && !named[full] {
			t.Errorf("no row names %s", full)
		}
	}
}

// declaredIn returns what a package exports: "job.Kubernetes", "job.Options.Backoff".
func declaredIn(t *testing.T, dir string) map[string]bool {
	pkg := path.Base(dir)
	paths, err := filepath.Glob(root + dir + "/*.go")
	must.OK(t, err)
	names := map[string]bool{}
	for _, file := range paths {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		must.OK(t, err)
		for _, d := range parsed.Decls {
			addNames(names, pkg, d)
		}
	}
	return names
}

func addNames(names map[string]bool, pkg string, d ast.Decl) {
	add := func(prefix string, idents ...*ast.Ident) {
		for _, i := range idents {
			if i.IsExported() {
				names[pkg+"."+prefix+i.Name] = true
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add("", d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				add("", s.Names...)
			case *ast.TypeSpec:
				add("", s.Name)
				if fields, ok := s.Type.(*ast.StructType); ok {
					for _, f := range fields.Fields.List {
						add(s.Name.Name+".", f.Names...)
					}
				}
			}
		}
	}
}
