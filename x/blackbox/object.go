package blackbox

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Object is an object of the API in the form of its JSON.
type Object map[string]any

// Get returns the value at a path of fields, or nil.
func (o Object) Get(path ...string) any {
	var v any = map[string]any(o)
	for _, field := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[field]
	}
	return v
}

// Text returns the text at a path of fields, or "".
func (o Object) Text(path ...string) string {
	s, _ := o.Get(path...).(string)
	return s
}

// Time returns the time at a path of fields, or the zero Time.
func (o Object) Time(path ...string) time.Time {
	t, err := time.Parse(time.RFC3339, o.Text(path...))
	if err != nil {
		return time.Time{}
	}
	return t
}

// List returns the objects of the list at a path of fields.
func (o Object) List(path ...string) (list []Object) {
	items, _ := o.Get(path...).([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			list = append(list, m)
		}
	}
	return list
}

// Set sets the value at a path of fields.
func (o Object) Set(value any, path ...string) {
	m := map[string]any(o)
	for _, field := range path[:len(path)-1] {
		next, ok := m[field].(map[string]any)
		if !ok {
			next = make(map[string]any)
			m[field] = next
		}
		m = next
	}
	m[path[len(path)-1]] = value
}

// Unset removes the field at a path.
func (o Object) Unset(path ...string) {
	if m, ok := o.Get(path[:len(path)-1]...).(map[string]any); ok {
		delete(m, path[len(path)-1])
	}
}

// Name returns metadata.name.
func (o Object) Name() string { return o.Text("metadata", "name") }

// UID returns metadata.uid.
func (o Object) UID() string { return o.Text("metadata", "uid") }

// Namespace returns metadata.namespace; empty for an object that has none.
func (o Object) Namespace() string { return o.Text("metadata", "namespace") }

// IsOwnedBy reports whether an owner reference names that UID.
func (o Object) IsOwnedBy(uid string) bool {
	isOwner := func(ref Object) bool { return ref.Text("uid") == uid }
	return slices.ContainsFunc(o.List("metadata", "ownerReferences"), isOwner)
}

func (o Object) kind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(o.Text("apiVersion"), o.Text("kind"))
}

// isDeleted reports whether the object is being deleted.
func (o Object) isDeleted() bool { return o.Get("metadata", "deletionTimestamp") != nil }

// clone returns a deep copy.
func (o Object) clone() Object { return cloneValue(map[string]any(o)).(map[string]any) }

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = cloneValue(e)
		}
		return m
	case []any:
		s := make([]any, len(v))
		for i, e := range v {
			s[i] = cloneValue(e)
		}
		return s
	}
	return v
}

func equalObjects(a, b Object) bool { return reflect.DeepEqual(a, b) }

func decodeObject(data []byte) (Object, error) {
	var o map[string]any
	err := json.Unmarshal(data, &o)
	return o, err
}

// toObject returns the JSON form of an object, typed or not. Fields that are null are left out, as in
// storage.
func toObject(v any) (Object, error) {
	data, err := dataOf(v)
	if err != nil {
		return nil, err
	}
	o, err := decodeObject(data)
	dropNulls(o)
	return o, err
}

// dataOf returns an object as JSON. A string or []byte is YAML.
func dataOf(v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return yaml.YAMLToJSON([]byte(v))
	case []byte:
		return yaml.YAMLToJSON(v)
	}
	return json.Marshal(v)
}

func dropNulls(m map[string]any) {
	for k, v := range m {
		switch v := v.(type) {
		case nil:
			delete(m, k)
		case map[string]any:
			dropNulls(v)
		case []any:
			for _, e := range v {
				if e, ok := e.(map[string]any); ok {
					dropNulls(e)
				}
			}
		}
	}
}
