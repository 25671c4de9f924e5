// Package manifest reads objects of Kubernetes: JSON or YAML, single objects, lists, streams of
// documents and watches. It knows the position of every value, and the fields of Jobs and CronJobs.
package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
)

// Sink receives the objects and problems that a Stream finds.
type Sink interface {
	// Add adds an object, or returns why it cannot. If Add returns ErrNoKind for an item of a list,
	// the stream adds the item again when the kind of the list is known.
	Add(o *Object) error
	// Problem notes a part of the input that cannot be read.
	Problem(p Problem)
	// PassForeign reports whether to ignore a document that is not an object of Kubernetes.
	PassForeign() bool
}

// Stream reads one input: write its bytes, in pieces of any size, then close it. Each
// object is added to the sink when it is complete, so that an input of any length needs little memory.
type Stream struct {
	to   Sink
	file string
	// start has the first bytes until the format is known.
	start  []byte
	format format
	closed bool
	// found is true if there was an object, a list or a problem.
	found bool
}

// format splits an input into objects.
type format interface {
	write(p []byte)
	close()
}

// NewStream returns a reader of an input with this name.
func NewStream(to Sink, file string) *Stream { return &Stream{to: to, file: file} }

// Write reads the next bytes. It never fails: problems go to the sink.
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
			s.problem(Position{File: s.file}, "is empty")
			return nil
		}
		s.format = newYAML(s)
		s.format.write(s.start)
	}
	s.format.close()
	if !s.found {
		s.problem(Position{File: s.file}, "contains no object")
	}
	return nil
}

// detect tells JSON from YAML by the first two characters, and returns nil as long as it needs more
// bytes. A brace without a quote after it begins a flow mapping of YAML.
func (s *Stream) detect() format {
	text := bytes.TrimLeft(bytes.TrimPrefix(s.start, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case len(text) == 0:
		return nil
	case text[0] != '{' && text[0] != '[':
		return newYAML(s)
	case path.Ext(s.file) == ".json":
		return newJSON(s)
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	switch {
	case len(rest) == 0:
		return nil
	case text[0] == '{' && rest[0] == '{': // a template of Helm
		return newYAML(s)
	case bytes.IndexByte([]byte(`"}{[]`), rest[0]) < 0:
		return newYAML(s)
	}
	return newJSON(s)
}

func (s *Stream) problem(at Position, text string) {
	s.found = true
	s.to.Problem(Problem{at, text})
}

// tooLong reports the problem of an object that is too long.
func (s *Stream) tooLong(line int) {
	s.problem(Position{File: s.file, Line: line},
		fmt.Sprintf("an object of more than %d MB is left out", maxObject>>20))
}

// foreign reports whether the sink ignores a document that is not an object of Kubernetes.
func (s *Stream) foreign() bool {
	if s.to.PassForeign() {
		s.found = true
		return true
	}
	return false
}

// add adds an object to the sink. It reports whether the object waits for the kind of its list.
func (s *Stream) add(o *Object, mayWait bool) (waits bool) {
	s.found = true
	err := s.to.Add(o)
	var many Problems
	var one Problem
	switch {
	case err == nil:
	case err == ErrNoKind && mayWait:
		return true
	case err == ErrNoKind && s.foreign():
	case errors.As(err, &many):
		for _, p := range many {
			s.problem(p.Position, p.Text)
		}
	case errors.As(err, &one):
		s.problem(one.Position, one.Text)
	default:
		s.problem(o.where(err), jsonText(err))
	}
	return false
}

// list is called at the end of a list.
func (s *Stream) list(line int, t Type) {
	s.found = true
	if t.Kind != "" && len(t.Kind) == len(t.itemType().Kind) {
		s.problem(Position{File: s.file, Line: line}, t.Kind+" has items: expected a List")
	}
}

// Read reads all Jobs and CronJobs of a file that are well-formed: the type is served, and every
// field exists and has a value of its type. The error joins the problems, each with its place.
func Read(file string, in io.Reader, take func(*Object) error) error {
	c := &collector{take: take}
	s := NewStream(c, file)
	if _, err := io.Copy(s, in); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	_ = s.Close()
	switch {
	case len(c.problems) > 0:
		return c.problems
	case !c.added: // an empty List
		return Problem{Position{File: file}, "contains no object"}
	}
	return nil
}

// collector is the sink of Read.
type collector struct {
	take     func(*Object) error
	problems Problems
	added    bool
}

func (c *collector) Problem(p Problem) { c.problems = append(c.problems, p) }

func (c *collector) PassForeign() bool { return false }

func (c *collector) Add(o *Object) error {
	c.added = true
	t, err := o.Type()
	if err == nil {
		err = CheckType(t, o.name())
	}
	if err != nil {
		return err
	}
	if t.Kind != "Job" && t.Kind != "CronJob" {
		return o.Problem("kind", "%q is not supported; expected \"Job\" or \"CronJob\"", t.Kind)
	}
	unknown, wrong := o.Check(t.Kind)
	for _, u := range unknown {
		wrong = append(wrong, u.Problem())
	}
	if len(wrong) > 0 {
		return inOrder(wrong)
	}
	return c.take(o)
}
