package blackbox

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// Search sets how much to search.
type Search struct {
	// Seed is the seed of all lives: the same seed makes the same lives.
	Seed uint64
	// First is the number of the first random life.
	First int
	// Lives is the number of random lives.
	Lives int
	// Short is the number of short lives that are played again with each fault in each of their writes;
	// after more than 16 writes, with 80 faults that are spread over all writes. The first ones are
	// plain lives, such as two runs of each policy, and the others are random. If it is not 0, all
	// plain lives are played first, without faults.
	Short int
}

// Flags defines flags for the fields: -seed, -first, -lives and -short. The present values of the
// fields are the defaults.
func (s *Search) Flags(f *flag.FlagSet) {
	f.Uint64Var(&s.Seed, "seed", s.Seed, "the `seed` of the lives")
	f.IntVar(&s.First, "first", s.First, "the `number` of the first life")
	f.IntVar(&s.Lives, "lives", s.Lives, "how many random `lives` are played")
	f.IntVar(&s.Short, "short", s.Short, "how many short `lives` are played again with faults in all of their writes")
}

// Finding is a check that does not hold, and the shortest life found that breaks the check.
type Finding[S Settings] struct {
	Violation
	// Number is the number of the first random life that broke the check. It is -1 if a short life
	// broke it before.
	Number int
	Life   Life[S]
	Story  []string
	// Times is how many lives broke the check.
	Times int

	shown, plays int // plays of the shortest life, and how many have shown it
}

// String returns the finding with its story, and a test that plays it again.
func (f Finding[S]) String() string {
	sometimes := ""
	if f.shown < f.plays {
		sometimes = fmt.Sprintf("; its shortest life shows it in %d of %d plays", f.shown, f.plays)
	}
	return fmt.Sprintf("%s: %s\n  seen %s, first in life %d%s\n\n  %s\n\n%s",
		f.Check, f.Problem, value.Count(f.Times, "time"), f.Number, sometimes,
		strings.Join(shortened(f.Story), "\n  "), f.GoTest())
}

// shortened leaves out the middle of a long story.
func shortened(story []string) []string {
	if len(story) <= 60 {
		return story
	}
	left := fmt.Sprintf("... %d lines ...", len(story)-50)
	return slices.Concat(story[:20], []string{left}, story[len(story)-30:])
}

// GoTest returns the source of a test that plays the life again. It needs a Cron, a Batch or an
// Operator called subject.
func (f Finding[S]) GoTest() string {
	const test = `func Test%s(t *testing.T) {
	result := subject.Play(t, %s)
	for _, v := range result.Violations {
		t.Errorf("%%s: %%s\n%%s", v.Check, v.Problem, strings.Join(result.Story, "\n"))
	}
}
`
	return fmt.Sprintf(test, f.Check, f.Life.source())
}

// Known is a finding that is known, such as one that is reported and not yet fixed. Tests play its life, and fail if
// that no longer breaks the check. They do not fail if another life breaks this check.
type Known[S Settings] struct {
	Check Check
	// What is the name of the subtest.
	What string
	// Life breaks the check. One without steps and settings is not played.
	Life Life[S]
}

// test plays the lives of known findings and others, and fails with a report for each check that does not hold.
func test[S Settings](t *testing.T, c profile[S], s Search) {
	t.Helper()
	for _, known := range c.known() {
		if known.Life.source() != (Life[S]{}).source() {
			t.Run(known.What, func(t *testing.T) { known.test(t, c) })
		}
	}
	for _, f := range find(t, c, s) {
		t.Errorf("%s", f)
	}
}

// test plays the life up to five times, since goroutines may run in another order.
func (k Known[S]) test(t *testing.T, c profile[S]) {
	t.Helper()
	var result Result
	for range 5 {
		result = c.Play(t, k.Life)
		if slices.ContainsFunc(result.Violations, func(v Violation) bool { return v.Check == k.Check }) {
			return
		}
	}
	t.Errorf("%s holds, remove it from Known: %v\n%s", k.Check, result.Violations, strings.Join(result.Story, "\n"))
}

// Test plays the lives of Known and those of a search, and fails with a report for each other check that does not hold.
func (c *Cron) Test(t *testing.T, s Search) {
	t.Helper()
	test(t, profile[CronSettings](c), s)
}

// Find plays lives, and returns the findings that are not Known, the most frequent first.
func (c *Cron) Find(t *testing.T, s Search) []Finding[CronSettings] {
	t.Helper()
	return find(t, profile[CronSettings](c), s)
}

// Test plays the lives of Known and those of a search, and fails with a report for each other check that does not hold.
func (b *Batch) Test(t *testing.T, s Search) {
	t.Helper()
	test(t, profile[BatchSettings](b), s)
}

// Find plays lives, and returns the findings that are not Known, the most frequent first.
func (b *Batch) Find(t *testing.T, s Search) []Finding[BatchSettings] {
	t.Helper()
	return find(t, profile[BatchSettings](b), s)
}

// profile is a Cron, a Batch or an Operator.
type profile[S Settings] interface {
	Play(*testing.T, Life[S]) Result
	program() *Program
	known() []Known[S]
	// random draws settings, and edit draws a step that edits.
	random(draw) S
	edit(draw) Step
	// adapt changes a drawn step to fit the profile, and reports whether the profile has such steps.
	adapt(draw, Step) (s Step, has bool)
	// plainer returns changes that simplify settings.
	plainer() []func(*S)
	// beside draws the settings of another parent.
	beside(draw) S
	// plain returns lives of everyday events, without faults. later returns more of them, which are played
	// after those with faults.
	plain() []Life[S]
	later() []Life[S]
}

func find[S Settings](t *testing.T, c profile[S], s Search) []Finding[S] {
	t.Helper()
	found, known := make(map[Check]*Finding[S]), make(map[Check]int)
	for _, k := range c.known() {
		known[k.Check] = 0
	}
	played, requests, began := 0, 0, time.Now()
	note := func(number int, life Life[S]) Result {
		result := c.Play(t, life)
		played++
		requests += result.Requests
		for _, v := range firstOfEach(result.Violations) {
			if _, is := known[v.Check]; is {
				known[v.Check]++
				continue
			}
			if f := found[v.Check]; f != nil {
				f.Times++
				continue
			}

			f := shrink(t, c, life, result, v)
			f.Number = number
			t.Logf("life %d: %s: %s", number, f.Check, f.Problem)
			found[v.Check] = &f
		}
		return result
	}

	eachLife(c, s, func(number int, life Life[S]) (Result, bool) { return note(number, life), true })

	t.Logf("%d lives, %d requests, %s", played, requests, time.Since(began).Round(time.Millisecond))
	for _, check := range slices.Sorted(maps.Keys(known)) {
		t.Logf("%s is known, and seen %s", check, value.Count(known[check], "time"))
	}
	var list []Finding[S]
	for _, f := range found {
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b Finding[S]) int {
		return cmp.Or(b.Times-a.Times, strings.Compare(string(a.Check), string(b.Check)))
	})
	return list
}

// eachLife plays the lives of a search until play returns false. The plain lives come first, since
// each of them shows other mistakes.
func eachLife[S Settings](c profile[S], s Search, play func(number int, life Life[S]) (r Result, again bool)) {
	var short []Life[S]
	if s.Short > 0 {
		short = c.plain()
	}
	for n := len(short); n < s.Short; n++ {
		short = append(short, shortLife(c, s.Seed, n-len(c.plain())))
	}

	var changing [][]int
	for _, life := range short {
		r, again := play(-1, life)
		if !again {
			return
		}
		changing = append(changing, r.changing)
	}
	for i, life := range short[:min(s.Short, len(short))] {
		for _, fault := range faultsIn(changing[i]) {
			broken := life
			broken.Steps = append([]Step{fault}, life.Steps...)
			if _, again := play(-1, broken); !again {
				return
			}
		}
	}

	if s.Short > 0 {
		for _, life := range c.later() {
			if _, again := play(-1, life); !again {
				return
			}
		}
	}

	for n := s.First; n < s.First+s.Lives; n++ {
		if _, again := play(n, randomLife(c, s.Seed, n, 1+n%12)); !again {
			return
		}
	}
}

// mostFaults is how many faults a short life is played with: each one in each of 16 writes.
const mostFaults = 16 * 5

// faultsIn returns steps that break the writes with the given numbers. If there are too many writes for
// each fault in each, the faults take turns and are spread evenly.
func faultsIn(writes []int) (steps []Step) {
	total := min(mostFaults, len(faults)*len(writes))
	for n := range total {
		nth := writes[n*len(writes)/total]
		steps = append(steps, Step{Do: Break, Fault: faults[n%len(faults)], Nth: nth})
	}
	return steps
}

func firstOfEach(all []Violation) (first []Violation) {
	for _, v := range all {
		if !slices.ContainsFunc(first, func(w Violation) bool { return w.Check == v.Check }) {
			first = append(first, v)
		}
	}
	return first
}

// draw is the source of random choices.
type draw = *rand.Rand

// randomLife returns the n-th life of a seed.
func randomLife[S Settings](c profile[S], seed uint64, n, steps int) Life[S] {
	r := rand.New(rand.NewPCG(seed, uint64(n))) // #nosec G404: not for secrets
	life := Life[S]{
		Settings: c.random(r),
		Begin:    time.Duration(r.IntN(24*60*60)) * time.Second,
		Lag:      pick(r, []time.Duration{0, 0, 100 * time.Millisecond, time.Second, 10 * time.Second}),
	}
	for len(life.Steps) < steps {
		if s, has := c.adapt(r, step(r, c)); has && c.program().has(s.Do) {
			life.Steps = append(life.Steps, s)
		}
	}

	// What comes from another source leaves the other steps as they are.
	r = rand.New(rand.NewPCG(^seed, uint64(n))) // #nosec G404: not for secrets
	if n >= 0 && n%4 == 1 {
		if s, has := c.adapt(r, Step{Do: Expire, For: pick(r, times[:4])}); has && c.program().has(Expire) {
			life.Steps = slices.Insert(life.Steps, r.IntN(len(life.Steps)+1), s)
		}
	}
	if n >= 0 && n%3 == 2 && c.program().has(Several) {
		for range 1 + r.IntN(3) {
			life.Beside = append(life.Beside, c.beside(r))
		}
		for i, s := range life.Steps {
			if ofParents[s.Do] {
				life.Steps[i].Parent = r.IntN(1 + len(life.Beside))
			}
		}
	}
	return life
}

// ofParents has the actions that concern one parent.
var ofParents = map[Action]bool{
	Succeed: true, Fail: true, Suspend: true, Resume: true, Edit: true, Touch: true, Remove: true, Delete: true,
}

// shortLife returns the n-th random life for [Search.Short].
func shortLife[S Settings](c profile[S], seed uint64, n int) Life[S] {
	life := randomLife(c, seed, -1-n, 3)
	life.Steps = slices.DeleteFunc(life.Steps, func(s Step) bool { return s.Do == Break })
	return life
}

// has reports whether an action may happen.
func (p *Program) has(a Action) bool {
	if _, excluded := p.Without[a]; excluded {
		return false
	}
	lacksReplicas := a == Overlap && !p.Replicas
	lacksClock := a == Skew && !p.Clock
	return !lacksReplicas && !lacksClock
}

var times = []time.Duration{
	2 * time.Second, 30 * time.Second, time.Minute, 6 * time.Minute, 30 * time.Minute, 2 * time.Hour,
}

// skews are the jumps of a program's clock.
var skews = []time.Duration{
	-10 * time.Minute, -time.Minute, -5 * time.Second, 5 * time.Second, time.Minute, 0,
}

var faults = []Fault{Refuse, Conflict, LoseReply, CrashBefore, CrashAfter}

func step[S Settings](r draw, c profile[S]) Step {
	switch n := r.IntN(26); {
	case n < 8:
		return Step{Do: Wait, For: pick(r, times)}
	case n < 11:
		return Step{Do: Succeed}
	case n < 12:
		return Step{Do: Fail}
	case n < 13:
		return Step{Do: Suspend}
	case n < 14:
		return Step{Do: Resume}
	case n < 15:
		return c.edit(r)
	case n < 16:
		return Step{Do: Remove}
	case n < 17:
		return Step{Do: Restart, For: pick(r, append(times, 27*time.Hour))}
	case n < 18:
		return Step{Do: Overlap, For: pick(r, times)}
	case n < 19:
		of := []string{""}
		for _, kind := range c.program().Resources {
			of = append(of, kind.Plural)
		}
		return Step{Do: Hold, Of: pick(r, of), For: pick(r, times[:3])}
	case n < 20:
		return Step{Do: Relist}
	case n < 21:
		return Step{Do: Skew, For: pick(r, skews)}
	case n < 22:
		return Step{Do: Touch}
	case n < 23:
		return Step{Do: Delete}
	}
	return Step{Do: Break, Fault: pick(r, faults), Nth: 1 + r.IntN(4)}
}

func pick[T any](r draw, of []T) T { return of[r.IntN(len(of))] }

func ptr[T any](v T) *T { return &v }

// shrink makes a life as short and plain as possible while it still breaks the check. The story of
// the finding is that of the shortest life that broke the check.
func shrink[S Settings](t *testing.T, c profile[S], life Life[S], seen Result, v Violation) Finding[S] {
	f := Finding[S]{Violation: v, Life: life, Story: seen.Story, Times: 1}
	tries := 50
	shows := func(l Life[S]) bool {
		result := c.Play(t, l)
		for _, again := range result.Violations {
			if again.Check == v.Check {
				f.Violation, f.Life, f.Story = again, l, result.Story
				return true
			}
		}
		return false
	}
	try := func(l Life[S]) bool {
		tries--
		return tries >= 0 && shows(l)
	}

	for again := true; again && tries > 0; {
		again = false
		for i := len(f.Life.Beside) - 1; i >= 0; i-- {
			again = try(withoutParent(f.Life, i+1)) || again
		}
		for i := len(f.Life.Steps) - 1; i >= 0; i-- {
			shorter := f.Life
			shorter.Steps = slices.Delete(slices.Clone(f.Life.Steps), i, i+1)
			again = try(shorter) || again
		}
		for _, change := range plainer(c) {
			plain := f.Life
			plain.Steps = slices.Clone(f.Life.Steps)
			plain.Beside = slices.Clone(f.Life.Beside)
			change(&plain)
			again = plain.source() != f.Life.source() && try(plain) || again
		}
	}

	for range 3 {
		if f.plays++; shows(f.Life) {
			f.shown++
		}
	}
	return f
}

// withoutParent returns a life without one of its parents and the steps that concern it. The numbers of the later
// parents change, and so may their names.
func withoutParent[S Settings](life Life[S], place int) Life[S] {
	life.Beside = slices.Delete(slices.Clone(life.Beside), place-1, place)
	life.Steps = slices.DeleteFunc(slices.Clone(life.Steps), func(s Step) bool { return s.Parent == place })
	for i, s := range life.Steps {
		if s.Parent > place {
			life.Steps[i].Parent--
		}
	}
	return life
}

// plainer returns changes that simplify a life.
func plainer[S Settings](c profile[S]) []func(*Life[S]) {
	all := []func(*Life[S]){
		func(l *Life[S]) { l.Lag = 0 },
		func(l *Life[S]) { l.Begin = 10*time.Hour + 2*time.Minute + 10*time.Second },
	}
	for _, change := range c.plainer() {
		all = append(all, func(l *Life[S]) {
			change(&l.Settings)
			for i := range l.Beside {
				change(&l.Beside[i])
			}
		})
	}
	return all
}
