package play

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/job"
)

func play(t *testing.T, s *Script) Life {
	t.Helper()
	var theatre Theatre
	p, err := theatre.Play(s, len(s.Steps))
	must.OK(t, err)
	return p
}

// TestExamples plays each example to its end. There is a note for each step, and no step breaks an
// invariant.
func TestExamples(t *testing.T) {
	ends := map[string]string{
		"Retries and backoff": "Complete", "Backoff per index": "Failed", "Failure policy": "Failed",
		"Success policy": "Complete", "Suspend and resume": "Failed", "Indexed: each index once": "Running",
	}
	for _, s := range Examples {
		t.Run(s.Title, func(t *testing.T) {
			if len(s.Notes) != len(s.Steps)+1 {
				t.Errorf("%d notes for %d steps", len(s.Notes), len(s.Steps))
			}
			v := play(t, &s).View(0)
			if end, ok := ends[s.Title]; v.Kind == "Job" && (!ok || v.Table[1] != end) {
				t.Errorf("ended with %q: %s", v.Table[1], v.Status)
			}
		})
	}
}

// TestGolden shows what the controller does in one example, step by step.
func TestGolden(t *testing.T) {
	var theatre Theatre
	var b strings.Builder
	s := Examples[0]
	for n := range len(s.Steps) + 1 {
		p, err := theatre.Play(&s, n)
		must.OK(t, err)
		v := p.View(0)
		if n > 0 {
			fmt.Fprintf(&b, "> %s\n", s.Steps[n-1])
		}
		fmt.Fprintf(&b, "%s %s\n%s\n", v.Clock, v.Summary, strings.Join(v.Table, " "))
	}
	want, err := os.ReadFile("testdata/retries.txt")
	if err != nil || b.String() != string(want) {
		t.Errorf("%v, got:\n%s", err, b.String())
	}
}

// TestViews compares views with stored ones. There are views of the middle and the end of each
// example, and of a life in which a user removes and edits objects.
func TestViews(t *testing.T) {
	scripts := append(slices.Clone(Examples), Script{Title: "By hand", Manifest: example(t, "CronJob: Forbid").Manifest,
		Steps: []string{"next", "complete all", "next", "trigger", `edit {"suspend": true}`, "tick 7m", "fail all", "tick 1m", "delete all", `edit {"suspend": false, "concurrencyPolicy": "Allow"}`, "next", "next"}})
	scripts = append(scripts, Script{Title: "Many indexes", Steps: []string{"run all", "lose all", "tick 1m"},
		Manifest: `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "many"}, "spec": {"completions": 45, "parallelism": 45, "completionMode": "Indexed", "template": {"spec": {"restartPolicy": "Never"}}}}`})
	var theatre Theatre
	for _, s := range scripts {
		var b strings.Builder
		for _, n := range []int{len(s.Steps) / 2, len(s.Steps)} {
			p, err := theatre.Play(&s, n)
			must.OK(t, err)
			v := p.View(0)
			picture := v.Timeline
			v.Timeline = nil
			data, err := json.Marshal(v)
			must.OK(t, err)
			fmt.Fprintf(&b, "%s\n", strings.NewReplacer("},{", "},\n{", `],"`, "],\n\"").Replace(string(data)))
			fmt.Fprintf(&b, "%v to %v, now %v, %d more\n", picture.From, picture.To, picture.Now, picture.More)
			for _, lane := range picture.Lanes {
				fmt.Fprintf(&b, "%v\n", lane)
			}
		}
		file := filepath.Join("testdata", "views",
			strings.ReplaceAll(strings.ReplaceAll(s.Title, ":", ""), " ", "_")+".txt")
		if *update {
			testfile.Write(t, b.String(), file)
		}
		if b.String() != testfile.Read(t, file) {
			t.Errorf("%s is not what the page shows (-update writes it):\n%s", file, b.String())
		}
	}
}

// TestStatusText tests the fields that are in no status at the end of an example.
func TestStatusText(t *testing.T) {
	got := statusText(&job.Status{Active: 1, FailedIndexes: new(""), UncountedTerminatedPods: &job.UncountedTerminatedPods{Failed: []job.UID{"a"}, Succeeded: []job.UID{"b", "c"}}})
	if want := "active: 1\nfailedIndexes: \"\"\nuncountedTerminatedPods: {failed: 1 UID, succeeded: 2 UIDs}\n"; got != want {
		t.Errorf("got %s", got)
	}
}

// TestBackAndForth: going back and forward again leads to the same state. If a user goes back and
// takes another step, the earlier states stay as they were.
func TestBackAndForth(t *testing.T) {
	others := map[string][]string{"Retries and backoff": {"run all", "succeed all"}, "CronJob: Forbid": {"next", "complete all"}, "CronJob: suspend and resume": {"next", "complete all"}}
	for title, begin := range others {
		var theatre Theatre
		s := *example(t, title)
		state := func(s *Script, n int) string {
			p, err := theatre.Play(s, n)
			must.OK(t, err)
			data, err := json.Marshal(p.View(0))
			must.OK(t, err)
			test, err := p.GoTest()
			must.OK(t, err)
			return string(data) + test
		}
		var first []string
		for n := range len(s.Steps) + 1 {
			first = append(first, state(&s, n))
		}
		for n := len(s.Steps); n >= 0; n-- {
			if state(&s, n) != first[n] {
				t.Errorf("%s: step %d differs on the way back", title, n)
			}
		}
		other := s
		other.Steps = append(begin, s.Steps[2:]...)
		state(&other, 2)
		for n := range first {
			if state(&s, n) != first[n] {
				t.Errorf("%s: step %d differs after another way", title, n)
			}
		}
	}
}

func TestBadSteps(t *testing.T) {
	tests := map[string]string{
		"dance":                      "must be run, succeed",
		"run nobody":                 `run: no pod "nobody"`,
		"fail j-1 code=0":            "from 1 to 255",
		"fail j-1 cod=42":            "fail: unknown argument cod=42",
		"succeed j-1 code=1":         "succeed: unknown argument code=1",
		"evict j-1 condition=Ready":  "evict: unknown argument condition=Ready",
		"run j-1 j-2":                "run: unknown argument j-2",
		"restart j-1 times=0":        "restart: times: must be from 1 to 255",
		"restart j-1 code=1":         "restart: unknown argument code=1",
		"delete j-1 30":              "delete: unknown argument 30",
		"delete-job now":             "delete-job: unknown argument now",
		"next 2":                     "next: unknown argument 2",
		"tick 1s 2s":                 "tick: unknown argument 2s",
		"tick every=1s":              "tick: unknown argument every=1s",
		`tick 1s {"a": 1}`:           `tick: unknown argument {"a": 1}`,
		`edit all {"parallelism":1}`: "edit: unknown argument all",
		"tick soon":                  `tick: "soon": must be a duration`,
		"tick -1s":                   "must be a duration",
		"edit {":                     "must be fields of the spec",
		`edit {"paralelism": 3}`:     "paralelism: no such field",
		`edit {"parallelism": -1}`:   "spec.parallelism",
		`edit {"parallelism": 9000}`: "at most 5000",
		"next":                       "nothing happens by itself",
	}
	for step, want := range tests {
		s := Script{Manifest: Examples[0].Manifest, Steps: []string{step}}
		var theatre Theatre
		p, err := theatre.Play(&s, 1)
		if err == nil || !strings.Contains(err.Error(), want) || p == nil {
			t.Errorf("%s: %v, want %q", step, err, want)
		}
	}
	for manifest, want := range map[string]string{
		"kind: Job": "apiVersion", `job stale {"parallelism": 1}`: "job: unknown argument stale", "": "is empty", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}": "no Job or CronJob",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {parallelism: 100000}":   "at most 5000",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {paralelism: 2}":         "manifest:4:8: spec.paralelism: no such field",
		"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec: {shedule: '@daily'}": "manifest:4:8: spec.shedule: no such field",
		`job {"podFailurePolicy": {"rules": [{"acton": "FailJob"}]}}`:                         "job: podFailurePolicy.rules[0].acton: no such field",
		`cronjob {"shedule": "@daily"}`:                                                       "cronjob: shedule: no such field",
	} {
		var theatre Theatre
		if _, err := theatre.Play(&Script{Manifest: manifest}, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", manifest, err, want)
		}
	}
}

// TestLostNode: pods of a lost node stay terminating until they are ended by hand.
func TestLostNode(t *testing.T) {
	s := Script{Manifest: Examples[3].Manifest, Steps: []string{"run all", "lose j-1", "tick 1h"}}
	p := play(t, &s).(*Job)
	if n := len(p.world.Pods); n != 2 || p.world.Pods[0].Deletion == nil {
		t.Errorf("%s", p.world.State())
	}
	s.Steps = append(s.Steps, "fail j-1 code=143", "next")
	if p = play(t, &s).(*Job); len(p.world.Pods) < 2 || p.world.Job.Status.Failed != 0 {
		t.Errorf("%s", p.world.State())
	}
}

// TestExportedTest: the exported Go tests compile and pass.
func TestExportedTest(t *testing.T) {
	dir, err := os.MkdirTemp(".", "exported")
	must.OK(t, err)
	defer os.RemoveAll(dir)
	for i, title := range []string{"Failure policy", "CronJob: catch-up after an outage"} {
		s := example(t, title)
		s = &Script{Manifest: s.Manifest, Steps: s.Steps[:4]} // after these steps the plan has writes
		text, err := play(t, s).GoTest()
		must.OK(t, err)
		if pretty, err := format.Source([]byte(text)); err != nil || string(pretty) != text {
			t.Errorf("%s: not formatted: %v", title, err)
		}
		folder := filepath.Join(dir, fmt.Sprint(i))
		must.OK(t, os.Mkdir(folder, 0o755))
		testfile.Write(t, text, folder, "situation_test.go")
	}
	if out, err := exec.Command("go", "test", "./"+dir+"/...").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPages: each pod is on exactly one page. A page begins at a multiple of its size.
func TestPages(t *testing.T) {
	s := Script{Manifest: `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"completions": 120, "parallelism": 120, "template": {"spec": {"restartPolicy": "Never"}}}}`}
	p := play(t, &s)
	names := make(map[string]bool)
	for from := 0; ; {
		v := p.View(from)
		for _, item := range v.Items {
			names[item.Name] = true
		}
		if v.From%pageSize != 0 || v.Count != 120 {
			t.Errorf("from %d of %d", v.From, v.Count)
		}
		if from = v.From + len(v.Items); from >= v.Count {
			break
		}
	}
	if len(names) != 120 {
		t.Errorf("%d pods on all pages", len(names))
	}
	if v := p.View(999); v.From != 100 || len(v.Items) != 20 {
		t.Errorf("a page behind the end: from %d, %d pods", v.From, len(v.Items))
	}
}

// TestStoryIsComplete: a story begins with the job and ends with the last round.
func TestStoryIsComplete(t *testing.T) {
	s := Examples[3]
	story, err := s.Story(len(s.Steps))
	must.OK(t, err)
	if !strings.HasPrefix(story, "job\n{") || strings.Count(story, "\nround\n") < 4 {
		t.Errorf("got %s", story)
	}
	var spec job.Spec
	line, _, _ := strings.Cut(strings.TrimPrefix(story, "job\n"), "\n")
	if err := json.Unmarshal([]byte(line), &spec); err != nil {
		t.Error(err)
	}
}
