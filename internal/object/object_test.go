package object

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
)

func TestCheck(t *testing.T) {
	tests := []struct{ object, want string }{
		{`{"apiVersion":"batch/v1","kind":"Job"}`, "<nil>"},
		{`{}`, "the object has neither a kind nor a name"},
		{`{"metadata":{"name":"a"}}`, "<nil>"},
		{`{"kind":"Job"}`, "<nil>"},
		{`{"apiVersion":"v1","kind":"Pod"}`, `apiVersion: "v1" is not batch/v1`},
		{`{"apiVersion":"batch/v1","kind":"CronJob"}`, `kind: "CronJob" is not Job`},
		{`{"apiVersion":"batch/v1beta1"}`, `apiVersion: "batch/v1beta1" is not batch/v1`},
		{`{"apiVersion":"v1","kind":"List"}`, `kind: "List" is a list: decode its items one by one`},
		{`{"apiVersion":"batch/v1","kind":"JobList"}`, `kind: "JobList" is a list: decode its items one by one`},
	}
	for _, tc := range tests {
		var h Head
		must.OK(t, json.Unmarshal([]byte(tc.object), &h))
		if got := fmt.Sprint(h.Check("batch/v1", "Job")); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.object, got, tc.want)
		}
	}
}

func TestController(t *testing.T) {
	for want, owners := range map[string][]Owner{
		"":  {{UID: "a"}},
		"b": {{UID: "a"}, {UID: "b", Controller: true}, {UID: "c"}},
	} {
		if got := (&Meta{OwnerReferences: owners}).Controller(); got != want {
			t.Errorf("%v: got %q, want %q", owners, got, want)
		}
	}
}

func TestSpecChanged(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }
	m := Meta{ManagedFields: []Change{{Time: at(1)}, {Time: at(3)}, {Time: at(2)}, {at(4), "status"}}}
	if got := m.SpecChanged(); !got.Equal(at(3)) {
		t.Errorf("got %s", got)
	}
	if got := (&Meta{}).SpecChanged(); !got.IsZero() {
		t.Errorf("without entries: got %s", got)
	}
}
