package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/internal/nearest"
)

// readScenario returns the document of a file if the file is a scenario: a YAML file of one
// document without apiVersion and kind. The reader of manifests reads other files, and reports
// their errors.
func readScenario(file string) (*yaml.Node, error) {
	if base := strings.ToLower(file); !strings.HasSuffix(base, ".yaml") && !strings.HasSuffix(base, ".yml") {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	nodes, err := documents(file, data)
	if other, _ := manifest.NotManifest(data); other != "" || err != nil || len(nodes) == 0 {
		return nil, nil
	}
	for _, n := range nodes {
		if n.Kind != yaml.MappingNode || child(n, "kind") != nil || child(n, "apiVersion") != nil {
			return nil, nil
		}
	}
	if len(nodes) != 1 {
		return nil, fmt.Errorf("%s: has %d documents; a scenario is one", file, len(nodes))
	}
	return nodes[0], nil
}

// documents returns the documents of a YAML file that are not empty.
func documents(file string, data []byte) (out []*yaml.Node, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, manifest.Syntax(file, data, err)
		case len(node.Content) > 0 && node.Content[0].Tag != "!!null":
			out = append(out, node.Content[0])
		}
	}
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// located puts the file and the line before the text of an error of the YAML package. path is the
// path of the value, or "".
func located(file, path string, err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		file += ":" + m[1]
		text = strings.ReplaceAll(strings.Replace(text, m[0], "", 1), "\n  ", "; ")
	}
	if path != "" {
		text = path + ": " + text
	}
	return fmt.Errorf("%s: %s", file, text)
}

// child returns the value of a key, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// decode reads a document into a struct. It refuses unknown fields, and values that a field cannot
// have.
func decode(file string, n *yaml.Node, into any) error {
	if err := checkKnown(file, "", n, reflect.StructField{Type: reflect.TypeOf(into).Elem()}, "yaml"); err != nil {
		return err
	}
	if err := n.Decode(into); err != nil {
		return located(file, "", err)
	}
	return nil
}

// checkKnown refuses keys that are not fields of the type. tag is the kind of struct tag that has
// the names of the fields. If it is "yaml", checkKnown also refuses values that the fields cannot
// have. path is the path of the node.
func checkKnown(file, path string, n *yaml.Node, f reflect.StructField, tag string) error {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for f.Type.Kind() == reflect.Pointer {
		f.Type = f.Type.Elem()
	}
	t, pointer := f.Type, reflect.PointerTo(f.Type)
	switch {
	case t == reflect.TypeFor[yaml.Node]():
		return nil
	case pointer.Implements(reflect.TypeFor[yaml.Unmarshaler]()),
		pointer.Implements(reflect.TypeFor[json.Unmarshaler]()):
		// The type has its own method to decode.
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		f.Type = t.Elem()
		for i, item := range n.Content {
			if err := checkKnown(file, fmt.Sprintf("%s%d.", path, i), item, f, tag); err != nil {
				return err
			}
		}
		return nil
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		fields := fieldsOf(t, tag)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			field, ok := fields[key.Value]
			if !ok {
				return fmt.Errorf("%s:%d: %s%s: %w", file, key.Line, path, key.Value,
					noSuch("field", key.Value, slices.Sorted(maps.Keys(fields))))
			}
			if err := checkKnown(file, path+key.Value+".", n.Content[i+1], field, tag); err != nil {
				return err
			}
		}
		return nil
	}
	if tag != "yaml" {
		return nil
	}

	path = strings.TrimSuffix(path, ".")
	if err := checkLimit(n, t, f.Tag.Get("limit")); err != nil {
		return fmt.Errorf("%s:%d: %s: %w", file, n.Line, path, err)
	}
	if err := n.Decode(reflect.New(t).Interface()); err != nil {
		return located(file, path, err)
	}
	return nil
}

// checkLimit refuses a number outside of a limit. A limit is "positive", "LEAST MOST", or "LEAST
// MOST OTHER", where OTHER is one more allowed number. checkLimit also refuses a fraction for an
// integer, since the decoder would drop the fraction. It does not check values of another type: the
// decoder does.
func checkLimit(n *yaml.Node, t reflect.Type, limit string) error {
	words := strings.Fields(limit)
	var x float64
	switch {
	case limit == "" || n.Tag == "!!null":
		return nil
	case limit == "positive":
		value := reflect.New(t)
		if n.Decode(value.Interface()) != nil {
			return nil
		}
		zero := value.Elem().IsZero()
		if z, ok := value.Interface().(interface{ IsZero() bool }); ok {
			zero = z.IsZero()
		}
		if zero {
			return fmt.Errorf("%s: must be above 0", n.Value)
		}
		return nil
	case n.Decode(&x) != nil:
		return nil
	}

	least, most := bound(words[0]), bound(words[1])
	if !(x >= least && x <= most) && (len(words) < 3 || x != bound(words[2])) {
		return fmt.Errorf("%s: must be from %s to %s", n.Value, words[0], words[1])
	}
	if t.Kind() != reflect.Float64 && x != math.Trunc(x) {
		return fmt.Errorf("%s: must be a whole number", n.Value)
	}
	return nil
}

// bound reads a number of a limit.
func bound(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return x
}

// fieldsOf returns the fields of a struct by their names, including those of embedded structs.
func fieldsOf(t reflect.Type, tag string) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get(tag), ",")
		isInline := f.Anonymous && (options == "inline" || name == "")
		switch {
		case isInline && f.Type.Kind() == reflect.Struct:
			maps.Copy(fields, fieldsOf(f.Type, tag))
		case name != "" && name != "-":
			fields[name] = f
		}
	}
	return fields
}

// noSuch returns the error for a name that does not exist. It contains the name that was probably
// meant, or else all names.
func noSuch(kind, name string, names []string) error {
	if near := nearest.Name(name, names); near != "" {
		return fmt.Errorf("no such %s; did you mean %s?", kind, near)
	}
	return fmt.Errorf("no such %s; there are %s", kind, strings.Join(names, ", "))
}
