package explain

import (
	"testing"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// TestUnfinished has lines of logs on each side of what shows that work is not done.
func TestUnfinished(t *testing.T) {
	for line, want := range map[string]bool{
		"got SIGTERM, shut down, exit 0":               true,
		"SIGTERM handler is set":                       false,
		"aborting":                                     true,
		"no abort":                                     false,
		"transaction aborted":                          true,
		"aborted=false":                                false,
		"completed: 10, aborted: 0":                    false,
		"aborted 3 incomplete uploads":                 false,
		"aborting 3 uploads":                           false,
		"resuming interrupted upload":                  false,
		"7 backups remaining":                          false,
		"4999 requests remaining":                      false,
		"joined 2 tables left outer":                   false,
		"read 89 of 100":                               true,
		"read 90 of 100":                               false,
		"read 89/100.":                                 true,
		"indexed 8 of 10 files":                        true,
		"kept 3 of 10 snapshots":                       false,
		"11/27 03:00:00 backup done":                   false,
		"read page 1 of 5":                             false,
		"read 1 of 5, skipped 4":                       false,
		"read 5000000000000000000/5000000000000000000": false,
		"ERROR: refused, retrying in 5s":               false,
		"ERROR: refused":                               true,
		"Total: 0 (HIGH: 0, CRITICAL: 0)":              false,
		"found no CRITICAL one":                        false,
		"level=info msg=done err=<nil>":                false,
		`done, error=""`:                               false,
		"error: ''":                                    false,
		"error: \"\": refused":                         false,
		"ERROR_COUNT=0":                                false,
		"ERROR_COUNT=10":                               true,
		"mean absolute error: 1.27":                    false,
		"error: 10.0.0.1 refused":                      true,
		"error: 0x80070005":                            true,
		"ERROR no such bucket":                         true,
		"0 errors":                                     false,
		"errors: 0":                                    false,
		"2 ERRORS: 0":                                  false,
		"java.io.IOException: closed":                  true,
		"ValueError: 3":                                true,
		"no Exception":                                 false,
		`{"level":"error","n":1}`:                      true,
		`{"level":"info","error":null}`:                false,
		"terror":                                       false,
	} {
		if got := isUnfinished(line, true); got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
	if isUnfinished("read 1 of 5", false) {
		t.Error("progress before the last line counts")
	}
}

// TestLogOfFailed: the log of a pod that was not read may be that of a pod that has failed.
func TestLogOfFailed(t *testing.T) {
	for _, test := range []struct {
		failed     int32
		isPrevious bool
		want       int
	}{{0, false, 1}, {1, false, 0}, {0, true, 0}} {
		o := &read.Objects{}
		o.AddLog(read.LogKey{Namespace: "n", Pod: "a-abcde", Container: "c", Previous: test.isPrevious}, "ERROR: refused")
		e := &Explainer{objects: o}
		e.sortGone()
		l := &look{e: e, job: &read.Job{Meta: read.Meta{Namespace: "n", Name: "a"}}, status: &job.Status{Failed: test.failed}}
		if got := l.lastWords(); len(got) != test.want {
			t.Errorf("%+v: got %q", test, got)
		}
	}
}

// TestPrints: of a pod that runs, the last line of its first container's log is quoted.
func TestPrints(t *testing.T) {
	o := &read.Objects{}
	for container, log := range map[string]string{"proxy": "ready", "main": "step 1\nsaid \"step 2\""} {
		o.AddLog(read.LogKey{Namespace: "n", Pod: "a", Container: container}, log)
	}
	l := &look{e: &Explainer{objects: o}}
	p := &read.Pod{Meta: read.Meta{Namespace: "n", Name: "a"}}

	for want, main := range map[string]read.Container{
		`; the last line of its log is "said 'step 2'"`: {Name: "main", Running: true},
		"": {Name: "main", Ended: true},
	} {
		p.Containers = []read.Container{{Name: "proxy", Running: true, Sidecar: true}, main}
		if got := l.prints(p); got != want {
			t.Errorf("%+v: got %q, want %q", main, got, want)
		}
	}
}

// TestLowered: deletions are explained by lowered completions only if each pod has an index that the Job has no more.
func TestLowered(t *testing.T) {
	three := int32(3)
	for mode, cases := range map[job.CompletionMode]map[string]bool{
		job.Indexed:    {"a-3-x": true, "a-2-x": false, "b-3-x": false, "a-x": false},
		job.NonIndexed: {"a-3-x": false},
	} {
		for pod, want := range cases {
			l := &look{job: &read.Job{Meta: read.Meta{Name: "a"}}, spec: &job.Spec{CompletionMode: mode, Completions: &three}}
			for _, name := range []string{"a-4-x", pod} {
				l.events = append(l.events, read.Event{Reason: "SuccessfulDelete", Message: "Deleted pod: " + name})
			}
			if got := l.lowered(); (got != "") != want {
				t.Errorf("%s, %s: got %q", mode, pod, got)
			}
		}
	}
}
