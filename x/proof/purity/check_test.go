package purity

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// snippets are sources, each with what the check must report about it.
var snippets = []struct {
	name, source string
	want         []string
}{
	{"an import", `import _ "os"`, []string{"import os"}},
	{"an import below a forbidden one", `import _ "net/http"`, []string{"import net/http"}},
	{"all the imports", `
		import (
			_ "context"; _ "crypto/rand"; _ "io/ioutil"; _ "log"; _ "log/slog"; _ "math/rand"; _ "math/rand/v2"
			_ "net"; _ "os/exec"; _ "runtime"; _ "runtime/debug"; _ "sync"; _ "sync/atomic"; _ "syscall"
			_ "testing"; _ "unsafe"; _ "hash/maphash"
		)`, []string{
		"import context", "import crypto/rand", "import io/ioutil", "import log", "import log/slog",
		"import math/rand", "import math/rand/v2", "import net", "import os/exec", "import runtime",
		"import runtime/debug", "import sync", "import sync/atomic", "import syscall", "import testing",
		"import unsafe", "import hash/maphash",
	}},
	{"harmless imports", `import (_ "fmt"; _ "math"; _ "math/bits"; _ "slices"; _ "time"; _ "iter")`, nil},

	{"the clock", `import "time"
		func f(t time.Time) { time.Now(); time.Since(t); time.Until(t); time.Sleep(1); time.After(1); time.Tick(1) }`,
		[]string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.Tick"}},
	{"timers", `import "time"
		func f() { time.AfterFunc(1, nil); time.NewTimer(1); time.NewTicker(1) }`,
		[]string{"time.AfterFunc", "time.NewTimer", "time.NewTicker"}},
	{"the clock as a value", `import "time"
		func f() func() time.Time { return time.Now }`, []string{"time.Now"}},
	{"the clock under another name", `import clock "time"
		func f() { clock.Now() }`, []string{"time.Now"}},
	{"the clock without a name", `import . "time"
		func f() { Now() }`, []string{"time.Now"}},
	{"zones of the machine", `import "time"
		func f(t time.Time) { time.LoadLocation("x"); t.In(time.Local); t.Local() }`,
		[]string{"time.LoadLocation", "time.Local", "time.Time.Local"}},
	{"time as a value", `import "time"
		func f(t, u time.Time) bool { return t.After(u.Add(time.Second).UTC()) && t.Before(time.Unix(1, 0)) }`, nil},
	{"a function of that name", `func Now() int { return 1 }
		func f() int { return Now() }`, nil},

	{"a goroutine", `func f() { go func() {}() }`, []string{"go statement"}},
	{"channels", `func f() { c := make(chan int, 1); c <- 1; <-c }`, []string{"channel", "channel", "channel"}},
	{"a channel of a type", `type t struct{ c <-chan int }`, []string{"channel"}},
	{"ranging over a channel", `type c chan int
		func f(x c) { for range x { } }`, []string{"channel", "channel"}},
	{"select", `func f() { select {} }`, []string{"select"}},
	{"printing", `import "fmt"
		func f() { fmt.Println(1); println(fmt.Sprint(2)) }`, []string{"fmt.Println", "println"}},
	{"init", `func init() {}`, []string{"func init"}},
	{"a method init", `type t int
		func (t) init() {}`, nil},

	{"a map", `var m = map[string]int{}`, []string{"var m"}},
	{"a slice", `var s []int`, []string{"var s"}},
	{"a pointer, a function, an interface", `var (p *int; f func(); i any)`, []string{"var p", "var f", "var i"}},
	{"a slice deep inside", `var a [2]struct{ s []int }`, []string{"var a"}},
	{"constants in effect", `import ("errors"; "time")
		var errX = errors.New("x")
		var names = [...]string{"a", "b"}
		var table = struct{ n int; t [2]float64; at time.Time }{n: 3}
		var _ error = errX
		func f(i int) (string, int) { for range names {}; for _, n := range names { _ = n }; return names[i], table.n }`, nil},
	{"assignments", `var n int
		var a [2]int
		var s struct{ x [2]int }
		func f() { n = 1; n += 2; n++; a[0] = 1; s.x[1]--; (n) = 3; _, n = 1, 2 }`,
		[]string{"write to var n", "write to var n", "write to var n", "write to var a", "write to var s", "write to var n", "write to var n"}},
	{"an assignment by range", `var n int
		func f() { for n = range 3 {} }`, []string{"write to var n"}},
	{"addresses", `var a [2]int
		func f() ([]int, *int) { return a[:], &a[1] }`, []string{"address of var a", "address of var a"}},
	{"a slice of a table", `var a = [...]string{"x"}
		func first(s []string) string { return s[0] }
		func f() { first(a[:]); copy(a[:], a[:]) }`,
		slices.Repeat([]string{"address of var a"}, 3)},
	{"a table that outlives the function", `type t struct{ s []int }
		func f(x *t) { x.s = a[1:] }
		var a [3]int`, []string{"address of var a"}},
	{"a method that may write", `type t struct{ n int }
		func (x *t) set() { x.n = 1 }
		func (x t) get() int { return x.n }
		var v t
		func f() { v.set(); v.get(); w := v; w.set() }`, []string{"address of var v"}},
	{"another package's variable", `import "time"
		func f() { time.UTC = nil }`, []string{"write to var UTC"}},
	{"local variables", `var n int
		func f() { n := 1; n++; m := map[int]int{}; m[1] = n; s := []int{1}; s[0] = 2; _ = &s }`, nil},

	{"a map's order", `func f(m map[int]int) { for range m {} }`, []string{"map order"}},
	{"a named map's order", `type set map[string]bool
		func f(m set) { for k := range m { _ = k } }`, []string{"map order"}},
	{"a generic map's order", `func f[M ~map[int]int](m M) { for range m {} }`, []string{"map order"}},
	{"an order that does not matter", `func f(m map[int]int) (n int) {
			//purity:ordered a sum has no order
			for _, v := range m { n += v }
			return n
		}`, nil},
	{"a comment without a reason", `func f(m map[int]int) {
			//purity:ordered
			for range m {}
		}`, []string{"//purity:ordered without a reason", "map order"}},
	{"a comment too far away", `func f(m map[int]int) {
			//purity:ordered a reason

			for range m {}
		}`, []string{"map order"}},
	{"iterators over maps", `import ("maps"; "slices")
		func f(m map[int]int) []int {
			for range maps.Keys(m) {}
			_ = slices.Collect(maps.Values(m))
			return slices.Sorted(maps.Keys(m))
		}`, []string{"map order", "map order"}},
	{"other ranges", `import "iter"
		func f(s []int, q iter.Seq[int]) { for range s {}; for range 3 {}; for range q {}; for range "x" {} }`, nil},
}

func TestCheckReports(t *testing.T) {
	pkgs := list(t, "context", "crypto/rand", "errors", "fmt", "hash/maphash", "io/ioutil", "iter", "log",
		"log/slog", "maps", "math/bits", "math/rand", "math/rand/v2", "net", "net/http", "os/exec",
		"runtime/debug", "slices", "sync/atomic", "testing", "time")
	for _, s := range snippets {
		t.Run(s.name, func(t *testing.T) {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, "snippet.go", "package snippet\n"+s.source, parser.ParseComments)
			must.OK(t, err)
			files := []*ast.File{f}
			var got []string
			for _, p := range check(fset, files, typesOf(t, fset, "snippet", files, pkgs)) {
				got = append(got, p.what)
			}
			if !slices.Equal(got, s.want) {
				t.Errorf("reported %q, want %q", got, s.want)
			}
		})
	}
}
