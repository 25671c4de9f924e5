package cronjob

import (
	"slices"

	"github.com/batchplan/batchplan/job"
)

// few is the number of comparisons up to which a search is cheaper than a table.
const few = 256

// needsIndex reports whether a table of the children costs less than searches.
func needsIndex(s *Snapshot, m *memory) bool {
	return len(s.Children)*(len(s.CronJob.Status.Active)+len(m.Started)+len(m.Replaced)+len(m.Deleted)) > few
}

// indexChildren fills a table with the places of the owned children by UID, for placeOf, if one
// is needed.
func indexChildren(s *Snapshot, m *memory, byUID map[job.UID]int32) map[job.UID]int32 {
	clear(byUID)
	if !needsIndex(s, m) {
		return byUID
	}
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

// placeOf returns the place of an owned child, or -1.
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

// memberOf returns a function that reports whether a list names a job: by its UID, or by
// its name if the UID is not known. The number says how often it will be called.
func memberOf(refs []Reference, times int) func(uid job.UID, name string) bool {
	if len(refs)*times <= few {
		return func(uid job.UID, name string) bool {
			for i := range refs {
				switch r := &refs[i]; {
				case uid == "" && r.Name == name, uid != "" && r.UID == uid:
					return true
				}
			}
			return false
		}
	}

	uids, names := make(map[job.UID]bool, len(refs)), make(map[string]bool, len(refs))
	for i := range refs {
		uids[refs[i].UID], names[refs[i].Name] = true, true
	}
	return func(uid job.UID, name string) bool {
		if uid == "" {
			return names[name]
		}
		return uids[uid]
	}
}

// childNamed returns a function that finds the place of the first child of a name,
// whoever owns it, or -1. The number says how often it will be called.
func childNamed(children []Child, times int) func(name string) int {
	if len(children)*times <= few {
		return func(name string) int {
			return slices.IndexFunc(children, func(c Child) bool { return c.Name == name })
		}
	}

	places := make(map[string]int, len(children))
	for i := range children {
		if _, ok := places[children[i].Name]; !ok {
			places[children[i].Name] = i
		}
	}
	return func(name string) int {
		if place, ok := places[name]; ok {
			return place
		}
		return -1
	}
}

// jobNamed returns a function that reports whether a job has a name: an active one, or a
// child, whoever owns it. The number says how often it will be called.
func (c *census) jobNamed(times int) func(name string) bool {
	active, children := c.active, c.children
	if (len(active)+len(children))*times <= few {
		return func(name string) bool {
			return slices.ContainsFunc(active, func(r Reference) bool { return r.Name == name }) ||
				slices.ContainsFunc(children, func(c Child) bool { return c.Name == name })
		}
	}

	names := make(map[string]bool, len(active)+len(children))
	for i := range active {
		names[active[i].Name] = true
	}
	for i := range children {
		names[children[i].Name] = true
	}
	return func(name string) bool { return names[name] }
}
