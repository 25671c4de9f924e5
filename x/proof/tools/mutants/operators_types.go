package main

import (
	"go/ast"
	"go/types"
)

// The operators that need to know types.

// call swaps arguments of the same type, replaces max and min by each other and by their operands,
// and shifts the boundary of a comparison of times.
func (w *walker) call(n *ast.CallExpr) {
	for i := 1; i < len(n.Args); i++ {
		a, b := n.Args[i-1], n.Args[i]
		if w.isSwap(a, b) && !w.isBuiltin(n, "max") && !w.isBuiltin(n, "min") {
			w.edit("arguments", a.Pos(), b.End(), w.file.source(b)+", "+w.file.source(a))
		}
	}
	for name, other := range map[string]string{"max": "min", "min": "max"} {
		if !w.isBuiltin(n, name) {
			continue
		}
		w.replace("max", n.Fun, other)
		for _, a := range n.Args {
			w.replace("max", n, "("+w.file.source(a)+")")
		}
	}
	w.timeBoundary(n)
	w.forgottenCopy(n)
	w.wrongClock(n)
}

// isSwap reports whether swapping two arguments compiles and makes a difference.
func (w *walker) isSwap(a, b ast.Expr) bool {
	x, y := w.typeOf(a), w.typeOf(b)
	switch {
	case x == nil, y == nil, !types.Identical(x, y), w.file.source(a) == w.file.source(b):
		return false
	}
	_, function := a.(*ast.FuncLit)
	return !function
}

func (w *walker) isBuiltin(n *ast.CallExpr, name string) bool {
	id, ok := n.Fun.(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, builtin := w.file.pkg.info.Uses[id].(*types.Builtin)
	return builtin
}

// timeBoundary turns "a is before b" into "a is not after b", and "a is after b" into "a is not
// before b". The result differs when the times are equal.
func (w *walker) timeBoundary(n *ast.CallExpr) {
	method, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || len(n.Args) != 1 {
		return
	}
	other := map[string]string{"Before": "After", "After": "Before"}[method.Sel.Name]
	if other == "" || types.TypeString(w.typeOf(method.X), nil) != "time.Time" {
		return
	}
	w.replace("boundary", n, "!"+w.file.source(method.X)+"."+other+"("+w.file.source(n.Args[0])+")")
}

func (w *walker) typeOf(e ast.Expr) types.Type { return w.file.pkg.info.TypeOf(e) }

// zeroResults replaces each result by its zero value, and a bool by its opposite.
func (w *walker) zeroResults(n *ast.ReturnStmt) {
	results := w.results()
	if len(results) != len(n.Results) {
		return
	}
	for i, e := range n.Results {
		if b, ok := w.typeOf(results[i]).Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
			if text := w.file.source(e); text != "true" && text != "false" {
				w.replace("result", e, "!("+text+")")
			}
			continue
		}
		if zero := w.zero(results[i]); zero != w.file.source(e) && !w.isZero(e) {
			w.replace("result", e, zero)
		}
	}
}

// results returns the result types of the innermost function, as written.
func (w *walker) results() []ast.Expr {
	var list *ast.FieldList
	if w.fn != nil {
		list = w.fn.Type.Results
	}
	for _, n := range w.stack {
		if lit, ok := n.(*ast.FuncLit); ok {
			list = lit.Type.Results
		}
	}
	var out []ast.Expr
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		for range max(len(field.Names), 1) {
			out = append(out, field.Type)
		}
	}
	return out
}

func (w *walker) zero(typ ast.Expr) string {
	switch t := w.typeOf(typ).Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsString != 0 {
			return `""`
		}
		if t.Info()&types.IsNumeric != 0 {
			return "0"
		}
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature:
		return "nil"
	case *types.Interface:
		if _, param := w.typeOf(typ).(*types.TypeParam); !param {
			return "nil"
		}
	}
	return "*new(" + w.file.source(typ) + ")"
}

// isZero reports whether an expression is already a zero value such as 0, nil or T{}.
func (w *walker) isZero(e ast.Expr) bool {
	if lit, ok := e.(*ast.CompositeLit); ok {
		return len(lit.Elts) == 0
	}
	if v := w.file.pkg.info.Types[e].Value; v != nil {
		return v.ExactString() == "0" || v.ExactString() == `""`
	}
	return w.file.source(e) == "nil"
}
