package life

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/batchplan/batchplan/internal/value"
)

// story has the events so far, and the names of the objects that they can be about.
type story struct {
	events []event
	plan   string // the latest plan
	names  map[string]bool
}

type event struct {
	kind       kind
	when, what string
}

// kind is how much an event matters to a reader.
type kind int

const (
	act       kind = iota // an action of the environment, or a fault
	routine               // what a program does all the time
	plan                  // a plan; its lines matter one by one
	violation             // what is broken
)

// Tell adds a line to the story.
func (l *Life) Tell(format string, args ...any) { l.tell(act, format, args...) }

// TellRoutine adds a line that a long story leaves out, unless it is about an object of the
// violation.
func (l *Life) TellRoutine(format string, args ...any) { l.tell(routine, format, args...) }

// TellPlan adds a plan to the story. The first argument names the object of the plan, as in " of
// job a". It is empty if there is only one object.
func (l *Life) TellPlan(of, text string) {
	if of+text == l.story.plan {
		l.tell(plan, "plan%s: as before", of)
		return
	}
	l.story.plan = of + text
	l.tell(plan, "plan%s:\n%s", of, Indent(text))
}

func (l *Life) tell(k kind, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()

	day := ""
	if days := int(l.now.Sub(l.start).Hours() / 24); days > 0 {
		day = fmt.Sprintf("day %d, ", days+1)
	}
	when := day + l.now.UTC().Format("15:04:05") + "  "
	l.story.events = append(l.story.events, event{k, when, fmt.Sprintf(format, args...)})
}

// Names notes the name of an object, so that a long story can leave out events about it.
func (l *Life) Names(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.story.names == nil {
		l.story.names = make(map[string]bool)
	}
	l.story.names[name] = true
}

// Story returns what happened, from the beginning. A long story leaves out events that are far from
// the violation and do not concern its objects.
func (l *Life) Story() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.story.lines(), "\n")
}

const (
	whole  = 60 // the most lines of a story that leaves nothing out
	before = 25 // lines before the first violation that are always printed
	behind = 10 // lines after it that are always printed
)

func (s *story) lines() (lines []string) {
	from, to := s.window()
	broken := s.broken()
	left := 0
	for i, e := range s.events {
		text := e.what
		if i > 0 && (i < from || i > to) {
			text = e.about(broken, s.names)
		}
		if text == "" {
			left += e.height()
			continue
		}

		if left > 0 {
			lines = append(lines, fmt.Sprintf("          (%s left out)", value.Count(int64(left), "line")))
			left = 0
		}
		lines = append(lines, e.when+text)
	}
	return lines
}

// window returns the first and the last of the events around the first violation that are printed
// whole. In a short story these are all events.
func (s *story) window() (from, to int) {
	at, total := len(s.events)-1, 0
	for i := len(s.events) - 1; i >= 0; i-- {
		total += s.events[i].height()
		if s.events[i].kind == violation {
			at = i
		}
	}
	if total <= whole {
		return 0, len(s.events)
	}

	from, to = at, at
	for n := before; from > 0 && n > 0; n -= s.events[from].height() {
		from--
	}
	for n := behind; to < len(s.events)-1 && n > 0; n -= s.events[to].height() {
		to++
	}
	return from, to
}

func (e *event) height() int { return 1 + strings.Count(e.what, "\n") }

var words = regexp.MustCompile(`[\w.]+(-[\w.]+)*`)

// broken returns the names in the violations.
func (s *story) broken() map[string]bool {
	all := make(map[string]bool)
	for _, e := range s.events {
		for _, word := range words.FindAllString(e.what, -1) {
			if e.kind == violation && s.names[word] {
				all[word] = true
			}
		}
	}
	return all
}

// about returns the part of an event that a long story prints. A broken object is one that a
// violation names. If the event is a plan, the part has the lines about broken objects. Any other
// event is printed if it is about a broken object, or if it is an act that names no object.
func (e *event) about(broken, names map[string]bool) string {
	if e.kind == violation {
		return e.what
	}

	var kept []string
	named := false
	for line := range strings.Lines(e.what) {
		for _, word := range words.FindAllString(line, -1) {
			named = named || names[word]
			if broken[word] {
				kept = append(kept, strings.TrimSuffix(line, "\n"))
				break
			}
		}
	}

	switch {
	case e.kind == plan && len(kept) > 0:
		return "plan, in part:\n" + strings.Join(kept, "\n")
	case len(kept) > 0, e.kind == act && !named:
		return e.what
	}
	return ""
}

// Indent moves a text to the right.
func Indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

// Words are the parts of one line of text, such as the description of a spec.
type Words []string

// Add adds a part if the condition is true.
func (w *Words) Add(is bool, format string, args ...any) {
	if is {
		*w = append(*w, fmt.Sprintf(format, args...))
	}
}

// String returns the line.
func (w Words) String() string { return strings.Join(w, ", ") }
