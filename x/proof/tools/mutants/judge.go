package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// judge runs the tests of each package against its mutants. Mutants of functions share one build.
func judge(o options, pkgs []*pkg, chosen []*mutant) error {
	done := progress{of: len(chosen)}
	for _, p := range pkgs {
		var shared, global []*mutant
		for _, m := range chosen {
			switch {
			case m.file.pkg != p:
			case m.fn == nil:
				global = append(global, m)
			default:
				shared = append(shared, m)
			}
		}
		if err := judgeFunctions(o, p, shared, &done); err != nil {
			return err
		}
		for _, m := range global {
			if err := judgeGlobal(o, m); err != nil {
				return err
			}
			done.add(o, m)
		}
	}
	return nil
}

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

// judgeFunctions tries the mutants of functions of one package.
func judgeFunctions(o options, p *pkg, list []*mutant, done *progress) error {
	if len(list) == 0 {
		return nil
	}
	// Some tests need "go test". They recognise it by the name of the folder with the binary, so
	// this folder has such a name.
	folder, err := os.MkdirTemp("", "go-build-mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)

	texts := p.instrumented(list)
	texts[filepath.Join(p.dir, "mutants_selector.go")] = p.selector()
	s, err := build(o.root, folder, p, texts)
	if err != nil {
		return err
	}
	if s != nil {
		if err := s.trace(folder, conditions{checks: o.checks, seed: o.seed}); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %d tests are built and traced, %.1fs of processor time\n", s.path, len(s.tests),
			s.took().Seconds())
	}

	first := firstOfFunction(list)
	var wait sync.WaitGroup
	free := make(chan struct{}, o.jobs)
	for _, m := range list {
		free <- struct{}{}
		wait.Go(func() {
			m.meet(o, s.reaching(first[m]), m.id)
			done.add(o, m)
			<-free
		})
	}
	wait.Wait()
	if s == nil || len(s.failed) == 0 {
		return nil
	}
	return confirm(o, p, s.failed, list)
}

// judgeGlobal tries a mutant of a package variable or constant in its own build.
func judgeGlobal(o options, m *mutant) error {
	return withBuild(o, m.file.pkg, m, func(s *suite) { m.meet(o, s.reaching(0), 0) })
}

// confirm tries the survivors with the tests that fail in the shared build without a mutant, such
// as those that count allocations. Each survivor gets its own build. A test that also fails in a
// build of the original judges nothing.
func confirm(o options, p *pkg, names []string, list []*mutant) error {
	c := conditions{checks: o.checks, seed: o.seed, limit: unmeasured}
	err := withBuild(o, p, nil, func(s *suite) {
		names = slices.DeleteFunc(names, func(name string) bool { return s.run([]string{name}, c).verdict != alive })
	})
	for _, m := range list {
		if err != nil || len(names) == 0 {
			break
		}
		if m.verdict == alive && !m.listed && p.compilesWith(m) {
			err = withBuild(o, p, m, func(s *suite) {
				r := s.run(names, c)
				m.verdict, m.killer, m.took = r.verdict, r.killer, m.took+r.took
			})
		}
	}
	return err
}

// withBuild builds the tests of a package with one mutant, or with none.
func withBuild(o options, p *pkg, m *mutant, use func(*suite)) error {
	folder, err := os.MkdirTemp("", "go-build-mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	texts := map[string]string{}
	if m != nil {
		texts[m.file.path] = m.file.with(m.edit)
	}
	s, err := build(o.root, folder, p, texts)
	if err == nil {
		use(s)
	}
	return err
}

// compilesWith reports whether the package compiles if the mutant replaces the original. The shared
// build has both. So a mutant that removes the last use of an import compiles only there.
func (p *pkg) compilesWith(m *mutant) bool {
	_, err := p.check(map[string]string{m.file.path: m.file.with(m.edit)}, nil)
	return err == nil
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

// reaching returns the tests that reach a function, the quickest first. Function 0 means every
// function.
func (s *suite) reaching(function int) (out []*test) {
	if s == nil {
		return nil
	}
	for _, t := range s.tests {
		if function == 0 || t.reaches[function] {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *test) int { return int(a.took - b.took) })
	return out
}

// unmeasured is the time limit for tests that were not run on the original.
const unmeasured = 5 * time.Minute

// meet runs the tests against a mutant until one notices it. All tests run with few random cases.
// If none notices the mutant, the tests that draw cases run again with as many cases as in "go
// test", from another seed. This second pass is omitted for a mutant that is listed as equivalent.
// A quick run omits the second pass for all mutants, and does not try listed mutants at all.
func (m *mutant) meet(o options, tests []*test, id int) {
	if m.listed && o.quick {
		return
	}
	few := conditions{mutant: id, checks: o.checks, seed: o.seed}
	if m.try(tests, few); m.verdict == alive && !o.quick && !m.listed {
		tests = slices.DeleteFunc(tests, func(t *test) bool { return !t.drawn && t.reaches != nil })
		m.try(tests, conditions{mutant: id, seed: o.seed + 1})
	}
}

// try runs tests, in order, until one notices the mutant.
func (m *mutant) try(tests []*test, c conditions) {
	for len(tests) > 0 && m.verdict == alive {
		n, took := portion(tests)
		names := make([]string, n)
		for i, t := range tests[:n] {
			names[i] = t.name
		}
		c.limit = unmeasured
		if tests[0].reaches != nil { // it was run, perhaps in too little time to measure
			c.limit = 3*time.Second + 10*took
		}
		r := tests[0].suite.run(names, c)
		m.verdict, m.killer, m.took = r.verdict, r.killer, m.took+r.took
		tests = tests[n:]
	}
}

// portion returns how many of the next tests one process runs, and their time. One process runs
// many quick tests, which kill most mutants, but only few slow ones.
func portion(tests []*test) (n int, took time.Duration) {
	for n < len(tests) {
		if n > 0 && took+tests[n].took > 500*time.Millisecond {
			break
		}
		took += tests[n].took
		n++
	}
	return n, took
}
