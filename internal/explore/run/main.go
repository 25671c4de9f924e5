// Run explores the scopes of packages jobmodel and cronmodel whose names match, and prints
// what it finds: see docs/exploration.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"

	"github.com/batchplan/batchplan/internal/explore"
	"github.com/batchplan/batchplan/internal/explore/jobmodel"
)

// options are those of the command line.
type options struct {
	match  *regexp.Regexp
	size   string
	search explore.Options
	job    jobmodel.Option
	memory int
	quiet  bool
}

func main() {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err == nil {
		err = run(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "explore:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("explore", flag.ContinueOnError)
	match := f.String("match", "", "only scopes whose name matches this regular expression")
	f.StringVar(&o.size, "size", "small", "small or large: the scopes to explore")
	f.IntVar(&o.search.Workers, "workers", 0, "goroutines; 0 means one for each core")
	f.IntVar(&o.search.Depth, "depth", 0, "most moves from the start; 0 means no limit")
	f.IntVar(&o.memory, "memory", 4096, "most MiB that the states may take")
	f.BoolVar(&o.quiet, "quiet", false, "print no progress")
	symmetry := f.Bool("symmetry", true, "take states that differ in the identity of pods alone as the same")
	reduction := f.Bool("reduction", true, "leave out the orders of moves that lead to the same state")
	if err = f.Parse(args); err != nil {
		return o, err
	}
	if !*symmetry {
		o.job |= jobmodel.NoSymmetry
	}
	if !*reduction {
		o.job |= jobmodel.NoReduction
	}
	if o.size != "small" && o.size != "large" {
		return o, fmt.Errorf("-size %s: want small or large", o.size)
	}
	if o.match, err = regexp.Compile(*match); err != nil {
		return o, fmt.Errorf("-match: %w", err)
	}
	o.search.Memory = int64(o.memory) << 20
	if !o.quiet {
		o.search.Progress = func(p explore.Progress) { fmt.Fprintf(os.Stderr, "  %s\n", p) }
	}
	return o, nil
}

func run(o options) error {
	scopes := map[string][]jobmodel.Scope{"small": jobmodel.Small, "large": jobmodel.Large}[o.size]
	found := 0
	for _, scope := range scopes {
		if !o.match.MatchString(scope.Name) {
			continue
		}
		found++
		fmt.Printf("== %s: %s\n", scope.Name, scope.Covers)
		o.search.Rest = scope.Rest
		m := jobmodel.New(scope, o.job)
		r := explore.Breadth(m, o.search)
		r.Write(os.Stdout, m)
		if r.Found != nil {
			for _, line := range r.Found.Words(m.Worker()) {
				fmt.Println(line)
			}
			return fmt.Errorf("%s: %w", scope.Name, r.Found.Err)
		}
	}
	if found == 0 {
		return fmt.Errorf("no %s scope matches %s", o.size, o.match)
	}
	return nil
}
