package rounds

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/internal/share"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/releases"
	"github.com/batchplan/batchplan/x/proof/conformance/rounds/overlay"
)

var (
	seed   = flag.Uint64("seed", 1, "what the snapshots follow from")
	rounds = flag.Int("rounds", 4000, "how many rounds to play")
	first  = flag.Int("first", 0, "the number of the first round, to play one again")
	shown  = flag.Int("shown", 20, "how many differences to show whole")
	which  = flag.String("release", "", "the release of Kubernetes to play, with feature gates, such as 1.33,JobManagedBy=false")
	merge  = flag.Bool("merge", false, "play nothing: add the counts of all shares, whose files are the arguments")
	mine   share.Share
)

func init() { mine.Flags(flag.CommandLine) }

// last is printed at the end of the run.
var last *Tally

func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // the heap is small, and a round allocates much
	}
	code := m.Run()
	if last != nil {
		fmt.Println(last)
	}
	os.Exit(code)
}

// TestRounds plays single rounds: all of them, in a process for each core, or only those of a
// share. Each depends only on the seed and its number. Without the overlay, the test builds itself
// with the overlay and runs the result.
func TestRounds(t *testing.T) {
	if playTheirs != nil {
		playRelease(t)
	}
	switch {
	case playTheirs == nil:
		binary := filepath.Join(t.TempDir(), "rounds.test")
		r := release.Newest()
		if *which != "" {
			var err error
			if r, err = release.Parse(*which); err != nil {
				t.Fatal(err)
			}
		}
		if err := overlay.Build(r, "./rounds", binary, nil); err != nil {
			t.Fatal(err)
		}
		run(t, binary, *which, *rounds)
		if *which == "" {
			// The binary has the newest code, so only the gates can be those of an older release.
			run(t, binary, r.String()+gatesOff, *rounds/4)
		}
	case *merge:
		total := newTally()
		of, err := share.ReadCounts(flag.Args(), total.add)
		if err != nil {
			t.Fatal(err)
		}
		conclude(t, of, total)
	case *rounds == 1 || mine.Mine >= 0 || mine.Of > 1:
		if err := mine.Check(); err != nil {
			t.Fatal(err)
		}
		conclude(t, cases(), playShare(t))
	default:
		conclude(t, cases(), divide(t))
	}
}

// cases describes which rounds the counts are about.
func cases() string {
	return fmt.Sprintf("%d rounds from number %d of seed %d, %s", *rounds, *first, *seed, cmp.Or(*which, release.Newest().String()))
}

// conclude writes the counts if there is a file for them. It prints the counts as well, but not if
// they are in a file and cover only a share of the rounds.
func conclude(t *testing.T, of string, tally *Tally) {
	if tally.Differences > 0 {
		t.Errorf("%d rounds differ", tally.Differences)
	}
	if mine.Of == 1 || mine.File == "" {
		last = tally
	}
	if mine.File == "" {
		return
	}
	if err := share.WriteCounts(&mine, of, tally); err != nil {
		t.Fatal(err)
	}
}

// gatesOff switches off the gates that do not exist in the release before the newest, or are off
// there by default.
const gatesOff = ",MutableSchedulingDirectivesForSuspendedJobs=false,MutablePodResourcesForSuspendedJobs=false,StaleControllerConsistencyJob=false"

// run plays rounds of a release with a binary that has the overlay.
func run(t *testing.T, binary, which string, rounds int) {
	cmd := exec.Command(binary, "-test.run=^TestRounds$", "-release="+which, fmt.Sprint("-seed=", *seed), fmt.Sprint("-rounds=", rounds), fmt.Sprint("-first=", *first))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

func playRelease(t *testing.T) {
	var err error
	if played, err = releases.Choose(*which, setGate); err != nil {
		t.Fatal(err)
	}
}

// divide runs a process for each share of the rounds. The counters of the real controllers are
// global, so a process can only play one round at a time.
func divide(t *testing.T) *Tally {
	total := newTally()
	if _, err := share.Divide(runtime.NumCPU(), []string{"-test.run=^TestRounds$", "-test.testlogfile="}, total.add); err != nil {
		t.Error(err)
	}

	return total
}

func playShare(t *testing.T) *Tally {
	tally, started, printed := newTally(), time.Now(), time.Now()
	for i := range *rounds {
		if !mine.Has(i) {
			continue
		}
		play(t, tally, *first+i)
		if time.Since(printed) > 30*time.Second {
			printed = time.Now()
			fmt.Printf("%d rounds, %d differences, %.0f rounds/s\n", tally.Rounds, tally.Differences, float64(tally.Rounds)/time.Since(started).Seconds())
		}
	}
	return tally
}

// both plays the snapshot on both sides.
func both(t *testing.T, s subject) (theirs, ours Result, difference Difference) {
	synctest.Test(t, func(*testing.T) { theirs = s.theirs() })
	ours = s.ours()
	return theirs, ours, compare(&theirs, &ours)
}

// byOrder explains a difference by the order in which a cache lists objects.
const byOrder = "The order in which a cache lists objects"

// explained returns the row that explains the difference. If the real controller does the same as
// ours when its cache lists the objects in another order, the order explains the difference.
func explained(t *testing.T, s subject, theirs, ours *Result) string {
	if row := s.explain(theirs, ours); row != "" {
		return row
	}
	for other := range s.orders() {
		var result Result
		synctest.Test(t, func(*testing.T) { result = other.theirs() })
		if len(compare(&result, ours)) == 0 || other.explain(&result, ours) != "" {
			return byOrder
		}
	}
	return ""
}

// play plays one round.
func play(t *testing.T, tally *Tally, number int) {
	s := drawSubject(*seed, number)
	theirs, ours, difference := both(t, s)
	tally.Rounds++
	tally.Classes[s.class()]++
	for _, name := range ours.Seen {
		tally.Rules[name]++
	}
	if *rounds == 1 {
		fmt.Printf("%s\ntheirs:\n  %s\nours:\n  %s\n", s, strings.Join(theirs.lines(), "\n  "), strings.Join(ours.lines(), "\n  "))
	}

	if len(difference) == 0 {
		return
	}
	if row := explained(t, s, &theirs, &ours); row != "" {
		tally.Explained[row]++
		return
	}

	kinds := difference.kinds()
	tally.differs(number, kinds)
	if tally.Kinds[kinds] > 1 || len(tally.Kinds) > *shown {
		return
	}
	if s.class() == "crowd" { // too long to minimise and to show
		fmt.Printf("\nround %d of seed %d differs:\n%s\n", number, *seed, clipped(difference))
		return
	}

	small := minimise(s, func(s subject) bool {
		theirs, ours, difference := both(t, s)
		return difference.kinds() == kinds && s.explain(&theirs, &ours) == ""
	})
	_, _, difference = both(t, small)
	fmt.Printf("\nround %d of seed %d differs:\n%s\n%s\n", number, *seed, small, strings.Join(difference, "\n"))
}

// clipped returns the first lines, shortened.
func clipped(d Difference) string {
	var out []string
	for i, line := range d {
		if i < 20 {
			out = append(out, line[:min(len(line), 300)])
		}
	}
	return strings.Join(out, "\n")
}

// TestExplanationsAreDocumented compares the explanations with the lines of the package comment.
func TestExplanationsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}

	rows := []string{byOrder}
	for _, e := range explanations {
		rows = append(rows, e.row)
	}
	for _, e := range cronExplanations {
		rows = append(rows, e.row)
	}

	_, section, _ := strings.Cut(string(text), "# What explains a difference")
	section = strings.ReplaceAll(section, "\n//     ", " ")
	for _, row := range rows {
		if !strings.Contains(section, "\n//   - "+row+": ") {
			t.Errorf("no line is called %q", row)
		}
	}

	if got := strings.Count(section, "\n//   - "); got != len(rows) {
		t.Errorf("%d rows for %d explanations", got, len(rows))
	}
}
