package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxValue is the largest JSON value in bytes. An API server stores at most 1.5 MB in an object; a
// list has many objects.
const maxValue = 64 << 20

// splitter splits a log into JSON values. Brackets and strings decide where a value ends. A line
// that begins with a brace begins a value. If the value before it is incomplete, that value was cut
// off.
type splitter struct {
	in   *bufio.Reader
	line int    // the number of the line that is being read
	rest []byte // read, but not scanned
	open bool   // the line continues after rest

	value   []byte
	began   int
	depth   int
	text    bool
	escaped bool
}

func newSplitter(r io.Reader) *splitter { return &splitter{in: bufio.NewReaderSize(r, 1<<16)} }

// unreadable is a part of the log that is left out.
type unreadable struct {
	line int
	text string
}

func (u *unreadable) Error() string { return u.text }

// next returns the next value and the line on which it begins. The value is valid until the next
// call. After an *unreadable error, the next call returns the value that follows; io.EOF is the
// end.
func (s *splitter) next() (value []byte, line int, err error) {
	if s.depth == 0 {
		s.value = s.value[:0]
	}
	for {
		if len(s.rest) == 0 {
			if err := s.read(); err != nil {
				return nil, 0, err
			}
		}
		if done, err := s.scan(); done || err != nil {
			return s.value, s.began, err
		}
	}
}

// read reads more of the log.
func (s *splitter) read() error {
	begins := !s.open
	text, err := s.in.ReadSlice('\n')
	s.open = errors.Is(err, bufio.ErrBufferFull)

	if begins && len(text) > 0 {
		s.line++
	}
	if err == nil || s.open || len(text) > 0 {
		s.rest = text
		if begins && text[0] == '{' && s.depth > 0 {
			return s.drop(fmt.Sprintf("the object is cut off: another begins at line %d", s.line))
		}
		return nil
	}

	if errors.Is(err, io.EOF) && s.depth > 0 {
		return s.drop("the log ends inside the object")
	}
	return err
}

// drop gives up the value that has begun, and returns an error with the line at which it began.
func (s *splitter) drop(text string) error {
	s.depth, s.text, s.escaped, s.value = 0, false, false, s.value[:0]
	return &unreadable{s.began, text}
}

// scan scans what was read, up to the end of a value.
func (s *splitter) scan() (done bool, err error) {
	if s.depth == 0 {
		if done, err := s.begin(); done || err != nil {
			return false, err
		}
	}

	for i := 0; i < len(s.rest); i++ {
		c := s.rest[i]
		if s.text {
			i = s.inText(i, c)
			if i < 0 {
				s.skipLine()
				return false, s.drop("a string is not closed at the end of its line")
			}
			continue
		}
		switch c {
		case '"':
			s.text = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth--; s.depth == 0 {
				s.value = append(s.value, s.rest[:i+1]...)
				s.rest = s.rest[i+1:]
				return true, nil
			}
		}
	}

	if len(s.value)+len(s.rest) > maxValue {
		s.skipLine()
		return false, s.drop(fmt.Sprintf("an object of more than %d MB is left out", maxValue>>20))
	}
	s.value = append(s.value, s.rest...)
	s.rest = nil
	return false, nil
}

// begin looks for the beginning of a value. It returns true for done if the line has no value.
func (s *splitter) begin() (done bool, err error) {
	s.rest = bytes.TrimLeft(bytes.TrimPrefix(s.rest, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(s.rest) == 0 {
		return true, nil
	}
	if c := s.rest[0]; c != '{' {
		found := s.rest[:min(len(s.rest), 20)]
		err := &unreadable{s.line, fmt.Sprintf("expected a JSON object, found %q", bytes.TrimRight(found, "\r\n"))}
		s.skipLine()
		return true, err
	}

	s.began = s.line
	return false, nil
}

// inText handles the character at i in a string, and skips ordinary characters after it. It returns
// the index of the last character that it has handled, or -1 at a line break, which no string may
// have.
func (s *splitter) inText(i int, c byte) int {
	switch {
	case c == '\n':
		return -1
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.text = false
	default:
		if n := bytes.IndexAny(s.rest[i:], "\"\\\n"); n > 0 {
			return i + n - 1
		}
		return len(s.rest) - 1
	}
	return i
}

// skipLine leaves out the rest of the line.
func (s *splitter) skipLine() {
	for s.open {
		_, err := s.in.ReadSlice('\n')
		s.open = errors.Is(err, bufio.ErrBufferFull)
	}
	s.rest = nil
}
