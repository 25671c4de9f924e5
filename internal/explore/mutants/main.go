// Mutants plants deliberate bugs, one at a time, and reports whether the explorer and the
// random lives find each: in which scope, after how many states, and how long the
// counterexample is. The table in docs/exploration.md is its output.
//
//	go run ./internal/explore/mutants                  # all bugs
//	go run ./internal/explore/mutants -match '^X2$'    # some
//	go run ./internal/explore/mutants -lives 0         # the explorer alone
//	go run ./internal/explore/mutants -kit             # the test kits for importers, instead
//
// With -kit it also plants the mistakes of programs around a right planner, in the subjects of the
// kits' own tests. Those tables are in docs/testing.md and docs/exploration.md.
//
// The bugs are in mutants.txt. All are compiled at once through an overlay, so the working tree
// never changes, and an environment variable chooses one.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed mutants.txt
var list string

// mutant is a deliberate bug.
type mutant struct {
	number, subject, what string
	edits                 []edit
}

type edit struct{ file, from, to string }

// options are the flags of the command.
type options struct {
	match       *regexp.Regexp
	scopes      string
	search, kit bool
	lives, seed int
	limit       time.Duration
}

func main() {
	var o options
	match := flag.String("match", "", "only the bugs whose number matches this regular expression")
	flag.IntVar(&o.lives, "lives", 1000, "random lives of each property; 0 leaves them out")
	flag.StringVar(&o.scopes, "scopes", "", "only the scopes whose name matches this regular expression")
	flag.BoolVar(&o.search, "search", true, "search for the bugs with the explorer")
	flag.BoolVar(&o.kit, "kit", false, "let the test kits for importers find the bugs, and nothing else")
	flag.IntVar(&o.seed, "seed", 1, "seed of the random lives")
	flag.DurationVar(&o.limit, "limit", 5*time.Minute, "longest time for one search or one run of lives")
	flag.Parse()
	var err error
	if o.match, err = regexp.Compile(*match); err == nil {
		err = run(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	all, err := parse(list)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := build(all, dir, o); err != nil {
		return err
	}
	if o.kit {
		printKit(all, dir, o)
		return nil
	}
	fmt.Println("| | Bug | Scope | States | Steps | Broken | Random lives |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, m := range all {
		if m.isOfProgram() || !o.match.MatchString(m.number) {
			continue
		}
		explored, lived := " | | | ", ""
		if o.search {
			explored = m.explore(dir, o)
		}
		if o.lives > 0 {
			lived = m.live(dir, o)
		}
		fmt.Printf("| %s | %s: %s | %s | %s |\n", m.number, m.subject, m.what, explored, lived)
	}
	return nil
}

// folders are the packages that bugs are in, and whose properties draw random lives.
var folders = []string{"job", "cronjob"}

// build compiles what looks for the bugs, with all bugs planted: the explorer and the random
// lives, or the kits.
func build(all []mutant, dir string, o options) error {
	overlay, err := plantAll(all, dir)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		switch {
		case o.kit:
			err = compile(dir, folder+"test.test", "test", "-c", "-vet=off", "-overlay", overlay, kits[folder])
		case o.lives > 0:
			err = compile(dir, folder+".test", "test", "-c", "-vet=off", "-overlay", overlay, "./"+folder)
		}
		if err != nil {
			return err
		}
	}
	if o.search && !o.kit {
		return compile(dir, "explore", "build", "-overlay", overlay, "./internal/explore/run")
	}
	return nil
}

// compile runs a command of go that makes one binary.
func compile(dir, binary string, args ...string) error {
	last := len(args) - 1
	args = append(slices.Clone(args[:last]), "-o", filepath.Join(dir, binary), args[last])
	if out, err := command(building, "", "go", args...); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// parse reads the list of bugs.
func parse(text string) (all []mutant, err error) {
	var m *mutant
	var e *edit
	for n, line := range strings.Split(text, "\n") {
		fail := func(problem string) error { return fmt.Errorf("mutants.txt:%d: %s: %q", n+1, problem, line) }
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== "):
			number, rest, _ := strings.Cut(line[3:], " ")
			subject, what, ok := strings.Cut(rest, ": ")
			if !ok {
				return nil, fail("want a number, a subject, a colon and what is wrong")
			}
			all = append(all, mutant{number: number, subject: subject, what: what})
			m, e = &all[len(all)-1], nil
		case m == nil:
			return nil, fail("no bug begins before this line")
		case strings.HasPrefix(line, "file "):
			m.edits = append(m.edits, edit{file: line[5:]})
			e = &m.edits[len(m.edits)-1]
		case e == nil:
			return nil, fail("no file is named before this line")
		case line[0] == '-':
			e.from = join(e.from, line[1:])
		case line[0] == '+':
			e.to = join(e.to, line[1:])
		default:
			return nil, fail("want a line that begins with - or +")
		}
	}
	return all, nil
}

func join(text, line string) string {
	if text == "" {
		return line
	}
	return text + "\n" + line
}

// folder is the package whose controller the bug is in.
func (m *mutant) folder() string {
	folder, _, _ := strings.Cut(m.edits[0].file, "/")
	return folder
}

// explore searches the small scopes of the controller until one shows the bug. It returns
// the columns of the table.
func (m *mutant) explore(dir string, o options) string {
	out, err := command(o.limit, m.number, filepath.Join(dir, "explore"), "-brief", "-memory", "512", "-match", "^"+m.folder()+"/.*("+o.scopes+")")
	states := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		n := 0
		if len(fields) > 2 {
			fmt.Sscan(fields[2], &n)
		}
		states += n
		if fields[0] == "found" {
			rule, _, _ := strings.Cut(fields[5], ":")
			steps := fields[3]
			if fields[4] != "0" {
				steps += "+" + fields[4]
			}
			return fmt.Sprintf("%s | %d | %s | %s", fields[1], states, steps, rule)
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("– (not all in %s) | %d | | ", o.limit, states)
	case err != nil:
		return fmt.Sprintf("panic | %d | | ", states)
	}
	return fmt.Sprintf("– | %d | | ", states)
}

// building is the longest time for a build.
const building = 10 * time.Minute

var (
	failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
	after  = regexp.MustCompile(`failed after (\d+) tests`)
)

// live runs the random lives of the controller. It returns the property that fails, and
// after how many lives.
func (m *mutant) live(dir string, o options) string {
	out, err := m.runLives(filepath.Join(dir, m.folder()+".test"), o, "-test.run=Lives|TestL9|TestCL4|TestJI26", "-test.failfast")
	switch name := failed.FindSubmatch(out); {
	case err == nil:
		return "–"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("– (not all in %s)", o.limit)
	case name == nil:
		return "ended early"
	default:
		text := string(name[1])
		if n := after.FindSubmatch(out); n != nil {
			text += ", " + string(n[1])
		}
		return text
	}
}

// runLives runs tests with as many lives as asked for, and the bug.
func (m *mutant) runLives(tests string, o options, flags ...string) ([]byte, error) {
	flags = append(flags, "-rapid.nofailfile", "-rapid.shrinktime=1ms", fmt.Sprintf("-rapid.checks=%d", o.lives), fmt.Sprintf("-rapid.seed=%d", o.seed))
	return command(o.limit, m.number, tests, flags...)
}

// command runs a command at the root of the module, with a bug or none.
func command(limit time.Duration, bug, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(os.Environ(), environment+"="+bug)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.Bytes(), err
}
