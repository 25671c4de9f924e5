package explain

import (
	"cmp"
	"slices"
	"time"
)

// The elements of a list are large, so they are not moved while they are sorted: their pointers or
// places are sorted instead. Pointers of all types share the code of one sort, which keeps the page
// small.

// pointers returns pointers to the elements of a list.
func pointers[E any](list []E) []*E {
	all := make([]*E, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// sortedStably returns the elements in order. Equal elements keep their order.
func sortedStably[E any](list []E, compare func(a, b *E) int) (sorted []E) {
	for _, i := range placesInOrder(len(list), func(a, b int32) int { return compare(&list[a], &list[b]) }) {
		sorted = append(sorted, list[i])
	}
	return sorted
}

// placesInOrder returns the places 0 to n-1, ordered by their elements. Equal elements keep their
// order.
func placesInOrder(n int, compare func(a, b int32) int) []int32 {
	places := make([]int32, n)
	for i := range places {
		places[i] = int32(i)
	}
	slices.SortFunc(places, func(a, b int32) int { return cmp.Or(compare(a, b), cmp.Compare(a, b)) })
	return places
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
