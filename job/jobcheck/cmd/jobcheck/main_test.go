package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job"
)

// The test binary is the foreign program if this variable names a planner.
const planner = "JOBCHECK_PLANNER"

func TestMain(m *testing.M) {
	if name := os.Getenv(planner); name != "" {
		answerAll(os.Stdin, os.Stdout, planners[name])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type reply struct {
	ID     int         `json:"id"`
	Plan   *job.Plan   `json:"plan,omitempty"`
	Status *job.Status `json:"status,omitempty"`
}

// planners answer a question. All but the first are wrong.
var planners = map[string]func(*job.Snapshot, *reply){
	"right": plan,
	"one more pod than wanted": func(s *job.Snapshot, r *reply) {
		plan(s, r)
		if len(r.Plan.Create) > 0 {
			r.Plan.Create = append(r.Plan.Create, r.Plan.Create[0])
		}
	},
	"never mind whose pods": func(s *job.Snapshot, r *reply) {
		plan(s, r)
		for _, p := range s.Pods {
			if p.Owner == job.Foreign {
				r.Plan.Untrack = append(r.Plan.Untrack, job.Untracking{PodRef: job.PodRef{Name: p.Name, UID: p.UID}})
			}
		}
	},
	"counts at once": func(s *job.Snapshot, r *reply) {
		plan(s, r)
		if u := r.Status.UncountedTerminatedPods; u != nil {
			r.Status.Failed += int32(len(u.Failed))
			r.Status.Succeeded += int32(len(u.Succeeded))
			r.Status.UncountedTerminatedPods = nil
		}
	},
	"the first pod first": func(s *job.Snapshot, r *reply) {
		plan(s, r)
		if len(s.Pods) > 0 {
			r.Plan.Requeue.Reason = job.WaitReason(1 + len(s.Pods[0].UID)%3)
			r.Plan.Waits = append(r.Plan.Waits, job.Wait{Reason: job.WaitPods, Name: s.Pods[0].Name})
		}
	},
}

// plan is the planner of this library.
func plan(s *job.Snapshot, r *reply) {
	p, err := job.Reconcile(*s)
	if err != nil {
		panic(err)
	}
	var writes job.Writes
	writes.Claimed = job.ResultDone
	for range p.Delete {
		writes.Deleted = append(writes.Deleted, job.Effect{Result: job.ResultDone})
	}
	for range p.Create {
		writes.Created = append(writes.Created, job.Effect{Result: job.ResultDone})
	}
	status := p.Record(writes).Status
	r.Plan, r.Status = &p, &status
}

func answerAll(in io.Reader, out io.Writer, answer func(*job.Snapshot, *reply)) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			panic(err)
		}
		r := reply{ID: q.ID}
		answer(&q.Snapshot, &r)
		data, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(out, "%s\n", data)
	}
}

// TestRun lets right and wrong planners answer, each as a process of its own.
func TestRun(t *testing.T) {
	for name, rules := range map[string][]string{
		"right":                    nil,
		"one more pod than wanted": {"JI10"},
		"never mind whose pods":    {"JI22"},
		"counts at once":           {"CheckTransition", "JI1"},
		"the first pod first":      {"JI24"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(planner, name)
			var out, errors bytes.Buffer
			broken, err := run([]string{"-questions", "400", "--", os.Args[0]}, nil, &out, &errors)
			if err != nil {
				t.Fatalf("%v\n%s", err, &errors)
			}
			var found []string
			for line := range strings.Lines(out.String()) {
				var f finding
				if err := json.Unmarshal([]byte(line), &f); err != nil {
					t.Fatal(err)
				}
				found = append(found, f.Rule)
			}
			if broken != len(found) || (len(rules) == 0) != (len(found) == 0) {
				t.Errorf("%d invariants are broken: %v, want %v", broken, found, rules)
			}
			for _, rule := range rules {
				if !slices.Contains(found, rule) {
					t.Errorf("found %v, want %v", found, rules)
				}
			}
		})
	}
}

// TestAsk_BadAnswers: a bad answer stops the examination, and the error says which one it is.
func TestAsk_BadAnswers(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "question 0: no answer",
		"hello\n":                   `answer "hello"`,
		`{"plan":{}}` + "\n":        "the id is not the question's",
		`{"id":1}` + "\n":           "the id is not the question's",
		`{"id":0,"plans":1}` + "\n": `unknown field "plans"`,
	} {
		e := &examiner{questions: 1, seed: 1}
		if err := e.ask(io.Discard, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestRun_NeedsAReport: without a program, standard output is taken by the questions.
func TestRun_NeedsAReport(t *testing.T) {
	if _, err := run(nil, strings.NewReader(""), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "-report FILE") {
		t.Errorf("error %v", err)
	}
}
