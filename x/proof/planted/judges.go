package main

import (
	"fmt"
	"slices"
	"strings"
)

// judge is a proof that may find bugs.
type judge struct {
	name    string
	columns []string // of the table
	// builds returns the arguments of the go commands that compile the proof with all bugs.
	builds func(dir, overlay string) [][]string
	// looks reports whether the proof can find such a bug at all.
	looks func(*bug) bool
	look  func(*bug, string, options) verdict
}

// verdict is a judge's result for one bug, with the cells of the judge's columns.
type verdict struct {
	found bool
	cells []string
}

func judges() []judge {
	return []judge{
		{"search", []string{"Scope", "States", "Steps", "Broken"}, buildSearch, (*bug).isOfPlanner, search},
		{"lives", []string{"Lives"}, buildLives, (*bug).isOfPlanner, live},
		{"kits", []string{"Kit: reads its store", "Kit: behind a watch"}, buildKits, (*bug).isOfLives, askKits},
		{"answers", []string{"Answers", "Answers, exact"}, buildAnswers, (*bug).isOfAnswers, answers},
		{"worlds", []string{"World"}, buildWorlds, (*bug).isOfCronJobs, playWorlds},
		{"scripts", []string{"Script"}, buildScripts, (*bug).isOfPlanner, playScripts},
		{"rounds", []string{"Round"}, buildRounds, (*bug).isOfPlanner, playRounds},
	}
}

func judgeNames() (names []string) {
	for _, j := range judges() {
		names = append(names, j.name)
	}
	return names
}

// judgesNamed returns the judges of a comma-separated list of names, or all.
func judgesNamed(text string) (chosen []judge, err error) {
	if text == "all" {
		return judges(), nil
	}
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(judges(), func(j judge) bool { return j.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-judges: no judge is called %q; there are %s", name,
				strings.Join(judgeNames(), ", "))
		}
		chosen = append(chosen, judges()[i])
	}
	return chosen, nil
}

func anyLooks(chosen []judge, b *bug) bool {
	return slices.ContainsFunc(chosen, func(j judge) bool { return j.looks(b) })
}
