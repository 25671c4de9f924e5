package life

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// TestCourse: each object begins a new course. The course has the time between the steps, and the
// changed fields of each edit. It has nothing from before the object.
func TestCourse(t *testing.T) {
	l := New(nil)
	l.Does("run", "#1")
	l.Begins("job", map[string]int{"parallelism": 1})
	l.Does("run", "#1")
	l.Begins("job", map[string]int{"parallelism": 2})
	if got := l.Course(); got != "" {
		t.Errorf("nothing has happened, and the course is\n%s", got)
	}

	l.SetNow(l.Now().Add(90 * time.Second))
	l.Does("fail", "#1", "code=42")
	l.SetNow(l.Now().Add(-time.Second)) // the clock is set back
	l.Edits(&job.Spec{Suspend: value.To(true), TTLSecondsAfterFinished: value.To[int32](5), BackoffLimit: value.To[int32](1)},
		&job.Spec{Suspend: value.To(false), BackoffLimit: value.To[int32](1)})
	l.SetNow(l.Now().Add(3 * time.Second)) // two seconds after the failure
	l.Does("run", "#2")
	const want = `job {"parallelism":2}
tick 1m30s
fail #1 code=42
edit {"suspend":false,"ttlSecondsAfterFinished":null}
tick 2s
run #2`
	if got := l.Course(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
