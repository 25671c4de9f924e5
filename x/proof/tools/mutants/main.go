package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"
)

type options struct {
	root     string
	packages []string
	known    string // file of equivalents
	seed     uint64
	size     int // of the sample; 0 means all
	jobs     int
	checks   int
	match    *regexp.Regexp
	list     bool
	verbose  bool
	quick    bool
}

func main() {
	o, err := parseOptions(os.Args[1:])
	if err == nil {
		err = run(o)
	}
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func parseOptions(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	f.StringVar(&o.root, "root", ".", "folder of the module")
	f.StringVar(&o.known, "equivalents", "", "file of the mutants that no test can tell from the original")

	f.Uint64Var(&o.seed, "seed", 1, "seed of the sample and of the random tests")
	f.IntVar(&o.size, "n", 0, "size of the sample of each package; 0 means all mutants")
	f.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "mutants that are tried concurrently")
	f.IntVar(&o.checks, "checks", 30, "random cases of each property in the first pass")

	match := f.String("match", "", "only mutants whose line of output matches this regular expression")
	f.BoolVar(&o.list, "list", false, "list the mutants and run nothing")
	f.BoolVar(&o.quick, "quick", false,
		"leave out the second pass, and the listed equivalents: there can be more survivors than after both")
	f.BoolVar(&o.verbose, "v", false,
		"report each mutant with the processor time that it took and the test that killed it")

	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.packages = f.Args(); len(o.packages) == 0 {
		return o, errors.New("no packages given")
	}
	if o.size < 0 || o.jobs < 1 || o.checks < 1 {
		return o, fmt.Errorf("-n %d, -jobs %d, -checks %d: one is too small", o.size, o.jobs, o.checks)
	}

	var err error
	if o.match, err = regexp.Compile(*match); err != nil {
		return o, fmt.Errorf("-match: %w", err)
	}
	return o, nil
}

func run(o options) error {
	known, err := readEquivalents(o.known)
	if err != nil {
		return err
	}

	pkgs, err := load(o.root, o.packages)
	if err != nil {
		return err
	}

	var all, chosen []*mutant
	for _, p := range pkgs {
		found, err := p.mutants()
		if err != nil {
			return err
		}
		number(found)
		drawn := sample(found, o)
		fmt.Fprintf(os.Stderr, "%s: %d of %d mutants\n", p.path, len(drawn), len(found))
		all, chosen = append(all, found...), append(chosen, drawn...)
	}

	stale := known.stale(all, pkgs)
	for _, m := range chosen {
		_, m.listed = known[m.key()]
	}

	if o.list {
		for _, m := range chosen {
			fmt.Println(m)
		}
	} else {
		if err := judge(o, pkgs, chosen); err != nil {
			return err
		}
		report(pkgs, chosen, known)
	}

	if len(stale) > 0 {
		return fmt.Errorf("%s: no such mutant:\n%s", o.known, strings.Join(stale, "\n"))
	}
	return nil
}

// report prints the survivors and the figures of each package. Equivalents are left out of the
// figures, except those that a test has killed: they are not equivalent.
func report(pkgs []*pkg, chosen []*mutant, known equivalents) {
	for _, p := range pkgs {
		var killed, late, survived, left int
		var took time.Duration
		for _, m := range chosen {
			if m.file.pkg != p {
				continue
			}
			took += m.took
			_, equivalent := known[m.key()]
			_, harmless := known[m.family()]
			switch {
			case (equivalent || harmless) && m.verdict == alive:
				left++
			case m.verdict == alive:
				survived++
				fmt.Println(m)
			default:
				killed++
				if m.verdict == timedOut {
					late++
				}
				if equivalent {
					fmt.Printf("%s  is not equivalent: %s\n", m, m.killer)
				}
			}
		}

		n := killed + survived
		fmt.Printf("%s: %d mutants, %d killed, %d of them by the time limit, %d survived (%.1f %%), "+
			"%d equivalents left out, %.2f s each\n",
			p.path, n, killed, late, survived, 100*float64(survived)/float64(max(n, 1)), left,
			took.Seconds()/float64(max(n+left, 1)))
	}
}
