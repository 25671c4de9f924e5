package explore

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Options are the limits of a search.
type Options struct {
	// Workers is the number of goroutines; 0 means one for each core.
	Workers int
	// Depth is the most moves from a start; 0 means no limit.
	Depth int
	// Memory is the most bytes that the states may take; 0 means 2 GiB. A search that
	// needs more ends with an incomplete report.
	Memory int64
	// Rest is the most calm steps from any state to rest; 0 leaves that check out.
	Rest int
	// Progress, if not nil, is called about once a second.
	Progress func(Progress)
}

// Progress is how far a search has come.
type Progress struct {
	States  int
	Depth   int
	Left    int // states of this depth that are still to be expanded
	Next    int // states of the next depth so far
	Bytes   int64
	Elapsed time.Duration
}

// String is one line.
func (p Progress) String() string {
	rate := float64(p.States) / max(p.Elapsed.Seconds(), 1e-9)
	return fmt.Sprintf("%d states, %.0f/s, depth %d, %d left, %d in the next depth, %d MiB", p.States, rate, p.Depth,
		p.Left, p.Next, p.Bytes>>20)
}

// ErrMemory and ErrDepth say why a report is not complete.
var (
	ErrMemory = errors.New("the memory limit is reached")
	ErrDepth  = errors.New("the depth limit is reached")
)

// Report is what a search found.
type Report[S any] struct {
	// States are the states that were visited, Depth is the greatest distance of one
	// from a start, and Rested the number of further states that only calm steps reach.
	States, Depth, Rested int
	Tally                 Tally
	// Incomplete says why there may be states that were not visited; nil if there are none.
	Incomplete error
	// Found is the counterexample, nil if there is none.
	Found *Counterexample[S]
	// Bytes is what the states took at most, and Elapsed how long the search took.
	Bytes   int64
	Elapsed time.Duration
}

func (o *Options) fill() {
	if o.Workers <= 0 {
		o.Workers = runtime.NumCPU()
	}
	if o.Memory <= 0 {
		o.Memory = 2 << 30
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
}
