package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
)

func buildWorlds(dir, overlay string) [][]string {
	return [][]string{append([]string{"-C", "x/proof"}, compileTests(dir, "worlds", overlay, "./cronworlds")...)}
}

func (b *bug) isOfCronJobs() bool { return b.isOfPlanner() && b.controller() == "cronjob" }

var brokenLaw = regexp.MustCompile(`-first (\d+) -worlds 1: ([^:]+): `)

// atOnce is the number of worlds that one process plays.
const atOnce = 100

// playWorlds plays random worlds of a CronJob. The verdict's cell names the first broken law, and
// the world that broke it.
func playWorlds(b *bug, dir string, o options) verdict {
	for first := 0; first < o.worlds; first += atOnce {
		out, err := command(o.limit, b.number, testBinary(dir, "worlds"), "-test.run=^TestWorlds$", "-test.v",
			"-tries=0", fmt.Sprintf("-seed=%d", o.seed), fmt.Sprintf("-first=%d", first),
			fmt.Sprintf("-worlds=%d", min(atOnce, o.worlds-first)))
		law := brokenLaw.FindSubmatch(out)
		switch {
		case err == nil:
			continue
		case errors.Is(err, context.DeadlineExceeded):
			return verdict{false, []string{notAll(o)}}
		case law == nil:
			return verdict{true, []string{"ended early"}}
		}
		return verdict{true, []string{fmt.Sprintf("%s, world %s", law[2], law[1])}}
	}
	return verdict{false, []string{"–"}}
}
