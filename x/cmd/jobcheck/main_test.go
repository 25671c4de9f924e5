package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// If this variable names one of the planners, the test binary is the program that jobcheck asks.
const planner = "JOBCHECK_PLANNER"

// The test binary is the command if this variable is set.
const asProgram = "JOBCHECK_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	if name := os.Getenv(planner); name != "" {
		answerAll(os.Stdin, os.Stdout, planners[name])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// planners answer a question. All but the first are wrong. If a planner returns a line, that line
// is the answer.
var planners = map[string]func(*job.Snapshot, *answer) (line string){
	"right": func(*job.Snapshot, *answer) string { return "" },
	"one more pod than wanted": func(_ *job.Snapshot, a *answer) string {
		if len(a.Plan.Create) > 0 {
			a.Plan.Create = append(a.Plan.Create, a.Plan.Create[0])
		}
		return ""
	},
	"never mind whose pods": func(s *job.Snapshot, a *answer) string {
		for _, p := range s.Pods {
			if p.Owner == jobpod.Foreign {
				a.Plan.Untrack = append(a.Plan.Untrack, job.Untracking{PodRef: job.PodRef{Name: p.Name, UID: p.UID}})
			}
		}
		return ""
	},
	"counts at once": func(_ *job.Snapshot, a *answer) string {
		if a.Status != nil && a.Status.UncountedTerminatedPods != nil {
			u := a.Status.UncountedTerminatedPods
			a.Status.Failed += int32(len(u.Failed))
			a.Status.Succeeded += int32(len(u.Succeeded))
			a.Status.UncountedTerminatedPods = nil
		}
		return ""
	},
	"the first pod first": func(s *job.Snapshot, a *answer) string {
		if len(s.Pods) > 0 {
			a.Plan.Requeue.Reason = jobreason.Wait(1 + len(s.Pods[0].UID)%3)
			a.Plan.Waits = append(a.Plan.Waits, job.Wait{Reason: jobreason.WaitPods, Name: s.Pods[0].Name})
		}
		return ""
	},
	"makes no groups": func(_ *job.Snapshot, a *answer) string {
		a.Plan.Groups = nil
		return ""
	},
	"names new groups as it likes": func(_ *job.Snapshot, a *answer) string {
		renameNew(a.Plan, "my-template")
		return ""
	},
	"makes a group from another template": func(_ *job.Snapshot, a *answer) string {
		renameNew(a.Plan, "no-template")
		return ""
	},
	"does nothing": func(_ *job.Snapshot, a *answer) string { *a = answer{Plan: new(job.Plan)}; return "" },
	"does nothing, without a status": func(_ *job.Snapshot, a *answer) string {
		a.Plan = new(job.Plan)
		a.Status, a.Settled = nil, nil
		return ""
	},
	"deletes everything": func(s *job.Snapshot, a *answer) string {
		p := new(job.Plan)
		for _, pod := range s.Pods {
			ref := job.PodRef{Name: pod.Name, UID: pod.UID}
			p.Delete, p.Untrack = append(p.Delete, job.Deletion{PodRef: ref}), append(p.Untrack,
				job.Untracking{PodRef: ref})
		}
		a.Plan, a.Settled = p, nil
		return ""
	},
	"deletes all its pods": func(s *job.Snapshot, a *answer) string {
		for _, pod := range s.Pods {
			if pod.Owner == jobpod.Owned && len(a.Plan.Create)+len(a.Plan.Delete) == 0 {
				a.Plan.Delete = append(a.Plan.Delete, job.Deletion{PodRef: job.PodRef{Name: pod.Name, UID: pod.UID}})
			}
		}
		a.Settled = nil
		return ""
	},
	"misspells a field": func(*job.Snapshot, *answer) string { return `{"id":0,"plan":{"creates":[]}}` },
	"misspells a nested field": func(*job.Snapshot, *answer) string {
		return `{"id":0,"plan":{"create":[{"index":0,"name_prefix":"a"}]}}`
	},
	"answers nothing":             func(*job.Snapshot, *answer) string { return `{"id":0}` },
	"answers twice":               func(*job.Snapshot, *answer) string { return `{"id":0,"plan":{}} {"id":0,"plan":{}}` },
	"crashes":                     func(*job.Snapshot, *answer) string { os.Exit(3); return "" },
	"never answers":               func(*job.Snapshot, *answer) string { time.Sleep(time.Hour); return "" },
	"surplus pods in another way": func(s *job.Snapshot, a *answer) string { deleteAnother(s, a); return "" },
}

// renameNew changes the names of the objects that a plan creates: its workload, the template in the
// workload, and the pod group. The pod group refers to the template by the given name.
func renameNew(p *job.Plan, template string) {
	names := map[string]string{"": ""}
	for i := range p.Groups {
		g := &p.Groups[i]
		if g.UID != "" {
			continue
		}

		names[g.Name] = "my-" + g.Kind.String()
		g.Name = names[g.Name]
		switch workload, isNew := names[g.Workload.Name]; {
		case g.Kind == jobgroup.KindWorkload:
			g.Template = "my-template"
		case isNew:
			g.Workload.Name, g.Template = workload, template
		}
	}
	for i := range p.Create {
		if name, isNew := names[p.Create[i].Group.Name]; isNew {
			p.Create[i].Group.Name = name
		}
	}
}

func answerAll(in io.Reader, out io.Writer, change func(*job.Snapshot, *answer) string) {
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
		a, err := right(&q.Snapshot)
		if err != nil {
			panic(err)
		}
		if text := change(&q.Snapshot, a); text != "" {
			fmt.Fprintln(out, text)
			continue
		}
		data, err := json.Marshal(a.withID(q.ID))
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(out, "%s\n", data)
	}
}

// TestRun lets right and wrong planners answer, each as a process of its own.
func TestRun(t *testing.T) {
	for _, test := range []struct {
		name  string
		exact bool
		rules []string
	}{
		{"right", false, nil},
		{"right", true, nil},
		{"one more pod than wanted", false, []string{"JI10"}},
		{"never mind whose pods", false, []string{"JI22"}},
		{"counts at once", false, []string{"CheckTransition", "JI1"}},
		{"the first pod first", false, []string{"JI24"}},
		{"makes no groups", false, []string{"JI28"}},
		{"makes no groups", true, []string{"JI28", "exact groups"}},
		{"names new groups as it likes", false, nil},
		{"names new groups as it likes", true, nil},
		{"makes a group from another template", true, []string{"exact groups"}},
		{"does nothing", false, []string{"L9"}},
		{"does nothing, without a status", false, []string{"L9"}},
		{"deletes everything", false, []string{"J29", "JI3"}},
		{"deletes all its pods", false, []string{"J29"}},
		{"surplus pods in another way", false, nil},
		{"surplus pods in another way", true, []string{"exact delete"}},
	} {
		t.Run(fmt.Sprintf("%s, exact %v", test.name, test.exact), func(t *testing.T) {
			t.Setenv(planner, test.name)
			var out, errs bytes.Buffer
			broken, err := run([]string{"-gangs", "-questions", "160", fmt.Sprintf("-exact=%v", test.exact), "--",
				os.Args[0]}, nil, &out, &errs)
			if err != nil {
				t.Fatalf("%v\n%s", err, &errs)
			}
			var found []string
			for line := range strings.Lines(out.String()) {
				var f finding
				must.OK(t, json.Unmarshal([]byte(line), &f))
				if len(f.Right) == 0 {
					t.Errorf("%s has no right answer", f.Rule)
				}
				found = append(found, f.Rule)
			}
			if broken != len(found) || (len(test.rules) == 0) != (len(found) == 0) {
				t.Errorf("%d checks failed: %v, want %v\n%.2000s", broken, found, test.rules, &out)
			}
			for _, rule := range test.rules {
				if !slices.Contains(found, rule) {
					t.Errorf("found %v, want %v", found, rule)
				}
			}
			if !strings.Contains(errs.String(), "planners with a planted bug") {
				t.Errorf("the report does not say what it is worth: %s", &errs)
			}
		})
	}
}

// TestRun_Stops: an invalid answer stops the examination, and the error says why.
func TestRun_Stops(t *testing.T) {
	for name, want := range map[string]string{
		"misspells a field":        `unknown field "creates"`,
		"misspells a nested field": `unknown field "name_prefix"`,
		"answers nothing":          "no plan, no status and no error",
		"answers twice":            "more than one value",
		"crashes":                  "question 0: no answer: the program has ended: exit status 3",
		"never answers":            "question 0: no answer within 200ms; each answer is a line, and the program must flush it",
	} {
		t.Setenv(planner, name)
		timeout := "1m"
		if name == "never answers" {
			timeout = "200ms"
		}
		_, err := run([]string{"-questions", "4", "-timeout", timeout, "--", os.Args[0]}, nil, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestAsk_BadAnswers: a bad answer stops the examination, and the error says which one it is.
func TestAsk_BadAnswers(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "question 0: no answer",
		"hello\n":                        `answer "hello"`,
		`{"plan":{}}` + "\n":             "the id is not the question's",
		`{"id":1}` + "\n":                "the id is not the question's",
		`{"id":0,"plans":1}` + "\n":      `unknown field "plans"`,
		`{"id":0,"error":"e","plan":{}}`: "an error beside a plan",
		`{"id":0,"settled":{}}`:          "a settled status and no plan",
	} {
		e := &examiner{questions: 1, seed: 1, timeout: time.Minute, bugs: bugs}
		if err := e.ask(io.Discard, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestQuestions: in at least 1 % of the questions, the answer of each planted bug differs from the
// right one. Nearly all jobs have pods. The right answers pass. The answers of each bug fail with
// -exact, and those of most bugs also without it.
func TestQuestions(t *testing.T) {
	const n = 530
	bugs := planted(true)
	shown, found, differ, podless := make([]int, len(bugs)), make([]bool, len(bugs)), make([]bool, len(bugs)), 0
	for i := range n {
		q, err := drawQuestion(bugs, 1, i)
		must.OK(t, err)
		if len(q.snapshot.Pods) == 0 {
			podless++
		}
		if broken := q.check(q.right, true); len(broken) > 0 {
			t.Fatalf("question %d: the right answer breaks %v", 2*i, broken)
		}
		for b := range bugs {
			if wrong := bugs[b].answer(&q.snapshot); wrong != nil && bugs[b].shows(&q.snapshot) {
				shown[b]++
				found[b] = found[b] || len(q.check(wrong, false)) > 0
				differ[b] = differ[b] || len(q.check(wrong, true)) > 0
			}
		}
	}
	caught := 0
	for b := range bugs {
		if shown[b] < n/100 {
			t.Errorf("%s, %s, shows in %d of %d questions", bugs[b].rule, bugs[b].text, shown[b], n)
		}
		if !differ[b] {
			t.Errorf("%s, %s, is not found by -exact", bugs[b].rule, bugs[b].text)
		}
		if found[b] {
			caught++
		} else {
			t.Logf("only -exact finds %s: %s", bugs[b].rule, bugs[b].text)
		}
	}
	if podless > n/3 || caught < 30 {
		t.Errorf("%d of %d questions have no pod; the invariants find %d of %d bugs", podless, n, caught, len(bugs))
	}
	t.Logf("%d of %d questions have no pod; the invariants find %d of %d bugs", podless, n, caught, len(bugs))
}

// TestSample: the sample answer passes.
func TestSample(t *testing.T) {
	var out bytes.Buffer
	if _, err := run([]string{"-sample", "9"}, nil, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 3 {
		t.Fatalf("want a question and an answer:\n%s", &out)
	}
	a, err := readAnswer([]byte(lines[1]), 9)
	must.OK(t, err)
	q, err := drawQuestion(bugs, 1, 4)
	must.OK(t, err)
	slices.Reverse(q.snapshot.Pods)
	if broken := q.check(a, true); len(broken) > 0 {
		t.Error(broken)
	}
}

// TestRun_NeedsAReport: without a program, standard output has the questions, so the report needs a
// file.
func TestRun_NeedsAReport(t *testing.T) {
	if _, err := run(nil, strings.NewReader(""), io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "-report FILE") {
		t.Errorf("error %v", err)
	}
}

// TestCommandLine: the command line is like those of the other commands. Names reach a terminal without
// control characters.
func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args     []string
		status   int
		out, err string
	}{
		{[]string{"-version"}, 0, "jobcheck version ", ""},
		{[]string{"-h"}, 0, "\nExamples:\n  jobcheck -questions 1000 -- python3 planner.py", ""},
		{[]string{"-questions", "-1", "cat"}, 2, "", "jobcheck: -questions -1: must not be negative\n"},
		{[]string{"-timeout", "0s", "cat"}, 2, "", "jobcheck: -timeout 0s: must be positive\n"},
		{[]string{"-wrong"}, 2, "", "jobcheck: flag provided but not defined: -wrong; see jobcheck -h\n"},
		{nil, 2, "", "jobcheck: without a program, the report needs a file: -report FILE\n"},
		{[]string{"/nowhere/\x1b[2J\u009b\u202e"}, 2, "", "jobcheck: fork/exec /nowhere/\\u001b[2J\\u009b\\u202e: no such file or directory\n"},
	} {
		cmd := exec.Command(os.Args[0], test.args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != test.status ||
			!strings.Contains(out.String(), test.out) || errs.String() != test.err {
			t.Errorf("%v: status %d, %q, %q", test.args, status, &out, &errs)
		}
	}
}

// endless is a line without an end. It counts the bytes that were read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	if e.read > 4*maxAnswer {
		return 0, io.ErrNoProgress
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestAsk_AnswerWithoutEnd(t *testing.T) {
	e, in := examiner{questions: 2, timeout: time.Hour, bugs: bugs}, new(endless)
	err := e.ask(io.Discard, in)
	if err == nil || !strings.Contains(err.Error(), "no end of the line") || len(err.Error()) > 2*maxShown {
		t.Errorf("%.200v", err)
	}
	if in.read > 2*maxAnswer {
		t.Errorf("read %d bytes, the longest answer has %d", in.read, maxAnswer)
	}
}

func TestReadAnswer_ShowsTheBeginning(t *testing.T) {
	long := strings.Repeat("x", 100*maxShown)
	for _, line := range []string{long, `{"id":0,"` + long + `":1}`, `{"id":1,"error":"` + long + `"}`} {
		if _, err := readAnswer([]byte(line), 0); err == nil || len(err.Error()) > 3*maxShown {
			t.Errorf("%.40s: an error of %d bytes: %.80v", line, len(fmt.Sprint(err)), err)
		}
	}
}
