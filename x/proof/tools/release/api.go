package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/packages"

	"github.com/batchplan/batchplan/x/proof/tools/publish"
)

// apiFile is the listing of the exported API of all published packages. A test keeps it up to date,
// so in each commit the listing has the API of that commit.
const apiFile = "x/proof/tools/release/api.txt"

// An api has the lines of each package, by its path below the root.
type api map[string][]string

// compare fails unless the listing matches the code, and the section mentions how the listing
// differs from the one at the last tag: each package that has something new, and each identifier
// that is gone or changed.
func (r release) compare(modules []*publish.Module, s section) error {
	now, err := list(r.root, modules)
	if err != nil {
		return err
	}
	stored, err := os.ReadFile(filepath.Join(r.root, apiFile))
	if err != nil {
		return err
	}
	if problems := differences(parse(string(stored)), now); len(problems) > 0 {
		return fmt.Errorf("%s is out of date: %s", apiFile, problems[0])
	}

	last, err := r.last()
	if err != nil {
		return err
	}
	if last == "" {
		fmt.Println("no earlier version to compare with")
		return nil
	}
	before, err := r.git("show", last+":"+apiFile)
	if err != nil {
		return err
	}
	var problems []error
	for _, d := range differences(parse(before), now) {
		problems = append(problems, d.said(s.api, last, r.version))
	}
	return errors.Join(problems...)
}

// last returns the newest version before this one, or "". It ignores versions such as v1.0.0-rc.1,
// which promise nothing.
func (r release) last() (last string, err error) {
	out, err := r.git("tag", "--list", "v*")
	for tag := range strings.FieldsSeq(out) {
		isEarlier := semver.IsValid(tag) && semver.Prerelease(tag) == "" && semver.Compare(tag, r.version) < 0
		isLater := last == "" || semver.Compare(tag, last) > 0
		if isEarlier && isLater {
			last = tag
		}
	}
	return last, err
}

// list loads the public packages of modules and lists what they export.
func list(root string, modules []*publish.Module) (api, error) {
	all := api{}
	for _, m := range modules {
		config := &packages.Config{
			Dir: filepath.Join(root, m.Dir), Env: append(os.Environ(), "GOWORK=off"), Mode: packages.NeedName,
		}
		found, err := packages.Load(config, "./...")
		if err != nil {
			return nil, err
		}
		var paths []string
		for _, p := range found {
			if isPublic(p) {
				paths = append(paths, p.PkgPath)
			}
		}
		if len(paths) == 0 {
			continue // commands
		}

		config.Mode |= packages.NeedFiles | packages.NeedTypes |
			packages.NeedImports | packages.NeedDeps | packages.NeedExportFile
		loaded, err := packages.Load(config, paths...)
		if err != nil {
			return nil, err
		}
		for _, p := range loaded {
			if len(p.Errors) > 0 {
				return nil, p.Errors[0]
			}
			l := lister{pkg: p.Types, root: modules[0].Path + "/"}
			if l.comparable, err = comparables(p.GoFiles); err != nil {
				return nil, err
			}
			all[strings.TrimPrefix(p.PkgPath, l.root)] = l.list()
		}
	}
	return all, nil
}

func isPublic(p *packages.Package) bool {
	path := "/" + p.PkgPath + "/"
	for _, drawer := range []string{"/internal/", "/proof/", "/examples/"} {
		if strings.Contains(path, drawer) {
			return false
		}
	}
	return p.Name != "main"
}

// String is the text of the listing. [parse] reads it.
func (a api) String() string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(a)) {
		fmt.Fprintln(&b, path)
		for _, line := range a[path] {
			fmt.Fprintln(&b, "  "+line)
		}
	}
	return b.String()
}

func parse(text string) api {
	a, path := api{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if member, ok := strings.CutPrefix(line, "  "); ok {
			a[path] = append(a[path], member)
			continue
		}
		path = line
		a[path] = nil
	}
	return a
}

// A difference is a package, or a name in one, that is new, gone or changed. before and now are the
// lines about the name in the two listings. For a package they are its path.
type difference struct{ path, name, before, now string }

// breaks reports whether a program that compiled before may no longer compile. A new line breaks no
// program. All methods of an interface share one line, and so do the properties of a struct: an
// addition to them is a changed line, not a new one.
func (d difference) breaks() bool { return d.before != "" }

func (d difference) String() string {
	at := d.path
	if d.name != "" {
		at += "." + d.name
	}
	switch {
	case d.now == "":
		return at + " is gone"
	case d.before == "":
		return at + " is new"
	}
	return fmt.Sprintf("%s was %q and is %q", at, d.before, d.now)
}

// said returns an error if the API part of the changelog does not mention the difference, or if the
// version must not have such a difference.
func (d difference) said(api, last, version string) error {
	what := cmp.Or(d.name, d.path)
	last, version = publish.VersionOf(d.path, last), publish.VersionOf(d.path, version)
	isPromised := semver.Major(version) != "v0" && !strings.HasPrefix(d.path, "x/")
	switch {
	case d.breaks() && isPromised && semver.Major(last) == semver.Major(version):
		return fmt.Errorf("%v: that needs a major version", d)
	case d.breaks() && semver.MajorMinor(last) == semver.MajorMinor(version):
		return fmt.Errorf("%v: that needs a minor version", d)
	case d.breaks() && !names(api, what):
		return fmt.Errorf("%v: CHANGELOG.md names %q nowhere under API", d, what)
	case d.breaks() || names(api, what) || names(api, d.path):
		return nil
	}
	return fmt.Errorf("%v: CHANGELOG.md names neither it nor %q under API", d, d.path)
}

// differences compares two listings. A package or a type that is new or gone is one difference: its
// members are not named.
func differences(before, now api) (all []difference) {
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if _, stays := now[path]; !stays {
			all = append(all, difference{path: path, before: path})
		}
	}

	for _, path := range slices.Sorted(maps.Keys(now)) {
		if _, known := before[path]; !known {
			all = append(all, difference{path: path, now: path})
			continue
		}

		was, is := byName(before[path]), byName(now[path])
		for _, name := range slices.Sorted(maps.Keys(was)) {
			isMember := typeOf(name) != name
			if was[name] != is[name] && !(isMember && is[typeOf(name)] == "") {
				all = append(all, difference{path, name, was[name], is[name]})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(is)) {
			isMember := typeOf(name) != name
			if was[name] == "" && !(isMember && was[typeOf(name)] == "") {
				all = append(all, difference{path, name, "", is[name]})
			}
		}
	}
	return all
}

// byName returns lines by the names with which they begin. A name does not include the type
// parameters.
func byName(lines []string) map[string]string {
	found := map[string]string{}
	for _, line := range lines {
		found[line[:strings.IndexAny(line, " [")]] = line
	}
	return found
}

// typeOf returns the type of a field or a method, and any other name itself.
func typeOf(name string) string {
	of, _, _ := strings.Cut(name, ".")
	return of
}

// A lister writes the lines of a package: a name and what it is. Names of parameters are left out.
type lister struct {
	pkg        *types.Package
	root       string          // of the paths of our packages
	comparable map[string]bool // the types whose comments promise it
	lines      []string
}

// comparables returns the types whose comments allow ==. Any other struct may get a field that
// cannot be compared.
func comparables(files []string) (map[string]bool, error) {
	found := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			of, ok := d.(*ast.GenDecl)
			if !ok || of.Tok != token.TYPE {
				continue
			}
			for _, spec := range of.Specs {
				t := spec.(*ast.TypeSpec)
				words := strings.Join(strings.Fields(cmp.Or(t.Doc, of.Doc).Text()), " ")
				found[t.Name.Name] = strings.Contains(words, "can be compared with ==")
			}
		}
	}
	return found, nil
}

// list returns the lines in the order of their names.
func (l *lister) list() []string {
	for _, name := range l.pkg.Scope().Names() {
		if object := l.pkg.Scope().Lookup(name); object.Exported() {
			l.object(object)
		}
	}
	slices.Sort(l.lines)
	return l.lines
}

func (l *lister) add(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *lister) object(object types.Object) {
	switch o := object.(type) {
	case *types.Const:
		l.add("%s const %s = %s", o.Name(), l.text(o.Type()), o.Val().ExactString())
	case *types.Var:
		l.add("%s var %s", o.Name(), l.text(o.Type()))
	case *types.Func:
		l.add("%s func%s", o.Name(), l.signature(o.Type().(*types.Signature)))
	case *types.TypeName:
		l.typeName(o)
	}
}

// isInternal reports whether only the library can import a package. Predeclared types have no
// package.
func isInternal(p *types.Package) bool {
	return p != nil && strings.Contains("/"+p.Path()+"/", "/internal/")
}

// typeName lists a type with its fields and methods. An alias is listed with the fields and methods
// of its type if only the library can name that type.
func (l *lister) typeName(o *types.TypeName) {
	head := o.Name()
	named, _ := types.Unalias(o.Type()).(*types.Named)
	if alias, ok := o.Type().(*types.Alias); ok {
		head += l.parameters(alias.TypeParams()) + " = " + l.text(alias.Rhs())
		if named == nil || !isInternal(named.Obj().Pkg()) {
			l.add("%s", head)
			return
		}
	} else if named != nil {
		head += l.parameters(named.TypeParams())
	}

	switch of := o.Type().Underlying().(type) {
	case *types.Struct:
		if head += " struct"; l.comparable[o.Name()] && types.Comparable(of) {
			head += ", comparable"
		}
		l.fields(o.Name(), of)
	default:
		head += " " + l.text(of)
	}
	l.add("%s", head)
	if named == nil || types.IsInterface(named) {
		return
	}

	values := types.NewMethodSet(named)
	for method := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		if !method.Obj().Exported() {
			continue
		}
		pointer := ""
		if values.Lookup(l.pkg, method.Obj().Name()) == nil {
			pointer = "pointer "
		}
		l.add("%s.%s %smethod%s", o.Name(), method.Obj().Name(), pointer, l.signature(method.Type().(*types.Signature)))
	}
}

// fields lists the exported fields of a struct, and the fields that it gets from an embedded type
// whose name is not exported.
func (l *lister) fields(name string, of *types.Struct) {
	for i := range of.NumFields() {
		field := of.Field(i)
		within, isStruct := field.Type().Underlying().(*types.Struct)
		switch {
		case field.Exported():
			kind, tag := "field", ""
			if field.Embedded() {
				kind = "embeds"
			}
			if json, ok := reflect.StructTag(of.Tag(i)).Lookup("json"); ok {
				tag = fmt.Sprintf(" json:%q", json)
			}
			l.add("%s.%s %s %s%s", name, field.Name(), kind, l.text(field.Type()), tag)
		case field.Embedded() && isStruct:
			l.fields(name, within)
		}
	}
}

// text writes a type.
func (l *lister) text(t types.Type) string {
	switch t := t.(type) {
	case *types.Signature:
		return "func" + l.signature(t)
	case *types.Interface:
		if !t.IsMethodSet() {
			break // a constraint
		}
		var methods []string
		for method := range t.Methods() {
			methods = append(methods, method.Name()+l.signature(method.Type().(*types.Signature)))
		}
		return "interface{" + strings.Join(methods, "; ") + "}"
	}
	return types.TypeString(t, l.qualifier)
}

// signature writes the parameters and results of a function.
func (l *lister) signature(s *types.Signature) string {
	text := l.parameters(s.TypeParams()) + "(" + l.tuple(s.Params(), s.Variadic()) + ")"
	switch results := l.tuple(s.Results(), false); {
	case s.Results().Len() == 1:
		return text + " " + results
	case results != "":
		return text + " (" + results + ")"
	}
	return text
}

func (l *lister) tuple(of *types.Tuple, variadic bool) string {
	var all []string
	for i := range of.Len() {
		t := of.At(i).Type()
		if slice, ok := t.(*types.Slice); ok && variadic && i == of.Len()-1 {
			all = append(all, "..."+l.text(slice.Elem()))
			continue
		}
		all = append(all, l.text(t))
	}
	return strings.Join(all, ", ")
}

// parameters writes the parameters of a generic type or function.
func (l *lister) parameters(of *types.TypeParamList) string {
	var all []string
	for i := range of.Len() {
		all = append(all, of.At(i).Obj().Name()+" "+types.TypeString(of.At(i).Constraint(), l.qualifier))
	}
	if len(all) == 0 {
		return ""
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// qualifier names a package by its path, ours below the root.
func (l *lister) qualifier(p *types.Package) string {
	if p == l.pkg {
		return ""
	}
	return strings.TrimPrefix(p.Path(), l.root)
}
