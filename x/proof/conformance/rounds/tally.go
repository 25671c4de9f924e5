package rounds

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tally counts the results of rounds. Tallies of several processes add up.
type Tally struct {
	Rounds, Differences int
	// Classes counts rounds by class, and Rules counts rounds by the rule that they exercise.
	// Explained counts differences by the row of the documentation that explains them. Kinds counts
	// the other differences by the kinds of lines that differ. Firsts has the number of the first
	// round of each kind.
	Classes, Explained, Rules, Kinds map[string]int
	Firsts                           map[string]int
}

func newTally() *Tally {
	return &Tally{
		Classes:   map[string]int{},
		Explained: map[string]int{},
		Rules:     map[string]int{},
		Kinds:     map[string]int{},
		Firsts:    map[string]int{},
	}
}

func (t *Tally) differs(number int, kinds string) {
	t.Differences++
	t.Kinds[kinds]++
	if first, ok := t.Firsts[kinds]; !ok || number < first {
		t.Firsts[kinds] = number
	}
}

func (t *Tally) add(other *Tally) {
	t.Rounds += other.Rounds
	t.Differences += other.Differences
	for _, m := range [...]struct{ to, from map[string]int }{
		{t.Classes, other.Classes}, {t.Explained, other.Explained}, {t.Rules, other.Rules}, {t.Kinds, other.Kinds},
	} {
		for name, n := range m.from {
			m.to[name] += n
		}
	}
	for kinds, number := range other.Firsts {
		if first, ok := t.Firsts[kinds]; !ok || number < first {
			t.Firsts[kinds] = number
		}
	}
}

// String returns the tables, and the totals in the last line.
func (t *Tally) String() string {
	var b strings.Builder
	table(&b, "rounds by class", t.Classes)
	table(&b, "rounds by what they exercise, with the rule", t.Rules)
	table(&b, "differences that are explained", t.Explained)
	if len(t.Kinds) > 0 {
		fmt.Fprintf(&b, "differences by what differs, and the first of each:\n")
		often := func(a, b string) int { return cmp.Or(t.Kinds[b]-t.Kinds[a], strings.Compare(a, b)) }
		for _, kinds := range slices.SortedFunc(maps.Keys(t.Kinds), often) {
			fmt.Fprintf(&b, "%9d  %-9d %s\n", t.Kinds[kinds], t.Firsts[kinds], kinds)
		}
	}
	fmt.Fprintf(&b, "%d rounds, %d differences", t.Rounds, t.Differences)
	return b.String()
}

func table(b *strings.Builder, title string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", title)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(b, "%9d  %s\n", counts[name], name)
	}
}
