package conformance

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/share"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
)

var (
	seed    = flag.Uint64("seed", 0, "what the generated scripts follow from; 0 for something fresh")
	scripts = flag.Int("scripts", 300, "how many scripts to generate")
	first   = flag.Int("first", 0, "the number of the first script, to play one again")
	until   = flag.Bool("until", false, "stop at the first script that shows a difference")
	merge   = flag.Bool("merge", false, "play nothing: add the counts of all shares, whose files are the arguments")
	mine    share.Share
	effort  = flag.Duration("shrink", 20*time.Second, "how long to look for a smaller script that shows a difference")
)

func init() { mine.Flags(flag.CommandLine) }

// longRun holds the results of the generated scripts so far; nil if there are none.
var longRun *tally

// tally counts the results of the scripts.
type tally struct {
	seed uint64
	tallied
	rules            *Rules
	started, printed time.Time
}

// tallied holds the counts that the shares of a long run add up.
type tallied struct {
	Scripts, Steps, Chance, Stuck, Different int
	Rules                                    map[string]int
}

func (y *tally) add(other tallied) {
	y.Scripts += other.Scripts
	y.Steps += other.Steps
	y.Chance += other.Chance
	y.Stuck += other.Stuck
	y.Different += other.Different
	for name, n := range other.Rules {
		y.rules.counts[name] += n
	}
}

// String returns the last line of a long run.
func (y *tally) String() string {
	return fmt.Sprintf("%d scripts, %d steps, %d differences", y.Scripts, y.Steps, y.Different)
}

// TestLongRun plays generated scripts: all of them on as many processes as there are cores, or only
// the scripts of a share. Each script depends only on the seed and its number.
func TestLongRun(t *testing.T) {
	y := &tally{seed: *seed, rules: NewRules(), started: time.Now(), printed: time.Now()}
	if *merge {
		of, err := share.ReadCounts(flag.Args(), y.add)
		must.OK(t, err)
		y.check(t, of)
		return
	}
	if y.seed == 0 {
		if mine.Of > 1 {
			t.Fatal("-shares needs -seed")
		}
		y.seed = uint64(time.Now().UnixNano()/1e6) % 1e9
	}

	fmt.Printf("seed %d\n", y.seed)
	if mine.Of == 1 && mine.Mine < 0 && *scripts > 1 && !*until {
		// The controllers' feature gates and counters are global, so scripts run in parallel only
		// in processes of their own.
		args := []string{"-test.run=^TestLongRun$", "-test.testlogfile=", fmt.Sprint("-seed=", y.seed)}
		of, err := share.Divide(runtime.NumCPU(), args, y.add)
		if err != nil {
			t.Error(err)
		}
		y.check(t, of)
		return
	}

	must.OK(t, mine.Check())
	for i := range *scripts {
		if !mine.Has(i) {
			continue
		}
		y.play(t, *first+i)
		y.progress()
		if *until && y.Different > 0 {
			break
		}
	}

	y.check(t, fmt.Sprintf("%d scripts from number %d of seed %d, %s", *scripts, *first, y.seed, played))
}

// check writes the counts if there is a file for them, and reports what is wrong with them.
func (y *tally) check(t *testing.T, of string) {
	y.Rules = y.rules.counts
	if mine.File != "" {
		if err := share.WriteCounts(&mine, of, y.tallied); err != nil {
			t.Error(err)
		}
	}
	if y.Different > 0 {
		t.Errorf("%d scripts show a difference", y.Different)
	}
	missed := slices.DeleteFunc(y.rules.Missed(), func(rule string) bool { return y.Scripts < rarely[rule] || isNew(rule) })
	if mine.Of == 1 && y.Scripts >= enough && len(missed) > 0 {
		t.Errorf("no script has exercised %s", strings.Join(missed, ", "))
	}
	if mine.Of == 1 || mine.File == "" {
		longRun = y
	}
}

// isNew reports whether a rule is newer than the release that is played.
func isNew(rule string) bool {
	switch rule {
	case "J44", "J45":
		return !played.Has(release.WorkloadWithJob)
	case "J3":
		return !played.Has(release.JobManagedBy)
	case "E5":
		return played.IsBefore(release.V134())
	case "E6":
		return !played.Has(release.StaleControllerConsistencyJob)
	}
	return false
}

// enough is a number of scripts that exercises all rules.
const enough = 2000

// rarely lists the rules and situations that need more scripts. E4 and E5 need a cache that is
// behind at the right moment. J13 needs an Indexed job that meets a stray pod without an index. The
// situation in the list needs a failed removal of a terminating pod's finalizer.
var rarely = map[string]int{"E4": 20_000, "E5": 20_000, "J13": 20_000, "situation: a terminating pod's removal is in flight": 20_000}

// conclude prints the results of a long run. Nothing may be printed after it.
func (y *tally) conclude() {
	fmt.Printf("%d scripts ended early, where the real controllers leave something to chance\n", y.Chance)
	fmt.Printf("%d scripts ended early, where the server always refuses the status of the real controllers\n", y.Stuck)
	fmt.Printf("\n%s\n%s\n", y.rules, y)
}

func (y *tally) progress() {
	if time.Since(y.printed) < 10*time.Second {
		return
	}
	y.printed = time.Now()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("%v, %.0f scripts/s, %d MB\n", y, float64(y.Scripts)/time.Since(y.started).Seconds(), m.Sys>>20)
}

// play plays one script.
func (y *tally) play(t *testing.T, number int) {
	generator, own := generatorOf(number), seedOf(y.seed, number)
	s := generator.Example(int(own))
	s.Comment = fmt.Sprintf("seed %d, number %d", y.seed, number)
	current := found(fmt.Sprintf("current-%s-%d-%d", played, y.seed, number))
	keep(t, current, s) // in case a controller panics, or the script does not end

	o := ours.Kubernetes(played)
	o.Watch = y.rules
	y.rules.Script(s)

	r := Play(t, s, o)
	y.Scripts++
	y.Steps += r.Steps

	if r.Chance {
		y.Chance++
	}
	if r.Stuck {
		y.Stuck++
	}

	if r.Difference != "" {
		y.Different++
		y.report(t, number, generator, own, s, r.Difference)
	}

	must.OK(t, os.Remove(current))
}

// bigAmong: one script in this many is about a big job, which costs as much as fifty others.
const bigAmong = 50

// generatorOf returns the generator of the script with a number.
func generatorOf(number int) *rapid.Generator[*script.Script] {
	switch {
	case number%bigAmong == bigAmong/2:
		return script.Big()
	case number%4 == 3:
		return script.CronJobs()
	case number%4 == 1 && played.Has(release.WorkloadWithJob):
		return script.Gangs()
	}
	return script.Jobs()
}

// seedOf spreads neighbouring seeds and numbers over all seeds except 0, which
// rapid would replace by a random one.
func seedOf(seed uint64, number int) uint64 {
	x := seed*0x9e3779b97f4a7c15 + uint64(number)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return (x ^ x>>31) | 1
}

// mostShrunk is the number of differences after which a process minimises no more scripts.
const mostShrunk = 30

// report stores a script that shows a difference, minimised.
func (y *tally) report(t *testing.T, number int, generator *rapid.Generator[*script.Script], own uint64, s *script.Script, difference string) {
	if y.Different <= mostShrunk && *effort > 0 {
		s, difference = shrink(t, generator, own, s, difference)
	}
	s.Comment = fmt.Sprintf("seed %d, number %d\n%s", y.seed, number, difference)
	file := found(fmt.Sprintf("%s-%d-%d", played, y.seed, number))
	keep(t, file, s)
	fmt.Printf("\n%s: script %d of seed %d shows a difference\n%s\n", file, number, y.seed, clipped(s.String()))
}

// clipped cuts long lines. The file of a script has them in full.
func clipped(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len(line) > 600 {
			lines[i] = line[:600] + " ..."
		}
	}
	return strings.Join(lines, "\n")
}

func found(name string) string { return filepath.Join("testdata", "found", name+".txt") }

func keep(t *testing.T, file string, s *script.Script) {
	must.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.OK(t, os.WriteFile(file, []byte(s.String()), 0o644))
}
