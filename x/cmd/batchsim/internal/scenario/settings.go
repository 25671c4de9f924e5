package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Setting changes a value of a scenario before the scenario is read. In the path of a field,
// numbers are places in lists, such as nodes.0.count.
type Setting struct{ Path, Value string }

// ParseSetting reads PATH=VALUE. The value is YAML.
func ParseSetting(text string) (Setting, error) {
	path, value, ok := strings.Cut(text, "=")
	if !ok || path == "" {
		return Setting{}, fmt.Errorf("%q: expected PATH=VALUE, such as nodes.0.count=50", text)
	}
	return Setting{strings.TrimSpace(path), value}, nil
}

// set changes a value in the tree of a document.
func set(n *yaml.Node, s Setting) error {
	var value yaml.Node
	// A schedule may begin with a character that cannot begin a text in YAML.
	if strings.HasPrefix(s.Value, "*") || strings.HasPrefix(s.Value, "@") {
		value.Content = []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: s.Value}}
	} else if err := yaml.Unmarshal([]byte(s.Value), &value); err != nil {
		return fmt.Errorf("%s=%s: %w", s.Path, s.Value, err)
	}
	if len(value.Content) == 0 {
		value.Content = []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!null"}}
	}

	parts := strings.Split(s.Path, ".")
	for i, part := range parts {
		last := i == len(parts)-1
		next, err := descend(n, part, i+1 < len(parts) && isNumber(parts[i+1]))
		if err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}

		if last {
			line := next.Line
			*next = *value.Content[0]
			next.Line = line
		}
		n = next
	}
	return nil
}

func isNumber(text string) bool { return len(text) > 0 && strings.Trim(text, "0123456789") == "" }

// descend returns a part of a map or a list. If the part is missing, descend adds it.
func descend(n *yaml.Node, part string, list bool) (*yaml.Node, error) {
	fresh := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line}
	if list {
		fresh.Kind, fresh.Tag = yaml.SequenceNode, "!!seq"
	}
	switch n.Kind {
	case yaml.SequenceNode:
		place, err := strconv.Atoi(part)
		if err != nil || place < 0 || place > len(n.Content) {
			return nil, fmt.Errorf("%q is not a place in a list of %d", part, len(n.Content))
		}
		if place == len(n.Content) {
			n.Content = append(n.Content, fresh)
		}
		return n.Content[place], nil
	case yaml.MappingNode:
		if c := child(n, part); c != nil {
			return c, nil
		}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: part, Line: n.Line}, fresh)
		return fresh, nil
	}
	return nil, fmt.Errorf("%q is part of a plain value", part)
}
