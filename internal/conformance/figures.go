package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/batchplan/batchplan/internal/conformance/ours"
	"github.com/batchplan/batchplan/internal/conformance/theirs"
)

// figures counts what both sides would export as metrics during one script.
type figures struct {
	// before is what the real controllers had counted before: their counters belong
	// to the process.
	before map[string]float64
	ours   ours.Figures
}

func newFigures() *figures { return &figures{before: theirs.Figures()} }

// lines are the series of both sides that have counted something.
func (f *figures) lines() (real, mine []string) {
	counted := theirs.Figures()
	for series, n := range f.before {
		counted[series] -= n
	}
	return series(counted), series(f.ours.Counts())
}

func series(counts map[string]float64) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[name]; n != 0 {
			out = append(out, fmt.Sprintf("%s %s", name, strconv.FormatFloat(n, 'f', -1, 64)))
		}
	}
	return out
}
