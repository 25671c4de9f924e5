package blackbox

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// freedom holds the differences that a comparison ignores: those between two plays of the same life
// without faults, and those that the subject allows.
type freedom struct {
	names     map[string]bool // kinds whose objects have names that differ
	numbers   map[string]bool // kinds whose number of objects differs
	paths     map[string]bool // kinds and paths of fields that differ
	mayDiffer []string        // prefixes of a kind and path
}

// allows reports whether a field may differ.
func (f *freedom) allows(kind, path string) bool {
	path = kind + " " + path
	return f.paths[path] || slices.ContainsFunc(f.mayDiffer, func(p string) bool { return strings.HasPrefix(path, p) })
}

// isDifferent reports whether two objects differ in a way that f does not allow.
func (f *freedom) isDifferent(a, b Object) (different bool) {
	one, other := []Object{a}, []Object{b}
	f.each(f.normal(one, other), f.normal(other, one), func(item, string, string, string) { different = true })
	return different
}

// with returns a freedom that allows what either of two allows.
func (f *freedom) with(other *freedom) *freedom {
	both := &freedom{maps.Clone(f.names), maps.Clone(f.numbers), maps.Clone(f.paths), f.mayDiffer}
	maps.Copy(both.names, other.names)
	maps.Copy(both.numbers, other.numbers)
	maps.Copy(both.paths, other.paths)
	return both
}

// item is an object in normal form: the text of each of its fields by its path.
type item struct {
	kind, name string // the name is empty if it differs in each life
	fields     map[string]string
}

func (i item) String() string { return strings.TrimSpace(i.kind + " " + i.name) }

// learn notes how the objects differ after two plays of the same life without faults.
func (f *freedom) learn(a, b []Object) {
	isIn := func(list []Object, o Object) bool {
		return slices.ContainsFunc(list, func(other Object) bool { return nameOf(o) == nameOf(other) })
	}
	for _, lists := range [][2][]Object{{a, b}, {b, a}} {
		for _, o := range lists[0] {
			if !isIn(lists[1], o) {
				f.names[o.Text("kind")] = true
			}
		}
	}
	f.each(f.normal(a, b), f.normal(b, a), func(of item, path, _, _ string) {
		if path == "" {
			f.numbers[of.kind] = true
		} else {
			f.paths[of.kind+" "+path] = true
		}
	})
}

func nameOf(o Object) string { return o.Text("kind") + "/" + o.Namespace() + "/" + o.Name() }

// compare fails for each kind whose objects differ. With [Heals] a status may differ, since it may
// count the deleted objects.
func (v *verdict) compare(check Check, want, got []Object, f *freedom) {
	if _, off := v.off[check]; off {
		return
	}
	problems := make(map[string][]string)
	f.each(f.normal(want, got), f.normal(got, want), func(of item, path, was, is string) {
		if check == Heals && strings.HasPrefix(path, "status.") {
			return
		}
		problem := fmt.Sprintf("%s: %s is %s, want %s", of, path, is, was)
		if path == "" {
			problem = fmt.Sprintf("%s %s", of, is)
		}
		problems[of.kind] = append(problems[of.kind], problem)
	})
	for _, kind := range slices.Sorted(maps.Keys(problems)) {
		list := problems[kind]
		v.fail(check+Check(kind), "%s", strings.Join(list[:min(3, len(list))], "; "))
	}
}

// each calls the function differs for each difference that f does not allow. The path is empty if a
// whole object is missing or left over.
func (f *freedom) each(want, got []item, differs func(of item, path, was, is string)) {
	for len(want) > 0 || len(got) > 0 {
		order := 0
		switch {
		case len(want) == 0:
			order = 1
		case len(got) == 0:
			order = -1
		default:
			order = cmp.Or(strings.Compare(want[0].kind, got[0].kind), strings.Compare(want[0].name, got[0].name))
		}

		switch {
		case order < 0:
			differs(want[0], "", "", "is missing")
			want = want[1:]
		case order > 0:
			differs(got[0], "", "", "is there in addition")
			got = got[1:]
		default:
			f.eachField(want[0], got[0], differs)
			want, got = want[1:], got[1:]
		}
	}
}

func (f *freedom) eachField(want, got item, differs func(of item, path, was, is string)) {
	all := maps.Clone(want.fields)
	maps.Copy(all, got.fields)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		was, is := cmp.Or(want.fields[path], "absent"), cmp.Or(got.fields[path], "absent")
		if was != is && !f.allows(want.kind, path) {
			differs(want, path, was, is)
		}
	}
}

// normal returns argument objects in normal form, sorted by that form. If the objects of a kind
// have another name in each life, normal replaces these names wherever they occur: the names of
// argument objects and those of argument others.
func (f *freedom) normal(objects, others []Object) (items []item) {
	n := normalizer{names: make(map[string]bool)}
	for _, o := range slices.Concat(objects, others) {
		if f.names[o.Text("kind")] && len(o.Name()) > 3 {
			n.names[o.Name()] = true
		}
	}
	// The longest names come first, since a long name may begin with a shorter one.
	n.sorted = slices.SortedFunc(maps.Keys(n.names), func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})

	for _, o := range objects {
		if f.numbers[o.Text("kind")] {
			continue
		}
		i := item{kind: o.Text("kind"), fields: make(map[string]string)}
		if !f.names[i.kind] {
			i.name = strings.TrimPrefix(o.Namespace()+"/"+o.Name(), "/")
		}
		n.generation = o.Get("metadata", "generation")
		n.add(i.fields, "", map[string]any(o))
		items = append(items, i)
	}
	slices.SortStableFunc(items, func(a, b item) int {
		order := cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
		return cmp.Or(order, strings.Compare(f.text(a), f.text(b)))
	})
	return items
}

// text returns the fields that must not differ, in one text. Items are sorted by it.
func (f *freedom) text(i item) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(i.fields)) {
		if !f.allows(i.kind, path) {
			b.WriteString(path + "=" + i.fields[path] + "\n")
		}
	}
	return b.String()
}

// normalizer writes the fields of objects in normal form.
type normalizer struct {
	names      map[string]bool
	sorted     []string
	generation any // the generation of the object
}

// ofServer are fields that the API server sets, and that differ from life to life.
var ofServer = []string{
	"metadata.resourceVersion", "metadata.uid", "metadata.generation", "metadata.creationTimestamp",
	"metadata.managedFields", "metadata.deletionTimestamp",
}

func (n *normalizer) add(fields map[string]string, path string, v any) {
	if slices.Contains(ofServer, path) {
		return
	}
	isOfSpec := strings.HasPrefix(path, "spec.") // many clients write an absent field as "" or []
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			n.add(fields, strings.TrimPrefix(path+"."+name, "."), e)
		}
	case []any:
		if len(v) == 0 && !isOfSpec {
			fields[path] = "[]"
		}
		times := make(map[string]int)
		for i, e := range v {
			label := labelOf(e, i)
			if times[label]++; times[label] > 1 {
				label += fmt.Sprintf(" #%d", times[label])
			}
			n.add(fields, fmt.Sprintf("%s[%s]", path, label), e)
		}
	case string:
		isAmount := strings.Contains(path, ".limits.") || strings.Contains(path, ".requests.")
		amount, err := resource.ParseQuantity(v)
		switch {
		case isAmount && err == nil: // 1000m and 1 are the same
			fields[path] = fmt.Sprint(amount.AsApproximateFloat64())
		case v != "" || !isOfSpec:
			fields[path] = fmt.Sprintf("%q", n.free(v))
		}
	case float64:
		fields[path] = fmt.Sprint(v)
		if strings.HasSuffix(path, "bservedGeneration") {
			fields[path] = map[bool]string{true: "the latest", false: "an old one"}[v == n.generation]
		}
	default:
		fields[path] = fmt.Sprint(v)
	}
}

// labelOf returns what identifies an element of a list: the field type, as in conditions, or else
// the field name, or else the index.
func labelOf(e any, index int) string {
	o, _ := e.(map[string]any)
	for _, field := range []string{"type", "name"} {
		if text := Object(o).Text(field); text != "" {
			return text
		}
	}
	return fmt.Sprint(index)
}

var uidPattern = regexp.MustCompile(`00000000-0000-0000-0000-\d{12}`)

// free returns a text in which times, UIDs, and names that differ in each life are replaced.
func (n *normalizer) free(text string) string {
	if _, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return "a time"
	}
	text = uidPattern.ReplaceAllString(text, "UID")
	for _, name := range n.sorted {
		text = strings.ReplaceAll(text, name, "NAME")
	}
	return text
}
