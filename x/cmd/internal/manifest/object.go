package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Type is the type of an object.
type Type struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// itemType is the type of a list's items: a JobList holds Jobs. A List holds anything.
func (t Type) itemType() Type {
	return Type{t.APIVersion, strings.TrimSuffix(t.Kind, "List")}
}

// itemTypeOf returns the type of a list's items. head is the beginning of the list, with closing
// brackets added.
func itemTypeOf(head []byte) Type {
	t, err := readType(head)
	if err != nil {
		return Type{}
	}
	return t.itemType()
}

func readType(object []byte) (t Type, err error) {
	err = json.Unmarshal(object, &t)
	return t, err
}

// ErrNoKind is the error for an object without a kind.
var ErrNoKind = errors.New("the object has no kind; expected a Job, CronJob, Pod, Event, Namespace, Node or a List " +
	"of them, as kubectl get -o json or -o yaml prints them (kubectl describe does not)")

// CheckType returns an error for a type that looks like a Job or CronJob, but is of another version or
// has a misspelt kind.
func CheckType(t Type, name string) error {
	if t.Kind == "" {
		return ErrNoKind
	}
	group, _, _ := strings.Cut(t.APIVersion, "/")
	isJob := t.Kind == "Job" || t.Kind == "CronJob"
	switch {
	case isJob && t.APIVersion == "":
		return errors.New(`apiVersion: is required; expected "batch/v1"`)
	case isJob && t.APIVersion == "batch/v1":
		return nil
	case isJob && group != "batch" && group != "v1":
		return nil // a kind of another API
	case isJob && (t.APIVersion == "batch/v1beta1" || t.APIVersion == "batch/v2alpha1"):
		return fmt.Errorf("apiVersion: %q of %s %s is not supported; expected \"batch/v1\", which has served "+
			"CronJobs since Kubernetes 1.21", t.APIVersion, t.Kind, name)
	case isJob:
		return fmt.Errorf("apiVersion: %q of %s %s is not supported; expected \"batch/v1\"", t.APIVersion, t.Kind, name)
	case t.APIVersion == "batch/v1" && !strings.HasSuffix(t.Kind, "List"):
		return fmt.Errorf("kind: %q: no such kind in batch/v1; expected \"Job\" or \"CronJob\"", t.Kind)
	}
	return nil
}

// Object is an object of an input.
type Object struct {
	// At is the position at which the object begins.
	At Position
	// Default is the type of an item of a list that has no type itself.
	Default Type
	// JSON is the object. It is valid until Add returns.
	JSON json.RawMessage

	root    *yaml.Node
	isYAML  bool
	nowhere bool // the lines of root are not those of the input
}

// Inner returns the object in a watch event. data is a part of the event's text.
func (o *Object) Inner(data json.RawMessage) *Object {
	inner := &Object{At: o.At, JSON: data}
	if at := bytes.Index(o.JSON, data); at > 0 {
		inner.At.Line += bytes.Count(o.JSON[:at], []byte("\n"))
	}
	return inner
}

// node returns the object with the positions of its values.
func (o *Object) node() *yaml.Node {
	if o.root == nil {
		// Strings of JSON contain no tabs, and the parser of YAML refuses tabs elsewhere.
		text := bytes.ReplaceAll(o.JSON, []byte("\t"), []byte(" "))
		var root yaml.Node
		if yaml.Unmarshal(text, &root) != nil {
			// JSON has escapes that YAML does not have. An object with such an escape has no positions.
			o.nowhere = true
			var value any
			if json.Unmarshal(o.JSON, &value) == nil {
				text, _ = json.Marshal(value)
				_ = yaml.Unmarshal(text, &root)
			}
		}
		o.root = &yaml.Node{Kind: yaml.MappingNode}
		if len(root.Content) > 0 {
			o.root = root.Content[0]
		}
	}
	return o.root
}

// position returns the position of a node of the object.
func (o *Object) position(n *yaml.Node) Position {
	if o.nowhere || n.Line == 0 {
		return o.At
	}
	return Position{o.At.File, o.At.Line + n.Line - 1, n.Column}
}

// Place returns the position of the value at a path such as spec.template.spec.containers[0].env,
// or of the part of the path that exists. A field is at the position of its key.
func (o *Object) Place(path string) Position {
	node := o.node()
	at := node
	for path != "" {
		key, value, rest := step(node, path)
		if value == nil {
			break
		}
		at, node, path = key, value, rest
	}
	if at == o.root {
		return o.At
	}
	return o.position(at)
}

// Problem returns a problem of the value at a path; an empty path means the whole object.
func (o *Object) Problem(path, format string, args ...any) Problem {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	return Problem{o.Place(path), text}
}

// step goes one step down a path: to a member of a mapping, whose name may contain dots, or to an
// item of a list. If the path has no index, as in errors of the JSON decoder, it goes to the first
// item that has the rest of the path.
func step(node *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	node = resolve(node)
	path = strings.TrimPrefix(path, ".")
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			after, ok := strings.CutPrefix(path, node.Content[i].Value)
			isWhole := after == "" || after[0] == '.' || after[0] == '['
			if ok && isWhole {
				return node.Content[i], node.Content[i+1], after
			}
		}
	case yaml.SequenceNode:
		index, after, indexed := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(index); indexed && err == nil {
			if i < 0 || i >= len(node.Content) {
				return nil, nil, ""
			}
			return node.Content[i], node.Content[i], after
		}
		for _, item := range node.Content {
			if key, value, rest = step(item, path); value != nil {
				return key, value, rest
			}
		}
	}
	return nil, nil, ""
}

func resolve(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// where returns the position of an error of the decoder.
func (o *Object) where(err error) Position {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	at, offset := o.At, int64(0)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typed) && o.isYAML:
		return o.Place(typed.Field)
	case errors.As(err, &typed):
		offset = typed.Offset
	}
	if offset > 0 && offset <= int64(len(o.JSON)) {
		at.Line += bytes.Count(o.JSON[:offset], []byte("\n"))
	}
	return at
}

// jsonText returns the text of a decoding error in the terms of a manifest.
func jsonText(err error) string {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return fmt.Sprintf("%s: is a %s, expected %s", typed.Field, typed.Value, plainType(typed.Type.String()))
	}
	return err.Error()
}

// plainType returns the name of a type for users who do not write Go.
func plainType(name string) string {
	switch {
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return "a whole number"
	case name == "float64":
		return "a number"
	case name == "string":
		return "a string"
	case name == "bool":
		return "true or false"
	case name == "time":
		return "a time such as 2026-01-31T08:00:00Z"
	case name == "quantity":
		return "an amount such as 500m or 2Gi"
	case name == "number-or-name":
		return "a number or a string"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	}
	return "an object"
}
