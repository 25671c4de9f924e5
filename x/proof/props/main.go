// Props runs the property tests of the root with many cases, or a share of them, and writes a line
// for each test: the package, the test, and the cases that passed. A test draws the same cases in
// every process.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchplan/batchplan/internal/share"
)

// options are the flags of the command.
type options struct {
	checks int
	seed   uint64
	match  *regexp.Regexp
	share  share.Share
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "props:", err)
		os.Exit(1)
	}
}

var command = func(args ...string) ([]byte, error) { return exec.Command("go", args...).Output() }

func run(args []string) error {
	var o options
	f := flag.NewFlagSet("props", flag.ExitOnError)
	f.IntVar(&o.checks, "checks", 100, "the number of cases of each property")
	f.Uint64Var(&o.seed, "seed", 1, "the seed of the cases")

	match := f.String("match", "", "only packages whose path matches this `regular expression`")
	merge := f.Bool("merge", false,
		"print what one process would have written: the arguments are the files of all shares, in their order")
	o.share.Flags(f)

	_ = f.Parse(args) // ends the process
	if *merge {
		return share.Lines(os.Stdout, f.Args())
	}

	if err := o.share.Check(); err != nil {
		return err
	}
	if o.seed == 0 {
		return errors.New("-seed 0: each process would draw other cases")
	}

	var err error
	if o.match, err = regexp.Compile(*match); err != nil {
		return fmt.Errorf("-match: %w", err)
	}

	all, err := tests(o.match)
	if err != nil {
		return err
	}
	return o.play(all)
}

type test struct{ pkg, name string }

// reaching makes go list print the packages whose tests import rapid, directly or not.
const reaching = `{{$p := .}}{{if eq .Name "main"}}{{range .Deps}}` +
	`{{if eq . "pgregory.net/rapid"}}{{$p.ImportPath}}{{end}}{{end}}{{end}}`

// tests returns the tests of the packages in which tests draw cases, by package.
func tests(match *regexp.Regexp) (all []test, err error) {
	out, err := command("list", "-test", "-f", reaching, "./...")
	if err != nil {
		return nil, failure("go list", err)
	}
	for _, name := range strings.Fields(string(out)) {
		pkg, ok := strings.CutSuffix(name, ".test")
		if !ok || !match.MatchString(pkg) {
			continue
		}
		out, err := command("test", "-list", "^Test", pkg)
		if err != nil {
			return nil, failure("go test -list "+pkg, err)
		}
		for _, name := range strings.Fields(string(out)) {
			if strings.HasPrefix(name, "Test") { // not the line about the package
				all = append(all, test{pkg, name})
			}
		}
	}
	return all, nil
}

// failure adds what a command printed to its error.
func failure(what string, err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%s: %w\n%s", what, err, exit.Stderr)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// play runs the tests of the share, a package at a time, and writes a line for each.
func (o *options) play(all []test) error {
	mine, failed := map[string][]string{}, 0
	for i, t := range all {
		if o.share.Has(i) {
			mine[t.pkg] = append(mine[t.pkg], t.name)
		}
	}

	var lines bytes.Buffer
	for i, t := range all {
		names := mine[t.pkg]
		if !o.share.Has(i) || names[0] != t.name {
			continue // its package has already run
		}

		results, out, err := o.results(t.pkg, names)
		for _, name := range names {
			r := results[name]
			fmt.Fprintf(&lines, "%s\t%s\t%s\t%d\n", r.word(), t.pkg, name, r.cases)
			if r.word() == "failed" {
				failed++
			}
		}
		if err != nil {
			fmt.Printf("%s", out)
		}
	}

	err := o.share.Write(lines.Bytes())
	if failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d tests failed", failed))
	}
	return err
}

// result is the outcome of a test.
type result struct {
	action string
	cases  int
}

// word returns passed, skipped or failed. A test without an outcome did not end: it has failed.
func (r result) word() string {
	switch r.action {
	case "pass":
		return "passed"
	case "skip":
		return "skipped"
	}
	return "failed"
}

// passed matches what rapid prints for a property that holds.
var passed = regexp.MustCompile(`\[rapid\] OK, passed (\d+) tests`)

// results runs tests of a package. It returns their results and everything that they printed.
func (o *options) results(pkg string, names []string) (map[string]result, []byte, error) {
	out, err := command("test", "-json", "-count=1", "-timeout=0", "-run=^("+strings.Join(names, "|")+")$", pkg,
		fmt.Sprint("-rapid.checks=", o.checks), fmt.Sprint("-rapid.seed=", o.seed))

	results, printed := map[string]result{}, bytes.Buffer{}
	for line := range bytes.Lines(out) {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(line, &e) != nil {
			printed.Write(line)
			continue
		}

		printed.WriteString(e.Output)
		name, _, below := strings.Cut(e.Test, "/")
		if !slices.Contains(names, name) {
			continue
		}

		r := results[name]
		if found := passed.FindStringSubmatch(e.Output); found != nil {
			n, _ := strconv.Atoi(found[1])
			r.cases += n
		}
		if !below && slices.Contains([]string{"pass", "fail", "skip"}, e.Action) {
			r.action = e.Action
		}

		results[name] = r
	}
	return results, printed.Bytes(), err
}
