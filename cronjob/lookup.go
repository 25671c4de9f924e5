package cronjob

import "github.com/batchplan/batchplan/job"

// few is the number of comparisons up to which linear searches are cheaper than a map.
const few = 256

// find returns a function that returns the first index of a key in a list of n elements, or -1.
// Argument times is how often the caller expects to call that function.
func find[K comparable](n, times int, key func(place int) K) func(K) int {
	if n*times <= few {
		return func(k K) int {
			for place := range n {
				if key(place) == k {
					return place
				}
			}
			return -1
		}
	}

	places := make(map[K]int, n)
	for place := n - 1; place >= 0; place-- {
		places[key(place)] = place
	}
	return func(k K) int {
		if place, ok := places[k]; ok {
			return place
		}
		return -1
	}
}

// memberOf returns a function that reports whether a list contains a job: by UID, or by name if the
// UID is not known.
func memberOf(refs []Reference, times int) func(uid job.UID, name string) bool {
	placeOf := find(len(refs), times, func(i int) job.UID { return refs[i].UID })
	placeNamed := find(len(refs), times, func(i int) string { return refs[i].Name })
	return func(uid job.UID, name string) bool {
		if uid == "" {
			return placeNamed(name) >= 0
		}
		return placeOf(uid) >= 0
	}
}

// jobNamed returns a function that reports whether a given name is the name of an active job or of
// a child.
func (c *census) jobNamed(times int) func(name string) bool {
	active, children := c.active, c.children
	place := find(len(active)+len(children), times, func(i int) string {
		if i < len(active) {
			return active[i].Name
		}
		return children[i-len(active)].Name
	})
	return func(name string) bool { return place(name) >= 0 }
}

// indexChildren returns a map from the UID of each owned child to its index in the snapshot, for
// placeOf. It returns nil if linear searches are cheaper.
func indexChildren(s *Snapshot, m *memory, byUID map[job.UID]int32) map[job.UID]int32 {
	asked := len(s.CronJob.Status.Active) + len(m.Started) + len(m.Replaced) + len(m.Deleted)
	if len(s.Children)*asked <= few {
		return nil
	}

	clear(byUID)
	if byUID == nil {
		byUID = make(map[job.UID]int32, len(s.Children))
	}
	for i := range s.Children {
		if c := &s.Children[i]; !c.Foreign {
			byUID[c.UID] = int32(i)
		}
	}
	return byUID
}

// placeOf returns the index of an owned child, or -1.
func (f *family) placeOf(uid job.UID) int {
	if f.byUID != nil {
		if i, ok := f.byUID[uid]; ok {
			return int(i)
		}
		return -1
	}
	for i := range f.children {
		if child := &f.children[i]; child.UID == uid && !child.Foreign {
			return i
		}
	}
	return -1
}
