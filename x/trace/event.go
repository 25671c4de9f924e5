package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/object"
	"github.com/batchplan/batchplan/job"
)

// kind is a kind of object that is read. Namespaces are not checked.
type kind uint8

const (
	kindJob kind = iota
	kindPod
	kindCronJob
	kindNamespace
	kinds
)

var kindNames = [kinds]string{"Job", "Pod", "CronJob", "Namespace"}

func (k kind) String() string { return kindNames[k] }

// change is what has happened to the object of an event.
type change uint8

const (
	// isThere: the object exists with this version. The log may have shown this version already.
	isThere change = iota
	// isAdded: the object is new, or a watch has begun.
	isAdded
	// isModified: the object has a newer version than the log has shown.
	isModified
	// isDeleted: the object is gone.
	isDeleted
	// isLost: from here on, the object may have changed or be gone.
	isLost
)

// event is one version of an object.
type event struct {
	Place
	kind    kind
	change  change
	audited bool
	// isStatus is true for a write of the status in an audit log.
	isStatus bool
	// version is the resourceVersion. In an audit log, replaced is the resourceVersion that
	// the request named. 0 means unknown.
	version, replaced uint64
	source            *source
	// key and seq determine the event's place in the order of all events.
	key uint64
	seq int

	meta object.Meta
	// One of these is set, except for namespaces and for events that have no object.
	job     *job.Job
	pod     *job.Pod
	cronJob *cronjob.CronJob
}

// source reads one log.
type source struct {
	name    string
	in      *splitter
	summary *Summary
	// latest is the greatest version so far.
	latest uint64
	seq    int
	// queue holds events that were read from one value and not yet returned.
	queue []*event
	// window holds events that are being sorted.
	window window
	ended  bool
	// over is set once all events were returned.
	over bool
	// has are the kinds that the log has shown. joined are the kinds that another log had shown
	// before this one.
	has, joined [kinds]bool
}

func newSource(l *Log, s *Summary) *source {
	return &source{name: l.Name, in: newSplitter(l.Reader), summary: s}
}

// next returns the next event in the order of the log, nil at the end.
func (s *source) next() (*event, error) {
	for len(s.queue) == 0 {
		value, line, err := s.in.next()
		var bad *unreadable
		switch {
		case errors.As(err, &bad):
			s.problem(bad.line, bad.text)
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", s.name, err)
		default:
			s.read(value, line)
		}
	}

	e := s.queue[0]
	s.queue = s.queue[1:]
	return e, nil
}

func (s *source) problem(line int, text string) {
	s.summary.Unreadable++
	if len(s.summary.Unread) < maxProblems {
		s.summary.Unread = append(s.summary.Unread, Unread{Place{s.name, line}, text})
	}
}

// head shows the type of a value: an object, a list, or an event of a watch or of an audit log.
type head struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Type       string            `json:"type"`
	Object     json.RawMessage   `json:"object"`
	Items      []json.RawMessage `json:"items"`
}

// read reads a value; line is the line at which the value begins.
func (s *source) read(value []byte, line int) {
	var h head
	if err := json.Unmarshal(value, &h); err != nil && !isOther(err, h.Kind) {
		s.reject(value, line, err)
		return
	}

	at := Place{s.name, line}
	switch isAudit := strings.HasPrefix(h.APIVersion, "audit.k8s.io/"); {
	case h.Kind == "" && h.Object != nil:
		s.watched(at, &h)
	case isAudit && h.Kind == "Event":
		s.audited(at, value)
	case strings.HasSuffix(h.Kind, "List") && h.Items != nil:
		for _, item := range h.Items {
			if isAudit {
				s.audited(at, item)
			} else {
				s.plain(at, item, strings.TrimSuffix(h.Kind, "List"))
			}
		}
	case h.Kind == "":
		s.problem(line, "the object has no kind: expected what kubectl get -w -o json prints, or an audit log")
	default:
		s.plain(at, value, h.Kind)
	}
}

// isOther reports whether an error is about the type of a field, in an object of a kind that is
// skipped.
func isOther(err error, kind string) bool {
	var typed *json.UnmarshalTypeError
	if !errors.As(err, &typed) || kind == "" {
		return false
	}
	_, ours := kindOf(kind)
	return !ours
}

func kindOf(name string) (kind, bool) {
	for k, n := range kindNames {
		if n == name {
			return kind(k), true
		}
	}
	return 0, false
}

// reject notes an error in a value, with its line.
func (s *source) reject(value []byte, line int, err error) {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset <= int64(len(value)) {
		line += bytes.Count(value[:max(syntax.Offset-1, 0)], []byte("\n"))
	}
	s.problem(line, strings.TrimPrefix(err.Error(), "json: "))
}

// watched reads an event of a watch.
func (s *source) watched(at Place, h *head) {
	var c change
	switch h.Type {
	case "ADDED":
		c = isAdded
	case "MODIFIED":
		c = isModified
	case "DELETED":
		c = isDeleted
	case "BOOKMARK":
		s.summary.Others++
		return
	case "ERROR": // such as 410 Gone
		s.summary.Others++
		s.put(&event{Place: at, change: isLost})
		return
	default:
		s.problem(at.Line, fmt.Sprintf("type: %q: must be ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", h.Type))
		return
	}
	s.object(&event{Place: at, change: c}, h.Object, "")
}

// plain reads an object without an event type.
func (s *source) plain(at Place, value []byte, kind string) {
	s.object(&event{Place: at, change: isThere}, value, kind)
}

// object decodes the object of an event. An item of a list may leave its kind out.
func (s *source) object(e *event, value []byte, kind string) {
	var h struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(value, &h); err != nil {
		s.reject(value, e.Line, err)
		return
	}
	if h.Kind != "" {
		kind = h.Kind
	}

	k, ok := kindOf(kind)
	if !ok {
		s.summary.Others++
		return
	}

	if e.kind = k; e.change == isThere {
		s.summary.Untyped++
	}
	if err := e.decode(value); err != nil {
		s.reject(value, e.Line, err)
		return
	}
	s.put(e)
}

func (e *event) decode(value []byte) error {
	var h object.Head
	if err := json.Unmarshal(value, &h); err != nil {
		return err
	}
	if h.Metadata.UID == "" {
		return fmt.Errorf("metadata.uid: is required for a %s", e.kind)
	}
	e.meta = h.Metadata
	e.version, _ = strconv.ParseUint(h.Metadata.ResourceVersion, 10, 64) // 0 if it is not a number

	switch e.kind {
	case kindNamespace:
		return nil
	case kindJob:
		j, err := job.DecodeJob(value)
		job.Default(&j.Spec)
		e.job = &j
		return err
	case kindPod:
		p, err := job.DecodePod(&job.Job{Namespace: h.Metadata.Namespace}, value)
		e.pod = &p
		return err
	default:
		c, err := cronjob.DecodeCronJob(value)
		cronjob.Default(&c.Spec)
		e.cronJob = &c
		return err
	}
}

// put appends an event. An event without a version is sorted by the greatest version before it.
func (s *source) put(e *event) {
	e.source, e.key = s, e.version
	if e.version == 0 {
		e.key = s.latest
	}

	s.latest = max(s.latest, e.version)
	s.seq++
	e.seq = s.seq
	s.queue = append(s.queue, e)
}
