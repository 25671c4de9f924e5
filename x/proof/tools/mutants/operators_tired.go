package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// The mistakes of a tired maintainer.

var copies = regexp.MustCompile(`(?i)^(clone|copy|clip|deepcopy)`)

// forgottenCopy replaces a copy by its original: the result of slices.Clone, x.DeepCopy,
// append(nil, x...) and the like.
func (w *walker) forgottenCopy(n *ast.CallExpr) {
	kind, result := "forgotten copy", w.typeOf(n)
	if w.isBuiltin(n, "append") && n.Ellipsis.IsValid() && len(n.Args) == 2 {
		if first, ok := ast.Unparen(n.Args[0]).(*ast.CallExpr); ok && len(first.Args) == 1 && w.isZero(first.Args[0]) {
			w.replace(kind, n, w.file.source(n.Args[1]))
		}
		if w.isZero(n.Args[0]) {
			w.replace(kind, n, w.file.source(n.Args[1]))
		}
		return
	}

	name, receiver := n.Fun, ast.Expr(nil)
	if index, ok := name.(*ast.IndexExpr); ok {
		name = index.X
	}
	text := w.file.source(name)
	if method, ok := name.(*ast.SelectorExpr); ok {
		text, receiver = method.Sel.Name, method.X
	}
	switch {
	case !copies.MatchString(text) || result == nil:
	case len(n.Args) == 1 && types.Identical(result, w.typeOf(n.Args[0])):
		w.replace(kind, n, w.file.source(n.Args[0]))
	case len(n.Args) > 0 || receiver == nil || w.typeOf(receiver) == nil:
	case types.Identical(result, w.typeOf(receiver)):
		w.replace(kind, n, w.file.source(receiver))
	case types.Identical(result, types.NewPointer(w.typeOf(receiver))):
		w.replace(kind, n, "&"+w.file.source(receiver))
	}
}

// unclipped removes the limit of a slice's capacity, so that an append writes to elements that
// others share.
func (w *walker) unclipped(n *ast.SliceExpr) {
	if n.Slice3 {
		w.edit("forgotten copy", n.High.End(), n.Max.End(), "")
	}
}

// nilForEmpty replaces an empty slice by nil.
func (w *walker) nilForEmpty(n *ast.CompositeLit) {
	if _, slice := w.typeOf(n).Underlying().(*types.Slice); slice && len(n.Elts) == 0 && n.Type != nil {
		w.replace("nil for empty", n, "("+w.file.source(n.Type)+")(nil)")
	}
}

// emptyForNil replaces the check whether a slice or a map is nil by the check whether it is empty,
// unless the code then makes the slice or the map.
func (w *walker) emptyForNil(n *ast.BinaryExpr) {
	if equal := n.Op == token.EQL || n.Op == token.NEQ; !equal || w.file.source(n.Y) != "nil" {
		return
	}
	if check, ok := w.parent().(*ast.IfStmt); ok && len(check.Body.List) == 1 {
		made, ok := check.Body.List[0].(*ast.AssignStmt)
		if ok && len(made.Lhs) == 1 && w.file.source(made.Lhs[0]) == w.file.source(n.X) {
			return
		}
	}
	switch w.typeOf(n.X).Underlying().(type) {
	case *types.Slice, *types.Map:
		w.replace("nil for empty", n, "len("+w.file.source(n.X)+") "+n.Op.String()+" 0")
	}
}

// otherTime replaces a time in a struct by another time field of the same struct.
func (w *walker) otherTime(n *ast.SelectorExpr) {
	holder := w.typeOf(n.X)
	if holder == nil || !strings.HasSuffix(types.TypeString(w.typeOf(n), nil), "Time") {
		return
	}
	if p, ok := holder.Underlying().(*types.Pointer); ok {
		holder = p.Elem()
	}
	fields, ok := holder.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for f := range fields.Fields() {
		if f.Name() != n.Sel.Name && types.Identical(f.Type(), w.typeOf(n)) {
			w.replace("another time", n.Sel, f.Name())
		}
	}
}

// wrongClock makes mutants of a clock: one is ahead by a second, one is the system's clock.
func (w *walker) wrongClock(n ast.Expr) {
	if types.TypeString(w.typeOf(n), nil) != "time.Time" {
		return
	}
	text := w.file.source(n)
	if strings.HasSuffix(text, ".Now()") && text != "time.Now()" {
		w.replace("wrong clock", n, "time.Now()")
	}
	if assignment, ok := w.parent().(*ast.AssignStmt); ok && assignment.Lhs[0] == n {
		return
	}
	if strings.HasSuffix(text, ".Now()") || strings.HasSuffix(text, ".Now") {
		w.replace("wrong clock", n, text+".Add(time.Second)")
	}
}

// swapStatements swaps two neighbouring statements if both call something and one may write a
// variable of the other. It does not move a deferred statement, which runs at the end anyway,
// unless its neighbour is deferred too or may return.
func (w *walker) swapStatements(list []ast.Stmt) {
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if isDeferred(a) != isDeferred(b) && !mayReturn(a) && !mayReturn(b) {
			continue
		}
		x, y := w.effectsOf(a), w.effectsOf(b)
		meet := x.meets(y) || y.meets(x)
		if meet && x.calls && y.calls {
			between := w.file.text[w.file.offset(a.End()):w.file.offset(b.Pos())]
			w.edit("order", a.Pos(), b.End(), w.file.source(b)+between+w.file.source(a))
		}
	}
}

func isDeferred(s ast.Stmt) bool { _, ok := s.(*ast.DeferStmt); return ok }

func mayReturn(s ast.Stmt) bool { _, ok := s.(*ast.IfStmt); return ok }

// effects holds the variables that a statement may write to and those that it names.
type effects struct {
	calls         bool
	writes, names map[types.Object]bool
}

func (e effects) meets(other effects) bool {
	for v := range e.writes {
		if other.names[v] {
			return true
		}
	}
	return false
}

// effectsOf returns the effects of a statement that may be swapped. A call may write to what its
// receiver and its arguments point to.
func (w *walker) effectsOf(s ast.Stmt) effects {
	e := effects{writes: map[types.Object]bool{}, names: map[types.Object]bool{}}
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.DeferStmt, *ast.SendStmt:
	case *ast.IfStmt:
		if s.Init == nil {
			return e
		}
	default:
		return e
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				e.writes[w.root(l)] = true
			}
		case *ast.CallExpr:
			if tv := w.file.pkg.info.Types[n.Fun]; tv.IsType() || tv.IsBuiltin() {
				return true
			}
			e.calls = true
			for _, a := range n.Args {
				if t := w.typeOf(a); t != nil && !isPlain(t) {
					e.writes[w.root(a)] = true
				}
			}
			if method, ok := n.Fun.(*ast.SelectorExpr); ok {
				if fn, ok := w.file.pkg.info.Uses[method.Sel].(*types.Func); ok {
					recv := fn.Signature().Recv()
					if recv != nil && !isPlain(recv.Type()) {
						e.writes[w.root(method.X)] = true
					}
				}
			}
		case *ast.Ident:
			if v, ok := w.file.pkg.info.Uses[n].(*types.Var); ok && !v.IsField() {
				e.names[v] = true
			}
		}
		return true
	})
	delete(e.writes, nil)
	return e
}

// isPlain reports whether a type has no pointers, so that a call cannot write to its values.
func isPlain(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Interface, *types.Slice:
		return false
	}
	return true
}

// root returns the variable with which an expression begins, or nil.
func (w *walker) root(e ast.Expr) types.Object {
	for {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident:
			if v, ok := w.file.pkg.info.Uses[x].(*types.Var); ok && !v.IsField() {
				return v
			}
			return nil
		default:
			return nil
		}
	}
}
