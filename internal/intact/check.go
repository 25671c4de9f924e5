// Package intact finds functions that write to their arguments, keep them, or return memory that
// others hold as well.
package intact

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unsafe"
)

// Functions are the functions of a package that Check calls.
type Functions struct {
	// Of has all functions of the package, as values. Check also calls the methods of the types in
	// the pool.
	Of []any
	// Writes has the functions that may write to the target of an argument, with the number of the
	// argument: {"Pod.Read": 0}.
	Writes map[string]int
	// Shares names the functions whose results may share memory with an argument. The value names
	// the field of the first result that holds the argument itself. That field is not checked. In
	// the other fields and results, only one thing is checked: an append to a result must not
	// change the argument. With "*", the results are not checked.
	Shares map[string]string
	// Skip names functions that are not called, and types whose methods are not called.
	Skip []string

	called map[string]bool
}

// Test is the part of a test that a check needs.
type Test interface {
	Errorf(format string, args ...any)
}

// Pool has values by type, from which arguments are taken.
type Pool struct {
	values map[reflect.Type][]reflect.Value
}

// most is how many values of each type a pool keeps.
const most = 4

// Add adds values, and everything that an owner of these values can reach through them.
func (p *Pool) Add(values ...any) {
	for _, v := range values {
		p.add(addressable(reflect.ValueOf(v)))
	}
}

func (p *Pool) add(v reflect.Value) {
	if !v.IsValid() {
		return
	}
	if p.values == nil {
		p.values = map[reflect.Type][]reflect.Value{}
	}

	t := v.Type()
	wanted := len(p.values[t]) == 0 || len(p.values[t]) < most && !v.IsZero()
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && wanted {
		p.values[t] = append(p.values[t], variable(v))
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		p.add(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range min(v.Len(), most) {
			p.add(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				p.add(v.Field(i))
			}
		}
	}
}

// Check calls the functions with values of the pool, and puts their results into it.
func (f *Functions) Check(t Test, p *Pool) {
	if f.called == nil {
		f.called = map[string]bool{}
	}

	try := func(name string, fn reflect.Value) {
		if !slices.Contains(f.Skip, name) && p.call(t, name, fn, f) {
			f.called[name] = true
		}
	}

	for _, fn := range f.Of {
		name := runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name()
		try(name[strings.LastIndex(name, ".")+1:], reflect.ValueOf(fn))
	}

	pkg := runtime.FuncForPC(reflect.ValueOf(f.Of[0]).Pointer()).Name()
	pkg = pkg[:strings.LastIndex(pkg, ".")]
	for _, of := range p.types() {
		if of.PkgPath() != pkg || slices.Contains(f.Skip, of.Name()) {
			continue
		}
		for m := range reflect.PointerTo(of).NumMethod() {
			method := reflect.PointerTo(of).Method(m)
			if strings.HasPrefix(method.Name, "Unmarshal") {
				continue // they write to their receivers
			}
			try(of.Name()+"."+method.Name, method.Func)
		}
	}
}

// types returns the types of the values, sorted by name.
func (p *Pool) types() []reflect.Type {
	return slices.SortedFunc(maps.Keys(p.values), func(a, b reflect.Type) int {
		return strings.Compare(a.String(), b.String())
	})
}

// call calls a function many times, each time with other values of the pool.
func (p *Pool) call(t Test, name string, fn reflect.Value, f *Functions) (ok bool) {
	written, writes := f.Writes[name]
	if !writes {
		written = -1
	}

	method := strings.Contains(name, ".")
	for n := range most {
		var given []reflect.Value
		for i := range fn.Type().NumIn() {
			v := p.take(fn.Type().In(i), n)
			if !v.IsValid() {
				return false
			}
			given = append(given, v)
		}

		if d := check(fn, given, written, method, f.shared(name), p); d != "" {
			t.Errorf("%s %s", name, d)
		}
	}
	return true
}

// take returns the nth value of a type, or an invalid value if there is none.
func (p *Pool) take(t reflect.Type, n int) reflect.Value {
	if t.Kind() == reflect.Pointer {
		v := p.take(t.Elem(), n)
		if !v.IsValid() {
			return v
		}
		out := reflect.New(t.Elem())
		out.Elem().Set(v)
		return out
	}

	if t.Kind() == reflect.Interface && t.NumMethod() > 0 {
		for _, of := range p.types() {
			if reflect.PointerTo(of).Implements(t) {
				return p.take(reflect.PointerTo(of), n)
			}
		}
		return reflect.Value{}
	}

	if known := p.values[t]; len(known) > 0 {
		return known[n%len(known)]
	}

	if t.Kind() == reflect.Slice || t.Kind() != reflect.Func && isPlain(t) {
		return reflect.Zero(t)
	}
	return reflect.Value{}
}

// shared returns the field for a function whose result shares memory, or nil.
func (f *Functions) shared(name string) *string {
	if field, ok := f.Shares[name]; ok {
		return &field
	}
	return nil
}

// check makes one call, and describes its first problem.
func check(fn reflect.Value, given []reflect.Value, written int, method bool, shares *string, p *Pool) string {
	var args, was []reflect.Value
	for _, v := range given {
		args = append(args, variable(v))
		was = append(was, variable(v))
	}

	watched := slices.Clone(args)
	writes := written >= 0
	if writes { // the target may be written to, but not what it refers to
		target := reflect.New(args[written].Type().Elem())
		target.Elem().Set(watched[written].Elem())
		args[written] = addressable(target)
	}

	changed := func() string {
		for i := range watched {
			if d := diff(watched[i], was[i], true, 0); d != "" {
				return fmt.Sprintf("argument %d%s", i, d)
			}
		}
		return ""
	}

	call := fn.Call
	if fn.Type().IsVariadic() {
		call = fn.CallSlice
	}
	out := addressables(call(args))
	if d := changed(); d != "" {
		return "writes to its " + d
	}

	first := make([]reflect.Value, len(out))
	for i, v := range out {
		first[i] = variable(v)
		if v.CanInterface() {
			p.Add(v.Interface())
		}
	}

	if shares != nil && *shares == "*" {
		return ""
	}

	// If a caller changes a result, no argument may change with it.
	for i, v := range out {
		if i == 0 && shares != nil && *shares != "" {
			v.FieldByName(*shares).SetZero()
		}
		scribble(v, shares != nil, map[unsafe.Pointer]bool{})
	}
	if d := changed(); d != "" {
		return "returns memory of its " + d
	}
	if writes || shares != nil {
		return ""
	}

	again := addressables(call(args))
	for i := range again {
		if d := diff(again[i], first[i], false, 0); d != "" {
			return fmt.Sprintf("returns memory that it keeps: result %d%s", i, d)
		}
	}

	// A result must stay as it is when the arguments change.
	for i, a := range args {
		if i == 0 && method {
			continue // a result may refer to its receiver
		}
		Scribble(a.Addr().Interface())
	}
	for i := range again {
		if d := diff(again[i], first[i], false, 0); d != "" {
			return fmt.Sprintf("keeps an argument: result %d%s", i, d)
		}
	}
	return ""
}

func addressables(values []reflect.Value) []reflect.Value {
	for i, v := range values {
		values[i] = addressable(v)
	}
	return values
}

// exported lists the exported functions of the package in a folder, and the exported methods of its exported types.
func exported(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}

	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}

		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			if fn.Recv == nil {
				names = append(names, fn.Name.Name)
				continue
			}

			t := fn.Recv.List[0].Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			if of, ok := t.(*ast.Ident); ok && of.IsExported() {
				names = append(names, of.Name+"."+fn.Name.Name)
			}
		}
	}
	return names, nil
}

// AllCalled fails for each exported function and method of the tested package that no check has called.
func (f *Functions) AllCalled(t Test) {
	names, err := exported(".")
	if err != nil {
		t.Errorf("%v", err)
	}
	for _, name := range names {
		of, method, _ := strings.Cut(name, ".")
		skipped := slices.Contains(f.Skip, of) || slices.Contains(f.Skip, name)
		if !f.called[name] && !skipped && !slices.Contains(text, method) {
			t.Errorf("%s is not called: the pool has no arguments for it", name)
		}
	}
}

// text lists methods of enumerations and errors. They need no check, because these types hold only
// plain values.
var text = []string{"String", "MarshalText", "UnmarshalText", "MarshalJSON", "UnmarshalJSON", "Error", "Unwrap"}
