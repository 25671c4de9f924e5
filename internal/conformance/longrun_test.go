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

	"github.com/batchplan/batchplan/internal/conformance/ours"
	"github.com/batchplan/batchplan/internal/conformance/script"
)

var (
	seed    = flag.Uint64("seed", 0, "what the generated scripts follow from; 0 for something fresh")
	scripts = flag.Int("scripts", 300, "how many scripts to generate")
	first   = flag.Int("first", 0, "the number of the first script, to play one again")
	until   = flag.Bool("until", false, "stop at the first script that shows a difference")
	effort  = flag.Duration("shrink", 20*time.Second, "how long to look for a smaller script that shows a difference")
)

// longRun holds the results of the generated scripts so far; nil if there are none.
var longRun *tally

// tally counts the results of the scripts.
type tally struct {
	seed                                     uint64
	scripts, steps, chance, stuck, different int
	rules                                    *Rules
	started, printed                         time.Time
}

// String is the last line of a long run.
func (y *tally) String() string {
	return fmt.Sprintf("%d scripts, %d steps, %d differences", y.scripts, y.steps, y.different)
}

// TestLongRun plays generated scripts. Each follows from the seed and its number
// alone.
func TestLongRun(t *testing.T) {
	y := &tally{seed: *seed, rules: NewRules(), started: time.Now(), printed: time.Now()}
	if y.seed == 0 {
		y.seed = uint64(time.Now().UnixNano()/1e6) % 1e9
	}
	fmt.Printf("seed %d\n", y.seed)
	for i := range *scripts {
		y.play(t, *first+i)
		y.progress()
		if *until && y.different > 0 {
			break
		}
	}
	if y.different > 0 {
		t.Errorf("%d scripts show a difference", y.different)
	}
	missed := slices.DeleteFunc(y.rules.Missed(), func(rule string) bool { return *scripts < rarely[rule] })
	if *scripts >= enough && len(missed) > 0 {
		t.Errorf("no script has exercised %s", strings.Join(missed, ", "))
	}
	longRun = y
}

// enough is a number of scripts that exercises all rules.
const enough = 2000

// rarely lists the rules that need more scripts: caches must be behind at the right
// moment (E4, E5), or an Indexed job must meet a stray pod without an index (J13).
var rarely = map[string]int{"E4": 20_000, "E5": 20_000, "J13": 20_000}

// conclude prints the results of a long run. Nothing may be printed after it.
func (y *tally) conclude() {
	fmt.Printf("%d scripts ended early, where the real controllers leave something to chance\n", y.chance)
	fmt.Printf("%d scripts ended early, where the server always refuses the status of the real controllers\n", y.stuck)
	fmt.Printf("\n%s\n%s\n", y.rules, y)
}

func (y *tally) progress() {
	if time.Since(y.printed) < 10*time.Second {
		return
	}
	y.printed = time.Now()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("%v, %.0f scripts/s, %d MB\n", y, float64(y.scripts)/time.Since(y.started).Seconds(), m.Sys>>20)
}

// play plays one script.
func (y *tally) play(t *testing.T, number int) {
	generator, own := generatorOf(number), seedOf(y.seed, number)
	s := generator.Example(int(own))
	s.Comment = fmt.Sprintf("seed %d, number %d", y.seed, number)
	current := found("current")
	keep(t, current, s) // in case a controller panics, or the script does not end
	o := ours.Kubernetes136()
	o.Watch = y.rules
	y.rules.Script(s)
	r := Play(t, s, o)
	y.scripts++
	y.steps += r.Steps
	if r.Chance {
		y.chance++
	}
	if r.Stuck {
		y.stuck++
	}
	if r.Difference != "" {
		y.different++
		y.report(t, number, generator, own, s, r.Difference)
	}
	if err := os.Remove(current); err != nil {
		t.Fatal(err)
	}
}

// bigAmong is the number of scripts among which one is about a big job, which costs
// as much as fifty others.
const bigAmong = 50

// generatorOf is the class of a script.
func generatorOf(number int) *rapid.Generator[*script.Script] {
	switch {
	case number%bigAmong == bigAmong/2:
		return script.Big()
	case number%4 == 3:
		return script.CronJobs()
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

// mostShrunk is the number of differences in a run whose scripts are minimised.
const mostShrunk = 30

// report stores a script that shows a difference, minimised.
func (y *tally) report(t *testing.T, number int, generator *rapid.Generator[*script.Script], own uint64, s *script.Script, difference string) {
	if y.different <= mostShrunk && *effort > 0 {
		s, difference = shrink(t, generator, own, s, difference)
	}
	s.Comment = fmt.Sprintf("seed %d, number %d\n%s", y.seed, number, difference)
	file := found(fmt.Sprintf("%d-%d", y.seed, number))
	keep(t, file, s)
	fmt.Printf("\n%s: script %d of seed %d shows a difference\n%s\n", file, number, y.seed, clipped(s.String()))
}

// clipped cuts long lines; the file has them in full.
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
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(s.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
