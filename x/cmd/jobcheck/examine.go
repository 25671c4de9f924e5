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
	"strings"
	"time"

	"github.com/batchplan/batchplan/job/jobcheck"
)

// finding is a check that failed, with the smallest snapshot that shows it.
type finding struct {
	Rule     string          `json:"rule"`
	Problem  string          `json:"problem"`
	Times    int             `json:"times"`
	ID       int             `json:"id"`
	Question json.RawMessage `json:"question"`
	Answer   json.RawMessage `json:"answer"`
	// Right is the answer of this library.
	Right json.RawMessage `json:"right"`
}

// examiner asks questions and collects what is wrong with the answers.
type examiner struct {
	questions, seed int
	exact           bool
	bugs            []bug
	timeout         time.Duration // for one answer

	plans, statuses, refused int
	settles                  bool                // the program answers with settled statuses
	found                    map[string]*finding // by rule
	caught                   []bool              // by bug: whether these questions and checks find it
}

// errEnded is the error for a program that ended before it answered.
var errEnded = errors.New("no answer: the program has ended")

// ask asks all questions, one after the other. It asks each twice, the second time with the pods in
// another order.
func (e *examiner) ask(out io.Writer, in io.Reader) error {
	lines := bufio.NewReader(in)
	e.found, e.caught = make(map[string]*finding), make([]bool, len(e.bugs))
	var q *asked
	var before []byte // the last answer
	for id := range e.questions {
		again := id%2 == 1
		if !again {
			var err error
			if q, err = drawQuestion(e.bugs, e.seed, id/2); err != nil {
				return fmt.Errorf("question %d: %w", id, err)
			}
		} else {
			slices.Reverse(q.snapshot.Pods)
		}

		line, err := json.Marshal(question{id, q.snapshot})
		if err != nil {
			return err
		}
		reply, err := e.exchange(append(line, '\n'), out, lines)
		if err != nil {
			return fmt.Errorf("question %d: %w", id, err)
		}
		a, err := readAnswer(reply, id)
		if err != nil {
			return fmt.Errorf("question %d: %w", id, err)
		}

		broken := q.check(a, e.exact)
		if again && !bytes.Equal(before, withoutID(reply)) {
			broken = append(broken, violation("JI24", "the order of the pods shows: the same snapshot with its "+
				"pods the other way round has another answer"))
		}
		before = withoutID(reply)

		if err := e.note(id, q, line, reply, broken); err != nil {
			return err
		}
		e.count(a)
		e.measure(q, a)
	}
	return nil
}

// exchange writes a question and reads the answer.
func (e *examiner) exchange(question []byte, out io.Writer, in *bufio.Reader) ([]byte, error) {
	type result struct {
		line []byte
		err  error
	}
	answered := make(chan result, 1)
	go func() {
		if _, err := out.Write(question); err != nil {
			answered <- result{nil, fmt.Errorf("%w (%w)", errEnded, err)}
			return
		}
		line, err := readLine(in)
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			err = errEnded
		case errors.Is(err, io.EOF):
			err = nil
		}
		answered <- result{line, err}
	}()
	timer := time.NewTimer(e.timeout)
	defer timer.Stop()
	select {
	case r := <-answered:
		return r.line, r.err
	case <-timer.C:
		return nil, fmt.Errorf("no answer within %s; each answer is a line, and the program must flush it", e.timeout)
	}
}

// maxAnswer is the maximum length of an answer in bytes. The questions have few pods, so right
// answers are not even a hundredth as long.
const maxAnswer = 4 << 20

// readLine reads a line of at most maxAnswer bytes.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxAnswer:
			return nil, fmt.Errorf("answer %s: no end of the line within %d bytes", quote(line), maxAnswer)
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

func (e *examiner) count(a *answer) {
	if a.Error != "" {
		e.refused++
	}
	if a.Plan != nil {
		e.plans++
	}
	if a.Status != nil {
		e.statuses++
	}
	e.settles = e.settles || a.Settled != nil
}

// note keeps the smallest question for each rule.
func (e *examiner) note(id int, q *asked, question, reply []byte, broken []jobcheck.Violation) error {
	for _, v := range broken {
		f := e.found[v.Rule]
		if f == nil {
			f = &finding{Rule: v.Rule}
			e.found[v.Rule] = f
		}
		f.Times++
		if f.Question != nil && len(question) >= len(f.Question) {
			continue
		}
		right, err := json.Marshal(q.right.withID(id))
		if err != nil {
			return err
		}
		f.ID, f.Problem, f.Question, f.Answer, f.Right = id, v.Problem, question, bytes.TrimSpace(reply), right
	}
	return nil
}

// measure notes which planted bugs the question catches. It leaves out those parts of a bug's wrong
// answer that the program's answers do not have.
func (e *examiner) measure(q *asked, a *answer) {
	for i := range e.bugs {
		if e.caught[i] {
			continue
		}
		wrong := e.bugs[i].answer(&q.snapshot)
		if wrong == nil {
			continue
		}
		if a.Plan == nil {
			wrong.Plan = nil
		}
		if a.Status == nil && (a.Plan == nil || q.right.Status != nil) {
			wrong.Status = nil
		}
		if a.Plan == nil || !e.settles {
			wrong.Settled = nil
		}
		e.caught[i] = (wrong.Plan != nil || wrong.Status != nil) && len(q.check(wrong, e.exact)) > 0
	}
}

// report writes a line for each check that failed, and a summary.
func (e *examiner) report(out, summary io.Writer) (broken int, err error) {
	encoder := json.NewEncoder(out)
	for _, rule := range slices.Sorted(maps.Keys(e.found)) {
		if err := encoder.Encode(e.found[rule]); err != nil {
			return 0, err
		}
	}

	fmt.Fprintf(summary, "questions: %d, plans: %d, statuses: %d, not answered: %d, failed checks: %d\n",
		e.questions, e.plans, e.statuses, e.refused, len(e.found))
	if e.plans+e.statuses == 0 && e.questions > 0 {
		return 0, errors.New("the program has answered with neither a plan nor a status")
	}

	var missed []string
	for i, caught := range e.caught {
		if !caught {
			missed = append(missed, fmt.Sprintf("  %s: %s", e.bugs[i].rule, e.bugs[i].text))
		}
	}

	fmt.Fprintf(summary, "On these questions they would have caught %d of %d planners with a planted bug",
		len(e.bugs)-len(missed), len(e.bugs))
	if len(missed) > 0 {
		fmt.Fprintf(summary, ", and missed:\n%s", strings.Join(missed, "\n"))
	}
	fmt.Fprintln(summary)
	return len(e.found), nil
}
