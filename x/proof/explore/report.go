package explore

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Write prints what a search found: its size, how often each kind of move was taken and
// led to a new state, and how often each rule was exercised.
func (r *Report[S]) Write(out io.Writer, system System[S]) {
	end := "complete"
	if r.Incomplete != nil {
		end = "not complete: " + r.Incomplete.Error()
	}
	rate := float64(r.States) / max(r.Elapsed.Seconds(), 1e-9)
	fmt.Fprintf(out, "%d states, depth %d, %s, %.1f s, %.0f states/s, %.0f bytes per state\n",
		r.States, r.Depth, end, r.Elapsed.Seconds(), rate, float64(r.Bytes)/float64(max(r.States, 1)))

	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "move\ttaken\tto new states\t\n")
	for i, name := range system.Moves() {
		if r.Tally.Taken[i] > 0 {
			fmt.Fprintf(t, "%s\t%d\t%d\t\n", name, r.Tally.Taken[i], r.Tally.Fresh[i])
		}
	}

	fmt.Fprintf(t, "out of the scope\t%d\t\t\n", r.Tally.Cut)
	fmt.Fprintf(t, "rule\trounds\t\t\n")
	for i, name := range system.Rules() {
		if r.Tally.Rules[i] > 0 {
			fmt.Fprintf(t, "%s\t%d\t\t\n", name, r.Tally.Rules[i])
		}
	}

	t.Flush()
}

// Missing returns the named rules that the search has not exercised.
func (r *Report[S]) Missing(system System[S], names []string) (missing []string) {
	met := make(map[string]bool)
	for i, name := range system.Rules() {
		met[name] = r.Tally.Rules[i] > 0
	}
	for _, name := range names {
		if !met[name] {
			missing = append(missing, name)
		}
	}
	return missing
}
