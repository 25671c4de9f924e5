package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/x/proof/tools/variants"
)

// A function that some bug changes is compiled several times: as it is, and once for each bug. It
// begins by calling the variant of the bug that the environment names. So one build holds all bugs,
// and the working tree never changes.

// environment is the environment variable that names the bug.
const environment = "PLANTED_BUG"

// plantAll writes the changed files and the overlay that names them.
func plantAll(all []bug, dir string) (overlay string, err error) {
	files := make(map[string]*planted)
	for i := range all {
		if err := plant(&all[i], files); err != nil {
			return "", err
		}
	}

	texts := make(map[string]string)
	for file, p := range files {
		path, err := filepath.Abs(filepath.FromSlash(file))
		if err != nil {
			return "", err
		}
		texts[path] = p.text()

		choice := "planted_bug.go"
		if strings.HasSuffix(file, "_test.go") {
			choice = "planted_bug_test.go"
		}
		texts[filepath.Join(filepath.Dir(path), choice)] = fmt.Sprintf(
			"package %s\n\nimport \"os\"\n\nvar plantedBug = os.Getenv(%q)\n", p.name, environment)
	}
	return variants.Overlay(dir, texts)
}

// planted is a file with the functions that bugs change.
type planted struct {
	name      string // of the package
	source    string
	functions []variants.Function
	// changed holds the changed functions, by the number of the bug and the index of the function.
	changed map[string]map[int]variants.Function
}

// plant adds a bug to the files that it changes.
func plant(b *bug, files map[string]*planted) error {
	changed := make(map[string]string)
	for _, e := range b.edits {
		if files[e.file] == nil {
			source, err := os.ReadFile(filepath.FromSlash(e.file))
			if err != nil {
				return err
			}
			if files[e.file], err = newPlanted(string(source)); err != nil {
				return err
			}
		}

		text := cmp.Or(changed[e.file], files[e.file].source)
		if n := strings.Count(text, e.from); n != 1 {
			return fmt.Errorf("%s: the text occurs %d times in %s, want once:\n%s", b.number, n, e.file, e.from)
		}
		changed[e.file] = strings.Replace(text, e.from, e.to, 1)
	}

	for file, text := range changed {
		if err := files[file].add(b.number, text); err != nil {
			return fmt.Errorf("%s: %s: %w", b.number, file, err)
		}
	}
	return nil
}

func newPlanted(source string) (p *planted, err error) {
	p = &planted{source: source, changed: make(map[string]map[int]variants.Function)}
	p.name, p.functions, err = functionsOf(source)
	return p, err
}

// add adds the functions that a bug changes.
func (p *planted) add(number, text string) error {
	_, functions, err := functionsOf(text)
	if err != nil {
		return err
	}
	if len(functions) != len(p.functions) {
		return fmt.Errorf("%d functions instead of %d", len(functions), len(p.functions))
	}

	changed := make(map[int]variants.Function)
	for i, f := range functions {
		was := p.functions[i]
		if signature(f) != signature(was) {
			return fmt.Errorf("the signature of %s changes", was.Name.Name)
		}
		if f.Source(f.Body) != was.Source(was.Body) {
			changed[i] = f
		}
	}

	if len(changed) == 0 {
		return fmt.Errorf("no function changes")
	}
	p.changed[number] = changed
	return nil
}

// signature returns the text of a function up to its body.
func signature(f variants.Function) string {
	return strings.TrimSuffix(f.Source(f.FuncDecl), f.Source(f.Body))
}

// text returns the file with all variants.
func (p *planted) text() string {
	var edits []variants.Edit
	var copies strings.Builder

	for i, f := range p.functions {
		var bugs []string
		for _, number := range slices.Sorted(maps.Keys(p.changed)) {
			if _, is := p.changed[number][i]; is {
				bugs = append(bugs, number)
			}
		}
		if len(bugs) == 0 {
			continue
		}

		variant := func(number string) string { return f.Name.Name + "Planted" + number }
		edits = append(edits, f.Begin(func(call func(string) string) string {
			text := " switch plantedBug {"
			for _, number := range bugs {
				text += fmt.Sprintf("case %q: %s;", number, call(variant(number)))
				copies.WriteString("\n" + p.changed[number][i].Renamed(variant(number)) + "\n")
			}
			return text + "};"
		})...)
	}
	return variants.Apply(p.source, edits) + copies.String()
}

// functionsOf returns the name of a file's package, and its functions in their order.
func functionsOf(source string) (name string, all []variants.Function, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
	if err != nil {
		return "", nil, err
	}
	for _, d := range file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			all = append(all, variants.Function{FuncDecl: d, File: set.File(file.FileStart), Text: source})
		}
	}
	return file.Name.Name, all, nil
}
