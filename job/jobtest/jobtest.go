package jobtest

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/world"
)

// Test is a test of a backend, with what may be chosen. TestBackend is one with the zero
// values.
type Test struct {
	// Specs are the jobs; [Specs] if it is nil. A backend that does not support a field leaves
	// it out here.
	Specs *rapid.Generator[job.Spec]
}

// TestBackend lets random jobs live on a store and tests the program that plans them. Open
// is called for each life, with an empty store. The number of lives is that of rapid: 100, or
// -rapid.checks; about 30 things happen in each, or -rapid.steps.
//
// The jobs, faults and rules are described in docs/testing.md.
func TestBackend(t testing.TB, open func(*Env) Subject) {
	t.Helper()
	Test{}.Run(t, open)
}

// Run runs the test.
func (c Test) Run(t testing.TB, open func(*Env) Subject) {
	t.Helper()
	specs := c.Specs
	if specs == nil {
		specs = Specs()
	}
	check(t, func(t *rapid.T, tell func(func() string)) {
		e := &Env{t: t, now: world.Start, planned: map[job.UID]bool{}}
		tell(e.story)
		e.options = drawLimits(t)
		e.subject = open(e)
		if e.subject.Close != nil {
			defer e.subject.Close()
		}
		e.live(specs)
	})
}

// drawLimits draws options with small limits, which an importer need not follow.
func drawLimits(t *rapid.T) job.Options {
	if !rapid.Bool().Draw(t, "limits") {
		return job.Options{}
	}
	return job.Options{
		MaxPodWrites: rapid.Int32Range(1, 2).Draw(t, "MaxPodWrites"),
		MaxUncounted: rapid.Int32Range(1, 2).Draw(t, "MaxUncounted"),
	}
}

// check runs a property and prints nothing but its story if it fails: what rapid draws
// is of no use to those who have not written the property.
func check(t testing.TB, property func(t *rapid.T, tell func(func() string))) {
	t.Helper()
	story := func() string { return "" }
	q := &quietly{TB: t}
	done := make(chan struct{})
	go func() { // FailNow ends the goroutine
		defer close(done)
		rapid.Check(q, func(t *rapid.T) {
			property(t, func(s func() string) { story = s })
		})
	}()
	<-done
	if q.Failed() {
		t.Fatalf("%s\n\n%s", story(), q.advice(t.Name()))
	}
}

// quietly keeps what rapid says.
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

// advice says how to repeat the failure. What rapid says is told whole if it is something
// else than a life that has failed.
func (q *quietly) advice(name string) string {
	said := strings.Join(q.lines, "\n")
	found := reproduce.FindAllString(said, -1)
	if found == nil || strings.Contains(said, "[rapid] panic") || strings.Contains(said, "flaky") {
		return said
	}
	return fmt.Sprintf("To see it again: go test -run '^%s$' %s", name, found[len(found)-1])
}
