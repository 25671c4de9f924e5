// Package logs reads the logs of pods as they grow.
package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// Line is a line of a log, without its end.
type Line struct {
	Pod, Container, Stream string // Stream is stdout or stderr
	Text                   []byte
}

// Name returns the name to write before the line. It is the pod's name, followed by the container's
// name if the pod has several containers.
func (l *Line) Name() string {
	if l.Container == "" {
		return l.Pod
	}
	return l.Pod + "/" + l.Container
}

// Select is the part of the logs to read. The zero value selects all of it.
type Select struct {
	// Container is the only container to read, if it is set.
	Container string
	// Tail is the maximum number of old lines to read from each log; negative means all.
	Tail int
	// Since selects lines that were written since a time, or up to a second before it.
	Since time.Time
}

// Reader reads the logs of one pod. It is not safe for concurrent use.
type Reader struct {
	folder  pod.Folder
	streams []*stream
	// only is true for a pod with one container. Lines then leave out the container's name.
	only bool
	name string
}

// stream is one log.
type stream struct {
	container, name string
	offset          int64
	rest            []byte // the beginning of an incomplete line
}

// maxLine is the maximum size of a line in bytes. A longer line is split, so that its beginning is
// shown before it ends.
const maxLine = 16 << 10

// Open returns a reader of the logs of a stored pod. If which selects none of the pod's containers,
// the reader has no streams.
func Open(folder pod.Folder, p *store.Pod, which Select) (*Reader, error) {
	var spec pod.Spec
	if err := json.Unmarshal(p.Spec, &spec); err != nil {
		return nil, err
	}
	r := &Reader{folder: folder, name: p.Name, only: len(spec.Containers) == 1}
	for _, c := range spec.Containers {
		if which.Container != "" && c.Name != which.Container {
			continue
		}
		for _, name := range []string{"stdout", "stderr"} {
			offset, err := Offset(folder, c.Name, name, which)
			if err != nil {
				return nil, err
			}
			r.streams = append(r.streams, &stream{container: c.Name, name: name, offset: offset})
		}
	}
	return r, nil
}

// Empty reports whether the pod has none of the selected containers.
func (r *Reader) Empty() bool { return len(r.streams) == 0 }

// SkipAll skips the present contents of the logs.
func (r *Reader) SkipAll() {
	for _, s := range r.streams {
		s.offset = r.folder.LogSize(s.container, s.name)
	}
}

// Read reads the lines that were written since the last call, and passes each of them to a
// function. If the pod has ended, that includes a last line without a line end.
func (r *Reader) Read(end bool, to func(Line)) error {
	var problems []error
	for _, s := range r.streams {
		l := Line{Pod: r.name, Container: s.container, Stream: s.name}
		if r.only {
			l.Container = ""
		}
		err := s.read(r.folder, end, func(text []byte) { l.Text = text; to(l) })
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (s *stream) read(folder pod.Folder, end bool, to func(text []byte)) error {
	if folder.LogSize(s.container, s.name) > s.offset {
		if err := s.copy(folder, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if end && len(s.rest) > 0 {
		to(s.rest)
		s.rest = nil
	}
	return nil
}

// copy reads the log from the offset to its end.
func (s *stream) copy(folder pod.Folder, to func(text []byte)) error {
	file, err := folder.OpenLog(s.container, s.name)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(s.offset, io.SeekStart); err != nil {
		return err
	}

	buffer := make([]byte, 64<<10)
	for {
		n, err := file.Read(buffer)
		s.offset += int64(n)
		s.rest = append(s.rest, buffer[:n]...)
		s.lines(to)
		if err != nil || n == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
	}
}

// lines passes each complete line of s.rest to a function, and also parts of a line that is too
// long.
func (s *stream) lines(to func(text []byte)) {
	for {
		i := bytes.IndexByte(s.rest, '\n')
		switch {
		case i >= 0:
			to(s.rest[:i])
			s.rest = s.rest[i+1:]
		case len(s.rest) >= maxLine:
			to(s.rest[:maxLine])
			s.rest = s.rest[maxLine:]
		default:
			s.rest = bytes.Clone(s.rest)
			return
		}
	}
}

// Offset returns the offset at which the selected part of a log begins.
func Offset(folder pod.Folder, container, stream string, which Select) (offset int64, err error) {
	if !which.Since.IsZero() {
		if offset, err = folder.LogSince(container, stream, which.Since); err != nil {
			return 0, err
		}
	}
	if which.Tail < 0 {
		return offset, nil
	}
	at, err := tail(folder, container, stream, which.Tail)
	return max(offset, at), err
}

// tail returns the offset of the last n lines of a log. It reads backwards.
func tail(folder pod.Folder, container, name string, n int) (int64, error) {
	file, err := folder.OpenLog(container, name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()

	size, err := file.Seek(0, io.SeekEnd)
	if err != nil || n == 0 {
		return size, err
	}

	buffer := make([]byte, 64<<10)
	for end, last := size, true; end > 0; last = false {
		begin := max(0, end-int64(len(buffer)))
		part := buffer[:end-begin]
		if _, err := file.ReadAt(part, begin); err != nil {
			return 0, err
		}

		from := len(part)
		if last {
			from-- // the last line also has its line end
		}

		for from = bytes.LastIndexByte(part[:from], '\n'); from >= 0; from = bytes.LastIndexByte(part[:from], '\n') {
			if n--; n == 0 {
				return begin + int64(from) + 1, nil
			}
		}
		end = begin
	}
	return 0, nil
}

// Last returns the last lines of a container's stderr, or of its stdout if it has written nothing to
// stderr.
func Last(folder pod.Folder, p *store.Pod, container string, n int) ([]string, error) {
	r, err := Open(folder, p, Select{Container: container, Tail: n})
	if err != nil {
		return nil, err
	}
	of := map[string][]string{}
	err = r.Read(true, func(l Line) { of[l.Stream] = append(of[l.Stream], string(l.Text)) })
	lines := of["stderr"]
	if len(lines) == 0 {
		lines = of["stdout"]
	}
	return slices.Clip(lines), err
}
