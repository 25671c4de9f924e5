package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

// parsed makes a package of one file out of declarations that import nothing.
func parsed(t *testing.T, source string) *pkg {
	t.Helper()
	text := "package p\n\n" + source
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, "p.go", text, 0)
	must.OK(t, err)
	p := &pkg{path: "p", name: "p", fset: fset, imports: map[string]*types.Package{}}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: p}
	if p.types, err = config.Check("p", fset, []*ast.File{syntax}, p.info); err != nil {
		t.Fatal(err)
	}
	p.files = []*file{{pkg: p, path: "p.go", short: "p.go", text: text, syntax: syntax, tokens: fset.File(syntax.FileStart)}}
	return p
}

// changes lists the mutants that compile.
func changes(t *testing.T, p *pkg) (out []string) {
	t.Helper()
	found, err := p.mutants()
	must.OK(t, err)
	number(found)
	for _, m := range found {
		out = append(out, m.change())
	}
	return out
}

func TestOperators(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want, not    []string // and others
	}{
		{"a condition", "func f(a, b int) int {\n if a < b {\n return 7 }\n return a }", []string{
			"if a < b { -> if !(a < b) {",
			"if a < b { -> if a <= b {",
			"if a < b { return 7 } -> nothing",
			"return 7 } -> return 0 }",
			"return 7 } -> return 8 }",
			"return 7 } -> return 6 }",
			"return a } -> return 0 }",
		}, nil},
		{"operands", "func f(a, b bool) bool {\n return a && b }", []string{
			"return a && b } -> return (a) || (b) }",
			"return a && b } -> return a }",
			"return a && b } -> return b }",
			"return a && b } -> return !(a && b) }",
		}, nil},
		{"what does not compile", "func f() (n int) {\n x := 1\n n = x\n return n }", []string{
			"n = x -> _ = x",
		}, []string{"x := 1 -> nothing", "n = x -> nothing"}},
		{"an assignment", "func f(x int) (n int) {\n n = x\n return n }", []string{
			"n = x -> nothing",
		}, []string{"n = x -> _ = x"}},
		{"strings cannot be subtracted", "func f(a, b string) string {\n return a + b }", []string{
			`return a + b } -> return "" }`,
		}, []string{"return a + b } -> return a - b }"}},
		{"arguments of one type", "func g(a, b int, c string) {}\nfunc f(a, b int) {\n g(a, b, \"\") }", []string{
			`g(a, b, "") } -> g(b, a, "") }`,
		}, []string{`g(a, b, "") } -> g(a, "", b) }`}},
		{"operands of max", "func f(a, b int) {\n a = max(a, b)\n println(a) }", []string{
			"a = max(a, b) -> a = min(a, b)",
			"a = max(a, b) -> a = (a)",
			"a = max(a, b) -> a = (b)",
			"a = max(a, b) -> nothing",
		}, []string{"a = max(a, b) -> a = max(b, a)"}},
		{"cases", "func f(a int) int {\n switch a {\n case 1, 2:\n return a\n default:\n a--\n }\n return 3 }", []string{
			"case 1, 2: return a -> nothing",
			"case 1, 2: -> case 2:",
			"case 1, 2: -> case 1:",
			"default: a-- -> nothing",
			"a-- -> a++",
			"a-- -> nothing",
		}, nil},
		{"a constant that is zero", "type r int\nconst ( none r = iota; one )\nfunc f() (r, r) {\n return none, one }", []string{
			"return none, one } -> return none, 0 }",
		}, []string{"return none, one } -> return 0, one }"}},
		{"else and fields", "type s struct{ a, b int }\nfunc f(x bool) s {\n if x {\n println()\n } else {\n println(x)\n }\n return s{a: 1, b: 2} }", []string{
			"} else { println(x) } -> }",
			"return s{a: 1, b: 2} } -> return s{b: 2} }",
			"return s{a: 1, b: 2} } -> return s{a: 1} }",
			"return s{a: 1, b: 2} } -> return *new(s) }",
		}, nil},
		{"constants", "const limit = 500\nvar on = true", []string{
			"const limit = 500 -> const limit = 501",
			"const limit = 500 -> const limit = 499",
			"var on = true -> var on = false",
		}, nil},
		{"room to grow is a hint", "func f(n int) []int {\n return make([]int, 1, 2+n) }", []string{
			"return make([]int, 1, 2+n) } -> return make([]int, 2, 2+n) }",
		}, []string{"return make([]int, 1, 2+n) } -> return make([]int, 1, 2-n) }"}},
		{"the size of a map is a hint", "func f(n int) map[int]int {\n return make(map[int]int, 2+n) }", []string{
			"return make(map[int]int, 2+n) } -> return nil }",
		}, []string{"return make(map[int]int, 2+n) } -> return make(map[int]int, 2-n) }"}},
		{"steps of a loop stay", "func f(n int) {\n for i := 0; i < n; i++ {\n println(i)\n }\n }", []string{
			"println(i) -> nothing",
			"for i := 0; i < n; i++ { -> for i := 1; i < n; i++ {",
		}, []string{"for i := 0; i < n; i++ { -> for i := 0; i < n; i-- {"}},
		{"a copy that is forgotten", "func clone(s []int) []int {\n return append([]int(nil), s...) }\nfunc f(a []int) []int {\n return clone(a[:1:1]) }\n" +
			"type s struct{}\nfunc (x *s) DeepCopy() *s { return new(s) }\nfunc g(x s) *s {\n return x.DeepCopy() }", []string{
			"return append([]int(nil), s...) } -> return s }",
			"return clone(a[:1:1]) } -> return a[:1:1] }",
			"return clone(a[:1:1]) } -> return clone(a[:1]) }",
			"return x.DeepCopy() } -> return &x }",
		}, nil},
		{"an error that is not looked at", "func g() error { return nil }\nfunc f() int {\n if err := g(); err != nil {\n return 1 }\n return 2 }", []string{
			"if err := g(); err != nil { -> if err := g(); false && (err != nil) {",
		}, nil},
		{"nil for empty", "func f(a []int, m map[int]int) []int {\n if len(a) == 0 || m == nil {\n return []int{} }\n return a }", []string{
			"return []int{} } -> return ([]int)(nil) }",
			"if len(a) == 0 || m == nil { -> if len(a) == 0 || len(m) == 0 {",
		}, nil},
		{"what is made where it is nil", "func f(m map[int]int) {\n if m == nil {\n m = make(map[int]int) }\n m[1]++ }", nil,
			[]string{"if m == nil { -> if len(m) == 0 {"}},
		{"one time for another", "type Time int64\ntype s struct{ Created, Scheduled Time; n int64 }\nfunc f(x *s) Time {\n return x.Created }", []string{
			"return x.Created } -> return x.Scheduled }",
		}, []string{"return x.Created } -> return x.n }"}},
		{"writes in another order", "type s struct{}\nfunc (*s) write(string) error { return nil }\nfunc f(a, b *s) {\n" +
			" a.write(\"1\")\n if err := a.write(\"2\"); err != nil {\n return }\n b.write(\"3\") }", []string{
			`a.write("1") if err := a.write("2"); err != nil { return } -> if err := a.write("2"); err != nil { return } a.write("1")`,
		}, []string{`if err := a.write("2"); err != nil { return } b.write("3") } -> b.write("3") if err := a.write("2"); err != nil { return } }`}},
		{"what is deferred", "type s struct{}\nfunc (*s) lock() {}\nfunc (*s) unlock() {}\nfunc f(a, b *s) {\n" +
			" a.lock()\n defer a.unlock()\n defer b.unlock() }\n" + "func g(a *s) {\n defer a.unlock()\n if a := a; a == nil {\n a.lock()\n return } }", []string{
			"defer a.unlock() if a := a; a == nil { a.lock() return } } -> if a := a; a == nil { a.lock() return } defer a.unlock() }",
		}, []string{"a.lock() defer a.unlock() -> defer a.unlock() a.lock()"}},
		{"those that read alike have numbers", "func f(n int) {\n n++\n n++\n println(n) }", []string{
			"n++ -> n--", "n++ -> n-- #2",
		}, nil},
	} {
		got := changes(t, parsed(t, c.source))
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %q is missing", c.name, want)
			}
		}
		for _, not := range c.not {
			if slices.Contains(got, not) {
				t.Errorf("%s: %q is there", c.name, not)
			}
		}
		t.Logf("%s:\n%s", c.name, strings.Join(got, "\n"))
	}
}

// All parameters and receivers are passed on to the copies, even those without a name, variadic
// ones and type parameters.
func TestDispatchCompiles(t *testing.T) {
	p := parsed(t, `type s struct{}
func (s) a(int, _ string, rest ...int) (n int) { n = 1; return n + len(rest) }
func (*s) b() { println(1) }
func c[K comparable, V any](m map[K]V, _ V) int { return len(m) + 1 }
type g[T any] struct{ v T }
func (x g[T]) d() int { return 1 }`)

	found, err := p.mutants()
	must.OK(t, err)

	for path, text := range p.instrumented(found) {
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, path, text, 0)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}

		selector, err := parser.ParseFile(fset, "", "package p\nvar mutantNo int\nfunc mutantReached(int) {}", 0)
		must.OK(t, err)

		config := types.Config{Importer: p}
		if _, err := config.Check("p", fset, []*ast.File{parsed, selector}, nil); err != nil {
			t.Errorf("%v\n%s", err, text)
		}

		for _, name := range []string{"_a(", "_b(", "_c[", "_d("} {
			if !strings.Contains(text, name) {
				t.Errorf("no copy %s in\n%s", name, text)
			}
		}
	}
}

// Clocks are in package time, which the sources of the other tests do not import.
func TestWrongClock(t *testing.T) {
	root := testfile.Folder(t, map[string]string{
		"go.mod": "module example.org\n\ngo 1.26\n",
		"p.go": "package p\n\nimport \"time\"\n\ntype clock struct{ Now func() time.Time }\n\ntype view struct{ Now time.Time }\n\n" +
			"func set(c clock, v *view) {\n\tv.Now = c.Now()\n}\n\nfunc due(v view, at time.Time) bool { return !at.After(v.Now) }\n",
	})
	pkgs, err := load(root, []string{"."})
	must.OK(t, err)
	got := changes(t, pkgs[0])
	for _, want := range []string{
		"v.Now = c.Now() -> v.Now = time.Now()",
		"v.Now = c.Now() -> v.Now = c.Now().Add(time.Second)",
		"func due(v view, at time.Time) bool { return !at.After(v.Now) } -> func due(v view, at time.Time) bool { return !at.After(v.Now.Add(time.Second)) }",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// If one operator has many mutants and another has a single one, each sample contains the single
// one.
func TestSampleTakesTheOperatorsInTurn(t *testing.T) {
	p := parsed(t, "func f(a, b, c int, s []int) []int {\n if a < b || b < c || c < a || a < 7 {\n return s }\n return s[:1:2] }")
	found, err := p.mutants()
	must.OK(t, err)
	for seed := range uint64(10) {
		o, err := parseOptions([]string{"-n", "8", "p"})
		must.OK(t, err)
		o.seed = seed
		if !slices.ContainsFunc(sample(found, o), func(m *mutant) bool { return m.kind == "forgotten copy" }) {
			t.Errorf("seed %d: no forgotten copy among 8 of %d", seed, len(found))
		}
	}
}

func TestSampleIsTheSameForASeed(t *testing.T) {
	p := parsed(t, "func f(a, b, c int) bool {\n return a < b && b < c || a == c+1 }")
	found, err := p.mutants()
	must.OK(t, err)

	draw := func(seed string) string {
		o, err := parseOptions([]string{"-n", "5", "-seed", seed, "p"})
		must.OK(t, err)

		var out []string
		for _, m := range sample(found, o) {
			out = append(out, m.String())
		}
		if len(out) != 5 {
			t.Errorf("%d mutants, want 5", len(out))
		}
		return strings.Join(out, "\n")
	}

	first := draw("1")
	if again := draw("1"); again != first {
		t.Error("a seed draws two samples")
	}
	if draw("2") == first && draw("3") == first {
		t.Error("three seeds draw one sample")
	}
}
