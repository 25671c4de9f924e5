package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// judge runs the tests against all mutants. Mutants of functions share one
// build of each package's tests.
func judge(o options, pkgs []*pkg, chosen []*mutant) error {
	users, err := testedBy(o)
	if err != nil {
		return err
	}
	var shared, global []*mutant
	for i, m := range chosen {
		m.id = i + 1
		if m.fn == nil {
			global = append(global, m)
		} else {
			shared = append(shared, m)
		}
	}
	var done progress
	done.of = len(chosen)
	if err := judgeFunctions(o, pkgs, users, shared, &done); err != nil {
		return err
	}
	for _, m := range global {
		if err := judgeGlobal(o, users[m.file.pkg.path], m); err != nil {
			return err
		}
		done.add(o, m)
	}
	return nil
}

// progress reports the progress of a long run.
type progress struct {
	mu               sync.Mutex
	done, of, living int
}

func (p *progress) add(o options, m *mutant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o.verbose {
		fmt.Fprintf(os.Stderr, "%.2fs %-6s %s: %s\n", m.took.Seconds(), m.verdict, m, m.killer)
	}
	p.done++
	if m.verdict == alive {
		p.living++
		fmt.Fprintln(os.Stderr, "alive:", m)
	}
	if p.done%50 == 0 || p.done == p.of {
		fmt.Fprintf(os.Stderr, "%d of %d, %d alive\n", p.done, p.of, p.living)
	}
}

// A tested package has tests, and perhaps reaches others through them.
type tested struct{ path, dir string }

// testedBy returns for each package whose tests reach it: its own first, then the
// others by name. It leaves out the tests that the options do.
func testedBy(o options) (map[string][]tested, error) {
	c := exec.Command("go", "list", "-test", "-f", `{{if .ForTest}}{{else}}{{.Dir}}	{{.ImportPath}}	{{join .Deps " "}}{{end}}`, "./...")
	c.Dir = o.root
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	dirs := map[string]string{}
	users := map[string][]tested{}
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSpace(line), "\t")
		if len(part) != 3 {
			continue
		}
		path, isTest := strings.CutSuffix(part[1], ".test")
		if !isTest {
			dirs[path] = part[0]
			continue
		}
		if !o.suites.MatchString(path) {
			continue
		}
		reached := map[string]bool{}
		for dep := range strings.FieldsSeq(part[2]) {
			if !strings.HasPrefix(dep, "[") {
				reached[strings.TrimSuffix(dep, "_test")] = true
			}
		}
		for dep := range reached {
			users[dep] = append(users[dep], tested{path, dirs[path]})
		}
	}
	for path, list := range users {
		slices.SortFunc(list, func(a, b tested) int {
			if (a.path == path) != (b.path == path) {
				if a.path == path {
					return -1
				}
				return 1
			}
			return strings.Compare(a.path, b.path)
		})
	}
	return users, nil
}

// buildAll builds the tests of packages, with changed files.
func buildAll(o options, users []tested, texts map[string]string, folder string) ([]*suite, error) {
	list, err := overlay(folder, texts)
	if err != nil {
		return nil, err
	}
	var out []*suite
	for _, u := range users {
		s, err := build(o.root, folder, u.path, u.dir, list)
		if err != nil {
			return nil, err
		}
		if s != nil {
			out = append(out, s)
		}
	}
	return out, nil
}

// judgeFunctions tries the mutants of functions.
func judgeFunctions(o options, pkgs []*pkg, users map[string][]tested, list []*mutant, done *progress) error {
	folder, err := os.MkdirTemp("", "go-build-mutants") // some tests want to be run by "go test", whose folders have such names
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	suites, err := tracedSuites(o, pkgs, users, list, folder)
	if err != nil {
		return err
	}
	first := firstOfFunction(list)
	var wait sync.WaitGroup
	free := make(chan struct{}, o.jobs)
	for _, m := range list {
		free <- struct{}{}
		wait.Go(func() {
			m.meet(o, reaching(suites, m.file.pkg.path, first[m]), m.id)
			done.add(o, m)
			<-free
		})
	}
	wait.Wait()
	return nil
}

// tracedSuites builds all tests that reach a mutant, with all mutants in them.
func tracedSuites(o options, pkgs []*pkg, users map[string][]tested, list []*mutant, folder string) ([]*suite, error) {
	texts := map[string]string{}
	needed := map[tested]bool{}
	for _, p := range pkgs {
		var mine []*mutant
		for _, m := range list {
			if m.file.pkg == p {
				mine = append(mine, m)
			}
		}
		if len(mine) == 0 {
			continue
		}
		maps.Copy(texts, p.instrumented(mine))
		texts[filepath.Join(p.dir, "mutants_selector.go")] = p.selector()
		for _, u := range users[p.path] {
			needed[u] = true
		}
	}
	suites, err := buildAll(o, slices.SortedFunc(maps.Keys(needed), func(a, b tested) int { return strings.Compare(a.path, b.path) }), texts, folder)
	if err != nil {
		return nil, err
	}
	for _, s := range suites {
		if err := s.trace(folder, conditions{checks: o.checks, seed: o.seed}); err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "%s: %d tests are built and traced, %.1fs of processor time\n", s.path, len(s.tests), s.took().Seconds())
	}
	return suites, nil
}

// judgeGlobal tries a mutant of a package variable or constant in its own build.
func judgeGlobal(o options, users []tested, m *mutant) error {
	for _, u := range users {
		folder, err := os.MkdirTemp("", "go-build-mutants")
		if err != nil {
			return err
		}
		texts := map[string]string{m.file.path: apply(m.file.text, []edit{m.edit})}
		suites, err := buildAll(o, []tested{u}, texts, folder)
		if err == nil {
			m.meet(o, reaching(suites, u.path, 0), 0)
		}
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
		if err != nil || m.verdict != alive {
			return err
		}
	}
	return nil
}

func firstOfFunction(list []*mutant) map[*mutant]int {
	first := map[*mutant]int{}
	for i, m := range list {
		first[m] = m.id
		if i > 0 && list[i-1].fn == m.fn {
			first[m] = first[list[i-1]]
		}
	}
	return first
}

// reaching returns the tests that reach a function: its own package's tests first, and the
// quickest of each package first. The function 0 stands for every function.
func reaching(suites []*suite, own string, function int) []*test {
	var out, others []*test
	for _, s := range suites {
		var some []*test
		for _, t := range s.tests {
			if function == 0 || t.reaches[function] {
				some = append(some, t)
			}
		}
		slices.SortStableFunc(some, func(a, b *test) int { return int(a.took - b.took) })
		if s.path == own {
			out = some
		} else {
			others = append(others, some...)
		}
	}
	return append(out, others...)
}

// unmeasured is the limit of tests that were not run on the original.
const unmeasured = 5 * time.Minute

// meet runs the tests against a mutant until one notices it. All tests run with few
// random cases. If none notices, the tests that draw cases run again with as many as
// in "go test", from another seed. A mutant that is listed as equivalent meets only the
// tests of its own package, and only once.
func (m *mutant) meet(o options, tests []*test, id int) {
	few := conditions{mutant: id, checks: o.checks, seed: o.seed}
	if m.listed {
		m.try(slices.DeleteFunc(tests, func(t *test) bool { return t.suite.path != m.file.pkg.path }), few)
		return
	}
	if m.try(tests, few); m.verdict == alive && !o.quick {
		tests = slices.DeleteFunc(tests, func(t *test) bool { return !t.drawn && t.reaches != nil })
		m.try(tests, conditions{mutant: id, seed: o.seed + 1})
	}
}

// try runs tests, the first ones first, until one notices the mutant.
func (m *mutant) try(tests []*test, c conditions) {
	for len(tests) > 0 && m.verdict == alive {
		n, took := portion(tests)
		names := make([]string, n)
		for i, t := range tests[:n] {
			names[i] = t.name
		}
		c.limit = unmeasured
		if took > 0 {
			c.limit = 3*time.Second + 10*took
		}
		r := tests[0].suite.run(names, c)
		m.verdict, m.killer, m.took = r.verdict, r.killer, m.took+r.took
		tests = tests[n:]
	}
}

// portion selects the tests for one process: of one suite, with few slow tests
// after the quick ones, which kill most mutants.
func portion(tests []*test) (n int, took time.Duration) {
	for n < len(tests) && tests[n].suite == tests[0].suite {
		if n > 0 && took+tests[n].took > 500*time.Millisecond {
			break
		}
		took += tests[n].took
		n++
	}
	return n, took
}
