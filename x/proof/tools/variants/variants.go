// Package variants compiles changed copies of functions beside the originals: each function begins
// with a switch that calls the copy that was chosen for the run. So one build serves many changes.
// An overlay holds the changed files, so the working tree stays as it is.
package variants

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Edit replaces the bytes [From, To) of a text.
type Edit struct {
	From, To int
	Text     string
}

// Apply makes edits that do not overlap.
func Apply(text string, edits []Edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return b.From - a.From })
	for _, e := range edits {
		text = text[:e.From] + e.Text + text[e.To:]
	}
	return text
}

// Function is a function in the text of its file.
type Function struct {
	*ast.FuncDecl
	File *token.File
	Text string // of the file
}

func (f Function) offset(p token.Pos) int { return f.File.Offset(p) }

// Source returns the text of a part of the function.
func (f Function) Source(n ast.Node) string { return f.Text[f.offset(n.Pos()):f.offset(n.End())] }

// Renamed returns the function under another name, without its comment. The edits of the file must
// be within the function.
func (f Function) Renamed(name string, edits ...Edit) string {
	from := f.offset(f.Type.Func)
	all := append(slices.Clone(edits), Edit{f.offset(f.Name.Pos()), f.offset(f.Name.End()), name})
	for i := range all {
		all[i].From, all[i].To = all[i].From-from, all[i].To-from
	}
	return Apply(f.Text[from:f.offset(f.End())], all)
}

// Begin returns the edits that make the function begin with other code. The argument code makes it.
// Its own argument returns, for the name of a copy, the statements that call the copy and return its
// results. Parameters without a name get one, so that they can be passed on.
func (f Function) Begin(code func(call func(name string) string) string) []Edit {
	edits, args := f.named(f.Type.Params, "variantParameter")
	if n := len(args); n > 0 {
		list := f.Type.Params.List
		if _, variadic := list[len(list)-1].Type.(*ast.Ellipsis); variadic {
			args[n-1] += "..."
		}
	}

	receiver := ""
	if f.Recv != nil {
		more, names := f.named(f.Recv, "variantReceiver")
		edits, receiver = append(edits, more...), names[0]+"."
	}

	call := func(name string) string {
		text := receiver + name + f.typeArguments() + "(" + strings.Join(args, ", ") + ")"
		if f.Type.Results == nil {
			return text + "; return"
		}
		return "return " + text
	}
	at := f.offset(f.Body.Lbrace) + 1
	return append(edits, Edit{at, at, code(call)})
}

// named returns the names of fields, and edits that give a name to those without one.
func (f Function) named(fields *ast.FieldList, prefix string) (edits []Edit, names []string) {
	for _, field := range fields.List {
		if len(field.Names) == 0 {
			name := fmt.Sprintf("%s%d", prefix, len(names))
			at := f.offset(field.Type.Pos())
			edits = append(edits, Edit{at, at, name + " "})
			names = append(names, name)
		}
		for _, id := range field.Names {
			name := id.Name
			if name == "_" {
				name = fmt.Sprintf("%s%d", prefix, len(names))
				edits = append(edits, Edit{f.offset(id.Pos()), f.offset(id.End()), name})
			}
			names = append(names, name)
		}
	}
	return edits, names
}

// typeArguments returns the type parameters of a generic function, as type arguments of a call.
func (f Function) typeArguments() string {
	if f.Type.TypeParams == nil {
		return ""
	}
	var names []string
	for _, field := range f.Type.TypeParams.List {
		for _, id := range field.Names {
			names = append(names, id.Name)
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// Overlay writes changed files to a folder, with the list for the flag -overlay of the go command.
// The texts are by the paths of the files that they replace. Overlay returns the path of the list.
func Overlay(folder string, texts map[string]string) (string, error) {
	replace := map[string]string{}
	for path, text := range texts {
		changed := filepath.Join(folder, fmt.Sprintf("%d_%s", len(replace), filepath.Base(path)))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[path] = changed
	}

	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(folder, "overlay.json")
	return name, os.WriteFile(name, list, 0o600)
}
