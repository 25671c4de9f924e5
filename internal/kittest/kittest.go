// Package kittest holds helpers that the tests of the two test kits share.
package kittest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/internal/testfile"
)

// Set sets flags for the rest of the test. It also switches -short off, because with -short rapid
// plays only a fifth of the lives.
func Set(t *testing.T, flags map[string]string) {
	t.Helper()
	set := func(name, value string) {
		old := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(name, old) })
	}

	set("test.short", "false")
	for name, value := range flags {
		set(name, value)
	}
}

// PlayUntilFailure makes a kit play up to 1,000 lives of a seed. The first life that fails is not
// shrunk.
func PlayUntilFailure(t *testing.T, seed int) {
	t.Helper()
	Set(t, map[string]string{
		"rapid.seed": strconv.Itoa(seed), "rapid.nofailfile": "true", "rapid.checks": "1000", "rapid.shrinktime": "0s",
	})
}

// Story runs a test that must fail, and returns its message.
func Story(t *testing.T, test func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // Fatalf ends the goroutine
		defer close(done)
		test(r)
	}()
	<-done

	if r.said == "" {
		t.Fatal("nothing was found")
	}
	return r.said
}

// Find is like Story, with seed 1 and the given number of lives. A failing life is not stored, and
// is shrunk for a second.
func Find(t *testing.T, lives string, test func(testing.TB)) string {
	t.Helper()
	Set(t, map[string]string{
		"rapid.seed":       "1",
		"rapid.nofailfile": "true",
		"rapid.checks":     lives,
		"rapid.shrinktime": "1s",
	})
	return Story(t, test)
}

var livesWell = regexp.MustCompile(`(\d+) lives went well`)

// Within runs a test once for each seed from 1 to argument seeds. The test must fail within the
// given number of lives, with a message that contains argument says. In verbose mode Within logs
// the number of the life that failed.
func Within(t *testing.T, seeds, lives int, says string, test func(testing.TB)) {
	t.Helper()
	for seed := range seeds {
		Set(t, map[string]string{
			"rapid.seed":       strconv.Itoa(seed + 1),
			"rapid.nofailfile": "true",
			"rapid.checks":     strconv.Itoa(lives),
			"rapid.shrinktime": "0s",
		})

		story := Story(t, test)
		if !strings.Contains(story, says) {
			t.Errorf("seed %d: the story does not say %q:\n%s", seed+1, says, story)
		}
		if well := livesWell.FindStringSubmatch(story); well != nil {
			t.Logf("seed %d: after %s lives", seed+1, well[1])
		}
	}
}

// recorder is a test that may fail. Its message ends with the way to repeat the failure.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// Listed returns objects in the order of a store: a random order if the store is a map.
func Listed[T any](objects []T, isMap bool) []T {
	objects = slices.Clone(objects)
	if isMap {
		rand.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	}
	return objects
}

// Repeats runs a test twice with one seed. Both runs must note the same changes.
func Repeats(t *testing.T, lives string, test func(note func([]string))) {
	t.Helper()
	Set(t, map[string]string{"rapid.seed": "1", "rapid.checks": lives})
	var runs [2][]string
	for i := range runs {
		test(func(changes []string) { runs[i] = append(runs[i], changes...) })
	}

	if diff := cmp.Diff(runs[0], runs[1]); diff != "" || len(runs[0]) < 100 {
		t.Errorf("of %d changes, the second run has others:\n%s", len(runs[0]), diff)
	}
}

// CheckSteps compares the steps that a kit has printed with the stored steps. If update is set, it
// stores the printed steps. The tests of stories, of scripts and of the page play the stored
// steps.
func CheckSteps(t *testing.T, story, file string, update bool) {
	t.Helper()
	_, printed, _ := strings.Cut(story, "the page of batchwhy:\n")
	printed, _, _ = strings.Cut(printed, "\n\n")
	steps := strings.ReplaceAll(printed+"\n", "    ", "")
	if update {
		testfile.Write(t, steps, file)
	}
	if want := testfile.Read(t, file); steps != want {
		t.Errorf("got\n%s\nwant\n%s", steps, want)
	}
}
