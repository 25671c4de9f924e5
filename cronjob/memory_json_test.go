package cronjob_test

import (
	"encoding/json"
	"fmt"
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
		Deleted:  []cronjob.LeavingJob{{Reference: cronjob.Reference{UID: "d"}, Gone: true}},
		Behind:   hours(4), Since: hours(5), Suspended: true, Schedule: "@hourly", TimeZone: "Europe/Berlin",
	})
}

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

func TestMemory_EqualSeesEachField(t *testing.T) {
	m := fullMemory()
	var walk func(name string, v reflect.Value)
	walk = func(name string, v reflect.Value) {
		_, isTime := v.Interface().(time.Time)
		switch {
		case v.Kind() == reflect.Struct && !isTime:
			for i := range v.NumField() {
				walk(name+"."+v.Type().Field(i).Name, v.Field(i))
			}
			return
		case v.Kind() == reflect.Slice:
			walk(name+"[0]", v.Index(0))
		}

		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		switch {
		case !v.IsZero():
			v.SetZero()
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		default:
			v.SetString("other") // a field of a reference
		}

		if m.Equal(fullMemory()) || fullMemory().Equal(m) {
			t.Errorf("Equal does not see %s", name)
		}
		v.Set(old)
	}

	walk("memory", reflect.ValueOf(m.Kept()).Elem())
	if !m.Equal(fullMemory()) {
		t.Error("a memory differs from itself")
	}
	m.Kept().Recorded = m.Kept().Recorded.In(time.FixedZone("", 3600))
	if !m.Equal(fullMemory()) {
		t.Error("the zone of a time counts")
	}
}

// A memory that cannot be read counts as lost, and the next plan has a note. A memory that was
// never stored causes no note.
func TestMemory_UnreadableReadsAsLost(t *testing.T) {
	for text, note := range map[string]string{
		"": "", " ": "", "null": "", `{"formatVersion":1}`: "",
		"{}": "version 0, not 1",
		`{"formatVersion":2,"cronJobUID":"cj-1","recorded":"2026-01-01T01:00:00Z"}`: "version 2, not 1",
		`{"formatVersion":1,"recorded":7}`:                                          "Time.UnmarshalJSON: input is not a JSON string",
		`"version 1"`:                                                               "json: cannot unmarshal string into Go value",
		"{":                                                                         "unexpected end of JSON input",
	} {
		s := hourly(cronjob.Spec{}, hours(1.5))
		s.Memory = fullMemory()
		must.OK(t, s.Memory.UnmarshalJSON([]byte(text)))

		plan, end := play(t, s)
		if note == "" != (len(plan.Notes) == 0) || note != "" && (len(plan.Notes) != 1 || !strings.Contains(plan.Notes[0].Value, note)) {
			t.Errorf("%q: notes %v, want %q", text, plan.Notes, note)
		}
		if got := created(t, plan); !got.Equal(hours(1)) {
			t.Errorf("%q: the memory counts: starts %s", text, got)
		}

		s.Memory = end.Memory
		if next := reconcile(t, s); !s.Memory.Kept().Recorded.Equal(hours(1)) || strings.Contains(fmt.Sprint(next.Notes), "lost") {
			t.Errorf("%q: then %v, notes %v", text, end.Memory, next.Notes)
		}
	}
}

// A plan names its CronJob and the next run, and a stored plan is read unchanged. planWithLaws
// checks that its conclusion is also the same.
func TestPlan_Stored(t *testing.T) {
	s := second(cronjob.Replace, child(hours(1)))
	s.Now, s.Triggers, s.Backfills = hours(4), []cronjob.Trigger{{ID: "t"}}, []cronjob.Backfill{between("b", -24, 0, cronjob.Allow)}
	plan := reconcile(t, s)
	if plan.CronJobUID != "cj-1" || plan.Namespace != "ns" || !plan.NextRun.Equal(hours(5)) {
		t.Errorf("CronJob %q in %q, next run %s", plan.CronJobUID, plan.Namespace, plan.NextRun)
	}
	var stored cronjob.Plan
	data, err := json.Marshal(plan)
	must.OK(t, err)
	must.OK(t, json.Unmarshal(data, &stored))
	if diff := cmp.Diff(plan.String(), stored.String()); diff != "" {
		t.Error(diff)
	}
	if err := json.Unmarshal([]byte(`{"formatVersion":2}`), &stored); err == nil || err.Error() != "plan: its format has version 2, not 1" {
		t.Errorf("a plan of another version is read, or the error does not name both: %v", err)
	}
	if err := json.Unmarshal([]byte(`{"formatVersion":1,"delete":7}`), &stored); err == nil {
		t.Error("another object reads as a plan")
	}
	for _, v := range []json.Unmarshaler{new(cronjob.Compiled), new(cronjob.JobTemplate), new(cronjob.Reply)} {
		if v.UnmarshalJSON(nil) == nil {
			t.Errorf("%T reads nothing", v)
		}
	}
}
