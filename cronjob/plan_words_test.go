package cronjob_test

import (
	"encoding"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
)

// The reasons in plans and conclusions are words in JSON, and can be read again.
func TestPlansAreWritten_InWords(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, root := range []any{job.Plan{}, job.Conclusion{}, cronjob.Plan{}, cronjob.Conclusion{}} {
		eachType(reflect.TypeOf(root), seen)
	}

	words := 0
	for kind := range seen {
		isInteger := kind.Kind() >= reflect.Int && kind.Kind() <= reflect.Uint64
		pointer := reflect.PointerTo(kind)
		if !isInteger || kind.PkgPath() == "" || kind == reflect.TypeFor[time.Duration]() || kind.Name() == "count" {
			continue
		}
		if !kind.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || !pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
			t.Errorf("%v is written as a number", kind)
			continue
		}

		for i := range uint8(128) {
			value := reflect.New(kind)
			value.Elem().SetUint(uint64(i))
			text, err := json.Marshal(value.Interface())
			if err != nil {
				continue // the value has no name
			}

			words++
			again := reflect.New(kind)
			must.OK(t, json.Unmarshal(text, again.Interface()))
			if again.Elem().Uint() != uint64(i) && string(text) != `""` && !isSet(kind) {
				t.Errorf("%v(%d) is written as %s and read as %d", kind, i, text, again.Elem().Uint())
			}
		}
	}

	if words < 50 {
		t.Errorf("only %d words", words)
	}
}

// isSet reports whether a type is a set. The text of a set omits bits without a name.
func isSet(kind reflect.Type) bool { return kind.Name() == "Set" || kind.Name() == "Gates" }

// eachType collects a type and the types of its parts.
func eachType(of reflect.Type, seen map[reflect.Type]bool) {
	if seen[of] {
		return
	}
	seen[of] = true
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		eachType(of.Elem(), seen)
	case reflect.Map:
		eachType(of.Key(), seen)
		eachType(of.Elem(), seen)
	case reflect.Struct:
		for i := range of.NumField() {
			eachType(of.Field(i).Type, seen)
		}
	}
}

// Reasons have the names of their constants.
func TestReasonsAreWritten(t *testing.T) {
	for want, reason := range map[string]any{
		"Pending":             jobreason.DeletePending,
		"DuplicateIndex":      jobreason.DeleteDuplicateIndex,
		"ReplacementOfFailed": jobreason.CreateReplacementOfFailed,
		"Backoff":             jobreason.WaitBackoff,
		"Suspended":           cronjobreason.WaitSuspended,
		"Next":                jobreason.WaitNext,
		"NextRun":             cronjobreason.WaitNextRun,
		"Failures":            cronjobreason.WaitFailures,
		"Expired":             cronjobreason.DeleteExpired,
		"Backfilled":          cronjobreason.CreateBackfilled,
		"NameTaken":           cronjobreason.UnstartedNameTaken,
		"AlreadyRecorded":     jobreason.AlreadyRecorded,
		"Index":               jobreason.CountedIndex,
		"StillTracked":        jobreason.ResultStillTracked,
	} {
		text, err := json.Marshal(reason)
		if err != nil || string(text) != `"`+want+`"` {
			t.Errorf("%s is written as %s, %v", want, text, err)
		}
	}

	for _, text := range []string{`"Backof"`, `"Wait(3)"`, `3`} {
		var reason jobreason.Wait
		if err := json.Unmarshal([]byte(text), &reason); err == nil {
			t.Errorf("%s is read as %d", text, reason)
		}
	}
}
