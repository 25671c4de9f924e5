package manifest

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// locate returns the node at a path such as "spec.template.spec.containers[0].env",
// or at the part of the path that exists.
func locate(root *yaml.Node, path string) *yaml.Node {
	node := root
	for path != "" {
		var step string
		step, path = nextStep(path)
		next := child(node, step)
		if next == nil {
			return node
		}
		node = next
	}
	return node
}

// nextStep splits "a", "[0]" or a quoted key off the front of a path.
func nextStep(path string) (step, rest string) {
	path = strings.TrimPrefix(path, ".")
	if strings.HasPrefix(path, "[") {
		step, rest, _ = strings.Cut(path[1:], "]")
		return step, rest
	}
	if i := strings.IndexAny(path, ".["); i > 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// child returns an item of a list, or a member of a mapping as its key, so that the
// line is right. The next step down from a key starts in its value.
func child(node *yaml.Node, step string) *yaml.Node {
	container := resolve(node)
	switch container.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(container.Content); i += 2 {
			if key := container.Content[i]; key.Value == step {
				value := *resolve(container.Content[i+1])
				value.Line, value.Column = key.Line, key.Column
				return &value
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(container.Content) {
			return container.Content[i]
		}
	}
	return nil
}

func resolve(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// mistyped returns the first node with the given JSON type at a path without list
// indexes.
func mistyped(root *yaml.Node, path, kind string) *yaml.Node {
	nodes := []*yaml.Node{root}
	for _, step := range strings.Split(path, ".") {
		var next []*yaml.Node
		for _, node := range nodes {
			for _, item := range items(node) {
				if c := child(item, step); c != nil {
					next = append(next, c)
				}
			}
		}
		nodes = next
	}
	for _, node := range nodes {
		for _, item := range items(node) {
			if jsonKind(item) == kind {
				return item
			}
		}
	}
	return nil
}

func items(node *yaml.Node) []*yaml.Node {
	if node = resolve(node); node.Kind == yaml.SequenceNode {
		return append([]*yaml.Node{node}, node.Content...)
	}
	return []*yaml.Node{node}
}

func jsonKind(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "object"
	case yaml.SequenceNode:
		return "array"
	}
	switch node.ShortTag() {
	case "!!int", "!!float":
		return "number"
	case "!!bool":
		return "bool"
	}
	return "string"
}

// plainTimes reads dates as plain text, as Kubernetes does.
func plainTimes(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!timestamp" {
		node.Tag = "!!str"
	}
	for _, c := range node.Content {
		plainTimes(c)
	}
}
