package explain_test

import (
	"bufio"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// question is a question of users, with the objects that it is about. The comments at the
// head of its file list what a right answer contains and what it does not contain.
type question struct {
	name, text  string
	file        string // without its extension
	options     explain.Options
	state       string
	must, never []string
	objects     *read.Objects
}

func readQuestion(t *testing.T, file string) question {
	t.Helper()
	data := testfile.Read(t, file)
	q := question{name: strings.TrimSuffix(filepath.Base(file), ".yaml"), file: strings.TrimSuffix(file, ".yaml"), objects: &read.Objects{}}
	lines := bufio.NewScanner(strings.NewReader(data))
	for lines.Scan() && strings.HasPrefix(lines.Text(), "# ") {
		key, value, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "# "), ": ")
		switch {
		case !ok:
			t.Fatalf("%s: %q", file, lines.Text())
		case key == "question":
			q.text = value
		case key == "at":
			at, err := time.Parse(time.RFC3339, value)
			must.OK(t, err)
			q.options.At = at
		case key == "state":
			q.state = value
		case key == "must":
			q.must = append(q.must, value)
		case key == "never":
			q.never = append(q.never, value)
		default:
			t.Fatalf("%s: unknown key %q", file, key)
		}
	}
	stream := q.objects.Stream(filepath.Base(file))
	_, _ = stream.Write([]byte(data))
	_ = stream.Close()
	if q.text == "" || q.options.At.IsZero() || q.state == "" || len(q.must) == 0 {
		t.Fatalf("%s: question, at, state and must are required", file)
	}
	return q
}

// questions returns the questions and the corner cases. Readers have given marks to the answers to
// the questions. The answers to the corner cases were once wrong.
func questions(t *testing.T) (all []question) {
	t.Helper()
	files, err := filepath.Glob("testdata/[cq]*/*.yaml")
	if err != nil || len(files) < 80 {
		t.Fatalf("%d questions: %v", len(files), err)
	}
	for _, file := range files {
		all = append(all, readQuestion(t, file))
	}
	return all
}

// TestQuestions compares the answers to the questions with the stored ones, to which readers have
// given marks (see TestMarks).
func TestQuestions(t *testing.T) {
	schema := compileSchema(t)
	for _, q := range questions(t) {
		t.Run(q.name, func(t *testing.T) {
			was := intact.Copy(q.objects)
			report := explain.All(q.objects, q.options)
			got := text(t, report)
			compare(t, q.file+".txt", got)
			plain := strings.Join(strings.Fields(string(got)), " ")
			for _, want := range q.must {
				if !strings.Contains(plain, want) {
					t.Errorf("%s: the answer does not say %q:\n%s", q.text, want, got)
				}
			}
			for _, no := range q.never {
				if strings.Contains(plain, no) {
					t.Errorf("%s: the answer says %q:\n%s", q.text, no, got)
				}
			}
			if state := stateOf(report); state != q.state {
				t.Errorf("%s: state %q, want %q:\n%s", q.text, state, q.state, got)
			}
			checkReport(t, report)
			q.options.Timeline, q.options.Plan, q.options.For = true, true, time.Hour
			checkSchema(t, schema, encode(t, explain.All(q.objects, q.options)))
			if d := intact.Diff(q.objects, was); d != "" {
				t.Error("the objects are written to", d)
			}
		})
	}
}

func stateOf(r *explain.Report) string {
	if len(r.Objects) == 0 {
		return "none"
	}
	return string(r.Objects[0].State)
}

var ruleNumber = regexp.MustCompile(`\([JCETIF][0-9]+`)

// checkReport checks the properties of every explanation: each finding has a remedy with its risk,
// commands name the namespace, and no state contradicts a finding. No sentence is repeated or
// contains the number of a rule.
func checkReport(t *testing.T, r *explain.Report) {
	t.Helper()
	checkFindings(t, r.Findings)
	for _, x := range r.Objects {
		name := x.Kind + " " + x.Name
		checkFindings(t, x.Findings)
		said := map[string]bool{x.Summary: true}
		say := func(s string) {
			checkSentence(t, s)
			if said[s] {
				t.Errorf("%s: says twice %q", name, s)
			}
			said[s] = true
			if ruleNumber.MatchString(s) {
				t.Errorf("%s: cites a rule: %q", name, s)
			}
		}
		for _, s := range x.Next {
			say(s.Text)
		}
		for _, f := range x.Facts {
			say(f.Text)
		}
		if s := x.Schedule; s != nil && len(s.Next) > 0 {
			for _, step := range x.Next {
				if step.Reason == "NextRun" && !step.At.Equal(s.Next[0].At) {
					t.Errorf("%s: the next run is at %s by one and at %s by the other", name, step.At, s.Next[0].At)
				}
			}
		}
		worst := explain.Severity("")
		for _, f := range x.Findings {
			say(f.Text)
			if f.Severity == explain.Error {
				worst = f.Severity
			}
		}
		switch x.State {
		case explain.Scheduled, explain.Complete, explain.Starting:
			if worst == explain.Error && x.State != explain.Complete {
				t.Errorf("%s is %s, and has an error", name, x.State)
			}
		case explain.Stuck, explain.Failed, explain.Failing, explain.Broken:
			if worst != explain.Error {
				t.Errorf("%s is %s, and has no error", name, x.State)
			}
		}
	}
}

func checkFindings(t *testing.T, all []explain.Finding) {
	t.Helper()
	for _, f := range all {
		if len(f.Remedies) == 0 {
			t.Errorf("%s has no remedy", f.Code)
		}
		for _, r := range f.Remedies {
			checkSentence(t, r.Do)
			checkSentence(t, r.Risk)
			if r.Command == "" || strings.Contains(r.Command, "%!") {
				t.Errorf("%s: command %q", f.Code, r.Command)
			}
			for _, a := range r.Acts() {
				isMany := strings.HasSuffix(a.Kind, "s") && !strings.HasSuffix(a.Kind, "class")
				if isMany == (a.Name != "") {
					t.Errorf("%s: %s %s %q", f.Code, a.Verb, a.Kind, a.Name)
				}
			}
		}
	}
}

// TestMarks checks the marks of the answers. Each question and each situation has five marks. The
// mean of the marks is at least 4 for each answer, and at least 4.5 for all answers together. Two
// readers have marked the situations. The head of the file explains the marks.
func TestMarks(t *testing.T) {
	data := testfile.Read(t, "testdata/marks.txt")
	marks, second, blind := make(map[string]float64), make(map[string]float64), make(map[string]float64)
	for line := range strings.Lines(data) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		var name string
		var m [5]int
		reader := marks
		if rest, ok := strings.CutPrefix(line, "second "); ok {
			line, reader = rest, second
		}
		if rest, ok := strings.CutPrefix(line, "blind "); ok {
			line, reader = rest, blind
		}
		if n, err := fmt.Sscan(line, &name, &m[0], &m[1], &m[2], &m[3], &m[4]); n != 6 {
			t.Fatalf("%q: %v", line, err)
		}
		for _, mark := range m {
			if mark < 1 || mark > 5 {
				t.Errorf("%s: mark %d", name, mark)
			}
			reader[name] += float64(mark) / 5
		}
	}
	names, _ := filepath.Glob("testdata/questions/*.yaml")
	folders, _ := filepath.Glob("testdata/situations/*")
	var sum float64
	for _, file := range append(names, folders...) {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		mark, ok := marks[name]
		if !ok || mark < 4 {
			t.Errorf("%s: mark %.1f", name, mark)
		}
		sum += mark
		delete(marks, name)
	}
	for _, folder := range folders {
		if name := filepath.Base(folder); second[name] < 4 {
			t.Errorf("%s: the second reader's mark %.1f", name, second[name])
		}
	}
	for name, mark := range blind {
		if !slices.Contains(names, "testdata/questions/"+name+".yaml") {
			t.Errorf("blind %s: no such question, mark %.1f", name, mark)
		}
	}
	if len(marks) > 0 {
		t.Errorf("marks without a case: %v", marks)
	}
	mean := sum / float64(len(names)+len(folders))
	t.Logf("%d answers, mean mark %.2f", len(names)+len(folders), mean)
	if mean < 4.5 {
		t.Errorf("mean mark %.2f", mean)
	}
}
