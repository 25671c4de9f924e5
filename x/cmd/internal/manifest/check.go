package manifest

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/batchplan/batchplan/x/cmd/internal/nearest"
)

// fieldTable has the API types of a Job or CronJob, one on each line: the name of the type, then
// name=type for each field. A test generates it from the types of the API.
//
//go:embed fields.txt
var fieldTable string

// schema has the types of the fields of each type.
var schema = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for line := range strings.Lines(fieldTable) {
		words := strings.Fields(line)
		fields := map[string]string{}
		for _, word := range words[1:] {
			name, typ, _ := strings.Cut(word, "=")
			fields[name] = typ
		}
		all[words[0]] = fields
	}
	return all
})

// Unknown is a field that does not exist.
type Unknown struct {
	Position
	// Path is the path of the field. If a part nearby has a field of this name, Belongs is the path of
	// that part. Otherwise Near is the name that was probably meant, if there is one.
	Path, Belongs, Near string
}

// Problem returns the field as a problem.
func (u Unknown) Problem() Problem {
	text := u.Path + ": no such field"
	switch {
	case u.Belongs != "":
		text += "; it belongs into " + u.Belongs
	case u.Near != "":
		text += fmt.Sprintf("; did you mean %s?", u.Near)
	}
	return Problem{u.Position, text}
}

// Type returns the type of the object, which may come from its list.
func (o *Object) Type() (t Type, err error) {
	if t, err = readType(o.JSON); t.Kind == "" {
		t = o.Default
	}
	return t, err
}

// name returns the name of the object, or its generateName.
func (o *Object) name() string {
	metadata := child(o.node(), "metadata")
	if metadata == nil {
		return ""
	}
	for _, key := range []string{"name", "generateName"} {
		if n := child(metadata, key); n != nil {
			return n.Value
		}
	}
	return ""
}

// Check compares an object of batch/v1 with the API. It returns the fields that do not exist. The
// problems are fields that occur twice or have a value of the wrong type.
func (o *Object) Check(kind string) (unknown []Unknown, wrong Problems) {
	c := checker{object: o, kind: kind, wrong: o.doubles()}
	c.value("", o.node(), kind)
	// Package sort has one sort for all types, so that the page stays small.
	sort.SliceStable(c.unknown, func(a, b int) bool { return c.unknown[a].Line < c.unknown[b].Line })
	return c.unknown, inOrder(c.wrong)
}

// inOrder sorts problems by their positions.
func inOrder(all Problems) Problems {
	sort.SliceStable(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Text, b.Text)) < 0
	})
	return all
}

// doubles finds keys that occur twice in one mapping.
func (o *Object) doubles() (twice Problems) {
	var walk func(n *yaml.Node, path string, depth int)
	walk = func(n *yaml.Node, path string, depth int) {
		if depth > 10_000 {
			return
		}
		first := map[string]*yaml.Node{}
		for i, c := range n.Content {
			switch {
			case n.Kind == yaml.SequenceNode:
				walk(c, fmt.Sprintf("%s[%d]", path, i), depth+1)
			case n.Kind != yaml.MappingNode || i%2 == 0:
				continue
			default:
				key := n.Content[i-1]
				at := join(path, key.Value)
				if before := first[key.Value]; before != nil && key.Kind == yaml.ScalarNode {
					twice = append(twice, Problem{o.position(key),
						fmt.Sprintf("%s: is given twice, first at line %d", at, o.position(before).Line)})
				}
				first[key.Value] = key
				walk(c, at, depth+1)
			}
		}
	}
	walk(o.node(), "", 0)
	return twice
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// checker compares one object with the schema.
type checker struct {
	object  *Object
	kind    string
	unknown []Unknown
	wrong   Problems
}

// value compares the value at a path with a type.
func (c *checker) value(path string, n *yaml.Node, typ string) {
	n = resolve(n)
	item, isList := strings.CutPrefix(typ, "[]")
	element, isMap := strings.CutPrefix(typ, "map:")
	fields, isObject := schema()[typ]
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null", typ == "any":
	case isList && n.Kind == yaml.SequenceNode:
		for i, v := range n.Content {
			c.value(fmt.Sprintf("%s[%d]", path, i), v, item)
		}
	case isMap && n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value != "<<" {
				c.value(join(path, n.Content[i].Value), n.Content[i+1], element)
			}
		}
	case isObject && n.Kind == yaml.MappingNode:
		c.fields(path, n, typ, fields)
	case isList, isMap, isObject, n.Kind != yaml.ScalarNode:
		c.mistyped(path, n, typ)
	default:
		c.scalar(path, n, typ)
	}
}

// fields compares the fields of an object with those of its type.
func (c *checker) fields(path string, n *yaml.Node, typ string, fields map[string]string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Value == "<<" && key.Kind == yaml.ScalarNode { // a merge
			merged := []*yaml.Node{resolve(value)}
			if merged[0].Kind == yaml.SequenceNode {
				merged = merged[0].Content
			}
			for _, from := range merged {
				c.fields(path, resolve(from), typ, fields)
			}
			continue
		}

		if t, ok := fields[key.Value]; ok {
			c.value(join(path, key.Value), value, t)
			continue
		}

		u := Unknown{Position: c.object.position(key), Path: join(path, key.Value)}
		if u.Belongs = belongs(c.kind, path, key.Value); u.Belongs == "" {
			u.Near = nearest.Name(key.Value, slices.Collect(maps.Keys(fields)))
		}
		c.unknown = append(c.unknown, u)
	}
}

// parts are the parts of a Job that a misplaced field may belong to. A CronJob has them below
// jobTemplate.
var parts = []struct{ path, typ string }{
	{"metadata", "ObjectMeta"}, {"spec", "JobSpec"},
	{"spec.template.metadata", "ObjectMeta"}, {"spec.template.spec", "PodSpec"},
	{"spec.template.spec.containers[]", "Container"},
}

// belongs returns the path of the part of an object that has a field with this name. Of several
// such parts, it returns the one nearest to path. It returns "" if there is none.
func belongs(kind, path, name string) (best string) {
	least := math.MaxInt
	try := func(part, typ string) {
		_, ok := schema()[typ][name]
		if d := steps(path, part); ok && d < least {
			best, least = part, d
		}
	}
	base := ""
	if kind == "CronJob" {
		base = "spec.jobTemplate."
		try("metadata", "ObjectMeta")
		try("spec", "CronJobSpec")
	}
	for _, p := range parts {
		try(base+p.path, p.typ)
	}
	return best
}

// steps returns the number of steps, up and down, from one path to another.
func steps(from, to string) int {
	split := func(path string) []string {
		return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' })
	}
	a, b := split(from), split(to)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return len(a) + len(b) - 2*same
}

// scalar compares a string, number or truth value with a type.
func (c *checker) scalar(path string, n *yaml.Node, typ string) {
	kind := jsonKind(n)
	ok := kind == typ
	switch typ {
	case "int32", "int64":
		var v float64
		most := float64(math.MaxInt32)
		if typ == "int64" {
			most = math.MaxInt64
		}
		ok = kind == "number" && n.Decode(&v) == nil && v == math.Trunc(v)
		if ok && (v > most || v < -most-1) {
			c.wrong = append(c.wrong, Problem{c.object.position(n), fmt.Sprintf("%s: %s: is too large; expected at "+
				"most %.0f", path, n.Value, most)})
			return
		}
	case "float64":
		ok = kind == "number"
	case "quantity", "number-or-name":
		ok = kind != "bool"
	case "time":
		_, err := time.Parse(time.RFC3339, n.Value)
		ok = kind == "string" && err == nil
	}
	if !ok {
		c.mistyped(path, n, typ)
	}
}

// mistyped notes a value of the wrong type.
func (c *checker) mistyped(path string, n *yaml.Node, typ string) {
	what := "is an object"
	switch n.Kind {
	case yaml.SequenceNode:
		what = "is a list"
	case yaml.ScalarNode:
		what = fmt.Sprintf("is the %s %q", strings.Replace(jsonKind(n), "bool", "truth value", 1), n.Value)
	}
	if path == "" {
		path = c.kind
	}
	text := fmt.Sprintf("%s: %s, expected %s", path, what, plainType(typ))
	if typ == "string" && n.Kind == yaml.ScalarNode {
		text += "; write it in quotes"
	}
	c.wrong = append(c.wrong, Problem{c.object.position(n), text})
}

func jsonKind(n *yaml.Node) string {
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "number"
	case "!!bool":
		return "bool"
	}
	return "string"
}
