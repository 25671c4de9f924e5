//go:build go1.25

package explore

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// jugs is the puzzle of the jugs of 3 and 5 litres: 16 states, and 4 litres take 6 moves. A third
// number only makes the number of states larger: it counts rounds and changes nothing else.
type jugs struct {
	goal   int
	rounds int
	// stuck is an amount of water. With this amount in the larger jug, calm steps never come to
	// rest.
	stuck int
}

type jug struct{ small, large, rounds int }

func (j jugs) Start() []jug        { return []jug{{}} }
func (j jugs) Worker() Worker[jug] { return j }
func (j jugs) Moves() []string     { return []string{"fill", "empty", "pour", "turn"} }
func (j jugs) Rules() []string     { return []string{"full"} }

func (j jugs) Expand(s *jug, tally *Tally, step func(Step[jug])) {
	emit := func(kind, small, large, rounds int) {
		if small == 3 && large == 5 {
			tally.Rules[0]++
		}
		next := Step[jug]{To: jug{small, large, rounds}, Kind: kind}
		if large == j.goal {
			next.Broken = fmt.Errorf("%d litres", large)
		}
		step(next)
	}

	emit(0, 3, s.large, s.rounds)
	emit(0, s.small, 5, s.rounds)
	emit(1, 0, s.large, s.rounds)
	emit(1, s.small, 0, s.rounds)

	over := min(s.small, 5-s.large)
	emit(2, s.small-over, s.large+over, s.rounds)
	back := min(s.large, 3-s.small)
	emit(2, s.small+back, s.large-back, s.rounds)

	if s.rounds < j.rounds {
		emit(3, s.small, s.large, s.rounds+1)
	} else {
		tally.Cut++
	}
}

// Calm empties the larger jug litre by litre.
func (j jugs) Calm(s *jug) (jug, bool, error) {
	switch {
	case s.large == 0:
		return *s, true, nil
	case s.large == j.stuck && s.rounds == j.rounds:
		return *s, false, nil
	}
	return jug{s.small, s.large - 1, s.rounds}, false, nil
}

func (j jugs) IsPassing(*jug) bool { return false }

func (j jugs) Bytes() int64 { return 0 }

func (j jugs) Describe(_ *jug, step Step[jug]) string {
	return fmt.Sprintf("%s: %d %d", j.Moves()[step.Kind], step.To.small, step.To.large)
}

func TestBreadthVisitsEveryState(t *testing.T) {
	for _, workers := range []int{1, 3} {
		r := Breadth(jugs{goal: -1, rounds: 99, stuck: -1}, Options{Workers: workers, Rest: 10})
		if r.States != 16*100 || r.Incomplete != nil || r.Found != nil || r.Depth != 106 {
			t.Errorf("%d workers: %d states, depth %d, %v, %v", workers, r.States, r.Depth, r.Incomplete, r.Found)
		}
		if r.Tally.Taken[3] != 16*99 || r.Tally.Cut != 16 || r.Tally.Taken[0] != 3200 || r.Tally.Rules[0] == 0 {
			t.Errorf("%d workers: %+v", workers, r.Tally)
		}
	}
}

// The shortest way to 4 litres is: fill the larger jug, pour, empty the smaller one, pour, fill the
// larger one, pour.
func TestCounterexampleIsShortest(t *testing.T) {
	system := jugs{goal: 4, rounds: 3, stuck: -1}
	want := []string{" 1. fill: 0 5", " 2. pour: 3 2", " 3. empty: 0 2", " 4. pour: 2 0", " 5. fill: 2 5", " 6. pour: 3 4"}
	for workers := range 3 {
		r := Breadth(system, Options{Workers: workers})
		if r.Found == nil || r.Found.Err.Error() != "4 litres" {
			t.Errorf("%d workers: found %v", workers, r.Found)
			continue
		}
		if got := r.Found.Words(system); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%d workers:\n%s", workers, strings.Join(got, "\n"))
		}
	}
}

func TestLimits(t *testing.T) {
	system := jugs{goal: 4, rounds: 6000, stuck: -1}
	if r := Breadth(system, Options{Depth: 5}); !errors.Is(r.Incomplete, ErrDepth) || r.Found != nil || r.Depth != 5 {
		t.Errorf("depth %d, %v, found %v", r.Depth, r.Incomplete, r.Found)
	}
	system.goal = -1
	if r := Breadth(system, Options{Memory: 300_000}); !errors.Is(r.Incomplete, ErrMemory) || r.States < 1000 {
		t.Errorf("%d states, %v", r.States, r.Incomplete)
	}
}

func TestStatesThatDoNotRest(t *testing.T) {
	r := Breadth(jugs{goal: -1, rounds: 2, stuck: 2}, Options{Rest: 9})
	if r.Found == nil || r.Found.Err.Error() != "no rest after 9 calm steps" {
		t.Fatalf("found %v", r.Found)
	}
	if c := r.Found; c.Calm != 10 || c.Steps[len(c.Steps)-1].To.large != 2 {
		t.Errorf("%d calm steps, %v", c.Calm, c.Steps[len(c.Steps)-1].To)
	}
	r = Breadth(jugs{goal: -1, rounds: 2, stuck: -1}, Options{Rest: 4})
	if r.Found == nil || !strings.HasPrefix(r.Found.Err.Error(), "rest comes only after 5") && !strings.HasPrefix(r.Found.Err.Error(), "no rest") {
		t.Errorf("found %v", r.Found)
	}
	if r = Breadth(jugs{goal: -1, rounds: 2, stuck: -1}, Options{Rest: 5}); r.Found != nil {
		t.Errorf("found %v", r.Found.Err)
	}
}

func TestReport(t *testing.T) {
	system := jugs{goal: -1, stuck: -1}
	r := Breadth(system, Options{})
	var text strings.Builder
	r.Write(&text, system)
	for _, want := range []string{"16 states, depth 7, complete", "fill", "full", "out of the scope"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	if missing := r.Missing(system, []string{"full", "half full"}); len(missing) != 1 || missing[0] != "half full" {
		t.Errorf("missing %q", missing)
	}
}

// TestKeyOf: the keys of similar texts differ in both halves, and are spread evenly over the shards
// of a table.
func TestKeyOf(t *testing.T) {
	low, high, shards := map[uint64]bool{}, map[uint64]bool{}, map[uint64]int{}
	n := 0
	for size := range 40 {
		for place := range size {
			for bit := range 8 {
				data := make([]byte, size)
				data[place] ^= 1 << bit
				k := KeyOf(data)
				low[k.lo], high[k.hi] = true, true
				shards[k.hi>>58]++
				n++
			}
		}
	}

	if len(low) != n || len(high) != n {
		t.Errorf("%d texts have %d and %d keys", n, len(low), len(high))
	}
	for shard, count := range shards {
		if len(shards) != 64 || count > 3*n/64 {
			t.Errorf("shard %d has %d of %d keys", shard, count, n)
		}
	}
}

func TestTable(t *testing.T) {
	var tab table
	key := func(i int) Key { return KeyOf([]byte(fmt.Sprint(i))) }

	for i := range 10000 {
		if !tab.add(key(i), key(i/2).lo) || tab.add(key(i), 5) {
			t.Fatalf("add %d", i)
		}
	}

	if n, bytes := tab.len(); n != 10000 || bytes < 10000*slotSize {
		t.Errorf("%d keys, %d bytes", n, bytes)
	}

	for i := 1; i < 10000; i++ {
		if p, ok := tab.parent(key(i)); !ok || p != key(i/2) {
			t.Fatalf("the parent of %d is %v", i, p)
		}
	}

	if _, ok := tab.get(key(-1)); ok {
		t.Error("a key that was not added")
	}
}

func TestList(t *testing.T) {
	var l List[int]
	for i := range 3 * pageSize {
		if id := l.Add(func(v *int) { *v = i }); id != uint32(i+1) || *l.At(id) != i {
			t.Fatalf("value %d has the number %d", i, id)
		}
	}
	if l.Len() != 3*pageSize {
		t.Errorf("%d values", l.Len())
	}
}

// TestInterned: workers that meet the same values concurrently give them the same numbers.
func TestInterned(t *testing.T) {
	var n Interned[int, string]
	var wg sync.WaitGroup
	var ids [4][1000]uint32
	for w := range ids {
		wg.Go(func() {
			for i := range ids[w] {
				ids[w][i] = n.Number(i, func() string { return fmt.Sprint(i) })
			}
		})
	}
	wg.Wait()
	for i, id := range ids[0] {
		if ids[1][i] != id || ids[2][i] != id || ids[3][i] != id || n.Of(id) != fmt.Sprint(i) {
			t.Fatalf("value %d: %d, %d, %d, %d", i, id, ids[1][i], ids[2][i], ids[3][i])
		}
	}
	if n.Len() != len(ids[0]) {
		t.Errorf("%d values", n.Len())
	}
}

// forked is a system of three steps. A fault may replace each of them. Every state is at rest, or
// comes to rest by one more step. The end of a state depends on its fault.
type forked struct {
	// matters is the number of the step in which a fault changes the end. hides is the number of
	// the step after whose fault the end is unknown. -1 means that there is no such step.
	matters, hides int
}

type fork struct {
	steps, fault int
	rests        bool
}

func (f forked) Start() []fork        { return []fork{{}} }
func (f forked) Worker() Worker[fork] { return f }
func (f forked) Moves() []string      { return []string{"step", "fault"} }
func (f forked) Rules() []string      { return nil }
func (f forked) Bytes() int64         { return 0 }
func (f forked) IsPassing(*fork) bool { return false }

func (f forked) Expand(s *fork, _ *Tally, step func(Step[fork])) {
	if s.steps == 3 || s.rests {
		return
	}
	step(Step[fork]{To: fork{steps: s.steps + 1, fault: s.fault}})
	step(Step[fork]{To: fork{steps: s.steps + 1, fault: s.steps + 1}, Kind: 1, Fault: true})
	step(Step[fork]{To: fork{steps: s.steps + 1, fault: s.fault}, Kind: 1, Fault: true})
}

func (f forked) Calm(s *fork) (fork, bool, error) {
	if s.rests {
		return *s, true, nil
	}
	return fork{s.steps, s.fault, true}, false, nil
}

func (f forked) End(s *fork) uint64 {
	switch s.fault {
	case f.hides:
		return 0
	case f.matters:
		return 2
	}
	return 1
}

func (f forked) DescribeEnd(s *fork) string            { return fmt.Sprintf("end %d", f.End(s)) }
func (f forked) Describe(_ *fork, s Step[fork]) string { return f.Moves()[s.Kind] }

// A fault that changes the end is found. A fault after which the end is unknown is not reported.
func TestFaultsMustNotChangeTheEnd(t *testing.T) {
	for _, tc := range []struct {
		system forked
		found  string
		steps  int
	}{
		{forked{matters: -1, hides: -1}, "", 0},
		{forked{matters: 1, hides: -1}, "L8: a fault changes the end from end 1 to end 2", 1},
		{forked{matters: 3, hides: -1}, "L8: a fault changes the end from end 1 to end 2", 3},
		{forked{matters: 3, hides: 3}, "", 0},
	} {
		r := Breadth(tc.system, Options{Rest: 5})
		switch {
		case tc.found == "" && r.Found != nil:
			t.Errorf("%+v: found %v", tc.system, r.Found.Err)
		case tc.found != "" && (r.Found == nil || r.Found.Err.Error() != tc.found || len(r.Found.Steps) != tc.steps):
			t.Errorf("%+v: found %+v", tc.system, r.Found)
		}
		if r := Breadth(tc.system, Options{}); r.Found != nil {
			t.Errorf("%+v: found %v without a check of rest", tc.system, r.Found.Err)
		}
	}
}
