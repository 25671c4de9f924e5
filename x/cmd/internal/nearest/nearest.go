// Package nearest finds the name that was probably meant.
package nearest

import (
	"slices"
	"strings"
)

// Name returns the name that was probably meant: one that differs only by case or in few letters. It
// returns "" if there is none.
func Name(name string, names []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, n := range slices.Sorted(slices.Values(names)) {
		d := Distance(strings.ToLower(name), strings.ToLower(n))
		if d < least {
			best, least = n, d
		}
	}
	return best
}

// Distance returns the number of letters to add, remove, change, or swap with the next one to turn a
// into b.
func Distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if min(i, j) > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
