// Run explores the scopes of packages jobmodel and cronmodel whose names match, and prints
// what it finds: see package jobmodel.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/batchplan/batchplan/internal/share"
	"github.com/batchplan/batchplan/x/proof/explore"
	"github.com/batchplan/batchplan/x/proof/explore/cronmodel"
	"github.com/batchplan/batchplan/x/proof/explore/jobmodel"
)

// options are the flags of the command.
type options struct {
	match  *regexp.Regexp
	size   string
	search explore.Options
	memory int
	quiet  bool
	brief  bool
	share  share.Share
	merge  []string
	// lines receives the lines of -brief.
	lines io.Writer
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
	f.BoolVar(&o.brief, "brief", false, "print one line for each scope")

	o.share.Flags(f) // they need -brief
	joined := f.Bool("merge", false,
		"print what one process would have: the arguments are the files of all shares, in their order")

	if err = f.Parse(args); err != nil {
		return o, err
	}
	if *joined {
		if o.merge = f.Args(); len(o.merge) == 0 {
			return o, errors.New("-merge: the files of the shares are missing")
		}
		return o, nil
	}

	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if (o.share.Of > 1 || o.share.File != "") && !o.brief {
		return o, errors.New("-shares and -out need -brief")
	}
	if err := o.share.Check(); err != nil {
		return o, err
	}

	if o.size != "small" && o.size != "large" {
		return o, fmt.Errorf("-size %s: want small or large", o.size)
	}
	if o.match, err = regexp.Compile(*match); err != nil {
		return o, fmt.Errorf("-match: %w", err)
	}

	o.search.Memory = int64(o.memory) << 20
	if !o.quiet && !o.brief {
		o.search.Progress = func(p explore.Progress) { fmt.Fprintf(os.Stderr, "  %s\n", p) }
	}
	return o, nil
}

// target is a scope of either kind.
type target struct {
	name, covers string
	search       func(o options) error
}

// targets are the scopes of a size, Jobs first.
func targets(size string) (all []target) {
	jobs, cronJobs := jobmodel.Small, cronmodel.Small
	if size == "large" {
		jobs, cronJobs = jobmodel.Large, cronmodel.Large
	}
	for _, s := range jobs {
		all = append(all, target{"job/" + s.Name, s.Covers, func(o options) error {
			return search(o, "job/"+s.Name, jobmodel.New(s, 0), s.Rest)
		}})
	}
	for _, s := range cronJobs {
		all = append(all, target{"cronjob/" + s.Name, s.Covers, func(o options) error {
			return search(o, "cronjob/"+s.Name, cronmodel.New(s), cronmodel.Rest)
		}})
	}
	return all
}

func run(o options) error {
	if o.merge != nil {
		return share.Lines(os.Stdout, o.merge)
	}
	var lines bytes.Buffer
	switch {
	case o.share.Of > 1 || o.share.File != "":
		o.lines = &lines
	default:
		o.lines = os.Stdout // as they are found
	}
	err := runScopes(o)
	if o.lines == &lines {
		err = errors.Join(err, o.share.Write(lines.Bytes()))
	}
	return err
}

func runScopes(o options) error {
	found := 0
	var problems []error
	for _, t := range targets(o.size) {
		if !o.match.MatchString(t.name) {
			continue
		}
		if found++; !o.share.Has(found - 1) {
			continue
		}

		if !o.brief {
			fmt.Printf("== %s: %s\n", t.name, t.covers)
		}
		if err := t.search(o); err != nil {
			if problems = append(problems, err); o.share.Of == 1 {
				return err
			}
		}
	}

	if found == 0 {
		return fmt.Errorf("no %s scope matches %s", o.size, o.match)
	}
	return errors.Join(problems...)
}

// search explores a system and prints what it finds.
func search[S any](o options, name string, system explore.System[S], rest int) error {
	o.search.Rest = rest
	r := explore.Breadth(system, o.search)
	switch {
	case o.brief && r.Found != nil:
		c := r.Found
		fmt.Fprintf(o.lines, "found\t%s\t%d\t%d\t%d\t%v\n", name, r.States, len(c.Steps)-c.Calm, c.Calm, c.Err)
	case o.brief && r.Incomplete != nil:
		fmt.Fprintf(o.lines, "incomplete\t%s\t%d\n", name, r.States)
	case o.brief:
		fmt.Fprintf(o.lines, "clean\t%s\t%d\n", name, r.States)
	default:
		r.Write(os.Stdout, system)
	}
	if r.Found == nil {
		return nil
	}
	if !o.brief {
		for _, line := range r.Found.Words(system.Worker()) {
			fmt.Println(line)
		}
		printStory(system, r.Found)
	}
	return fmt.Errorf("%s: %w", name, r.Found.Err)
}

// printStory prints the counterexample as a story, if the system can write one.
func printStory[S any](system explore.System[S], c *explore.Counterexample[S]) {
	teller, ok := system.(interface {
		Story(*explore.Counterexample[S]) (string, error)
	})
	if !ok {
		return
	}
	story, err := teller.Story(c)
	if err != nil {
		fmt.Println("no story:", err)
		return
	}
	fmt.Printf("\nthe story for job/testdata:\n\n%s", story)
}
