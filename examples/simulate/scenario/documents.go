package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readScenario returns the document of a file if it is a scenario: a YAML file without
// apiVersion and kind.
func readScenario(file string) (*yaml.Node, error) {
	if base := strings.ToLower(file); !strings.HasSuffix(base, ".yaml") && !strings.HasSuffix(base, ".yml") {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	nodes, err := documents(file, data)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if n.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("%s:%d: is neither an object nor a scenario", file, n.Line)
		}
		if child(n, "kind") != nil || child(n, "apiVersion") != nil {
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
			return nil, located(file, err)
		case len(node.Content) > 0 && node.Content[0].Tag != "!!null":
			out = append(out, node.Content[0])
		}
	}
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// located puts the line of an error of the YAML package behind the file.
func located(file string, err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s:%s: %s", file, m[1], strings.ReplaceAll(strings.Replace(text, m[0], "", 1), "\n  ", "; "))
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

// decode reads a document into a struct; an unknown field is an error.
func decode(file string, n *yaml.Node, into any) error {
	if err := checkKnown(file, n, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	if err := n.Decode(into); err != nil {
		return located(file, err)
	}
	return nil
}

// checkKnown refuses keys that are no field of the type.
func checkKnown(file string, n *yaml.Node, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]()) || t == reflect.TypeFor[yaml.Node]():
		return nil
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if err := checkKnown(file, item, t.Elem()); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		fields := map[string]reflect.Type{}
		var names []string
		for f := range t.Fields() {
			if tag := f.Tag.Get("yaml"); tag != "" {
				fields[tag] = f.Type
				names = append(names, tag)
			}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			field, ok := fields[key.Value]
			if !ok {
				return fmt.Errorf("%s:%d: %q: no such field; there are %s", file, key.Line, key.Value, strings.Join(names, ", "))
			}
			if err := checkKnown(file, n.Content[i+1], field); err != nil {
				return err
			}
		}
	}
	return nil
}
