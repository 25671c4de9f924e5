package citations

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bracketed matches a name that is written as a link.
var bracketed = regexp.MustCompile(`\[\*?(\w+\.)?[A-Z]\w*(\.\w+)?\]`)

// TestDocLinks reads the comments of the published packages as pkg.go.dev does: each name in
// brackets must become a link. A link definition does not count, since go doc would print it as
// text. Comments within a declaration, of fields, methods of interfaces and constants of a block,
// have no links: go doc prints the declaration as it stands, with the brackets.
func TestDocLinks(t *testing.T) {
	packages := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case slices.Contains(unpublished, d.Name()), strings.HasPrefix(d.Name(), ".g"):
			return filepath.SkipDir
		}

		fset := token.NewFileSet()
		names, err := filepath.Glob(filepath.Join(path, "*.go"))
		var files []*ast.File
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			files = append(files, file)
		}
		if len(files) == 0 || files[0].Name.Name == "main" {
			return err
		}

		p, err := doc.NewFromFiles(fset, files, "github.com/batchplan/batchplan")
		if err != nil {
			return err
		}
		packages++

		folder, _ := filepath.Rel(root, path)
		for what, text := range docsOf(p) {
			for _, problem := range linkProblems(p.Parser(), text) {
				t.Errorf("%s: %s: %s", folder, what, problem)
			}
		}
		for _, problem := range bracketsWithin(p) {
			t.Errorf("%s: %s", folder, problem)
		}
		return nil
	})
	if err != nil || packages < 15 {
		t.Fatalf("%d packages, %v", packages, err)
	}
}

// docsOf returns the doc comments of a package, by the names that they describe.
func docsOf(p *doc.Package) map[string]string {
	docs := map[string]string{"package " + p.Name: p.Doc}

	values := func(all []*doc.Value) {
		for _, v := range all {
			docs[v.Names[0]] = v.Doc
		}
	}

	functions := func(of string, all []*doc.Func) {
		for _, f := range all {
			docs[of+f.Name] = f.Doc
		}
	}

	values(p.Consts)
	values(p.Vars)
	functions("", p.Funcs)
	for _, of := range p.Types {
		docs[of.Name] = of.Doc
		values(of.Consts)
		values(of.Vars)
		functions("", of.Funcs)
		functions(of.Name+".", of.Methods)
	}

	return docs
}

// bracketsWithin returns the bracketed names in the comments within the declarations of a package.
func bracketsWithin(p *doc.Package) (problems []string) {
	look := func(of string, d *ast.GenDecl) {
		ast.Inspect(d, func(n ast.Node) bool {
			var names []*ast.Ident
			var text string
			switch n := n.(type) {
			case *ast.Field:
				names, text = n.Names, n.Doc.Text()+n.Comment.Text()
			case *ast.ValueSpec:
				names, text = n.Names, n.Doc.Text()+n.Comment.Text()
			}
			for _, name := range bracketed.FindAllString(text, -1) {
				problems = append(problems, fmt.Sprintf("%s %v: go doc prints the brackets of %s", of, names, name))
			}
			return true
		})
	}

	values := func(all []*doc.Value) {
		for _, v := range all {
			look(v.Names[0], v.Decl)
		}
	}
	values(p.Consts)
	values(p.Vars)
	for _, of := range p.Types {
		look(of.Name, of.Decl)
		values(of.Consts)
		values(of.Vars)
	}
	return problems
}

// linkProblems returns the links of a comment that are not shown as links.
func linkProblems(p *comment.Parser, text string) (problems []string) {
	parsed := p.Parse(text)
	for _, l := range parsed.Links {
		problems = append(problems, "go doc shows the definition of ["+l.Text+"] as it stands")
	}
	var look func(blocks []comment.Block)
	plain := func(text []comment.Text) {
		var b strings.Builder
		for _, part := range text {
			if p, ok := part.(comment.Plain); ok {
				b.WriteString(string(p))
			}
		}
		for _, name := range bracketed.FindAllString(b.String(), -1) {
			problems = append(problems, name+" is no link")
		}
	}
	look = func(blocks []comment.Block) {
		for _, block := range blocks {
			switch b := block.(type) {
			case *comment.Paragraph:
				plain(b.Text)
			case *comment.Heading:
				plain(b.Text)
			case *comment.List:
				for _, item := range b.Items {
					look(item.Content)
				}
			}
		}
	}
	look(parsed.Content)
	return problems
}
