package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

func buildSearch(dir, overlay string) [][]string {
	return [][]string{
		{"-C", "x/proof", "build", "-overlay", overlay, "-o", filepath.Join(dir, "explore"), "./explore/run"},
	}
}

// search explores the small scopes of the controller until one shows the bug.
func search(b *bug, dir string, o options) verdict {
	out, err := command(o.limit, b.number, filepath.Join(dir, "explore"), "-brief", "-memory", "512", "-match",
		"^"+b.controller()+"/.*("+o.scopes+")")
	states := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		n := 0
		if len(fields) > 2 {
			fmt.Sscan(fields[2], &n)
		}
		states += n
		if fields[0] == "found" {
			rule, _, _ := strings.Cut(fields[5], ":")
			steps := fields[3]
			if fields[4] != "0" {
				steps += "+" + fields[4]
			}
			return verdict{true, []string{fields[1], fmt.Sprint(states), steps, rule}}
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return verdict{false, []string{notAll(o), fmt.Sprint(states), "", ""}}
	case err != nil:
		return verdict{true, []string{"panic", fmt.Sprint(states), "", ""}}
	}
	return verdict{false, []string{"–", fmt.Sprint(states), "", ""}}
}
