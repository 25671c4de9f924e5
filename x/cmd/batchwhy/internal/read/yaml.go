package read

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlFormat splits YAML into documents, and a document with items into these, line by
// line. A line that begins a document or an item can be told by its first characters:
// whatever belongs to an item is indented further than its dash.
type yamlFormat struct {
	to   *Objects
	file string
	// line is the number of the last whole line; rest is the beginning of the next one.
	line int
	rest []byte
	// doc is the document without its items, which begins at docLine.
	doc     []byte
	docLine int
	// inItems is true behind "items:"; indent is where the dashes are, -1 before the first.
	inItems bool
	indent  int
	count   int
	item    []byte
	itemAt  int
	tooLong bool
	held    []raw
}

func newYAML(to *Objects, file string) *yamlFormat {
	return &yamlFormat{to: to, file: file, docLine: 1, indent: -1}
}

func (f *yamlFormat) write(p []byte) {
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			f.rest = append(f.rest, p...)
			if len(f.rest) > maxObject {
				f.rest, f.tooLong = f.rest[:0], true
			}
			return
		}
		line := p[:end+1]
		if len(f.rest) > 0 {
			line = append(f.rest, line...)
		}
		f.next(line)
		f.rest = f.rest[:0]
		p = p[end+1:]
	}
}

func (f *yamlFormat) close() {
	if len(f.rest) > 0 {
		f.next(append(f.rest, '\n'))
	}
	f.endDocument()
}

func (f *yamlFormat) next(line []byte) {
	f.line++
	text := bytes.TrimRight(line, " \t\r\n")
	switch {
	case bytes.HasPrefix(line, []byte("---")) && (len(text) == 3 || text[3] == ' '):
		f.endDocument()
		f.docLine = f.line
		f.add(&f.doc, append([]byte("   "), line[3:]...))
		return
	case string(text) == "...":
		f.endDocument()
		f.docLine = f.line + 1
		return
	case !f.inItems && string(text) == "items:":
		f.inItems, f.indent = true, -1
		f.add(&f.doc, []byte("items: []\n"))
		return
	case !f.inItems:
		f.add(&f.doc, line)
		return
	}
	f.nextInItems(line, text)
}

// nextInItems sorts a line behind "items:" into an item, or ends the items.
func (f *yamlFormat) nextInItems(line, text []byte) {
	content := bytes.TrimLeft(text, " ")
	indent := len(text) - len(content)
	isDash := bytes.HasPrefix(content, []byte("- ")) || string(content) == "-"
	switch {
	case len(content) == 0 || content[0] == '#' && indent <= f.indent:
		f.add(&f.item, line)
	case f.indent < 0 && isDash:
		f.indent = indent
		fallthrough
	case isDash && indent == f.indent:
		f.endItem()
		f.count++
		f.itemAt = f.line
		line[indent] = ' '
		f.add(&f.item, line)
	case indent > f.indent && f.indent >= 0:
		f.add(&f.item, line)
	default:
		f.endItem()
		f.inItems = false
		f.add(&f.doc, line)
	}
}

// add appends a line, unless the text grows too long.
func (f *yamlFormat) add(to *[]byte, line []byte) {
	if len(*to)+len(line) > maxObject {
		f.tooLong = true
		return
	}
	*to = append(*to, line...)
}

func (f *yamlFormat) endItem() {
	text, long := f.item, f.tooLong
	f.item, f.tooLong = f.item[:0], false
	if f.itemAt == 0 {
		return
	}
	at := Position{f.file, f.itemAt}
	f.itemAt = 0
	if long {
		f.to.problem(at, fmt.Sprintf("an object of more than %d MB is left out", maxObject>>20))
		return
	}
	f.decode(at, text, true)
}

// endDocument decodes what is left of a document: an object, or a list without its items.
func (f *yamlFormat) endDocument() {
	f.endItem()
	doc, list, at := f.doc, f.inItems || f.count > 0, Position{f.file, f.docLine}
	held, long := f.held, f.tooLong
	f.doc, f.inItems, f.count, f.indent, f.held, f.tooLong = f.doc[:0], false, 0, -1, nil, false
	switch {
	case long:
		f.to.problem(at, fmt.Sprintf("an object of more than %d MB is left out", maxObject>>20))
	case list:
		object, err := f.toJSON(at, doc)
		if err != nil || object == nil {
			break
		}
		t, _ := readType(object)
		f.to.list(at, t)
		for _, r := range held {
			f.take(r.at, r.json, t.itemType())
		}
	default:
		f.decode(at, doc, false)
	}
}

// decode decodes one object. An item without a kind waits for the kind of its list.
func (f *yamlFormat) decode(at Position, text []byte, item bool) {
	object, err := f.toJSON(at, text)
	if err != nil || object == nil {
		return
	}
	var list struct {
		typeOf
		Items []json.RawMessage `json:"items"`
	}
	if !item && bytes.Contains(object, []byte(`"items"`)) && json.Unmarshal(object, &list) == nil && list.Items != nil {
		f.to.list(at, list.typeOf) // in flow style
		for _, o := range list.Items {
			f.take(at, o, list.itemType())
		}
		return
	}
	err = f.to.add(at, object, typeOf{})
	switch {
	case err == errNoKind && item && len(f.held) < maxHeld:
		f.held = append(f.held, raw{at, object})
	case err != nil:
		f.to.reject(f.where(at, text, err), err)
	}
}

func (f *yamlFormat) take(at Position, object []byte, t typeOf) {
	if err := f.to.add(at, object, t); err != nil {
		f.to.reject(at, err)
	}
}

// where finds the line of the field that an error names.
func (f *yamlFormat) where(at Position, text []byte, err error) Position {
	var typed *json.UnmarshalTypeError
	var root yaml.Node
	if !errors.As(err, &typed) || yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return at
	}
	node := root.Content[0]
	for _, step := range strings.Split(typed.Field, ".") {
		next := childOf(node, step)
		if next == nil {
			break
		}
		node = next
	}
	at.Line += node.Line - 1
	return at
}

// childOf returns the value of a key, in the first item that has it where the node is a
// list.
func childOf(node *yaml.Node, key string) *yaml.Node {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == key {
				return node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		for _, c := range node.Content {
			if found := childOf(c, key); found != nil {
				return found
			}
		}
	}
	return nil
}

// toJSON turns one YAML document into JSON. It is nil for an empty document, and after a
// problem.
func (f *yamlFormat) toJSON(at Position, text []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		f.to.problem(f.syntaxError(at, text, err))
		return nil, err
	}
	if len(root.Content) == 0 || root.Content[0].Tag == "!!null" {
		return nil, nil
	}
	plainTimes(&root, 0)
	var value any
	if err := root.Content[0].Decode(&value); err != nil {
		f.to.problem(f.syntaxError(at, text, err))
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok && f.to.Lenient {
		f.to.pass("an unknown kind")
		return nil, nil
	}
	if !ok {
		f.to.problem(at, "is not an object with apiVersion, kind and metadata")
		return nil, nil
	}
	data, err := json.Marshal(object)
	if err != nil {
		f.to.problem(at, strings.TrimPrefix(err.Error(), "json: "))
	}
	return data, err
}

// plainTimes reads dates as plain text, as Kubernetes does.
func plainTimes(node *yaml.Node, depth int) {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!timestamp" {
		node.Tag = "!!str"
	}
	if depth > 10_000 {
		return // deeper than the decoder goes
	}
	for _, c := range node.Content {
		plainTimes(c, depth+1)
	}
}

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// syntaxError is a problem at the line that the parser names.
func (f *yamlFormat) syntaxError(at Position, text []byte, err error) (Position, string) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		message = m[2]
		if tab := tabLine(text); tab > 0 && (strings.Contains(message, "tab character") || strings.Contains(message, "cannot start any token")) {
			// The parser reports the line before, and a tab is hard to see.
			line, message = tab, "indented with a tab; YAML requires spaces"
		}
		at.Line += line - 1
	}
	return at, message
}

// tabLine returns the first line that is indented with a tab, or 0.
func tabLine(text []byte) int {
	for i, line := range bytes.Split(text, []byte("\n")) {
		indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		if len(indent) < len(line) && bytes.IndexByte(indent, '\t') >= 0 {
			return i + 1
		}
	}
	return 0
}
