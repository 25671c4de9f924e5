// Jobcheck asks a planner in another language for plans and statuses, and says which
// invariants they break.
//
//	go run github.com/batchplan/batchplan/job/jobcheck/cmd/jobcheck -questions 1000 -seed 1 -- python3 planner.py
//
// It starts the program and writes one question a line to its standard input; the program
// answers with one line each, in the same order. Without a program, jobcheck writes the questions
// to its own standard output and reads the answers from its standard input.
//
// A question is a JSON object: {"id": 7, "snapshot": ...}, with the snapshot in the form of
// package job: a job with its spec and status, its pods, the time, and options. The
// snapshots come from random lives of jobs. Each is Consistent, and has no memory.
//
// An answer is {"id": 7, "plan": ..., "status": ...}, in the form of job.Plan and job.Status. Each
// of the two may be left out. The status is the one that the program writes once all
// creations and deletions of its plan are done, before it removes finalizers. A program that
// cannot answer says {"id": 7, "error": "..."}.
//
// Jobcheck writes a line for each invariant that was broken, with the smallest snapshot that
// shows it, to standard output, or to the file of -report. It exits with 1 if there is one, and
// with 2 if the program does not answer as it should.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	broken, err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "jobcheck:", err)
		os.Exit(2)
	case broken > 0:
		os.Exit(1)
	}
}

// run asks, and returns how many invariants were broken.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (broken int, err error) {
	flags := flag.NewFlagSet("jobcheck", flag.ContinueOnError)
	flags.SetOutput(stderr)
	questions := flags.Int("questions", 1000, "how many `questions` to ask")
	seed := flags.Int("seed", 1, "the `seed` of the snapshots")
	report := flags.String("report", "", "the `file` of the report; standard output if it is empty and a program is given")
	if err := flags.Parse(args); err != nil {
		return 0, err
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
	e := &examiner{questions: *questions, seed: *seed}
	if len(program) == 0 {
		err = e.ask(stdout, stdin)
	} else {
		err = e.askProgram(program, stderr)
	}
	if err != nil {
		return 0, err
	}
	return e.report(out, stderr)
}

// askProgram starts the program and asks it.
func (e *examiner) askProgram(program []string, stderr io.Writer) error {
	command := exec.Command(program[0], program[1:]...)
	command.Stderr = stderr
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
	asked := e.ask(in, bufio.NewReader(out))
	if err := errors.Join(asked, in.Close()); err != nil {
		_ = command.Process.Kill()
		_ = command.Wait()
		return err
	}
	if err := command.Wait(); err != nil {
		return fmt.Errorf("the program: %w", err)
	}
	return nil
}
