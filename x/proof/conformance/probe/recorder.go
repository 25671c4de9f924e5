package probe

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// recorder turns answers into text that is the same on every run.
//
//   - A UID is U1, U2, ... in the order of appearance.
//   - The namespace is NS.
//   - The random end of a generated name is #1, #2, ... in the same way.
//   - A resource version is "new", or is compared with the one last seen: "moved" or "same".
//   - A time near now is written as its distance in steps of ten seconds, any other in full.
//   - An object is written as its changes since it was last seen; a removed field has a minus
//     before it. When it is first seen, it is written as its differences from the usual object of
//     its kind, which the first probe shows.
type recorder struct {
	uids, names int
	renamed     map[string]string
	seen        map[types.UID]sight
	usual       map[string][]field
}

// sight is an object as it was last seen.
type sight struct {
	version string
	fields  []field
}

func newRecorder(namespace string, usual map[string][]field) *recorder {
	return &recorder{renamed: map[string]string{namespace: "NS"}, seen: map[types.UID]sight{}, usual: usual}
}

// stream returns a recorder for a watch: it knows the names, but has not yet seen any object.
func (r *recorder) stream() *recorder {
	c := *r
	c.seen = map[types.UID]sight{}
	return &c
}

// change describes an object by what is different since it was last seen.
func (r *recorder) change(kind string, o metav1.Object, fields []field) string {
	r.learn(o)
	last, known := r.seen[o.GetUID()]
	if !known {
		last.fields = named(r.usual[kind], o)
	}
	r.seen[o.GetUID()] = sight{o.GetResourceVersion(), fields}
	words := []string{"rv=" + moved(known, last.version, o.GetResourceVersion())}
	words = append(words, difference(last.fields, fields)...)
	return r.text(strings.Join(words, " "))
}

// The placeholders for the name and the UID in a usual object.
const (
	itsName = "{name}"
	itsUID  = "{uid}"
)

// named fills in the name and the UID of an object.
func named(usual []field, o metav1.Object) []field {
	replacer := strings.NewReplacer(itsName, o.GetName(), itsUID, string(o.GetUID()))
	fields := make([]field, len(usual))
	for i, f := range usual {
		fields[i] = field{f.key, replacer.Replace(f.value)}
	}
	return fields
}

// unnamed replaces values that are the name or the UID of the object by the placeholders.
func unnamed(o metav1.Object, fields []field) []field {
	usual := make([]field, len(fields))
	for i, f := range fields {
		switch f.value {
		case o.GetName():
			f.value = itsName
		case string(o.GetUID()):
			f.value = itsUID
		}
		usual[i] = f
	}
	return usual
}

func difference(before, after []field) (words []string) {
	was, is := index(before), index(after)
	for _, f := range after {
		if v, ok := was[f.key]; !ok || v != f.value {
			words = append(words, f.key+"="+f.value)
		}
	}
	for _, f := range before {
		if _, ok := is[f.key]; !ok {
			words = append(words, "-"+f.key)
		}
	}
	return words
}

func index(fields []field) map[string]string {
	m := make(map[string]string, len(fields))
	for _, f := range fields {
		m[f.key] = f.value
	}
	return m
}

func moved(known bool, last, version string) string {
	switch {
	case version == "":
		return "none"
	case !known:
		return "new"
	case version == last:
		return "same"
	case number(version) < number(last):
		return "back"
	default:
		return "moved"
	}
}

func number(version string) uint64 {
	n, _ := strconv.ParseUint(version, 10, 64)
	return n
}

// longestBase is the length to which the base of a generated name is cut, to leave room for its
// random end.
const longestBase = 58

// learn chooses the words that replace the UID and the generated name of the object.
func (r *recorder) learn(o metav1.Object) {
	if uid := string(o.GetUID()); uid != "" && r.renamed[uid] == "" {
		r.uids++
		r.renamed[uid] = fmt.Sprintf("U%d", r.uids)
	}
	base, name := o.GetGenerateName(), o.GetName()
	base = base[:min(len(base), longestBase)]
	isGenerated := base != "" && strings.HasPrefix(name, base) && len(name) == len(base)+5
	if isGenerated && r.renamed[name] == "" {
		r.names++
		r.renamed[name] = fmt.Sprintf("%s#%d", base, r.names)
	}
}

// text replaces what was chosen at random.
func (r *recorder) text(s string) string {
	for _, long := range slices.SortedFunc(maps.Keys(r.renamed), longestFirst) {
		s = strings.ReplaceAll(s, long, r.renamed[long])
	}
	return s
}

// longestFirst keeps a name from being replaced inside a longer one.
func longestFirst(a, b string) int {
	if len(a) != len(b) {
		return len(b) - len(a)
	}
	return strings.Compare(a, b)
}

// failure describes an error by the parts that a caller can act on.
func (r *recorder) failure(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "error without an API status" // the text has port numbers in it
	}
	reason := string(apierrors.ReasonForError(err))
	if reason == "" {
		reason = "without a reason"
	}
	words := []string{"error", reason, fmt.Sprint(status.Status().Code)}
	if details := status.Status().Details; details != nil {
		for _, c := range details.Causes {
			words = append(words, strings.TrimSuffix(fmt.Sprintf("%s:%s", c.Type, c.Field), ":"))
		}
	}
	return r.text(strings.Join(words, " "))
}
