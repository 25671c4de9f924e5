package job

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/value"
)

// TestStatus_JSON: the text that an API server prints is read and printed without a change.
func TestStatus_JSON(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"a job that nobody has looked at", `{}`},
		{"a job that runs", `{"startTime":"2026-01-01T00:00:00Z","active":2,"terminating":0,"ready":1}`},
		{"a job that has completed", `{"conditions":[` +
			`{"type":"SuccessCriteriaMet","status":"True","lastProbeTime":"2026-01-01T00:00:09Z","lastTransitionTime":"2026-01-01T00:00:09Z","reason":"CompletionsReached","message":"Reached expected number of succeeded pods"},` +
			`{"type":"Complete","status":"True","lastProbeTime":"2026-01-01T00:00:09Z","lastTransitionTime":"2026-01-01T00:00:09Z","reason":"CompletionsReached","message":"Reached expected number of succeeded pods"}],` +
			`"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:09Z","succeeded":3,"terminating":0,"ready":0}`},
		{"indexes", `{"succeeded":4,"failed":2,"completedIndexes":"0-2,7","failedIndexes":"3"}`},
		{"no index has failed, and it is known", `{"failedIndexes":""}`},
		{"pods that are not counted yet", `{"uncountedTerminatedPods":{"succeeded":["a","b"],"failed":["c"]}}`},
		{"no pod is uncounted", `{"uncountedTerminatedPods":{}}`},
	} {
		var s Status
		must.OK(t, json.Unmarshal([]byte(test.text), &s))
		got, err := json.Marshal(s)
		must.OK(t, err)
		Same(t, test.name, test.text, string(got))
	}
}

func TestStatus_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawStatus(t)
		data, err := json.Marshal(want)
		must.OK(t, err)
		var got Status
		must.OK(t, json.Unmarshal(data, &got))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n(-want +got):\n%s", data, diff)
		}
		if !equalStatus(&want, &got) {
			t.Fatalf("equalStatus sees a difference in %s", data)
		}
		other := drawStatus(t)
		if equal := equalStatus(&want, &other); equal != (jsonOf(t, want) == jsonOf(t, other)) {
			t.Fatalf("J40: equalStatus is %v for\n%s\n%s", equal, data, jsonOf(t, other))
		}
	})
}

// jsonOf returns the text of a status, in which nil and empty uncounted lists look the same.
func jsonOf(t *rapid.T, s Status) string {
	data, err := json.Marshal(s)
	must.OK(t, err)
	return strings.Replace(string(data), `,"uncountedTerminatedPods":{}`, "", 1)
}

// drawStatus draws a status from few values, so that two statuses are often equal.
func drawStatus(t *rapid.T) Status {
	count := rapid.Int32Range(0, 1)
	uids := func() []UID {
		return rapid.SampledFrom([][]UID{nil, {"a"}, {"a", "b"}}).Draw(t, "uids")
	}
	at := func() time.Time {
		return rapid.SampledFrom([]time.Time{{}, time.Unix(1, 0).UTC()}).Draw(t, "at")
	}
	pointer := func() *int32 {
		if rapid.Bool().Draw(t, "nil") {
			return nil
		}
		return value.To(count.Draw(t, "count"))
	}

	s := Status{
		StartTime:        at(),
		CompletionTime:   at(),
		Active:           count.Draw(t, "active"),
		Succeeded:        count.Draw(t, "succeeded"),
		Failed:           count.Draw(t, "failed"),
		Terminating:      pointer(),
		Ready:            pointer(),
		CompletedIndexes: rapid.SampledFrom([]string{"", "0"}).Draw(t, "completed"),
	}

	if rapid.Bool().Draw(t, "failedIndexes") {
		s.FailedIndexes = value.To(rapid.SampledFrom([]string{"", "1"}).Draw(t, "failed indexes"))
	}
	if rapid.Bool().Draw(t, "uncounted") {
		s.UncountedTerminatedPods = &UncountedTerminatedPods{Succeeded: uids(), Failed: uids()}
	}
	if rapid.Bool().Draw(t, "condition") {
		s.Conditions = []Condition{{
			Type:               rapid.SampledFrom([]ConditionType{ConditionFailed, ConditionComplete}).Draw(t, "type"),
			Status:             ConditionTrue,
			LastTransitionTime: at(),
			Reason:             "Because",
		}}
	}
	return s
}

func TestJ4_Finished(t *testing.T) {
	for _, test := range []struct {
		name       string
		conditions []Condition
		want       ConditionType
	}{
		{"no condition", nil, ""},
		{"complete", []Condition{{Type: ConditionComplete, Status: ConditionTrue}}, ConditionComplete},
		{"failed", []Condition{{Type: ConditionFailed, Status: ConditionTrue}}, ConditionFailed},
		{"failed behind others", []Condition{{Type: ConditionSuspended, Status: ConditionFalse}, {Type: ConditionFailureTarget, Status: ConditionTrue}, {Type: ConditionFailed, Status: ConditionTrue}}, ConditionFailed},
		{"about to end", []Condition{{Type: ConditionSuccessCriteriaMet, Status: ConditionTrue}}, ""},
		{"a condition that does not hold", []Condition{{Type: ConditionComplete, Status: ConditionFalse}, {Type: ConditionFailed, Status: ConditionUnknown}}, ""},
	} {
		s := Status{Conditions: test.conditions}
		if got := s.Finished(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestStatus_WithCondition: withCondition returns a new list with at most one condition of each
// type.
func TestStatus_WithCondition(t *testing.T) {
	old := []Condition{{Type: ConditionSuspended, Status: ConditionTrue},
		{Type: ConditionFailureTarget, Status: ConditionTrue}}
	replaced := withCondition(old, Condition{Type: ConditionSuspended, Status: ConditionFalse})
	want := []Condition{{Type: ConditionSuspended, Status: ConditionFalse},
		{Type: ConditionFailureTarget, Status: ConditionTrue}}
	Same(t, "replaced", want, replaced)
	appended := withCondition(old, Condition{Type: ConditionFailed, Status: ConditionTrue})
	if len(appended) != 3 || appended[2].Type != ConditionFailed {
		t.Errorf("got %v", appended)
	}
	if old[0].Status != ConditionTrue || len(old) != 2 {
		t.Errorf("the old conditions have changed: %v", old)
	}
}

// TestJ40_EveryFieldOfAConditionCounts changes the fields one by one.
func TestJ40_EveryFieldOfAConditionCounts(t *testing.T) {
	base := Condition{ConditionSuspended, ConditionTrue, second(1), second(2), "JobSuspended", "Job suspended"}
	other := Condition{ConditionComplete, ConditionFalse, second(3), second(4), "JobResumed", "Job resumed"}
	if !equalCondition(base, base) {
		t.Error("a condition differs from itself")
	}
	for i := range reflect.TypeFor[Condition]().NumField() {
		changed := base
		reflect.ValueOf(&changed).Elem().Field(i).Set(reflect.ValueOf(other).Field(i))
		if equalCondition(base, changed) {
			t.Errorf("the change of %s is not seen", reflect.TypeFor[Condition]().Field(i).Name)
		}
	}
}

// TestSpec_ContainersRoundTrip: the names of all containers survive the text form.
func TestSpec_ContainersRoundTrip(t *testing.T) {
	want := Template{RestartPolicy: RestartNever, Containers: []string{"main", "log"},
		InitContainers: []string{"first"}}
	text, err := json.Marshal(want)
	must.OK(t, err)
	var got Template
	must.OK(t, json.Unmarshal(text, &got))
	Same(t, string(text), want, got)
}
