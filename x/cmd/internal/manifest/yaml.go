package manifest

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlFormat splits YAML into documents, and a list into its items, line by line. The first
// characters of a line show whether it begins a document or an item: all other lines of an item are
// indented further than its dash.
type yamlFormat struct {
	to *Stream
	// line is the number of the last complete line; rest is the beginning of the next line.
	line int
	rest []byte
	// doc is the document without its items, which begins at docLine.
	doc     part
	docLine int
	// inItems is true after "items:". indent is the column of the dashes, -1 before the first.
	inItems bool
	indent  int
	count   int
	item    part
	itemAt  int
	held    []*Object
	text    []byte // of the document that is being converted
}

// part is a text that is decoded as a whole. It lacks the first line that would make it too long,
// and all lines after that one.
type part struct {
	text    []byte
	tooLong bool
}

// add appends a line, unless the text would become too long.
func (p *part) add(line []byte) {
	if p.tooLong = p.tooLong || len(p.text)+len(line) > maxObject; !p.tooLong {
		p.text = append(p.text, line...)
	}
}

// take returns the text, and makes room for the next one.
func (p *part) take() (text []byte, tooLong bool) {
	text, tooLong = p.text, p.tooLong
	p.text, p.tooLong = p.text[:0], false
	return text, tooLong
}

func newYAML(to *Stream) *yamlFormat {
	return &yamlFormat{to: to, docLine: 1, indent: -1}
}

func (f *yamlFormat) write(p []byte) {
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			f.rest = append(f.rest, p...)
			f.rest = f.rest[:min(len(f.rest), maxObject+1)] // it is too long then
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
		f.doc.add(append([]byte("   "), line[3:]...))
		return
	case string(text) == "...":
		f.endDocument()
		f.docLine = f.line + 1
		return
	case !f.inItems && string(text) == "items:":
		f.inItems, f.indent = true, -1
		f.doc.add([]byte("items: []\n"))
		return
	case !f.inItems:
		f.doc.add(line)
		return
	}
	f.nextInItems(line, text)
}

// nextInItems adds a line after "items:" to an item, or ends the items.
func (f *yamlFormat) nextInItems(line, text []byte) {
	content := bytes.TrimLeft(text, " ")
	indent := len(text) - len(content)
	isDash := bytes.HasPrefix(content, []byte("- ")) || string(content) == "-"
	isOutside := indent <= f.indent || f.indent < 0 // of the item, or before the first
	switch {
	case len(content) == 0 || content[0] == '#' && isOutside:
		f.item.add(line)
	case f.indent < 0 && isDash:
		f.indent = indent
		fallthrough
	case isDash && indent == f.indent:
		f.endItem()
		f.count++
		f.itemAt = f.line
		line[indent] = ' '
		f.item.add(line)
	case indent > f.indent && f.indent >= 0:
		f.item.add(line)
	default:
		f.endItem()
		f.inItems = false
		f.doc.add(line)
	}
}

func (f *yamlFormat) endItem() {
	text, long := f.item.take()
	if f.itemAt == 0 {
		return
	}
	line := f.itemAt
	f.itemAt = 0
	if long {
		f.to.tooLong(line)
		return
	}
	if o := f.object(line, text); o != nil && f.to.add(o, len(f.held) < maxHeld) {
		f.held = append(f.held, o)
	}
}

// endDocument decodes the rest of a document: an object, or a list without its items.
func (f *yamlFormat) endDocument() {
	f.endItem()
	doc, long := f.doc.take()
	list, line, held := f.inItems || f.count > 0, f.docLine, f.held
	f.inItems, f.count, f.indent, f.held = false, 0, -1, nil
	if long {
		f.to.tooLong(line)
		return
	}
	o := f.object(line, doc)
	if o == nil {
		return
	}

	// Items in block style were added as their lines were read. The document has those in flow style.
	items := child(o.root, "items")
	if list || items != nil && items.Kind == yaml.SequenceNode {
		t, _ := readType(o.JSON)
		f.to.list(line, t)
		for _, item := range held {
			item.Default = t.itemType()
			f.to.add(item, false)
		}
		if list || items == nil {
			return
		}
		for _, n := range items.Content {
			if item := f.convert(line, n); item != nil {
				item.Default = t.itemType()
				f.to.add(item, false)
			}
		}
		return
	}
	f.to.add(o, false)
}

// object parses one YAML document. It returns nil for an empty document, and after a problem.
func (f *yamlFormat) object(line int, text []byte) *Object {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		f.problem(line, text, err)
		return nil
	}
	if len(root.Content) == 0 || root.Content[0].Tag == "!!null" {
		return nil
	}
	if root.Content[0].Kind == yaml.MappingNode {
		if what, at := NotManifest(text); what != "" && child(root.Content[0], "kind") == nil {
			f.to.problem(Position{File: f.to.file, Line: line + at - 1}, what)
			return nil
		}
	}
	f.text = text
	return f.convert(line, root.Content[0])
}

// convert returns a node of a document as an object that begins at a line.
func (f *yamlFormat) convert(line int, node *yaml.Node) *Object {
	o := &Object{At: Position{File: f.to.file, Line: line}, root: node, isYAML: true}

	if resolve(node).Kind != yaml.MappingNode {
		if what, at := NotManifest(f.text); what != "" {
			f.to.problem(Position{File: f.to.file, Line: line + at - 1}, what)
		} else if !f.to.foreign() {
			f.to.problem(o.At, "is not an object with apiVersion, kind and metadata")
		}
		return nil
	}

	if twice := o.doubles(); len(twice) > 0 {
		for _, p := range twice {
			f.to.problem(p.Position, p.Text)
		}
		return nil
	}

	plain(node, 0)
	var value any
	if err := node.Decode(&value); err != nil {
		f.problem(line, f.text, err)
		return nil
	}

	data, err := json.Marshal(value)
	if err != nil {
		f.to.problem(o.At, strings.TrimPrefix(err.Error(), "json: "))
		return nil
	}
	o.JSON = data
	return o
}

func (f *yamlFormat) problem(line int, text []byte, err error) {
	p := Syntax(f.to.file, text, err)
	p.Line += line - 1
	f.to.problem(p.Position, p.Text)
}

// child returns the value of a key, or nil.
func child(node *yaml.Node, key string) *yaml.Node {
	node = resolve(node)
	for i := 0; i+1 < len(node.Content) && node.Kind == yaml.MappingNode; i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// plain gives scalars the types that Kubernetes gives them: a date is text, and the words for true and
// false are those of YAML 1.1.
func plain(node *yaml.Node, depth int) {
	const marked = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle |
		yaml.LiteralStyle | yaml.FoldedStyle | yaml.TaggedStyle
	if node.Kind == yaml.ScalarNode && node.Style&marked == 0 {
		switch tag := node.ShortTag(); {
		case tag == "!!timestamp":
			node.Tag = "!!str"
		case tag == "!!str" && yesNo[strings.ToLower(node.Value)] != "":
			if v := node.Value; v == strings.ToLower(v) || v == strings.ToUpper(v) || v[1:] == strings.ToLower(v[1:]) {
				node.Tag, node.Value = "!!bool", yesNo[strings.ToLower(v)]
			}
		}
	}
	if depth > 10_000 {
		return // deeper than the decoder goes
	}
	for i, c := range node.Content {
		if node.Kind != yaml.MappingNode || i%2 == 1 {
			plain(c, depth+1)
		}
	}
}

var yesNo = map[string]string{"yes": "true", "y": "true", "on": "true", "no": "false", "n": "false", "off": "false"}
