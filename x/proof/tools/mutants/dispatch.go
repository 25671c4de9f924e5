package main

import (
	"fmt"
	"go/ast"
	"strings"
)

// dispatch returns the edits that make a function begin with a switch over its mutants. Parameters
// without a name get one, so that they can be passed on.
func dispatch(list []*mutant) []edit {
	first := list[0]
	f, fn := first.file, first.fn

	edits, args := nameParameters(f, fn)
	receiver := ""
	if fn.Recv != nil {
		more, names := nameFields(f, fn.Recv, "mutantReceiver")
		edits = append(edits, more...)
		receiver = names[0] + "."
	}

	var b strings.Builder
	fmt.Fprintf(&b, " if mutantNo != 0 { switch mutantNo {")
	for _, m := range list {
		call := receiver + m.functionName() + typeArguments(fn) + "(" + args + ")"
		if fn.Type.Results == nil {
			fmt.Fprintf(&b, "case %d: %s; return;", m.id, call)
		} else {
			fmt.Fprintf(&b, "case %d: return %s;", m.id, call)
		}
	}

	fmt.Fprintf(&b, "}; mutantReached(%d) };", first.id)
	at := f.offset(fn.Body.Lbrace) + 1
	return append(edits, edit{at, at, b.String()})
}

func nameParameters(f *file, fn *ast.FuncDecl) ([]edit, string) {
	edits, names := nameFields(f, fn.Type.Params, "mutantParameter")
	if len(names) == 0 {
		return edits, ""
	}
	list := fn.Type.Params.List
	if _, variadic := list[len(list)-1].Type.(*ast.Ellipsis); variadic {
		names[len(names)-1] += "..."
	}
	return edits, strings.Join(names, ", ")
}

func nameFields(f *file, fields *ast.FieldList, prefix string) (edits []edit, names []string) {
	for _, field := range fields.List {
		if len(field.Names) == 0 {
			name := fmt.Sprintf("%s%d", prefix, len(names))
			at := f.offset(field.Type.Pos())
			edits = append(edits, edit{at, at, name + " "})
			names = append(names, name)
		}
		for _, id := range field.Names {
			name := id.Name
			if name == "_" {
				name = fmt.Sprintf("%s%d", prefix, len(names))
				edits = append(edits, edit{f.offset(id.Pos()), f.offset(id.End()), name})
			}
			names = append(names, name)
		}
	}
	return edits, names
}

// typeArguments returns the type parameters of a generic function, as type arguments of a call.
func typeArguments(fn *ast.FuncDecl) string {
	if fn.Type.TypeParams == nil {
		return ""
	}
	var names []string
	for _, field := range fn.Type.TypeParams.List {
		for _, id := range field.Names {
			names = append(names, id.Name)
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}
