// Mutants plants deliberate bugs, one at a time, and reports whether the explorer and the
// random lives find each: in which scope, after how many states, and how long the
// counterexample is. The table in docs/exploration.md is its output.
//
//	go run ./internal/explore/mutants                  # all bugs
//	go run ./internal/explore/mutants -match '^X2$'    # some
//	go run ./internal/explore/mutants -lives 0         # the explorer alone
//
// The bugs are in mutants.txt. Each is compiled through an overlay, so the working tree
// never changes.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

func main() {
	match := flag.String("match", "", "only the bugs whose number matches this regular expression")
	lives := flag.Int("lives", 1000, "random lives of each property; 0 leaves them out")
	scopes := flag.String("scopes", "", "only the scopes whose name matches this regular expression")
	searches := flag.Bool("search", true, "search for the bugs with the explorer")
	seed := flag.Int("seed", 1, "seed of the random lives")
	limit := flag.Duration("limit", 5*time.Minute, "longest time for one search or one run of lives")
	flag.Parse()
	chosen, err := regexp.Compile(*match)
	if err == nil {
		err = run(chosen, *scopes, *searches, *lives, *seed, *limit)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(chosen *regexp.Regexp, scopes string, searches bool, lives, seed int, limit time.Duration) error {
	all, err := parse(list)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println("| | Bug | Scope | States | Steps | Broken | Random lives |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, m := range all {
		if !chosen.MatchString(m.number) {
			continue
		}
		overlay, err := m.plant(dir)
		if err != nil {
			return err
		}
		explored := "| | |"
		if searches {
			if explored, err = m.explore(dir, overlay, scopes, limit); err != nil {
				return err
			}
		}
		lived := "–"
		if lives > 0 {
			if lived, err = m.live(dir, overlay, lives, seed, limit); err != nil {
				return err
			}
		}
		fmt.Printf("| %s | %s: %s | %s | %s |\n", m.number, m.subject, m.what, explored, lived)
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

// plant writes the changed files and the overlay that names them.
func (m *mutant) plant(dir string) (overlay string, err error) {
	replace := make(map[string]string)
	for i, e := range m.edits {
		file, err := filepath.Abs(filepath.FromSlash(e.file))
		if err != nil {
			return "", err
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(source), e.from); n != 1 {
			return "", fmt.Errorf("%s: the text occurs %d times in %s, want once:\n%s", m.number, n, e.file, e.from)
		}
		changed := filepath.Join(dir, fmt.Sprintf("%s-%d.go", m.number, i))
		if err := os.WriteFile(changed, []byte(strings.Replace(string(source), e.from, e.to, 1)), 0o644); err != nil {
			return "", err
		}
		replace[file] = changed
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, m.number+".json")
	return overlay, os.WriteFile(overlay, text, 0o644)
}

// folder is the package whose controller the bug is in.
func (m *mutant) folder() string {
	folder, _, _ := strings.Cut(m.edits[0].file, "/")
	return folder
}

// explore searches the small scopes of the controller until one shows the bug. It returns
// the columns of the table.
func (m *mutant) explore(dir, overlay, scopes string, limit time.Duration) (string, error) {
	binary := filepath.Join(dir, "explore")
	if out, err := command(building, "go", "build", "-overlay", overlay, "-o", binary, "./internal/explore/run"); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", m.number, err, out)
	}
	out, err := command(limit, binary, "-brief", "-match", "^"+m.folder()+"/.*("+scopes+")")
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
			return fmt.Sprintf("%s | %d | %s | %s", fields[1], states, steps, rule), nil
		}
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("panic | %d | | ", states), nil
	}
	return fmt.Sprintf("– | %d | | ", states), nil
}

// building is the longest time for a build.
const building = 10 * time.Minute

var (
	failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
	after  = regexp.MustCompile(`failed after (\d+) tests`)
)

// live runs the random lives of the controller. It returns the property that fails, and
// after how many lives.
func (m *mutant) live(dir, overlay string, lives, seed int, limit time.Duration) (string, error) {
	binary := filepath.Join(dir, "lives")
	if out, err := command(building, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, "./"+m.folder()); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", m.number, err, out)
	}
	out, err := command(limit, binary, "-test.run=Lives|TestL9|TestCL4|TestJI26", "-test.failfast", "-rapid.nofailfile", "-rapid.shrinktime=1ms",
		fmt.Sprintf("-rapid.checks=%d", lives), fmt.Sprintf("-rapid.seed=%d", seed))
	switch name := failed.FindSubmatch(out); {
	case err == nil:
		return "–", nil
	case name == nil:
		return "ended early", nil
	default:
		text := string(name[1])
		if n := after.FindSubmatch(out); n != nil {
			text += ", " + string(n[1])
		}
		return text, nil
	}
}

// command runs a command at the root of the module.
func command(limit time.Duration, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.Bytes(), err
}
