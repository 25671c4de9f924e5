// Planted plants known bugs, one at a time, and prints which proof finds each of them, and after
// how many cases.
//
//	go run -C x/proof ./planted                              # the search and the random lives
//	go run -C x/proof ./planted -judges kits                 # the test kits for importers
//	go run -C x/proof ./planted -judges answers              # the questions to other planners
//	go run -C x/proof ./planted -judges scripts,rounds       # the differential tests
//	go run -C x/proof ./planted -match '^X2$' -judges all    # one bug, all judges
//
// A judge looks for a bug in what it generates:
//
//   - search: the explorer, in its small scopes, one after the other;
//   - lives: the random lives in the property tests of the planners;
//   - kits: the subjects of the kits' own tests, which also have bugs of their own;
//   - answers: the questions that jobcheck asks of planners which answer wrongly;
//   - worlds: the random worlds of CronJobs, which have a checker of their own;
//   - scripts: the scripts of the differential tests;
//   - rounds: the single rounds of the differential tests.
//
// The bugs are in bugs.txt. A build holds all of them through an overlay, so the working tree
// never changes, and an environment variable chooses one. The command fails if -must is given
// and a bug is found by no judge.
//
// Why a judge misses a bug of docs/results/planted.txt:
//
//   - X4, X7, X18: another line of the code prevents what these bugs allow.
//   - X20: the backoff gets longer, and JI21 sets only a lower bound.
//   - X23, X31, X32: no invariant limits how few pods a round may delete, or demands that a failing
//     job counts the pods that it deletes; a write on condition of an old version is refused and
//     repeated.
//   - X27: in the worlds of the search nothing depends on the comparison of versions.
//   - X34: only another writer could show it.
//   - P4, P8: in the worlds of the search the clock waits until everything is delivered. Random
//     runs find P8.
//   - X2, X3, X12, X17, P3, P12: their order of events is too rare for the kits. The search finds
//     them.
//   - P27 to P34: only the worlds check that rounds make progress, that every run is accounted for,
//     and that nothing starts beside a replaced job. The kits find P34.
//   - P42, P43: the subjects of the judge kits store a list of active jobs. TestBackend_Kinds has
//     kinds without one, and finds P42.
//   - P28, P38: a lost reply, a fresh look and a late cache must meet before the job has ended. One
//     kit finds P38; TestCI1_AFreshLookBetweenStaleOnes finds P28.
//   - P36: only cronjobapply has the bug. Programs in the kits read Conclusion.Retry, not the error
//     (TestApply_IncompleteIsAnError).
//   - P37: the clock of CronJobs goes back in neither the search nor the worlds. One kit finds it.
//   - P40: a running job must be missing from the active list while a backfill waits for its run,
//     and a crash must come between the deletion of the job and the write of the backfill's
//     progress (TestBackfill_CI1_UnlistedJobIsNotedFirst).
//   - X29, X30, X39: the search and the random runs find them. The kits ask the planner whether a
//     program may wait, and the planner has the bug as well.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// options are the flags of the command.
type options struct {
	match                                           *regexp.Regexp
	scopes                                          string
	must                                            bool
	lives, seed, scripts, rounds, worlds, questions int
	limit                                           time.Duration
}

func main() {
	var o options
	match := flag.String("match", "", "only the bugs whose number matches this regular expression")
	names := flag.String("judges", "search,lives",
		"the proofs to ask, separated by commas, or all: "+strings.Join(judgeNames(), ", "))
	flag.IntVar(&o.seed, "seed", 1, "seed of what is generated")
	flag.IntVar(&o.lives, "lives", 1000, "random lives of each property, and of each subject of a kit")
	flag.IntVar(&o.scripts, "scripts", 2000, "scripts that may be needed")
	flag.IntVar(&o.worlds, "worlds", 2000, "worlds that may be needed")
	flag.IntVar(&o.questions, "questions", 300, "questions that jobcheck asks")
	flag.IntVar(&o.rounds, "rounds", 20_000, "rounds that may be needed")
	flag.StringVar(&o.scopes, "scopes", "", "only the scopes whose name matches this regular expression")
	flag.DurationVar(&o.limit, "limit", 5*time.Minute, "longest time for one bug and judge")
	flag.BoolVar(&o.must, "must", false, "fail if no judge finds a bug")
	root := flag.String("root", "../..", "folder of the repository")
	flag.Parse()

	var chosen []judge
	var err error
	if o.match, err = regexp.Compile(*match); err == nil {
		chosen, err = judgesNamed(*names)
	}
	if err == nil {
		err = os.Chdir(*root)
	}
	if err == nil {
		err = run(chosen, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(1)
	}
}

func run(chosen []judge, o options) error {
	all, err := parse(list)
	if err != nil {
		return err
	}

	dir, err := os.MkdirTemp("", "planted")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := build(all, chosen, dir); err != nil {
		return err
	}

	tried, missed := printTable(all, chosen, dir, o)
	fmt.Printf("\nSeed %d: %d bugs, %d not found.\n", o.seed, tried, missed)

	if tried == 0 {
		return errors.New("no bug is asked for")
	}
	if o.must && missed > 0 {
		return errors.New("see above")
	}
	return nil
}

// printTable prints a row for each bug. It returns how many bugs were tried, and how many
// no judge has found.
func printTable(all []bug, chosen []judge, dir string, o options) (tried, missed int) {
	head, line := "| | Bug |", "|---|---|"
	for _, j := range chosen {
		for _, column := range j.columns {
			head, line = head+" "+column+" |", line+"---|"
		}
	}
	fmt.Println(head + "\n" + line)

	for i := range all {
		b := &all[i]
		if !o.match.MatchString(b.number) || !anyLooks(chosen, b) {
			continue
		}

		tried++
		found := false
		fmt.Printf("| %s | %s: %s |", b.number, b.subject, b.what)

		for _, j := range chosen {
			v := verdict{cells: make([]string, len(j.columns))}
			if j.looks(b) {
				v = j.look(b, dir, o)
			}
			found = found || v.found
			fmt.Printf(" %s |", strings.Join(v.cells, " | "))
		}
		fmt.Println()

		if !found {
			missed++
		}
	}
	return tried, missed
}

// build compiles the chosen judges with all bugs planted.
func build(all []bug, chosen []judge, dir string) error {
	overlay, err := plantAll(all, dir)
	if err != nil {
		return err
	}
	for _, j := range chosen {
		for _, args := range j.builds(dir, overlay) {
			if out, err := command(building, "", "go", args...); err != nil {
				return fmt.Errorf("%w\n%s", err, out)
			}
		}
	}
	return nil
}

// building is the longest time for a build. The controllers of Kubernetes take the longest.
const building = 30 * time.Minute
