package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobtest"
)

// question is one line to the program.
type question struct {
	ID       int          `json:"id"`
	Snapshot job.Snapshot `json:"snapshot"`
}

// answer is one line from the program.
type answer struct {
	ID     *int        `json:"id"`
	Plan   *job.Plan   `json:"plan"`
	Status *job.Status `json:"status"`
	Error  string      `json:"error"`
}

// finding is an invariant that is broken, with the smallest snapshot that shows it.
type finding struct {
	Rule     string          `json:"rule"`
	Problem  string          `json:"problem"`
	Times    int             `json:"times"`
	ID       int             `json:"id"`
	Question json.RawMessage `json:"question"`
	Answer   json.RawMessage `json:"answer"`
}

// examiner asks questions and collects what is wrong with the answers.
type examiner struct {
	questions, seed int

	plans, statuses, refused int
	found                    map[string]*finding // by rule
}

// ask asks all questions. The next one is written when the last one is answered.
func (e *examiner) ask(out io.Writer, in io.Reader) error {
	lines := bufio.NewReader(in)
	e.found = make(map[string]*finding)
	var again []byte // the last answer, to the same question with its pods in another order
	for id := range e.questions {
		life := jobtest.Lives(false).Example(e.seed + id/2)
		life.Consistent = true
		s := life.Snapshot()
		s.Memory = job.Memory{}
		if id%2 == 1 {
			slices.Reverse(s.Pods)
		}
		line, err := json.Marshal(question{id, s})
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("question %d: %w", id, err)
		}
		reply, err := lines.ReadBytes('\n')
		if err != nil && (!errors.Is(err, io.EOF) || len(reply) == 0) {
			return fmt.Errorf("question %d: no answer: %w", id, err)
		}
		a, err := readAnswer(reply, id)
		if err != nil {
			return fmt.Errorf("question %d: %w", id, err)
		}
		st := jobcheck.State{Job: &life.Job, Pods: life.Pods, History: life.History(), Options: s.Options}
		broken := e.check(&s, &st, a)
		if id%2 == 1 && !bytes.Equal(again, withoutID(reply)) {
			broken = append(broken, jobcheck.Violation{Rule: "JI24", Problem: "the order of the pods shows: the same snapshot with its pods the other way round has another answer"})
		}
		again = withoutID(reply)
		e.note(id, line, reply, broken)
	}
	return nil
}

func readAnswer(line []byte, id int) (*answer, error) {
	var a answer
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		return nil, fmt.Errorf("answer %q: %w", bytes.TrimSpace(line), err)
	}
	if a.ID == nil || *a.ID != id {
		return nil, fmt.Errorf("answer %q: the id is not the question's", bytes.TrimSpace(line))
	}
	return &a, nil
}

// withoutID is an answer in a form that two can be compared in.
func withoutID(line []byte) []byte {
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		return line
	}
	delete(fields, "id")
	data, err := json.Marshal(fields)
	if err != nil {
		return line
	}
	return data
}

// check returns what is wrong with an answer.
func (e *examiner) check(s *job.Snapshot, st *jobcheck.State, a *answer) (broken []jobcheck.Violation) {
	if a.Error != "" {
		e.refused++
	}
	if p := a.Plan; p != nil {
		e.plans++
		broken = jobcheck.Plan(s, p)
		if at := p.Requeue.At; !at.IsZero() && !at.After(s.Now) {
			broken = append(broken, jobcheck.Violation{Rule: "L6", Problem: fmt.Sprintf("the requeue %s is not after now, %s", at, s.Now)})
		}
	}
	if next := a.Status; next != nil {
		e.statuses++
		broken = append(broken, st.Status(next)...)
		if err := job.CheckTransition(s.Job.Status, *next, s.Job.Spec); err != nil {
			broken = append(broken, jobcheck.Violation{Rule: "CheckTransition", Problem: err.Error()})
		}
	}
	return broken
}

// note keeps the smallest question for each rule.
func (e *examiner) note(id int, question, reply []byte, broken []jobcheck.Violation) {
	for _, v := range broken {
		f := e.found[v.Rule]
		if f == nil {
			f = &finding{Rule: v.Rule}
			e.found[v.Rule] = f
		}
		f.Times++
		if f.Question == nil || len(question) < len(f.Question) {
			f.ID, f.Problem, f.Question, f.Answer = id, v.Problem, question, bytes.TrimSpace(reply)
		}
	}
}

// report writes a line for each invariant that was broken, and a summary.
func (e *examiner) report(out, summary io.Writer) (broken int, err error) {
	encoder := json.NewEncoder(out)
	for _, rule := range slices.Sorted(maps.Keys(e.found)) {
		if err := encoder.Encode(e.found[rule]); err != nil {
			return 0, err
		}
	}
	fmt.Fprintf(summary, "%d questions, %d plans, %d statuses, %d not answered; %d invariants broken\n",
		e.questions, e.plans, e.statuses, e.refused, len(e.found))
	if e.plans+e.statuses == 0 && e.questions > 0 {
		return 0, errors.New("the program has answered with neither a plan nor a status")
	}
	return len(e.found), nil
}
