package manifest

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/batchplan/batchplan/internal/must"
)

var update = flag.Bool("update", false, "write fields.txt again")

// TestFieldTable: the table has the fields of the API's types, and no others.
func TestFieldTable(t *testing.T) {
	lines := map[string]string{}
	addType(lines, reflect.TypeFor[batchv1.Job]())
	addType(lines, reflect.TypeFor[batchv1.CronJob]())
	var want strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&want, "%s%s\n", name, lines[name])
	}
	if *update {
		must.OK(t, os.WriteFile("fields.txt", []byte(want.String()), 0o644))
		return
	}
	if want.String() != fieldTable {
		t.Error("fields.txt is not up to date; run the test with -update")
	}
}

// addType adds a type, and those of its fields, and returns its name in the table.
func addType(lines map[string]string, t reflect.Type) string {
	switch t {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return "time"
	case reflect.TypeFor[resource.Quantity]():
		return "quantity"
	case reflect.TypeFor[intstr.IntOrString]():
		return "number-or-name"
	case reflect.TypeFor[metav1.FieldsV1]():
		return "any"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return addType(lines, t.Elem())
	case reflect.Slice:
		return "[]" + addType(lines, t.Elem())
	case reflect.Map:
		return "map:" + addType(lines, t.Elem())
	case reflect.Struct:
	default:
		return t.Kind().String()
	}
	if _, ok := lines[t.Name()]; ok {
		return t.Name()
	}
	lines[t.Name()] = ""
	lines[t.Name()] = fieldsOf(lines, t)
	return t.Name()
}

func fieldsOf(lines map[string]string, t reflect.Type) (text string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && (name == "" || options == "inline"):
			text += fieldsOf(lines, f.Type)
		case name != "" && name != "-":
			text += " " + name + "=" + addType(lines, f.Type)
		}
	}
	return text
}
