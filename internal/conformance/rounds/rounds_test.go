package rounds

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/internal/conformance/rounds/overlay"
)

var (
	seed   = flag.Uint64("seed", 1, "what the snapshots follow from")
	rounds = flag.Int("rounds", 4000, "how many rounds to play")
	first  = flag.Int("first", 0, "the number of the first round, to play one again")
	shown  = flag.Int("shown", 20, "how many differences to show whole")
	share  = flag.Int("share", -1, "for the processes among which the rounds are divided: which of them this is")
	shares = flag.Int("shares", runtime.NumCPU(), "how many processes divide the rounds")
	report = flag.String("report", "", "for these processes: the file for what they count")
)

// last is printed at the very end.
var last *Tally

func TestMain(m *testing.M) {
	code := m.Run()
	if last != nil {
		fmt.Println(last)
	}
	os.Exit(code)
}

// TestRounds plays single rounds. Each depends only on the seed and its number.
// Without the overlay, the test builds itself with the overlay and runs the result.
func TestRounds(t *testing.T) {
	switch {
	case playTheirs == nil:
		binary := filepath.Join(t.TempDir(), "rounds.test")
		if err := overlay.Build("./rounds", binary, nil); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(binary, "-test.run=^TestRounds$", fmt.Sprint("-seed=", *seed), fmt.Sprint("-rounds=", *rounds), fmt.Sprint("-first=", *first))
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
	case *rounds == 1 || *share >= 0:
		playShare(t)
	default:
		divide(t)
	}
}

// divide runs a process for each share of the rounds. The counters of the real
// controllers belong to the process, so that a process can only play one round at a
// time.
func divide(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	total, done := newTally(), make(chan error)
	files := make([]string, *shares)
	for i := range files {
		files[i] = filepath.Join(t.TempDir(), "report.json")
		cmd := exec.Command(binary, "-test.run=^TestRounds$", "-test.timeout=0", fmt.Sprint("-seed=", *seed), fmt.Sprint("-rounds=", *rounds),
			fmt.Sprint("-first=", *first), fmt.Sprint("-shown=", *shown), fmt.Sprint("-share=", i), fmt.Sprint("-shares=", *shares), "-report="+files[i])
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		go func() { done <- cmd.Run() }()
	}
	for range files {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for _, file := range files {
		part := newTally()
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, part)
		}
		if err != nil {
			t.Fatal(err)
		}
		total.add(part)
	}
	last = total
}

// playShare plays this process's rounds.
func playShare(t *testing.T) {
	tally, started, printed := newTally(), time.Now(), time.Now()
	for i := range *rounds {
		if *share >= 0 && i%*shares != *share {
			continue
		}
		play(t, tally, *first+i)
		if time.Since(printed) > 30*time.Second {
			printed = time.Now()
			fmt.Printf("%d rounds, %d differences, %.0f rounds/s\n", tally.Rounds, tally.Differences, float64(tally.Rounds)/time.Since(started).Seconds())
		}
	}
	if tally.Differences > 0 {
		t.Errorf("%d rounds differ", tally.Differences)
	}
	if *report == "" {
		last = tally
		return
	}
	data, err := json.Marshal(tally)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*report, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// both gives the snapshot to both sides.
func both(t *testing.T, s subject) (theirs, ours Result, difference Difference) {
	synctest.Test(t, func(*testing.T) { theirs = s.theirs() })
	ours = s.ours()
	return theirs, ours, compare(&theirs, &ours)
}

// byOrder explains a difference by the order in which a cache lists objects.
const byOrder = "The order in which a cache lists objects"

// explained returns the row that explains the difference. What the real controller
// does with the same objects in another order is equally right.
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

// clipped are the first lines, cut.
func clipped(d Difference) string {
	var out []string
	for i, line := range d {
		if i < 20 {
			out = append(out, line[:min(len(line), 300)])
		}
	}
	return strings.Join(out, "\n")
}

// TestExplanationsAreDocumented compares the explanations with the rows of the
// documentation.
func TestExplanationsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/divergences.md")
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
	_, section, _ := strings.Cut(string(text), "## What single rounds explain")
	for _, row := range rows {
		if !strings.Contains(section, "\n| "+row+" |") {
			t.Errorf("no row is called %q", row)
		}
	}
	if got := strings.Count(section, "\n| ") - 1; got != len(rows) {
		t.Errorf("%d rows for %d explanations", got, len(rows))
	}
}
