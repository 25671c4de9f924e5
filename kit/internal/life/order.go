package life

import (
	"cmp"
	"slices"
)

// Order numbers the objects of a life, by their keys, as they come into sight. A store may return
// its objects in any order, and may draw their UIDs: what is picked by its place here is the
// same object in each repetition of a life.
type Order map[string]int

// Sort brings objects into the order in which they have come into sight. Those that are new
// follow by their keys.
func Sort[T any](o Order, all []T, key func(*T) string) {
	var fresh []string
	for i := range all {
		if k := key(&all[i]); o[k] == 0 {
			fresh = append(fresh, k)
		}
	}
	slices.Sort(fresh)
	for _, k := range fresh {
		o[k] = len(o) + 1
	}
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(o[key(&a)], o[key(&b)]) })
}
