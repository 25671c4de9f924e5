package play

import (
	"strings"
	"testing"
	"time"
)

const everyHour = cronJob + "  schedule: \"0 * * * *\"\n"

func viewOf(t *testing.T, manifest string, steps ...string) View {
	t.Helper()
	return play(t, &Script{Manifest: manifest, Steps: steps}).View(0)
}

func TestCronJobSteps(t *testing.T) {
	tests := []struct {
		name     string
		manifest string
		steps    []string
		want     string // a text in the table of kubectl, or in the sentences of the view
	}{
		{"the next run", everyHour, []string{"next"}, "report|0 * * * *|<none>|False|1|0s|1h"},
		{"a job completes", everyHour, []string{"next", "complete report-29453820"}, "report|0 * * * *|<none>|False|0|0s|1h"},
		{"a job fails", everyHour, []string{"next", "fail all"}, "report-29453820 Failed"},
		{"a user deletes a job", everyHour, []string{"next", "delete all", "next"}, "report-29453880 Active"},
		{"a job beside the schedule", everyHour, []string{"trigger"}, "Started by hand."},
		{"time passes, run by run", everyHour, []string{"tick 3h30m"}, "report|0 * * * *|<none>|False|3|30m|3h30m"},
		{"the controller is down", everyHour, []string{"down 3h30m"}, "missed 2 runs, the latest at 2026-01-01T02:00:00Z"},
		{"the clock is put back", everyHour, []string{"tick 3h", "at 2026-01-01T01:30:00Z"}, "lies in the future"},
		{"the schedule is edited", everyHour, []string{`edit {"schedule": "30 2 * * *", "timeZone": "UTC"}`, "next"}, "report|30 2 * * *|UTC|False|1|0s|2h30m"},
		{"suspended", everyHour, []string{`edit {"suspend": true}`, "tick 5h"}, "5 runs have come due"},
		{"resumed", everyHour, []string{`edit {"suspend": true}`, "tick 5h", `edit {"suspend": false}`}, "missed 4 runs"},
		{"held back", everyHour, []string{`edit {"concurrencyPolicy": "Forbid"}`, "next", "next"}, "RunHeld"},
		{"replaced", everyHour, []string{`edit {"concurrencyPolicy": "Replace"}`, "next", "next"}, "another run replaces it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := viewOf(t, test.manifest, test.steps...)
			all := []string{strings.Join(v.Table, "|"), v.Summary}
			for _, x := range v.Items {
				all = append(all, x.Name+" "+x.Phase, x.Text)
			}
			for _, f := range v.Findings {
				all = append(all, f.Code)
			}
			text := strings.Join(append(all, v.Plans...), "\n")
			if !strings.Contains(text, test.want) {
				t.Errorf("no %q in:\n%s", test.want, text)
			}
		})
	}
}

// TestCronJobDrawing: past runs are marked with their outcome, and Jobs that are gone stay in the
// drawing.
func TestCronJobDrawing(t *testing.T) {
	v := viewOf(t, everyHour, "next", "complete all", "down 2h10m", `edit {"successfulJobsHistoryLimit": 0}`,
		"complete all")
	var kinds []string
	for _, mark := range v.Timeline.Lanes[0].Marks {
		kinds = append(kinds, mark.Kind)
	}
	if got := strings.Join(kinds, " "); got != "started missed started run run run" {
		t.Errorf("runs: %s", got)
	}
	bars := 0
	for _, lane := range v.Timeline.Lanes[1:] {
		bars += len(lane.Bars)
	}
	if bars != 2 || v.Count != 0 {
		t.Errorf("%d bars, %d jobs", bars, v.Count)
	}
	// The drawing of a life with many runs begins at the first run that it shows.
	v = viewOf(t, cronJob+"  schedule: \"* * * * *\"\n", "down 24h", "at 2026-01-01T12:00:00Z")
	if n := len(v.Timeline.Lanes[0].Marks); n != maxMarks+3 ||
		!v.Timeline.From.After(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("%d marks from %s", n, v.Timeline.From)
	}
}

func TestCronJobBadSteps(t *testing.T) {
	tests := map[string]string{
		"dance":                           "must be complete, fail, delete, trigger",
		"complete nobody":                 `complete: no job "nobody"`,
		"fail all code=3":                 "fail: unknown argument code=3",
		"trigger now":                     "trigger: unknown argument now",
		"next 2":                          "next: unknown argument 2",
		"at 2026-01-01T00:00:00Z UTC":     "at: unknown argument UTC",
		"down 1h 2h":                      "down: unknown argument 2h",
		`edit all {"suspend":true}`:       "edit: unknown argument all",
		"tick soon":                       `tick: "soon": must be a duration`,
		"down -1h":                        "must be a duration",
		"at noon":                         "must be a time",
		"at 1999-01-01T00:00:00Z":         "must be a time",
		"edit {":                          "must be fields of the spec",
		`edit {"suspnd": true}`:           "suspnd: no such field",
		`edit {"schedule": "61 * * * *"}`: "spec.schedule",
		`edit {"timeZone": "Mars/Base"}`:  "spec.timeZone",
	}
	for step, want := range tests {
		s := Script{Manifest: everyHour, Steps: []string{step}}
		var theatre Theatre
		one, err := theatre.Play(&s, 1)
		if err == nil || !strings.Contains(err.Error(), want) || one == nil {
			t.Errorf("%s: %v, want %q", step, err, want)
		}
	}
	never := viewOf(t, cronJob+"  schedule: \"0 0 31 2 *\"\n")
	if never.Wake != "" {
		t.Errorf("wakes %s", never.Wake)
	}
	s := Script{Manifest: cronJob + "  schedule: \"* * * * *\"\n"}
	for range 10 {
		s.Steps = append(s.Steps, "tick 2h")
	}
	var theatre Theatre
	if _, err := theatre.Play(&s, 10); err == nil || !strings.Contains(err.Error(), "at most 500 can be played") {
		t.Errorf("many jobs: %v", err)
	}
}
