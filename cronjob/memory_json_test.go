package cronjob_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
)

// fullMemory has a value in each field.
func fullMemory() cronjob.Memory {
	return cronjob.Remember(cronjob.Remembered{
		CronJobUID: "cj-1", Recorded: hours(2), Unrecorded: hours(2.5), Accounted: hours(3),
		Started: []cronjob.StartedJob{{
			Reference: cronjob.Reference{Name: "a", UID: "u"}, ScheduledTime: hours(2), Backfilled: true, Recorded: true, Found: true,
		}},
		Replaced: []cronjob.LeavingJob{{Reference: cronjob.Reference{UID: "r"}, Seen: true, Gone: true}},
		Deleted:  []cronjob.Reference{{UID: "d"}},
		Behind:   hours(4), Since: hours(5), Suspended: true, Schedule: "@hourly", TimeZone: "Europe/Berlin",
	})
}

// A memory comes back from its JSON as it was.
func TestMemory_RoundTrip(t *testing.T) {
	for _, m := range []cronjob.Memory{{}, fullMemory()} {
		data, err := json.Marshal(m)
		if err != nil || !strings.HasPrefix(string(data), `{"formatVersion":1`) {
			t.Fatalf("%s: %v", data, err)
		}
		var got cronjob.Memory
		if err := json.Unmarshal(data, &got); err != nil || !got.Equal(m) {
			t.Errorf("%v: got %s", err, cmp.Diff(m.Kept(), got.Kept()))
		}
	}
}

// A difference in any field is one.
func TestMemory_EqualSeesEachField(t *testing.T) {
	if n := reflect.ValueOf(kept(fullMemory())).Elem(); n.NumField() == 0 {
		t.Fatal("no fields")
	}
	var walk func(name string, v reflect.Value, whole *cronjob.Memory)
	walk = func(name string, v reflect.Value, whole *cronjob.Memory) {
		_, isTime := v.Interface().(time.Time)
		switch {
		case v.Kind() == reflect.Struct && !isTime:
			for i := range v.NumField() {
				walk(name+"."+v.Type().Field(i).Name, v.Field(i), whole)
			}
			return
		case v.Kind() == reflect.Slice:
			walk(name+"[0]", v.Index(0), whole)
		}
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		if v.IsZero() {
			v.SetString("other") // a field of a reference
		} else {
			v.SetZero()
		}
		if whole.Equal(fullMemory()) || fullMemory().Equal(*whole) {
			t.Errorf("Equal does not see %s", name)
		}
		v.Set(old)
	}
	m := fullMemory()
	walk("memory", reflect.ValueOf(m.Kept()).Elem(), &m)
	if !m.Equal(fullMemory()) {
		t.Error("a memory differs from itself")
	}
	m.Kept().Recorded = m.Kept().Recorded.In(time.FixedZone("", 3600))
	if !m.Equal(fullMemory()) {
		t.Error("the zone of a time counts")
	}
}

// What cannot be read is lost, and the next plan says so; what was never stored is not.
func TestMemory_UnreadableReadsAsLost(t *testing.T) {
	tests := []struct{ text, note string }{
		{"", ""}, {" ", ""}, {"null", ""}, {`{"formatVersion":1}`, ""},
		{"{}", "version 0, not 1"},
		{`{"formatVersion":2,"cronJobUID":"cj-1","recorded":"2026-01-01T01:00:00Z"}`, "version 2, not 1"},
		{`{"formatVersion":1,"recorded":7}`, "Time.UnmarshalJSON: input is not a JSON string"},
		{`"version 1"`, "json: cannot unmarshal string into Go value"},
		{"{", "unexpected end of JSON input"},
	}
	for _, tc := range tests {
		m := fullMemory()
		must.OK(t, m.UnmarshalJSON([]byte(tc.text)))
		s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5))
		s.Memory = m
		plan := reconcile(t, s)
		switch {
		case tc.note == "" && len(plan.Notes) == 0:
		case tc.note != "" && len(plan.Notes) == 1 && strings.Contains(plan.Notes[0].Value, tc.note):
		default:
			t.Errorf("%q: notes %v", tc.text, plan.Notes)
		}
		if got := created(t, plan); !got.Equal(hours(1)) {
			t.Errorf("%q: the memory counts: starts %s", tc.text, got)
		}
		if end := plan.Conclude(done(&plan)); !end.Memory.Kept().Recorded.Equal(hours(1)) || strings.Contains(reasonsOfNotes(t, end.Memory), "lost") {
			t.Errorf("%q: then %v", tc.text, end.Memory)
		}
	}
}

// reasonsOfNotes are the notes of a plan from a memory.
func reasonsOfNotes(t *testing.T, m cronjob.Memory) (text string) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5))
	s.Memory = m
	for _, n := range reconcile(t, s).Notes {
		text += n.Message + "\n"
	}
	return text
}

// A plan that was stored concludes as the one that was not.
func TestPlan_StoredConcludesTheSame(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(hours(1)))}, LastScheduleTime: hours(1)}
	s := snapshot(c, hours(4), child(hours(1)))
	s.Triggers = []cronjob.Trigger{{ID: "t"}}
	s.Backfills = []cronjob.Backfill{{ID: "b", After: start.AddDate(0, 0, -1), Until: start, Overlap: cronjob.Allow}}
	plan := reconcile(t, s)
	var stored cronjob.Plan
	data, err := json.Marshal(plan)
	if err == nil {
		err = json.Unmarshal(data, &stored)
	}
	must.OK(t, err)
	if plan.CronJobUID != "cj-1" || plan.Namespace != "ns" || !plan.NextRun.Equal(hours(5)) {
		t.Errorf("CronJob %q in %q, next run %s", plan.CronJobUID, plan.Namespace, plan.NextRun)
	}
	if diff := cmp.Diff(plan.String(), stored.String()); diff != "" {
		t.Error(diff)
	}
	want, got := plan.Conclude(done(&plan)), stored.Conclude(done(&plan))
	if diff := cmp.Diff(want, got); diff != "" || len(want.Memory.Kept().Started) == 0 {
		t.Error(diff)
	}
	if err := json.Unmarshal([]byte(`{"delete":7}`), &stored); err == nil {
		t.Error("another object reads as a plan")
	}
}
