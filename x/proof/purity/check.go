package purity

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// forbiddenImports name packages together with everything below them.
var forbiddenImports = []string{
	"C", "context", "crypto/rand", "database/sql", "expvar", "hash/maphash", "io/ioutil", "log",
	"math/rand", "net", "os", "plugin", "runtime", "sync", "syscall", "testing", "unsafe", "weak",
}

// forbiddenNames are functions, methods and variables by package and name.
var forbiddenNames = map[string][]string{
	"time": {
		"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep",
		"LoadLocation", "Local", "Time.Local",
	},
	"fmt": {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// orderedComment permits a random order on the line below it, if a reason follows.
const orderedComment = "//purity:ordered"

// problem is a place where a package is not pure.
type problem struct {
	pos token.Position
	// what describes the problem in the form that exemptions use, for example "import sync".
	what string
}

func (p problem) String() string { return fmt.Sprintf("%s: %s", p.pos, p.what) }

// checker walks the files of one package.
type checker struct {
	fset     *token.FileSet
	info     *types.Info
	ordered  map[string]map[int]bool // by file, the lines below an ordered comment
	sorted   map[ast.Node]bool       // calls whose result is sorted immediately
	problems []problem
}

// check returns the problems of a package in the order of their positions.
func check(fset *token.FileSet, files []*ast.File, info *types.Info) []problem {
	c := &checker{fset: fset, info: info, ordered: map[string]map[int]bool{}, sorted: map[ast.Node]bool{}}
	for _, f := range files {
		c.readComments(f)
		for _, decl := range f.Decls {
			c.declaration(decl)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			c.node(n)
			return true
		})
	}
	slices.SortStableFunc(c.problems, func(a, b problem) int {
		if d := strings.Compare(a.pos.Filename, b.pos.Filename); d != 0 {
			return d
		}
		return a.pos.Offset - b.pos.Offset
	})
	return c.problems
}

func (c *checker) report(n ast.Node, format string, args ...any) {
	c.problems = append(c.problems, problem{c.fset.Position(n.Pos()), fmt.Sprintf(format, args...)})
}

func (c *checker) readComments(f *ast.File) {
	lines := map[int]bool{}
	for _, group := range f.Comments {
		for _, comment := range group.List {
			reason, ok := strings.CutPrefix(comment.Text, orderedComment)
			switch {
			case !ok:
			case strings.TrimSpace(reason) == "":
				c.report(comment, "%s without a reason", orderedComment)
			default:
				lines[c.fset.Position(comment.Pos()).Line+1] = true
			}
		}
	}
	c.ordered[c.fset.Position(f.Pos()).Filename] = lines
}

// mayRange reports whether a comment permits a random order at n.
func (c *checker) mayRange(n ast.Node) bool {
	pos := c.fset.Position(n.Pos())
	return c.ordered[pos.Filename][pos.Line]
}

// declaration checks a declaration at the top level of a file.
func (c *checker) declaration(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.Name == "init" {
			c.report(d, "func init")
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || d.Tok != token.VAR {
				continue
			}
			for _, name := range v.Names {
				if obj := c.info.Defs[name]; name.Name != "_" && obj != nil && !constantLike(obj.Type()) {
					c.report(name, "var %s", name.Name)
				}
			}
		}
	}
}

// constantLike reports whether a variable of type t is a constant as long as nothing is assigned to
// it or its parts.
func constantLike(t types.Type) bool {
	if types.Identical(t, types.Universe.Lookup("error").Type()) || t.String() == "time.Time" {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Array:
		return constantLike(u.Elem())
	case *types.Struct:
		for field := range u.Fields() {
			if !constantLike(field.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

func (c *checker) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.ImportSpec:
		c.importSpec(n)
	case *ast.Ident:
		c.name(n)
	case *ast.GoStmt:
		c.report(n, "go statement")
	case *ast.SelectStmt:
		c.report(n, "select")
	case *ast.ChanType, *ast.SendStmt:
		c.report(n, "channel")
	case *ast.CallExpr:
		c.call(n)
	case *ast.RangeStmt:
		c.rangeStmt(n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			c.written(n.Lhs...)
		}
	case *ast.IncDecStmt:
		c.written(n.X)
	case *ast.UnaryExpr:
		switch n.Op {
		case token.AND:
			c.shared(n.X)
		case token.ARROW:
			c.report(n, "channel")
		}
	case *ast.SliceExpr:
		if isArray(c.info.TypeOf(n.X)) {
			c.shared(n.X)
		}
	case *ast.SelectorExpr:
		c.selector(n)
	}
}

func (c *checker) importSpec(n *ast.ImportSpec) {
	path, err := strconv.Unquote(n.Path.Value)
	if err != nil {
		return // unreachable: the file has been parsed
	}
	for _, root := range forbiddenImports {
		if path == root || strings.HasPrefix(path, root+"/") {
			c.report(n, "import %s", path)
		}
	}
}

// name checks the object that an identifier refers to, whatever the name under which its package is
// imported.
func (c *checker) name(id *ast.Ident) {
	obj := c.info.Uses[id]
	if b, ok := obj.(*types.Builtin); ok && (b.Name() == "print" || b.Name() == "println") {
		c.report(id, "%s", b.Name())
	}
	if obj == nil || obj.Pkg() == nil {
		return
	}
	full := qualified(obj)
	if slices.Contains(forbiddenNames[obj.Pkg().Path()], full) {
		c.report(id, "%s.%s", obj.Pkg().Path(), full)
	}
}

// qualified returns the name of a package's object. The name of a method has its
// type in front. A field or a local variable has no such name.
func qualified(obj types.Object) string {
	if obj.Parent() == obj.Pkg().Scope() {
		return obj.Name()
	}
	f, ok := obj.(*types.Func)
	if !ok {
		return ""
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return ""
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + f.Name()
	}
	return ""
}

// call reports iterators over maps, since their order is random, unless the result is sorted
// immediately. An outer call is visited before the calls in its arguments.
func (c *checker) call(n *ast.CallExpr) {
	obj := c.calledFunc(n)
	if obj == nil || obj.Pkg() == nil {
		return
	}
	switch obj.Pkg().Path() + "." + obj.Name() {
	case "slices.Sorted":
		if len(n.Args) == 1 {
			c.sorted[ast.Unparen(n.Args[0])] = true
		}
	case "maps.Keys", "maps.Values", "maps.All":
		if !c.sorted[n] && !c.mayRange(n) {
			c.report(n, "map order")
		}
	}
}

func (c *checker) calledFunc(n *ast.CallExpr) types.Object {
	fun := ast.Unparen(n.Fun)
	switch f := fun.(type) { // explicit type arguments
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	switch f := fun.(type) {
	case *ast.SelectorExpr:
		return c.info.Uses[f.Sel]
	case *ast.Ident:
		return c.info.Uses[f]
	}
	return nil
}

func (c *checker) rangeStmt(n *ast.RangeStmt) {
	if n.Tok == token.ASSIGN {
		c.written(n.Key, n.Value)
	}
	switch overs := coreTypes(c.info.TypeOf(n.X)); {
	case slices.ContainsFunc(overs, isMap) && !c.mayRange(n):
		c.report(n, "map order")
	case slices.ContainsFunc(overs, isChan):
		c.report(n, "channel")
	}
}

// coreTypes returns the underlying types that a value of type t can have. A type parameter has
// those of its constraint, and any other type has one.
func coreTypes(t types.Type) []types.Type {
	if t == nil {
		return nil
	}
	param, ok := types.Unalias(t).(*types.TypeParam)
	if !ok {
		return []types.Type{t.Underlying()}
	}
	var all []types.Type
	for embedded := range param.Underlying().(*types.Interface).EmbeddedTypes() {
		union, ok := embedded.(*types.Union)
		if !ok {
			all = append(all, embedded.Underlying())
			continue
		}
		for term := range union.Terms() {
			all = append(all, term.Type().Underlying())
		}
	}
	return all
}

func isMap(t types.Type) bool   { _, ok := t.(*types.Map); return ok }
func isChan(t types.Type) bool  { _, ok := t.(*types.Chan); return ok }
func isArray(t types.Type) bool { return t != nil && is[*types.Array](t.Underlying()) }

func is[T types.Type](t types.Type) bool { _, ok := t.(T); return ok }

// selector checks for a method with a pointer receiver, called on a package's variable: the method
// may write to the variable.
func (c *checker) selector(n *ast.SelectorExpr) {
	sel := c.info.Selections[n]
	if sel == nil || sel.Kind() != types.MethodVal || is[*types.Pointer](sel.Recv().Underlying()) {
		return
	}
	recv := sel.Obj().(*types.Func).Signature().Recv()
	if recv != nil && is[*types.Pointer](types.Unalias(recv.Type())) {
		c.shared(n.X)
	}
}

// shared reports the package variable that e is a part of: other code could write
// to it.
func (c *checker) shared(e ast.Expr) {
	if v := c.packageVar(e); v != nil {
		c.report(e, "address of var %s", v.Name())
	}
}

// written reports a write for each expression that is a package variable or a part of one.
func (c *checker) written(exprs ...ast.Expr) {
	for _, e := range exprs {
		if v := c.packageVar(e); v != nil {
			c.report(e, "write to var %s", v.Name())
		}
	}
}

// packageVar returns the package variable that e is or is a part of. It may belong to another
// package. If there is none, packageVar returns nil.
func (c *checker) packageVar(e ast.Expr) *types.Var {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			if v := c.globalOf(x.Sel); v != nil {
				return v
			}
			e = x.X
		case *ast.Ident:
			return c.globalOf(x)
		default:
			return nil
		}
	}
}

func (c *checker) globalOf(id *ast.Ident) *types.Var {
	v, ok := c.info.Uses[id].(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return nil
	}
	return v
}
