// Command replacement measures what podReplacementPolicy Failed costs and saves if nodes are
// drained and pods take minutes to end. It simulates drain.yaml in this folder.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchsim/internal/scenario"
	"github.com/batchplan/batchplan/x/sim"
)

const seeds = 5

var variants = []struct{ name, patch, backoff string }{
	{"TerminatingOrFailed", "{podReplacementPolicy: TerminatingOrFailed}", "{}"},
	{"Failed", "{podReplacementPolicy: Failed}", "{}"},
	{"Failed, disruptions ignored", "{podReplacementPolicy: Failed, podFailurePolicy: {rules: [{action: Ignore, " +
		"onPodConditions: [{type: DisruptionTarget}]}]}}", "{}"},
	{"TerminatingOrFailed, backoff 10s", "{podReplacementPolicy: TerminatingOrFailed}", "{factor: 1}"},
	{"Failed, backoff 10s", "{podReplacementPolicy: Failed}", "{factor: 1}"},
}

func main() {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "variant\tturnaround (min)\tgap of an index (min)\ttwo pods of an index (h)\tpods failed")

	for _, v := range variants {
		s, err := scenario.Load([]string{filepath.Join(os.Args[1], "drain.yaml")},
			[]scenario.Setting{{Path: "jobs", Value: v.patch}, {Path: "options.backoff", Value: v.backoff}})
		if err != nil {
			log.Fatal(err)
		}

		var turnaround, gap, both, failed []float64
		for seed := range uint64(seeds) {
			r, err := sim.Run(context.Background(), s.World(seed+1))
			if err != nil {
				log.Fatal(err)
			}
			g, o := indexes(r)
			turnaround = append(turnaround, r.Turnaround.Mean().Minutes())
			gap, both = append(gap, g.Minutes()), append(both, o.Hours())
			failed = append(failed, float64(r.PodsFailed))
		}

		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", v.name, sim.EstimateOf(turnaround), sim.EstimateOf(gap),
			sim.EstimateOf(both), sim.EstimateOf(failed))
	}
	t.Flush()
}

// indexes looks at each pod and the next pod of the same index. It returns the mean time between
// the two in which neither runs, and the total time in which both run.
func indexes(r *sim.Result) (gap, both time.Duration) {
	pods := slices.Clone(r.Pods)
	slices.SortStableFunc(pods, func(a, b sim.PodRecord) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Started, b.Started))
	})
	n := 0
	for i := 1; i < len(pods); i++ {
		before, p := &pods[i-1], &pods[i]
		switch {
		case before.Job != p.Job, before.Index != p.Index, before.Ended == sim.None, p.Started == sim.None:
			continue
		}

		n++
		gap += max(0, p.Started-before.Ended)
		both += max(0, before.Ended-p.Started)
	}
	return gap / time.Duration(max(n, 1)), both
}
