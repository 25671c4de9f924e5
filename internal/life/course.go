package life

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

// course is what users and kubelets have done to the latest object, in the language of package line.
type course struct {
	lines []string
	at    time.Time // the latest time of a line
}

// Begins notes the creation of an object, with which its course begins.
func (l *Life) Begins(kind string, spec any) {
	l.course = course{at: l.Now()}
	l.Does(kind, text(spec))
}

// Abandons drops the steps of the course. It is called if a story has no step for what happens
// next, or if the step has another meaning in a story.
func (l *Life) Abandons() { l.course = course{} }

// Does adds a step of a user or a kubelet to the course: a line that consists of the given words. A
// life of several objects has no course.
func (l *Life) Does(words ...string) {
	if l.course.at.IsZero() {
		return
	}
	if passed := l.Now().Sub(l.course.at); passed > 0 { // not after the clock was set back
		l.course.lines = append(l.course.lines, fmt.Sprint("tick ", passed))
		l.course.at = l.Now()
	}
	l.course.lines = append(l.course.lines, strings.Join(words, " "))
}

// Edits notes an edit of a spec: the fields that have changed.
func (l *Life) Edits(old, spec any) {
	was, is := tree(old).(map[string]any), tree(spec).(map[string]any)
	all, fields := maps.Clone(was), make(map[string]any)
	maps.Copy(all, is)
	for key := range all {
		if differ(key, was[key], is[key]) != "" {
			fields[key] = is[key] // null if the field was removed
		}
	}
	l.Does("edit", text(fields))
}

// Course returns the steps so far, without faults and restarts. It returns "" if nothing has
// happened since the creation.
func (l *Life) Course() string {
	if len(l.course.lines) < 2 {
		return ""
	}
	return strings.Join(l.course.lines, "\n")
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}
