package job

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobreason"
)

// fullMemory returns a memory with a value in each field.
func fullMemory() Memory {
	return Memory{
		JobUID:       "job-1",
		Backoff:      backoff.Record{Failures: 2, LastFailure: second(5)},
		Expectations: expectations.Counts{Creations: 1, Deletions: 2, At: second(6)},
		Untracking:   expectations.NewUIDs("u"),
		Written:      7,
		Finished:     true,
		rest: remembered{
			Untimed: []sighting{{UID: "t", At: second(8)}},
			Ignored: 3,
			Handled: expectations.NewUIDs("h"),
			Reported: reported{Known: true, Succeeded: 1, Failed: 2, CompletedIndexes: "0", FailedIndexes: "1",
				Uncounted: []UID{"f"}, Finished: true},
		},
	}
}

// leaves calls visit with each field that holds a plain value, at any depth.
func leaves(v reflect.Value, path string, visit func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		if _, ok := v.Interface().(time.Time); ok || v.Type() == reflect.TypeFor[expectations.UIDs]() {
			visit(path, v)
			return
		}
		for i := range v.NumField() {
			leaves(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	default:
		visit(path, v)
	}
}

// TestB5_MemoryEqual empties one field at a time. Each of these changes makes the memories differ.
func TestB5_MemoryEqual(t *testing.T) {
	full := fullMemory()
	check := func(path string, change func(m *Memory)) {
		other := fullMemory()
		change(&other)
		if full.Equal(other) || other.Equal(full) || !other.Equal(other) {
			t.Errorf("%s: the difference is not seen", path)
		}
	}

	var paths []string
	leaves(reflect.ValueOf(struct { // the fields of a Memory, except for its problem
		JobUID       UID
		Backoff      backoff.Record
		Expectations expectations.Counts
		Untracking   expectations.UIDs
		Written      int64
		Finished     bool
		Rest         remembered
	}{full.JobUID, full.Backoff, full.Expectations, full.Untracking, full.Written, full.Finished, full.rest}), "", func(path string, v reflect.Value) {
		if v.IsZero() {
			t.Errorf("%s is empty in the full memory", path)
		}
		paths = append(paths, path)
	})

	changes := []func(m *Memory){
		func(m *Memory) { m.JobUID = "" },
		func(m *Memory) { m.Backoff.Failures = 0 },
		func(m *Memory) { m.Backoff.LastFailure = time.Time{} },
		func(m *Memory) { m.Expectations.Creations = 0 },
		func(m *Memory) { m.Expectations.Deletions = 0 },
		func(m *Memory) { m.Expectations.At = time.Time{} },
		func(m *Memory) { m.Untracking = expectations.UIDs{} },
		func(m *Memory) { m.Written = 0 },
		func(m *Memory) { m.Finished = false },
		func(m *Memory) { m.rest.Untimed = nil },
		func(m *Memory) { m.rest.Ignored = 0 },
		func(m *Memory) { m.rest.Handled = expectations.UIDs{} },
		func(m *Memory) { m.rest.Reported.Known = false },
		func(m *Memory) { m.rest.Reported.Succeeded = 0 },
		func(m *Memory) { m.rest.Reported.Failed = 0 },
		func(m *Memory) { m.rest.Reported.CompletedIndexes = "" },
		func(m *Memory) { m.rest.Reported.FailedIndexes = "" },
		func(m *Memory) { m.rest.Reported.Uncounted = nil },
		func(m *Memory) { m.rest.Reported.Finished = false },
	}

	if len(changes) != len(paths) {
		t.Fatalf("%d changes for %d fields: %v", len(changes), len(paths), paths)
	}
	for i, change := range changes {
		check(paths[i], change)
	}

	check("problem", func(m *Memory) { m.problem = "x" })
	check("a time of rest.Untimed", func(m *Memory) { m.rest.Untimed = []sighting{{UID: "t", At: second(9)}} })
	if same := fullMemory(); !full.Equal(same) {
		t.Error("equal memories differ")
	}

	zone := fullMemory()
	zone.Backoff.LastFailure = zone.Backoff.LastFailure.In(time.FixedZone("x", 3600))
	if !full.Equal(zone) {
		t.Error("the zone of a time matters")
	}
}

// TestB5_MemoryJSON: a stored memory is read back, and an unreadable one is lost.
func TestB5_MemoryJSON(t *testing.T) {
	full := fullMemory()
	data, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}

	var back Memory
	if err := json.Unmarshal(data, &back); err != nil || !back.Equal(full) ||
		!strings.HasPrefix(string(data), `{"formatVersion":1,`) {
		t.Errorf("%s: read back %+v, error %v", data, back, err)
	}

	for text, problem := range map[string]string{
		``: ``, `null`: ``, ` `: ``,
		`{}`:                                `its format has version 0, not 1`,
		`{"formatVersion":2}`:               `its format has version 2, not 1`,
		`{"jobUID":"job-1"}`:                `its format has version 0, not 1`,
		`[1]`:                               `json: cannot unmarshal array into Go value of type struct { FormatVersion int "json:\"formatVersion\"" }`,
		`{"formatVersion":1,"w`:             `unexpected end of JSON input`,
		`{"formatVersion":1,"written":"x"}`: `json: cannot unmarshal string into Go struct field memoryJSON.written of type int64`,
	} {
		got := fullMemory()
		if err := got.UnmarshalJSON([]byte(text)); err != nil || !got.Equal(Memory{problem: problem}) {
			t.Errorf("%s: %+v, error %v", text, got, err)
		}

		plan := PlanOf(t, with(snapshotOf(t, `{}`), func(s *Snapshot) { s.Memory = got }))
		var want []Note
		if problem != "" {
			want = []Note{{"memory", problem, "cannot be read, and counts as lost"}}
		}
		Same(t, text+": notes", want, plan.Notes)
		if m := plan.Conclude(doneAll(plan)).Memory; m.problem != "" {
			t.Errorf("%s: the next memory cannot be read either", text)
		}
	}
}

// TestE1_Consistent: with a snapshot that contains all own writes, the round waits for none of
// them, and the next memory holds none.
func TestE1_Consistent(t *testing.T) {
	for _, finished := range []bool{false, true} {
		s := snapshotOf(t, `{"completions": 2, "parallelism": 2}`, activePod("a"), endedPod("u", PodSucceeded))
		s.Memory, s.Consistent = fullMemory(), true
		s.Memory.Finished = finished
		plan := PlanOf(t, s)
		if len(plan.Untrack) != 1 || plan.Untrack[0].UID != "u" || len(plan.Waits) != 1 ||
			plan.Waits[0].Reason != jobreason.WaitPods {
			t.Fatalf("own writes are waited for:\n%s", plan.String())
		}
		m := plan.Conclude(doneAll(plan)).Memory
		if m.Expectations != (expectations.Counts{}) || m.Untracking.Len() > 0 || m.Written != 0 || m.Finished {
			t.Fatalf("own writes are remembered: %+v", m)
		}
		if m.rest.Ignored != 3 {
			t.Fatal("the number of ignored failures is forgotten")
		}
		s.Consistent = false
		if plan = PlanOf(t, s); len(plan.Untrack) > 0 {
			t.Fatalf("nothing is waited for:\n%s", plan.String())
		}
	}
}
