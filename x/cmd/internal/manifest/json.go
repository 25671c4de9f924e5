package manifest

import (
	"bytes"
	"fmt"
	"strings"
)

// maxObject is the maximum size of one object in bytes. An API server stores at most 1.5 MB of an
// object. Its text may be several times as long.
const maxObject = 16 << 20

// maxHeld is the maximum number of items without a kind that wait for the kind of their list.
const maxHeld = 10_000

// jsonFormat splits a stream of JSON values into objects. It looks at brackets and strings only, so
// that it finds the items of a list of any length while the list is being read. The contents of an
// object are checked when it is decoded.
type jsonFormat struct {
	to   *Stream
	line int
	// depth is the number of open brackets. text is true inside a string, and escape after a
	// backslash in a string.
	depth  int
	text   bool
	escape bool
	// items is the depth inside the list's array, 0 outside of it. count is the number of items so
	// far, and listLine the line at which the list begins.
	items, count, listLine int
	// wantsKey is true where the next string is a key of the outermost object. key is the last key
	// read.
	wantsKey bool
	keyStart int
	key      string
	// value is what was read so far of the object that begins at valueLine.
	value     []byte
	valueLine int
	tooLong   bool
	// head is the outermost object without its items.
	head []byte
	// itemType is the type that the list gives to items without a type of their own, if it gives one.
	itemType Type
	// held has the items of a list whose kind is not known yet.
	held []*Object
	// broken is true if the rest cannot be read.
	broken bool
}

func newJSON(to *Stream) *jsonFormat { return &jsonFormat{to: to, line: 1} }

func (f *jsonFormat) write(p []byte) {
	p = bytes.TrimPrefix(p, []byte("\xef\xbb\xbf"))
	for i := 0; i < len(p) && !f.broken; i++ {
		c := p[i]
		if f.text && !f.escape {
			// The common case: the inside of a string.
			end := bytes.IndexAny(p[i:], "\"\\\n")
			if end < 0 {
				end = len(p) - i
			}
			if end > 0 {
				f.keep(p[i : i+end]...)
				i += end - 1
				continue
			}
		}
		if c == '\n' {
			f.line++
		}
		f.next(c)
	}
}

// keep adds bytes to the value that is being read.
func (f *jsonFormat) keep(p ...byte) {
	if f.depth == 0 || f.depth == f.items {
		return
	}
	if len(f.value)+len(p) > maxObject {
		f.tooLong = true
		return
	}
	f.value = append(f.value, p...)
}

func (f *jsonFormat) next(c byte) {
	switch {
	case f.text:
		f.keep(c)
		f.inText(c)
	case c == '"':
		f.text = true
		if f.depth == 0 || f.depth == f.items {
			f.foreign("a string")
			return
		}
		f.keyStart = len(f.value)
		f.keep(c)
	case c == '{' || c == '[':
		f.open(c)
	case c == '}' || c == ']':
		f.shut(c)
	case c == ' ', c == '\t', c == '\r', c == '\n':
		f.keep(c)
	default:
		f.plain(c)
	}
}

func (f *jsonFormat) inText(c byte) {
	switch {
	case f.escape:
		f.escape = false
	case c == '\\':
		f.escape = true
	case c == '"':
		f.text = false
		if f.depth == 1 && f.items == 0 && f.wantsKey {
			from := min(f.keyStart+1, len(f.value)) // a value that is too long lacks the key
			f.key, f.wantsKey = string(f.value[from:max(from, len(f.value)-1)]), false
		}
	}
}

// plain reads a character outside of strings that is neither a bracket nor a space.
func (f *jsonFormat) plain(c byte) {
	switch {
	case c == ',' && f.depth == 1:
		f.wantsKey, f.key = true, ""
		f.keep(c)
	case c == ',' && f.depth > 0 && f.depth == f.items:
	case f.depth == 0 || f.depth == f.items:
		f.foreign(fmt.Sprintf("%q", c))
	default:
		f.keep(c)
	}
}

func (f *jsonFormat) open(c byte) {
	isList := c == '[' && f.depth == 1 && f.items == 0
	switch {
	case f.depth == 0 && c == '[':
		f.depth, f.items, f.count, f.listLine, f.head, f.itemType = 1, 1, 0, f.line, nil, Type{}
		return
	case f.depth == 0:
		f.valueLine, f.value, f.tooLong = f.line, f.value[:0], false
		f.wantsKey, f.key, f.head, f.listLine = true, "", nil, 0
	case f.depth == f.items:
		if c == '[' {
			f.foreign("an array")
			return
		}
		f.valueLine, f.value, f.tooLong = f.line, f.value[:0], false
	case isList && f.key == "items":
		f.keep(c)
		f.head, f.listLine = bytes.Clone(f.value), f.valueLine
		f.itemType = itemTypeOf(append(bytes.Clone(f.head), "]}"...))
		f.depth, f.items, f.count = 2, 2, 0
		return
	}
	f.depth++
	f.keep(c)
}

func (f *jsonFormat) shut(c byte) {
	switch {
	case f.depth == 0:
		f.stop(fmt.Sprintf("%q closes nothing", c))
		return
	case f.depth == f.items && c == '}':
		f.stop(`expected "," or "]" in the list, found "}"`)
		return
	case f.depth == f.items:
		f.endItems()
		return
	}
	f.keep(c)
	f.depth--
	switch {
	case f.depth == 0 && f.listLine > 0:
		f.endList()
	case f.depth == 0:
		f.emit(f.value)
	case f.depth == f.items:
		f.count++
		f.emitItem()
	}
}

// endItems ends the array of a list. The outermost object continues after it.
func (f *jsonFormat) endItems() {
	f.depth--
	f.items = 0
	if f.depth == 0 {
		f.listLine = 0
		f.releaseHeld(Type{})
		return
	}
	f.value = append(append(f.value[:0], f.head...), ']')
	f.tooLong = false
}

// endList ends a list. Its kind is known now.
func (f *jsonFormat) endList() {
	line := f.listLine
	head, err := readType(f.value)
	if err != nil {
		o := f.object(f.value, line, Type{})
		f.to.problem(o.where(err), jsonText(err))
	}
	f.listLine = 0
	f.releaseHeld(head.itemType())
	f.to.list(line, head)
}

func (f *jsonFormat) releaseHeld(t Type) {
	held := f.held
	f.held = nil
	for _, o := range held {
		o.Default = t
		f.to.add(o, false)
	}
}

func (f *jsonFormat) object(value []byte, line int, t Type) *Object {
	return &Object{At: Position{File: f.to.file, Line: line}, Default: t, JSON: value}
}

func (f *jsonFormat) emit(value []byte) {
	if f.tooLong {
		f.to.tooLong(f.valueLine)
		return
	}
	f.to.add(f.object(value, f.valueLine, Type{}), false)
}

// emitItem adds an item. If the item has no kind, and the kind of its list has not been read yet,
// the item is held until that kind is known.
func (f *jsonFormat) emitItem() {
	if f.tooLong {
		f.emit(nil)
		return
	}
	o := f.object(f.value, f.valueLine, f.itemType)
	if f.to.add(o, f.head != nil && len(f.held) < maxHeld) {
		o.JSON = bytes.Clone(f.value)
		f.held = append(f.held, o)
	}
}

// foreign stops at something that is not an object.
func (f *jsonFormat) foreign(what string) {
	if f.to.foreign() {
		f.broken = true
		return
	}
	f.stop("expected an object, found " + what)
}

func (f *jsonFormat) stop(text string) {
	f.broken = true
	f.to.problem(Position{File: f.to.file, Line: f.line}, text+"; the rest is not read")
	f.releaseHeld(Type{})
}

func (f *jsonFormat) close() {
	if f.broken {
		return
	}
	if f.depth > 0 {
		f.to.problem(Position{File: f.to.file, Line: f.line}, f.truncated())
	}
	f.releaseHeld(Type{})
}

// truncated describes where in a value the input ends.
func (f *jsonFormat) truncated() string {
	var b strings.Builder
	b.WriteString("the input ends")
	if f.text {
		b.WriteString(" inside a string")
	}
	switch {
	case f.items > 0 && f.depth > f.items:
		fmt.Fprintf(&b, " inside item %d of the list, which begins at line %d", f.count+1, f.valueLine)
	case f.items > 0:
		fmt.Fprintf(&b, " after item %d of the list, which is not closed", f.count)
	default:
		fmt.Fprintf(&b, " inside the object that begins at line %d", f.valueLine)
	}
	return b.String()
}
