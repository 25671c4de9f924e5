package life

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Check runs a property and prints only its story if it fails: what rapid draws
// is of no use to those who have not written the property.
func Check(t testing.TB, property func(*Life)) {
	t.Helper()
	var last *Life
	q := &quietly{TB: t}
	done := make(chan struct{})
	go func() { // FailNow ends the goroutine
		defer close(done)
		rapid.Check(q, func(t *rapid.T) {
			last = New(t)
			property(last)
		})
	}()
	<-done

	if q.Failed() {
		story := ""
		if last != nil {
			story = last.Story()
			if course := last.Course(); course != "" {
				story += "\n\nIts steps, for a story, a script or the page of batchwhy:\n" + Indent(course)
			}
		}
		t.Fatalf("%s\n\n%s", story, q.advice(t.Name()))
	}
}

// quietly is a test that collects the output of rapid and prints nothing.
type quietly struct {
	testing.TB
	mu     sync.Mutex
	lines  []string
	failed bool
}

func (q *quietly) Helper()                   {}
func (q *quietly) Logf(string, ...any)       {}
func (q *quietly) Log(...any)                {}
func (q *quietly) Error(args ...any)         { q.fail(fmt.Sprintln(args...)) }
func (q *quietly) Errorf(f string, a ...any) { q.fail(fmt.Sprintf(f, a...)) }
func (q *quietly) Fatal(args ...any)         { q.Error(args...); q.FailNow() }
func (q *quietly) Fatalf(f string, a ...any) { q.Errorf(f, a...); q.FailNow() }
func (q *quietly) Fail()                     { q.fail("") }
func (q *quietly) FailNow()                  { q.fail(""); runtime.Goexit() }

func (q *quietly) fail(line string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failed = true
	q.lines = append(q.lines, line)
}

// Failed reports whether the property has failed.
func (q *quietly) Failed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failed
}

var reproduce = regexp.MustCompile(`-rapid\.seed=\d+|-rapid\.failfile=".*?"`)

var wentWell = regexp.MustCompile(`failed after (\d+) tests`)

// advice explains how to repeat the failure. If rapid reports something other than a failed life,
// advice returns the whole output of rapid.
func (q *quietly) advice(name string) string {
	said := strings.Join(q.lines, "\n")
	found := reproduce.FindAllString(said, -1)
	if found == nil || strings.Contains(said, "[rapid] panic") || strings.Contains(said, "flaky") {
		return said
	}

	before := ""
	if n := wentWell.FindStringSubmatch(said); n != nil {
		before = n[1] + " lives went well before this one. "
	}
	return fmt.Sprintf("%sTo see it again: go test -run '^%s$' %s", before, name, found[len(found)-1])
}
