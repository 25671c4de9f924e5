package jobgen_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/jobgen"
)

// TestEachFieldVaries finds fields that a generator does not draw.
func TestEachFieldVaries(t *testing.T) {
	// Specs leaves these fields out. The time to live matters only after the job has ended. A job
	// that another controller manages is not planned. Adapters apply the selector to the pods.
	// DrawScheduling draws the last field.
	varies(t, jobgen.Specs(), "TTLSecondsAfterFinished", "ManagedBy", "Selector", "Scheduling")
	// In the worlds, users suspend CronJobs. A planner only copies the template.
	varies(t, cronjobgen.Specs(), "Suspend", "JobTemplate")
	// These options depend on the kind of the children, or on a release.
	varies(t, cronjobgen.AllOptions(true), "Without", "ChildKind", "Quirks")
}

// varies checks that each field has at least two values, except those in without.
func varies[T any](t *testing.T, g *rapid.Generator[T], without ...string) {
	t.Helper()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		values := map[string]bool{}
		for seed := 0; seed < 2000 && len(values) < 2; seed++ {
			text, _ := json.Marshal(reflect.ValueOf(g.Example(seed)).FieldByIndex(field.Index).Interface())
			values[string(text)] = true
		}
		if drawn := len(values) > 1; drawn == slices.Contains(without, field.Name) {
			t.Errorf("%T.%s: drawn %v", *new(T), field.Name, drawn)
		}
	}
}
