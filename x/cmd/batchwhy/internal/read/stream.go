package read

import (
	"bytes"
	"path"
)

// Stream reads one input: write its bytes, in pieces of any size, then close it. Each
// object is taken over when it is complete, so that an input of any length needs little memory.
type Stream struct {
	to   *Objects
	file string
	// start holds the first bytes until they tell the format.
	start  []byte
	format format
	closed bool
}

// format splits an input into objects.
type format interface {
	write(p []byte)
	close()
}

// Stream starts an input of that name.
func (o *Objects) Stream(file string) *Stream { return &Stream{to: o, file: file} }

// Write reads the next bytes. It never fails: problems are collected in Objects.Problems.
func (s *Stream) Write(p []byte) (int, error) {
	if s.format != nil {
		s.format.write(p)
		return len(p), nil
	}
	s.start = append(s.start, p...)
	if s.format = s.detect(); s.format != nil {
		s.format.write(s.start)
		s.start = nil
	}
	return len(p), nil
}

// Close ends the input. An input without any object is a problem.
func (s *Stream) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if s.format == nil {
		if len(bytes.TrimSpace(s.start)) == 0 {
			s.to.problem(Position{File: s.file}, "is empty")
			return nil
		}
		s.format = newYAML(s.to, s.file)
		s.format.write(s.start)
	}
	s.format.close()
	return nil
}

// detect tells JSON from YAML by the first two characters, and returns nil while it takes
// more bytes to tell. A brace without a quote after it begins a flow mapping of YAML.
func (s *Stream) detect() format {
	text := bytes.TrimLeft(bytes.TrimPrefix(s.start, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case len(text) == 0:
		return nil
	case text[0] != '{' && text[0] != '[':
		return newYAML(s.to, s.file)
	case path.Ext(s.file) == ".json":
		return newJSON(s.to, s.file)
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	switch {
	case len(rest) == 0:
		return nil
	case bytes.IndexByte([]byte(`"}{[]`), rest[0]) < 0:
		return newYAML(s.to, s.file)
	}
	return newJSON(s.to, s.file)
}
