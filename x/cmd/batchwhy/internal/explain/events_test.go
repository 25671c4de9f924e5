package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// event returns an event that has happened a time before midnight.
func event(kind, reason string, before time.Duration) read.Event {
	return read.Event{Type: kind, Reason: reason, Last: midnight.Add(-before), Count: 1}
}

// TestRefusal: a refused creation counts for a quarter of an hour, unless a later one has succeeded.
func TestRefusal(t *testing.T) {
	refused := func(before time.Duration) read.Event { return event("Warning", "FailedCreate", before) }
	made := func(before time.Duration) read.Event { return event("Normal", "SuccessfulCreate", before) }
	for _, c := range []struct {
		name   string
		events []read.Event
		want   time.Duration // before midnight; negative means none
	}{
		{"no event", nil, -1},
		{"another event", []read.Event{made(0)}, -1},
		{"a recent one", []read.Event{refused(recently)}, recently},
		{"an old one", []read.Event{refused(recently + 1)}, -1},
		{"the latest of two", []read.Event{refused(time.Minute), refused(2 * time.Minute)}, time.Minute},
		{"a later success", []read.Event{refused(time.Minute), made(time.Minute - 1)}, -1},
		{"a success at the same time", []read.Event{refused(time.Minute), made(time.Minute)}, time.Minute},
		{"an earlier success", []read.Event{made(2 * time.Minute), refused(time.Minute)}, time.Minute},
	} {
		got := refusal(c.events, midnight)
		if (got == nil) != (c.want < 0) || got != nil && !got.Last.Equal(midnight.Add(-c.want)) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestLastEvent: the latest event of a reason, with the count of all. The events stay as they are.
func TestLastEvent(t *testing.T) {
	events := []read.Event{
		event("Warning", "A", 3), event("Warning", "A", 1), event("Warning", "A", 1), event("Normal", "B", 0), event("Warning", "C", 2),
	}
	events[1].Message, events[2].Message, events[2].Count = "first", "second", 4
	before := slices.Clone(events)
	if e := lastEvent(events, "A"); e == nil || e.Message != "first" || e.Count != 6 {
		t.Errorf("%+v", e)
	}
	if e := lastEvent(events, "B"); e != &events[3] {
		t.Errorf("%+v", e)
	}
	if e := lastEvent(events, "D"); e != nil {
		t.Errorf("%+v", e)
	}
	if e := latestWarning(events); e != &events[1] {
		t.Errorf("the latest warning: %+v", e)
	}
	if e := latestWarning(events[3:4]); e != nil {
		t.Errorf("no warning: %+v", e)
	}
	var reasons []string
	for _, e := range lastWarnings(events) {
		reasons = append(reasons, fmt.Sprint(e.Reason, " ", e.Count))
	}
	if got := strings.Join(reasons, ", "); got != "A 6, C 1" {
		t.Errorf("the last warnings: %s", got)
	}
	if !slices.Equal(events, before) {
		t.Error("the events have changed")
	}
}

// TestQuoted has names with and without their ends, and with a namespace.
func TestQuoted(t *testing.T) {
	for message, want := range map[string]string{
		`configmap "settings" not found`:             "settings",
		`ConfigMap "settings" not found, secret "x"`: "settings",
		`error: configmap "team/settings" not found`: "settings",
		`configmap "a/team/settings"`:                "settings",
		`configmap "/settings"`:                      "settings",
		`configmap ""`:                               "",
		`configmap "settings`:                        "",
		`configmaps "settings"`:                      "",
		`configmap settings`:                         "",
		``:                                           "",
		`Ⱥ configmap "settings" not found`:           "settings", // a letter that is longer in lower case
		`ȺȺȺ configmap "`:                            "",
	} {
		if got := quoted(message, "configmap"); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

// TestAppliedTo: a manifest changes the object of its name, in the namespace default if it has none.
func TestAppliedTo(t *testing.T) {
	for _, c := range []struct {
		meta read.Meta
		want string
	}{
		{read.Meta{Name: "x"}, "Job default/x"},
		{read.Meta{Name: "x", Namespace: "team"}, "Job team/x"},
		{read.Meta{Name: "x", Namespace: "team", GenerateName: "x-"}, "Job team/x"},
		{read.Meta{Name: "x-", Namespace: "team", GenerateName: "x-"}, ""},
	} {
		if got := appliedTo("Job", &c.meta); got != c.want {
			t.Errorf("%+v: %q, want %q", c.meta, got, c.want)
		}
	}
}

// TestConcernManifests: a manifest gets the changes of the object of its name, also if that is gone,
// and no change of another object that only mentions it.
func TestConcernManifests(t *testing.T) {
	manifest := &read.Job{Meta: read.Meta{Namespace: "team", Name: "x", UID: "manifest"}, IsManifest: true}
	other := &read.Job{Meta: read.Meta{Namespace: "team", Name: "y", UID: "other"}, IsManifest: true}
	stored := &read.Job{Meta: read.Meta{Namespace: "team", Name: "x", UID: "u1"}}
	change := func(uid job.UID, gone bool) read.Change {
		return read.Change{Kind: "Job", Key: "team/x", UID: uid, Gone: gone}
	}
	for _, c := range []struct {
		name    string
		jobs    []*read.Job
		changes map[job.UID][]read.Change
		want    []job.UID
	}{
		{"an object that is there", []*read.Job{stored, manifest, other},
			map[job.UID][]read.Change{"u1": {change("u1", false)}}, []job.UID{"u1"}},
		{"an object that is gone", []*read.Job{manifest, other},
			map[job.UID][]read.Change{"u0": {change("u0", true)}}, []job.UID{"u0"}},
		{"a change of an object that was not read", []*read.Job{manifest, other},
			map[job.UID][]read.Change{"u0": {change("u0", false)}}, nil},
		{"a change that concerns another object as well", []*read.Job{manifest, other},
			map[job.UID][]read.Change{"cron": {change("u0", true)}}, nil},
	} {
		ConcernManifests(&read.Objects{Jobs: c.jobs}, c.changes)
		var got []job.UID
		for _, change := range c.changes["manifest"] {
			got = append(got, change.UID)
		}
		if !slices.Equal(got, c.want) || len(c.changes["other"]) > 0 {
			t.Errorf("%s: %v, others %v", c.name, got, c.changes["other"])
		}
	}
}

// TestGoneOf: events from before a Job's creation are about an earlier Job of its name. The pods of
// an Indexed Job have the index in their names.
func TestGoneOf(t *testing.T) {
	pod := func(name string, last time.Duration) gonePod {
		return gonePod{name, []read.Event{event("Normal", "Killing", time.Hour), event("Normal", "Killing", last)}}
	}
	e := &Explainer{gone: map[string][]gonePod{
		"team/x":    {pod("x-aaaaa", time.Minute), pod("x-bbbbb", time.Minute+1), pod("x-ccccc", 0)},
		"team/x-0":  {pod("x-0-aaaaa", 0)},
		"team/x-1":  {pod("x-1-aaaaa", 0)},
		"team/x-2":  {pod("x-2-aaaaa", 0)},
		"team/x-10": {pod("x-10-aaaaa", 0)},
	}}
	two := int32(2)
	for _, c := range []struct {
		mode        job.CompletionMode
		completions *int32
		want        []string
	}{
		{"", nil, []string{"x-aaaaa", "x-ccccc"}},
		{job.NonIndexed, &two, []string{"x-aaaaa", "x-ccccc"}},
		{job.Indexed, nil, []string{"x-aaaaa", "x-ccccc"}},
		{job.Indexed, &two, []string{"x-0-aaaaa", "x-1-aaaaa"}},
	} {
		j := &read.Job{Meta: read.Meta{Namespace: "team", Name: "x", CreationTimestamp: midnight.Add(-time.Minute)}}
		j.Object.Spec.CompletionMode, j.Object.Spec.Completions = c.mode, c.completions
		var got []string
		for _, p := range e.goneOf(j) {
			got = append(got, p.name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %v completions: %q, want %q", c.mode, c.completions, got, c.want)
		}
	}
}
