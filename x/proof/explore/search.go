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
	// Depth is the greatest number of moves from a start; 0 means no limit.
	Depth int
	// Memory is the number of bytes that the states may take; 0 means 2 GiB. A search that needs
	// more ends with an incomplete report.
	Memory int64
	// Rest is the greatest allowed number of calm steps from any state to rest; 0 omits that check.
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

// String returns the progress in one line.
func (p Progress) String() string {
	rate := float64(p.States) / max(p.Elapsed.Seconds(), 1e-9)
	return fmt.Sprintf("%d states, %.0f/s, depth %d, %d left, %d in the next depth, %d MiB", p.States, rate, p.Depth,
		p.Left, p.Next, p.Bytes>>20)
}

// ErrMemory and ErrDepth are the reasons for which a report is incomplete.
var (
	ErrMemory = errors.New("the memory limit is reached")
	ErrDepth  = errors.New("the depth limit is reached")
)

// Report is the result of a search.
type Report[S any] struct {
	// States is the number of visited states. Depth is the greatest distance of a state from a
	// start.
	States, Depth int
	Tally         Tally
	// Incomplete is the reason why states may be missing; nil if every state was visited.
	Incomplete error
	// Found is the counterexample, nil if there is none.
	Found *Counterexample[S]
	// Bytes is the most memory that the states took. Elapsed is the duration of the search.
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
