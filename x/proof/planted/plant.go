package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A function that some bug changes is compiled several times: as it is, and once for each bug. A
// function with the old name calls the variant of the bug that the environment names. So one build
// holds all bugs, and the working tree never changes.

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

	replace := make(map[string]string)
	write := func(file, text string) error {
		to := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		replace[file] = to
		return os.WriteFile(to, []byte(text), 0o644)
	}

	for _, file := range slices.Sorted(maps.Keys(files)) {
		path, err := filepath.Abs(filepath.FromSlash(file))
		if err != nil {
			return "", err
		}

		p := files[file]
		if err := write(path, p.text()); err != nil {
			return "", err
		}

		choice := filepath.Join(filepath.Dir(path), "planted_bug.go")
		if strings.HasSuffix(file, "_test.go") {
			choice = filepath.Join(filepath.Dir(path), "planted_bug_test.go")
		}
		if replace[choice] == "" {
			text := fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar plantedBug = os.Getenv(%q)\n", p.name, environment)
			if err := write(choice, text); err != nil {
				return "", err
			}
		}
	}

	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o644)
}

// planted is a file with the functions that bugs change.
type planted struct {
	name      string // of the package
	source    string
	functions []function
	// variants holds the texts of the changed functions, by the number of the bug and the index of
	// the function.
	variants map[string]map[int]string
}

// function is a function of a file: its place in the text, and the parts of its text.
type function struct {
	from, to                       int
	receiver, params, results, key string
	names                          []string // the arguments of a call to a variant
}

// plant adds a bug to the files that it changes.
func plant(b *bug, files map[string]*planted) error {
	changed := make(map[string]string)
	for _, e := range b.edits {
		p := files[e.file]
		if p == nil {
			source, err := os.ReadFile(filepath.FromSlash(e.file))
			if err != nil {
				return err
			}
			p = &planted{source: string(source), variants: make(map[string]map[int]string)}
			if p.name, p.functions, err = functionsOf(p.source); err != nil {
				return err
			}
			files[e.file] = p
		}

		text, ok := changed[e.file]
		if !ok {
			text = p.source
		}
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

// add adds the functions that a bug changes.
func (p *planted) add(number, text string) error {
	_, functions, err := functionsOf(text)
	if err != nil {
		return err
	}

	if len(functions) != len(p.functions) {
		return fmt.Errorf("%d functions instead of %d", len(functions), len(p.functions))
	}

	variants := make(map[int]string)
	for i, f := range functions {
		was := p.functions[i]
		if f.key != was.key || f.params != was.params || f.results != was.results {
			return fmt.Errorf("the signature of %s changes", was.key)
		}
		if is := text[f.from:f.to]; is != p.source[was.from:was.to] {
			variants[i] = is
		}
	}

	if len(variants) == 0 {
		return fmt.Errorf("no function changes")
	}
	p.variants[number] = variants
	return nil
}

// text returns the file with all variants.
func (p *planted) text() string {
	var out strings.Builder
	at := 0
	for i, f := range p.functions {
		var bugs []string
		for number, variants := range p.variants {
			if variants[i] != "" {
				bugs = append(bugs, number)
			}
		}
		if len(bugs) == 0 {
			continue
		}

		slices.Sort(bugs)
		out.WriteString(p.source[at:f.from])
		at = f.to
		out.WriteString(f.renamed(p.source[f.from:f.to], "Right"))
		for _, number := range bugs {
			out.WriteString("\n\n" + f.renamed(p.variants[number][i], number))
		}
		out.WriteString("\n\n" + f.chooser(bugs))
	}

	out.WriteString(p.source[at:])
	return out.String()
}

// renamed returns the text of a function under a new name.
func (f *function) renamed(text, suffix string) string {
	name := f.name()
	head := "func " + name
	if f.receiver != "" {
		head = "func (" + f.receiver + ") " + name
	}
	receiver := strings.TrimSuffix(strings.TrimPrefix(head, "func "), name)
	return "func " + receiver + name + "Planted" + suffix + strings.TrimPrefix(text, head)
}

// chooser returns a function with the old name. It calls one of the variants.
func (f *function) chooser(bugs []string) string {
	var out strings.Builder

	call, head, before := f.name(), "func ", ""
	if f.receiver != "" {
		_, kind, _ := strings.Cut(f.receiver, " ")
		if kind == "" {
			kind = f.receiver
		}
		head, before = "func (planted "+kind+") ", "planted."
	}

	fmt.Fprintf(&out, "%s%s(%s) %s {\n", head, call, f.params, f.results)

	line := func(suffix string) {
		text := fmt.Sprintf("%s%sPlanted%s(%s)", before, call, suffix, strings.Join(f.names, ", "))
		if f.results != "" {
			text = "return " + text
		}
		out.WriteString("\t\t" + text + "\n")
	}

	out.WriteString("\tswitch plantedBug {\n")
	for _, number := range bugs {
		fmt.Fprintf(&out, "\tcase %q:\n", number)
		line(number)
		if f.results == "" {
			out.WriteString("\t\treturn\n")
		}
	}
	out.WriteString("\t}\n")
	line("Right")
	out.WriteString("}")
	return out.String()
}

func (f *function) name() string { return f.key[strings.LastIndex(f.key, ".")+1:] }

// functionsOf returns the name of a file's package, and its functions in their order.
func functionsOf(source string) (name string, all []function, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
	if err != nil {
		return "", nil, err
	}

	at := func(p token.Pos) int { return set.Position(p).Offset }
	for _, d := range file.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}

		f := function{from: at(d.Pos()), to: at(d.End()), key: d.Name.Name}
		if d.Doc != nil {
			f.from = at(d.Type.Func)
		}

		text := func(from, to token.Pos) string { return source[at(from):at(to)] }
		if d.Recv != nil {
			f.receiver = text(d.Recv.Opening+1, d.Recv.Closing)
			f.key = f.receiver + "." + f.key
		}
		if d.Type.Results != nil {
			f.results = text(d.Type.Results.Pos(), d.Type.Results.End())
		}

		var params []string
		for _, field := range d.Type.Params.List {
			for range max(len(field.Names), 1) {
				argument := fmt.Sprintf("planted%d", len(params))
				params = append(params, argument+" "+text(field.Type.Pos(), field.Type.End()))
				if _, variadic := field.Type.(*ast.Ellipsis); variadic {
					argument += "..."
				}
				f.names = append(f.names, argument)
			}
		}

		f.params = strings.Join(params, ", ")
		all = append(all, f)
	}
	return file.Name.Name, all, nil
}
