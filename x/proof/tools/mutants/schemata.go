package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/x/proof/tools/variants"
)

// functionName returns the name of the function's copy with the mutant. It is not exported, so that
// tests which call all methods of a type do not find it.
func (m *mutant) functionName() string { return fmt.Sprintf("mutant%d_%s", m.id, m.fn.Name.Name) }

// function returns the function that the mutant changes.
func (m *mutant) function() variants.Function {
	return variants.Function{FuncDecl: m.fn, File: m.file.tokens, Text: m.file.text}
}

// copy returns the text of the function with the mutant.
func (m *mutant) copy() string { return m.function().Renamed(m.functionName(), m.edit) }

// parses reports whether the edited code parses.
func (m *mutant) parses() bool {
	text := m.file.with(m.edit)
	if m.fn != nil {
		text = "package p\n" + m.copy()
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	return err == nil
}

// mutants returns all mutants of the package that compile.
func (p *pkg) mutants() ([]*mutant, error) {
	var found []*mutant
	for _, f := range p.files {
		for _, m := range candidates(f) {
			if m.parses() {
				found = append(found, m)
				m.id = len(found)
			}
		}
	}
	wrong := p.mistyped(found)
	return slices.DeleteFunc(found, func(m *mutant) bool {
		isReplaced := m.instead != nil && m.instead.id > 0 && !wrong[m.instead.id]
		return wrong[m.id] || isReplaced
	}), nil
}

// mistyped returns the ids of the mutants that the compiler refuses. Mutants
// of functions are checked all together, mutants of package variables one by one.
func (p *pkg) mistyped(found []*mutant) map[int]bool {
	wrong := map[int]bool{}
	texts := p.instrumented(found)
	_, _ = p.check(texts, func(fset *token.FileSet, syntax map[string]*ast.File, err types.Error) {
		at := fset.Position(err.Pos)
		if id := enclosingMutant(fset, syntax[at.Filename], err.Pos); id > 0 {
			wrong[id] = true
		}
	})
	for _, m := range found {
		if m.fn == nil {
			if _, err := p.check(map[string]string{m.file.path: m.file.with(m.edit)}, nil); err != nil {
				wrong[m.id] = true
			}
		}
	}
	return wrong
}

func enclosingMutant(fset *token.FileSet, f *ast.File, pos token.Pos) int {
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || pos < fn.Pos() || pos >= fn.End() {
			continue
		}
		id := 0
		_, _ = fmt.Sscanf(fn.Name.Name, "mutant%d_", &id)
		return id
	}
	return 0
}

// check type-checks the package with some of its files replaced. Without report
// it stops at the first error.
func (p *pkg) check(
	texts map[string]string, report func(*token.FileSet, map[string]*ast.File, types.Error),
) (*types.Package, error) {
	fset := token.NewFileSet()
	syntax := map[string]*ast.File{}
	var files []*ast.File

	for _, f := range p.files {
		text, ok := texts[f.path]
		if !ok {
			text = f.text
		}
		parsed, err := parser.ParseFile(fset, f.path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		syntax[f.path] = parsed
		files = append(files, parsed)
	}

	config := types.Config{Importer: p}
	if report != nil {
		selector, err := parser.ParseFile(fset, "", p.selector(), parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, selector)
		config.Importer = lenient{p}
		config.Error = func(err error) {
			var e types.Error
			if errors.As(err, &e) && syntax[fset.Position(e.Pos).Filename] != nil {
				report(fset, syntax, e)
			}
		}
	}
	return config.Check(p.path, fset, files, nil)
}

// lenient imports an empty package in place of a package that the original does not import. Only
// the generated selector has such imports.
type lenient struct{ *pkg }

func (l lenient) Import(path string) (*types.Package, error) {
	if found := l.imports[path]; found != nil {
		return found, nil
	}
	empty := types.NewPackage(path, filepath.Base(path))
	empty.MarkComplete()
	return empty, nil
}

// selector returns a file that reads the number of the requested mutant from the environment, and
// records which functions are reached.
func (p *pkg) selector() string {
	return "package " + p.name + `

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
)

var mutantNo, _ = strconv.Atoi(os.Getenv("MUTANT"))

var mutantSeen [1 << 16]atomic.Bool

// mutantTrace is open from the beginning: some tests leave no room for another open file.
var mutantTrace = func() *os.File {
	if mutantNo != -1 {
		return nil
	}
	f, err := os.OpenFile(os.Getenv("MUTANT_TRACE"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return f
}()

// mutantReached writes a function down when it is reached for the first time.
func mutantReached(fn int) {
	if mutantTrace != nil && !mutantSeen[fn].Swap(true) {
		fmt.Fprintln(mutantTrace, fn)
	}
}
`
}

// instrumented returns the files with these mutants, by path. A function is identified by the
// smallest id of its mutants.
func (p *pkg) instrumented(list []*mutant) map[string]string {
	edits := map[*file][]variants.Edit{}
	copies := map[*file]*strings.Builder{}

	for start := 0; start < len(list); {
		m := list[start]
		end := start + 1
		for end < len(list) && list[end].file == m.file && list[end].fn == m.fn {
			end++
		}

		if m.fn != nil {
			if copies[m.file] == nil {
				copies[m.file] = &strings.Builder{}
			}
			edits[m.file] = append(edits[m.file], dispatch(list[start:end])...)
			for _, other := range list[start:end] {
				copies[m.file].WriteString("\n\n" + other.copy())
			}
		}
		start = end
	}

	texts := map[string]string{}
	for f, list := range edits {
		texts[f.path] = variants.Apply(f.text, list) + copies[f].String() + "\n"
	}
	return texts
}

// dispatch returns the edits that make a function begin with a switch over its mutants.
func dispatch(list []*mutant) []variants.Edit {
	return list[0].function().Begin(func(call func(string) string) string {
		var b strings.Builder
		b.WriteString(" if mutantNo != 0 { switch mutantNo {")
		for _, m := range list {
			fmt.Fprintf(&b, "case %d: %s;", m.id, call(m.functionName()))
		}
		fmt.Fprintf(&b, "}; mutantReached(%d) };", list[0].id)
		return b.String()
	})
}
