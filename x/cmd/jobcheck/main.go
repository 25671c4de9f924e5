// Jobcheck asks a planner in another language for plans and statuses, and reports which
// checks fail.
//
//	go run github.com/batchplan/batchplan/x/cmd/jobcheck -questions 1000 -seed 1 -- python3 planner.py
//
// It starts the program and writes one question a line to its standard input; the program
// answers with one line each, in the same order. Without a program, jobcheck writes the questions
// to its own standard output and reads the answers from its standard input.
//
// A question is a JSON object: {"id": 7, "snapshot": ...}, with the snapshot in the form of package
// job: a job with its spec and status, its pods, the time, and options. The snapshots come from
// random lives of jobs, and every rule makes a difference in some of them. Each snapshot is
// Consistent, and its Memory is empty.
//
// An answer is {"id": 7, "plan": ..., "status": ...}, in the form of job.Plan and job.Status. Each
// of the two may be left out. The plan needs the fields create, delete, adopt, release, untrack and
// requeue; of requeue, only at is needed. The status is the one that the program writes once all
// creations and deletions of its plan are done, before it removes finalizers. So the uncounted
// lists of the status hold the UIDs of the pods whose finalizers are removed next. The status is
// left out if nothing is to be written. An answer with a plan may add "settled". That is the status
// that the program writes once the finalizers are gone, if it writes one. A program that cannot
// answer says {"id": 7, "error": "..."}. With -gangs some snapshots have options.gangs: their plans
// need groups, and the group of each creation; new groups may have any names. Unknown fields are
// errors. -sample 7 prints question 7 and the answer of this library, for the same -seed and
// -gangs.
//
// Words are the names of constants without the prefix of their type. In questions, a state or a
// kind is left out if it is the first word of its list. An answer may leave out the fields reason
// and as, which are for people:
//
//	state   (of a container) Waiting, Running, Terminated
//	kind    (of a container) App, Init, RestartableInit
//	kind    (of groups) Workload, PodGroup
//	as      (of untrack) NotCounted, Succeeded, Failed, Index, AlreadyRecorded
//	reason  (of create) New, Replacement, ReplacementOfFailed
//	reason  (of delete) Ending, Suspended, NoIndex, IndexOutOfRange, DuplicateIndex, Surplus, Pending
//
// The answers must keep the invariants of docs/invariants.md. With -exact they must also be what
// this library decides, apart from reasons, messages, events, notes, and the order of pods.
//
// Jobcheck writes a line for each check that failed, with the smallest snapshot that shows it, to
// standard output, or to the file of -report. It exits with 1 if a check failed, and with 2 if the
// program does not answer as it should. A line is {"rule": "JI10", "problem": "...", "times": 12,
// "id": 7, "question": ..., "answer": ..., "right": ...}; right is the answer of this library. At
// its end, the report says how many planners with a planted bug the same questions and checks would
// have caught. -bugs lists these planners, with the share of the questions in which each bug shows.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/internal/command"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

func main() {
	broken, err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	switch {
	case err != nil:
		command.Report(os.Stderr, "jobcheck", err)
		os.Exit(command.Usage)
	case broken > 0:
		os.Exit(1)
	}
}

// help is the text of -h, besides the flags.
var help = command.Help{
	Short:  "Ask a planner in another language for plans and statuses, and say which checks fail.",
	Use:    "jobcheck [FLAGS] [--] [PROGRAM [ARGUMENT...]]",
	Status: "0 no check has failed; 1 some have; 2 wrong usage, or the program does not answer as it should.",
	Examples: []string{
		"jobcheck -questions 1000 -- python3 planner.py   # ask a program",
		"jobcheck -exact -report bad.jsonl -- ./planner   # compare with the decisions of this library",
		"jobcheck -sample 7                               # question 7 and the right answer",
	},
}

// run asks all questions, and returns how many checks failed.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (broken int, err error) {
	flags := flag.NewFlagSet("jobcheck", flag.ContinueOnError)
	questions := flags.Int("questions", 1000, "how many `questions` to ask")
	seed := flags.Int("seed", 1, "the `seed` of the snapshots")
	exact := flags.Bool("exact", false, "require the answers of this library")
	gangs := flags.Bool("gangs", false, "ask about jobs that are scheduled as gangs as well")
	timeout := flags.Duration("timeout", time.Minute, "how `long` an answer may take")
	sample := flags.Int("sample", -1, "print the question of this `id` and its answer, and exit")
	listBugs := flags.Bool("bugs", false, "list the planted bugs and how many of the questions show each, and exit")
	report := flags.String("report", "",
		"the `file` of the report; standard output if it is empty and a program is given")

	if done, err := command.Parse(flags, help, args, stdout); done || err != nil {
		return 0, err
	}

	bugs := planted(*gangs)
	switch {
	case *questions < 0:
		return 0, fmt.Errorf("-questions %d: must not be negative", *questions)
	case *timeout <= 0:
		return 0, fmt.Errorf("-timeout %s: must be positive", *timeout)
	case *sample >= 0:
		return 0, printSample(stdout, bugs, *seed, *sample)
	case *listBugs:
		return 0, printBugs(stdout, bugs, *seed, *questions)
	}

	program := flags.Args()
	if *report == "" && len(program) == 0 {
		return 0, errors.New("without a program, the report needs a file: -report FILE")
	}

	out := stdout
	if *report != "" {
		file, problem := os.Create(*report)
		if problem != nil {
			return 0, problem
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		out = file
	}

	e := &examiner{questions: *questions, seed: *seed, exact: *exact, timeout: *timeout, bugs: bugs}
	if len(program) == 0 {
		err = e.ask(stdout, stdin)
	} else {
		err = e.askProgram(program, stderr)
	}
	if err != nil {
		return 0, err
	}
	return e.report(terminal.NewWriter(out), stderr)
}

// patience is the time in which the program must end after its input has ended.
const patience = 10 * time.Second

// askProgram starts the program and asks it all questions.
func (e *examiner) askProgram(program []string, stderr io.Writer) error {
	command := exec.Command(program[0], program[1:]...)
	command.Stderr = stderr
	command.WaitDelay = time.Second // a child of the program may keep its stderr

	in, err := command.StdinPipe()
	if err != nil {
		return err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}

	asked := e.ask(in, out)
	_ = in.Close() // if the program has ended, Wait reports it
	if asked != nil && !errors.Is(asked, errEnded) {
		_ = command.Process.Kill()
		_ = command.Wait()
		return asked
	}

	late := time.AfterFunc(patience, func() { _ = command.Process.Kill() })
	defer late.Stop()
	ended := command.Wait()
	switch {
	case asked != nil:
		return fmt.Errorf("%w: %s", asked, command.ProcessState)
	case ended != nil:
		return fmt.Errorf("the program has answered all questions: %w", ended)
	}
	return nil
}

// printSample prints a question and its right answer, in the format of the exchange.
func printSample(out io.Writer, bugs []bug, seed, id int) error {
	q, err := drawQuestion(bugs, seed, id/2)
	if err != nil {
		return err
	}
	if id%2 == 1 {
		slices.Reverse(q.snapshot.Pods)
	}

	encoder := json.NewEncoder(out)
	if err := encoder.Encode(question{id, q.snapshot}); err != nil {
		return err
	}

	a := q.right.withID(id)
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}

	var form answerForm // without the internal fields
	if err := json.Unmarshal(line, &form); err != nil {
		return err
	}
	return encoder.Encode(struct {
		ID      int         `json:"id"`
		Plan    *planForm   `json:"plan"`
		Status  *job.Status `json:"status,omitempty"`
		Settled *job.Status `json:"settled,omitempty"`
	}{id, &form.Plan.planForm, a.Status, a.Settled})
}

// printBugs lists the planted bugs with the share of the questions that show each.
func printBugs(out io.Writer, bugs []bug, seed, questions int) error {
	shown, asked := make([]int, len(bugs)), (questions+1)/2
	for n := range asked {
		q, err := drawQuestion(bugs, seed, n)
		if err != nil {
			return err
		}
		for i := range bugs {
			if bugs[i].shows(&q.snapshot) {
				shown[i]++
			}
		}
	}
	for i := range bugs {
		if _, err := fmt.Fprintf(out, "%5.1f %%  %-4s %s\n", 100*float64(shown[i])/float64(max(asked, 1)),
			bugs[i].rule, bugs[i].text); err != nil {
			return err
		}
	}
	return nil
}
