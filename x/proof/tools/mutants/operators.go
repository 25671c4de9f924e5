package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/batchplan/batchplan/x/proof/tools/variants"
)

// A walker finds the edits of one function, or of one declaration of package
// variables and constants.
type walker struct {
	file  *file
	fn    *ast.FuncDecl
	stack []ast.Node // the nodes around the current one, outermost first
	seen  map[variants.Edit]bool
	out   []*mutant
}

// candidates returns all edits of a file, in the order of the text. Some of them
// do not compile.
func candidates(f *file) []*mutant {
	var out []*mutant
	for _, decl := range f.syntax.Decls {
		w := &walker{file: f, seen: map[variants.Edit]bool{}}
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body == nil || d.Name.Name == "init" || d.Name.Name == "_" {
				continue
			}
			w.fn = d
			w.walk(d.Body)
		case *ast.GenDecl:
			if d.Tok == token.VAR || d.Tok == token.CONST {
				w.walk(d)
			}
		}
		out = append(out, w.out...)
	}
	return out
}

func (w *walker) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			w.stack = w.stack[:len(w.stack)-1]
			return true
		}
		descend := !w.isHint(n)
		if descend {
			w.visit(n)
			w.stack = append(w.stack, n)
		}
		return descend
	})
}

// isHint reports whether a node is a type, or only gives an amount of memory to reserve.
func (w *walker) isHint(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.FuncType, *ast.StructType, *ast.InterfaceType:
		return true
	case *ast.AssignStmt:
		return len(n.Rhs) == 1 && w.isHint(n.Rhs[0])
	case *ast.CallExpr:
		return w.file.source(n.Fun) == "slices.Grow"
	case ast.Expr:
		call, ok := w.parent().(*ast.CallExpr)
		if !ok || !w.isBuiltin(call, "make") || call.Args[len(call.Args)-1] != n {
			return false
		}
		_, isMap := w.typeOf(call).Underlying().(*types.Map)
		return len(call.Args) == 3 || len(call.Args) == 2 && isMap
	}
	return false
}

func (w *walker) parent() ast.Node {
	if len(w.stack) == 0 {
		return nil
	}
	return w.stack[len(w.stack)-1]
}

// replace adds an edit that replaces the node.
func (w *walker) replace(kind string, n ast.Node, text string) {
	w.edit(kind, n.Pos(), n.End(), text)
}

func (w *walker) edit(kind string, from, to token.Pos, text string) {
	e := variants.Edit{From: w.file.offset(from), To: w.file.offset(to), Text: text}
	if !w.seen[e] && w.file.text[e.From:e.To] != text {
		w.seen[e] = true
		w.out = append(w.out, newMutant(w.file, w.fn, kind, e))
	}
}

func (w *walker) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		w.negate(n.Cond)
		if n.Else != nil {
			w.edit("else", n.Body.End(), n.Else.End(), "")
		} else {
			w.remove("if", n)
		}
		if n.Init != nil {
			w.replace("forgotten check", n.Cond, "false && ("+w.file.source(n.Cond)+")")
		}
	case *ast.ForStmt:
		if n.Cond != nil {
			w.negate(n.Cond)
		}
	case *ast.CaseClause:
		w.dropCase(n)
		w.swapStatements(n.Body)
	case *ast.ReturnStmt:
		w.zeroResults(n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && w.remove("assignment", n) && n.Tok == token.ASSIGN {
			removed := w.out[len(w.out)-1]
			w.edit("assignment", n.Pos(), n.TokPos, strings.Repeat("_, ", len(n.Lhs)-1)+"_ ")
			w.out[len(w.out)-1].instead = removed
		}
		if other, ok := assignments[n.Tok]; ok {
			w.edit("arithmetic", n.TokPos, n.TokPos+token.Pos(len(n.Tok.String())), other)
		}
	case *ast.IncDecStmt:
		w.incDec(n)
	case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt, *ast.BranchStmt:
		w.remove("statement", n.(ast.Stmt))
	case *ast.BlockStmt:
		w.swapStatements(n.List)
	case ast.Expr:
		w.visitExpr(n)
	}
}

func (w *walker) visitExpr(n ast.Expr) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		w.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT && !w.isCondition(n) || n.Op == token.SUB {
			w.replace("sign", n, w.file.source(n.X))
		}
	case *ast.CallExpr:
		w.call(n)
	case *ast.SelectorExpr:
		w.otherTime(n)
		w.wrongClock(n)
	case *ast.SliceExpr:
		w.unclipped(n)
	case *ast.CompositeLit:
		w.dropElements(n)
		w.nilForEmpty(n)
	case *ast.BasicLit:
		w.shift(n)
	case *ast.Ident:
		isBool := n.Name == "true" || n.Name == "false"
		if c, ok := w.file.pkg.info.Uses[n].(*types.Const); ok && isBool && c.Parent() == types.Universe {
			w.replace("bool", n, strconv.FormatBool(n.Name == "false"))
		}
	}
}

// negate negates a whole condition.
func (w *walker) negate(cond ast.Expr) {
	if not, ok := cond.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		w.replace("condition", cond, w.file.source(not.X))
		return
	}
	w.replace("condition", cond, "!("+w.file.source(cond)+")")
}

// isCondition reports whether negate already handles this expression.
func (w *walker) isCondition(n ast.Expr) bool {
	switch p := w.parent().(type) {
	case *ast.IfStmt:
		return p.Cond == n
	case *ast.ForStmt:
		return p.Cond == n
	}
	return false
}

// remove removes a statement from its block, and reports whether it is in one. It keeps statements
// in the head of another statement: without these, loops would be endless, and each endless loop
// runs until the time limit.
func (w *walker) remove(kind string, n ast.Stmt) bool {
	switch w.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		w.replace(kind, n, "")
		return true
	}
	return false
}

func (w *walker) incDec(n *ast.IncDecStmt) {
	if loop, ok := w.parent().(*ast.ForStmt); ok && loop.Post == n {
		return
	}
	w.remove("statement", n)
	other := "--"
	if n.Tok == token.DEC {
		other = "++"
	}
	w.edit("arithmetic", n.TokPos, n.TokPos+2, other)
}

// dropCase removes a whole case, and each value of a case that has several.
func (w *walker) dropCase(n *ast.CaseClause) {
	w.replace("case", n, "")
	if len(n.List) < 2 {
		return
	}
	for i, e := range n.List {
		if i == 0 {
			w.edit("case", e.Pos(), n.List[1].Pos(), "")
			continue
		}
		w.edit("case", n.List[i-1].End(), e.End(), "")
	}
}

var (
	boundaries = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
	equalities = map[token.Token]string{token.EQL: "!=", token.NEQ: "=="}
	arithmetic = map[token.Token]string{
		token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "*",
		token.AND: "|", token.OR: "&", token.XOR: "&", token.SHL: ">>", token.SHR: "<<", token.AND_NOT: "&",
	}
	assignments = map[token.Token]string{
		token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*=",
		token.REM_ASSIGN: "*=", token.AND_ASSIGN: "|=", token.OR_ASSIGN: "&=", token.XOR_ASSIGN: "|=",
		token.SHL_ASSIGN: ">>=", token.SHR_ASSIGN: "<<=", token.AND_NOT_ASSIGN: "&=",
	}
)

func (w *walker) binary(n *ast.BinaryExpr) {
	operator := func(kind, text string) {
		w.edit(kind, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), text)
	}

	if text, ok := boundaries[n.Op]; ok {
		operator("boundary", text)
	}
	if text, ok := equalities[n.Op]; ok && !w.isCondition(n) {
		operator("condition", text)
	}
	if text, ok := arithmetic[n.Op]; ok {
		operator("arithmetic", text)
	}
	w.emptyForNil(n)

	if n.Op != token.LAND && n.Op != token.LOR {
		return
	}

	other := "&&"
	if n.Op == token.LAND {
		other = "||"
	}
	w.replace("operands", n, "("+w.file.source(n.X)+") "+other+" ("+w.file.source(n.Y)+")")
	w.edit("operands", n.X.Pos(), n.Y.Pos(), "")
	w.edit("operands", n.X.End(), n.Y.End(), "")
}

// shift changes an integer by one, up and down.
func (w *walker) shift(n *ast.BasicLit) {
	value, err := strconv.ParseInt(n.Value, 0, 64)
	if n.Kind != token.INT || err != nil {
		return
	}
	w.replace("number", n, strconv.FormatInt(value+1, 10))
	if value > 0 {
		w.replace("number", n, strconv.FormatInt(value-1, 10))
	}
}

// dropElements removes the named elements of a literal one by one.
func (w *walker) dropElements(n *ast.CompositeLit) {
	for i, e := range n.Elts {
		if _, named := e.(*ast.KeyValueExpr); !named {
			continue
		}
		if i+1 < len(n.Elts) {
			w.edit("element", e.Pos(), n.Elts[i+1].Pos(), "")
		} else if i > 0 {
			w.edit("element", n.Elts[i-1].End(), e.End(), "")
		} else {
			w.replace("element", e, "")
		}
	}
}
