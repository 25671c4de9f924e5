package conformance

import (
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

// Trace, if not nil, is called after each step with the writes of both sides.
var Trace func(step string, theirs, ours []string)

// Result is the result of playing a script.
type Result struct {
	// Steps is the number of steps played.
	Steps int
	// Difference describes after which step the two sides differ, and how. It is empty if they do
	// not differ.
	Difference string
	// Stuck is true if the real controllers repeat a status write that the server refuses, and ours
	// have continued: JI2, J16. The script ends there.
	Stuck bool
	// Chance is true if the two sides differed, but some replay showed no difference at that step.
	Chance bool
}

// patience is the processor time that a script may take. A script in which four hundred jobs stay
// for hours takes two minutes.
const patience = 5 * time.Minute

// replays is the number of times that a script with a difference is played again.
var replays = flag.Int("replays", 12, "how often to play a script again that shows a difference, before it counts")

// Play plays a script to the real controllers and to ours, and compares what can be observed. The
// real controllers are not deterministic when two of their goroutines, or two caches, receive
// notifications at the same instant. So a difference counts only if it appears each time the script
// is played.
func Play(t *testing.T, s *script.Script, o ours.Options) Result {
	if o.Stale {
		s = s.MadeStale()
	}
	first := PlayOnce(t, s, o)
	for range *replays {
		if first.Difference == "" {
			break
		}
		if again := PlayOnce(t, s, o); again.Difference == "" || again.Steps > first.Steps {
			return Result{Steps: again.Steps, Chance: true}
		}
	}
	return first
}

// PlayOnce plays a script once, and reports every difference.
func PlayOnce(t *testing.T, s *script.Script, o ours.Options) (result Result) {
	// An action that is repeated immediately, without end, stops virtual time.
	defer watchOver(s)()
	synctest.Test(t, func(*testing.T) { result = play(s, o) })
	return result
}

// watchOver panics if a script takes too much processor time before end is called.
func watchOver(s *script.Script) (end func()) {
	begin, over := spent(), make(chan struct{})
	go func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(patience / 10):
			}
			if spent()-begin > patience {
				panic(fmt.Sprintf("the script does not end:\n%s", s))
			}
		}
	}()
	return func() { close(over) }
}

// spent returns the processor time of this process so far.
func spent() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// game is a script that is being played.
type game struct {
	script       *script.Script
	release      release.Release
	start        time.Time
	theirs, ours *script.World
	stuck        bool
	figures      *figures
	// manyFailed is true once more than one pod has failed, even if some of them are gone.
	manyFailed bool
	// hadTenantsJob is the answer of script.World.HasTenantsJob before the step, which may orphan
	// that job.
	hadTenantsJob bool
	// seen holds the revisions of the servers at the last comparison.
	seen [2]int64
	// lines holds the lines of the objects that were compared, of both servers.
	lines map[metav1.Object]string
}

func play(s *script.Script, o ours.Options) (result Result) {
	time.Sleep(time.Until(s.Begin))
	g := &game{
		script:  s,
		release: o.Release,
		start:   time.Now(),
		figures: newFigures(),
		lines:   map[metav1.Object]string{},
	}
	o.Figures = &g.figures.ours

	if difference := g.begin(o); difference != "" || g.ours == nil {
		return Result{Difference: difference}
	}
	defer func() {
		g.theirs.Stop()
		g.ours.Stop()
	}()

	result.Difference = g.look("the beginning")
	for _, step := range s.Steps {
		if result.Difference != "" {
			return result
		}

		result.Steps++
		g.hadTenantsJob = g.theirs.HasTenantsJob()
		result.Difference = g.step(step)
		isRestless := g.theirs.IsRestless() || g.ours.IsRestless()
		if isRestless || result.Difference != "" && g.isLeftToChance() {
			result.Difference, result.Chance = "", true
			return result
		}

		if g.stuck {
			return Result{Steps: result.Steps, Stuck: true}
		}
	}
	return result
}

// isLeftToChance reports whether chance may explain the difference that was just seen. The script
// then ends. The package comment lists the cases.
func (g *game) isLeftToChance() bool {
	hasTenantsJob := g.hadTenantsJob || g.theirs.HasTenantsJob()
	sharesUIDs := hasTenantsJob && !g.release.IsBefore(release.V137())
	return sharesUIDs || g.theirs.IsLeftToChance(g.script) || g.ours.IsLeftToChance(g.script)
}

// begin creates the two worlds, unless the server refuses the script's objects.
func (g *game) begin(o ours.Options) (difference string) {
	which := theirs.Which{
		Jobs:     !g.script.Manual,
		CronJobs: g.script.CronJob != nil,
		TTL:      true,
		Stale:    g.script.Stale || o.Stale,
	}
	o.Jobs, o.CronJobs, o.TTL, o.Stale, o.LiveReads = which.Jobs, which.CronJobs, which.TTL, which.Stale, true

	real, err := script.NewWorld(g.script,
		func(s *server.Server) ([]func(), func()) { return theirs.New(s.Client(), which) })
	if difference := compareRefusal(o.Release, g.script, err, real); difference != "" || err != nil {
		if real != nil {
			real.Stop()
		}
		return difference
	}
	g.theirs = real

	g.ours, err = script.NewWorld(g.script, func(s *server.Server) ([]func(), func()) {
		if o.Job.Gangs {
			o.Groups = s.Dynamic()
		}
		return ours.New(s.Client(), o)
	})
	if err != nil {
		panic(err)
	}
	return ""
}

func (g *game) step(step script.Step) string {
	if d, ticks := step.Tick(); ticks {
		time.Sleep(d)
		return g.look(step.String())
	}
	a, b := g.theirs.Do(g.script, step), g.ours.Do(g.script, step)
	if answer(a) != answer(b) {
		return fmt.Sprintf("step %q: the servers answer\ntheirs: %v\nours: %v", step, a, b)
	}
	return g.look(step.String())
}

// answer returns a server's answer. Some releases print the memory addresses of the values that
// they refuse: these are removed.
func answer(err error) string { return address.ReplaceAllString(fmt.Sprint(err), "") }

var address = regexp.MustCompile(`0x[0-9a-f]+`)

// look compares the worlds once nothing changes any more.
func (g *game) look(after string) string {
	for settle(); g.theirs.Collect()+g.ours.Collect() > 0; {
		settle()
	}

	theirCounts, ourCounts := g.figures.counts()
	now := [2]int64{g.theirs.Revision(), g.ours.Revision()}
	if now == g.seen && maps.Equal(theirCounts, ourCounts) {
		return ""
	}
	g.seen = now
	g.manyFailed = g.manyFailed || g.hasManyFailed()

	real, mine := view{Figures: lines(theirCounts)}, view{Figures: lines(ourCounts)}
	g.observe(&real, g.theirs)
	g.observe(&mine, g.ours)
	if Trace != nil {
		Trace(after, real.Writes, mine.Writes)
	}

	if real.refused && !mine.refused {
		g.stuck = true
		return ""
	}

	dropBusy(&real, &mine)
	g.relax(&real, &mine)
	if areEqual(&real, &mine) {
		return ""
	}
	return fmt.Sprintf("after %q, at %v (- theirs, + ours):\n%s", after, time.Since(g.start), diff(&real, &mine))
}

// part is a part of two views.
type part struct {
	name string
	a, b []string
}

func parts(a, b *view) []part {
	return []part{
		{"CronJobs", a.CronJobs, b.CronJobs},
		{"jobs", a.Jobs, b.Jobs},
		{"groups", a.Groups, b.Groups},
		{"pods", a.Pods, b.Pods},
		{"events", a.Events, b.Events},
		{"writes", a.Writes, b.Writes},
		{"metrics", a.Figures, b.Figures},
	}
}

func areEqual(a, b *view) bool {
	return !slices.ContainsFunc(parts(a, b), func(p part) bool { return !slices.Equal(p.a, p.b) })
}

func diff(a, b *view) string {
	var out strings.Builder
	for _, p := range parts(a, b) {
		minus, plus := without(p.a, p.b), without(p.b, p.a)
		if len(minus)+len(plus) > 0 {
			fmt.Fprintf(&out, "%s:\n%s%s", p.name, marked("-", minus), marked("+", plus))
		}
	}
	return out.String()
}

// without returns the lines that occur more often in list a than in list b.
func without(a, b []string) (out []string) {
	count := map[string]int{}
	for _, line := range b {
		count[line]++
	}
	for _, line := range a {
		if count[line]--; count[line] < 0 {
			out = append(out, line)
		}
	}
	return out
}

func marked(mark string, lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&out, "  %s %s\n", mark, strings.ReplaceAll(line, "\n", "\n      "))
	}
	return out.String()
}

// settle waits until nothing changes and no notification is on its way.
func settle() {
	synctest.Wait()
	time.Sleep(10 * time.Millisecond)
	synctest.Wait()
}
