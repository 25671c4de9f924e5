package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/series"
)

// figures counts the metrics that both sides would export during one script.
type figures struct {
	// before holds the earlier counts of the real controllers, which share their counters with all
	// scripts of the process.
	before series.Counts
	ours   ours.Figures
}

func newFigures() *figures { return &figures{before: series.Reference()} }

// counts returns the series of both sides that are not zero.
func (f *figures) counts() (real, mine series.Counts) {
	return series.Reference().Since(f.before), f.ours.Counts()
}

func lines(counts series.Counts) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s %s", name, strconv.FormatFloat(counts[name], 'f', -1, 64)))
	}
	return out
}
