package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

// A pkg is a package whose code is mutated.
type pkg struct {
	path, name, dir string
	files           []*file
	fset            *token.FileSet
	types           *types.Package
	info            *types.Info
	imports         map[string]*types.Package
}

// A file is a file of a package that is not a test.
type file struct {
	pkg    *pkg
	path   string // absolute
	short  string // from the root of the outermost module
	text   string
	syntax *ast.File
	tokens *token.File
}

// load reads the packages, given as folders of the module at root.
func load(root string, folders []string) ([]*pkg, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()

	config := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedExportFile | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Dir: root, Fset: fset,
	}
	var patterns []string
	for _, f := range folders {
		patterns = append(patterns, "./"+filepath.ToSlash(filepath.Clean(f)))
	}

	loaded, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, err
	}

	var out []*pkg
	for _, l := range loaded {
		for _, e := range l.Errors {
			return nil, fmt.Errorf("%s: %w", l.PkgPath, e)
		}
		p, err := newPkg(outermost(root), fset, l)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// outermost returns the folder of the outermost module that the module at root is in.
func outermost(root string) string {
	found := root
	for dir := root; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			found = dir
		}
	}
	return found
}

func newPkg(root string, fset *token.FileSet, l *packages.Package) (*pkg, error) {
	p := &pkg{
		path:    l.PkgPath,
		name:    l.Name,
		fset:    fset,
		types:   l.Types,
		info:    l.TypesInfo,
		imports: map[string]*types.Package{},
	}
	for path, imported := range l.Imports {
		p.imports[path] = imported.Types
	}

	for i, name := range l.CompiledGoFiles {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		short, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}

		p.dir = filepath.Dir(name)
		syntax := l.Syntax[i]
		p.files = append(p.files, &file{
			pkg: p, path: name, short: filepath.ToSlash(short), text: string(text),
			syntax: syntax, tokens: fset.File(syntax.FileStart),
		})
	}

	if len(p.files) == 0 {
		return nil, errors.New(l.PkgPath + ": no files")
	}
	return p, nil
}

// Import makes a pkg a types.Importer. When its mutants are type-checked, they import the same
// packages as the original.
func (p *pkg) Import(path string) (*types.Package, error) {
	if found := p.imports[path]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("package %q is not imported", path)
}
