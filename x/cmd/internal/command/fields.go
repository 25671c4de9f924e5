package command

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// DidYouMean returns, for a path to a field that a type does not have, such as
// spec.template.spec.restartPolcy, the words "; did you mean restartPolicy?", or "" if no field of
// that part has a name that is near. The names are those in JSON.
func DidYouMean(t reflect.Type, path string) string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	if len(parts) == 0 {
		return ""
	}
	last := len(parts) - 1
	for _, part := range parts[:last] {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Slice, reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			field, ok := jsonFields(t)[part]
			if !ok {
				return ""
			}
			t = field
		default:
			return ""
		}
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return ""
	}
	var names []string
	for name := range jsonFields(t) {
		names = append(names, name)
	}
	slices.Sort(names)
	if near := Nearest(parts[last], names); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// jsonFields are the types of the fields of a struct, and of those that it embeds, by their names.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := make(map[string]reflect.Type)
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && (name == "" || options == "inline") && f.Type.Kind() == reflect.Struct:
			for n, inner := range jsonFields(f.Type) {
				fields[n] = inner
			}
		case name != "" && name != "-":
			fields[name] = f.Type
		}
	}
	return fields
}
