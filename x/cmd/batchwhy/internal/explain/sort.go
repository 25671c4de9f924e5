package explain

import (
	"cmp"
	"slices"
	"time"
)

// Lists of large elements are sorted by pointers and places: the code that sorts those exists
// once for all types, and the page loads less.

// pointers returns pointers to the elements of a list.
func pointers[E any](list []E) []*E {
	all := make([]*E, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// sortedStably returns the elements in order, equal ones as they were.
func sortedStably[E any](list []E, compare func(a, b *E) int) []E {
	places := make([]int32, len(list))
	for i := range places {
		places[i] = int32(i)
	}
	slices.SortFunc(places, func(a, b int32) int { return cmp.Or(compare(&list[a], &list[b]), cmp.Compare(a, b)) })
	var sorted []E
	for _, i := range places {
		sorted = append(sorted, list[i])
	}
	return sorted
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
